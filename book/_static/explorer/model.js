/* global SpeedMathematics */
// All that is drawn and said follows from the state: computed here, once for each change.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const FAMILY = 9; // ellipses that are drawn of those that remain possible
  const SAME = 1e-6;
  // An excess below this one is of the fit's own digits, or of none that matter.
  const AGREES = 5e-5;

  function derive(state) {
    const M = SpeedMathematics;
    const { arrows, noise, policy } = state;
    const variances = M.variances(arrows, noise);
    const c = M.direction(arrows, policy);
    const best = M.optimal(arrows, variances, c);
    const set = M.elfving(arrows, variances, c);
    const policyLoss = M.loss(arrows, variances, policy, c);
    const model = {
      state, variances, c, best, policyLoss,
      ratio: best.value > 0 ? policyLoss / best.value : 1,
      scaled: set.points,
      hull: set.hull,
      exit: set.exit,
      signs: best.u.map((step, a) => (best.weights[a] > SAME ? Math.sign(step) : 0)),
      chosen: best.weights.map((weight) => weight > SAME),
    };
    model.seen = state.tab === "explore" ? exploration(M, model) : null;
    return model;
  }

  function exploration(M, { state, variances, c, best }) {
    const { arrows, noise, explored, psd } = state;
    const { rank, free, range, base } = M.possible(arrows, explored, noise);
    const belief = M.believed(arrows, explored, noise, c, psd);
    const family = [];
    if (free && range) {
      for (let k = 0; k < FAMILY; k++) {
        const s = range[0] + ((range[1] - range[0]) * (k + 0.5)) / FAMILY;
        family.push(base.map((entry, i) => entry + s * free[i]));
      }
    }
    const [a, b, d] = belief.Sigma;
    const size = Math.max(...base.map(Math.abs));
    const cost = M.estimationCost(arrows, variances, best.weights, explored);
    const excess = best.value > 0 ? belief.trueLoss / best.value - 1 : 0;
    return {
      rank, family, excess, cost,
      Sigma: belief.Sigma,
      variances: belief.variances,
      weights: belief.design.weights,
      trueLoss: belief.trueLoss,
      described: belief.described,
      raised: belief.raised.some(Boolean),
      indefinite: a * d - b * b < -SAME * size * size,
      differs: belief.Sigma.some((entry, i) => Math.abs(entry - base[i]) > 2e-3 * size),
      // The curve speaks of a belief that tends to the truth as far as the design depends on it.
      settles: Number.isFinite(cost) && excess < AGREES,
      agrees: excess < AGREES,
    };
  }

  EXPLORER.derive = derive;
})(typeof globalThis === "undefined" ? this : globalThis);
