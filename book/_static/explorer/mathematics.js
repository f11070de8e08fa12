/**
 * The mathematics of the explorer: optimal designs in the plane, exactly, and what exploration sees.
 *
 * An experiment has actions a with features x(a) in the plane (the arrows) and noise of variance
 * σ²(a). The value of a policy π is c'θ with c = Σ_a π(a) x(a). A design b gives action a the share
 * b(a) of the rounds; n times the mean squared error of the estimated value is then
 *
 *     nL(b) = c' A(b)⁻ c,     A(b) = Σ_a b(a) x(a) x(a)' / σ²(a).
 *
 * Nothing here draws, reads the page or keeps a state: plain numbers go in and come out, and
 * tests/browser/test_explorer_mathematics.py compares them with the library `speedlib`, whose name
 * for a thing each function mentions. Arrows are [x1, x2]; a symmetric matrix is [s11, s12, s22].
 * Needs geometry.js and covariance.js.
 */
var SpeedMathematics = (function () {
  "use strict";

  /** Estimated variances are raised to this share of the mean one: `SPEED.variance_floor`. */
  const FLOOR = 0.01;
  /** Below this share of |x|² tr Σ a variance counts as this share: nothing is without noise. */
  const LEAST_VARIANCE = 1e-12;
  /** Arrows whose angle has a smaller sine are parallel. */
  const PARALLEL = 1e-11;
  /** A share of all coefficients that is rounding; and what "as good as" means for two designs. */
  const NOTHING = 1e-14;
  const TIE = 1e-9;

  const { sum, dot, length, scaled, turned, det, parallel, quadratic } = SpeedGeometry;
  const { SAME_LOOK, looks, leastSquares, positive } = SpeedCovariance;

  // --- the experiment -------------------------------------------------------------------------

  /** c = Σ_a π(a) x(a), the direction in which θ is asked for: `target_direction`. */
  function direction(arrows, policy) {
    return [0, 1].map((i) => {
      const terms = arrows.map((x, a) => policy[a] * x[i]);
      const size = sum(terms.map(Math.abs));
      const total = sum(terms);
      return Math.abs(total) > 8 * Number.EPSILON * size ? total : 0;
    });
  }

  /** σ²(a): x(a)' Σ x(a) for an ellipse {Sigma}, the squares of a list of deviations {sigma}. */
  function variances(arrows, noise) {
    if (noise.sigma) return noise.sigma.map((s) => s * s);
    const [s11, , s22] = noise.Sigma;
    return arrows.map((x) => {
      const least = LEAST_VARIANCE * (s11 + s22) * dot(x, x);
      return Math.max(quadratic(noise.Sigma, x), least);
    });
  }

  /** x̃(a) = x(a) / σ(a): what one round of an action tells, per unit of its noise. */
  const points = (arrows, variances) =>
    arrows.map((x, a) => (x[0] || x[1] ? scaled(x, 1 / Math.sqrt(variances[a])) : [0, 0]));

  /**
   * The optimal design for c, with its proof: `speedlib.optimal_design(..., "PE")`.
   *
   * Elfving (1952): the least loss over all designs is ‖u‖₁², with u the cheapest way to reach c,
   *
   *     minimise Σ_a |u(a)|  subject to  Σ_a u(a) x̃(a) = c,
   *
   * and the design is b(a) = |u(a)| / ‖u‖₁. A linear program in the plane has a solution with at
   * most two steps, so that trying all pairs of arrows is exact: by Cramer's rule the pair (a, b)
   * needs u(a) = σ(a) det(c, x(b)) / det(x(a), x(b)) and u(b) = σ(b) det(x(a), c) / det(x(a), x(b)).
   * A single arrow is a pair of which one needs no step, unless all arrows lie on one line.
   *
   * The proof is a vector y with |x̃(a)·y| ≤ 1 for all a. Any u that reaches c has
   * c·y = Σ u(a) x̃(a)·y ≤ ‖u‖₁, so that nothing is cheaper where c·y = ‖u‖₁. In the picture,
   * y·z = 1 is the tangent to Elfving's set at the point where the ray along c leaves it.
   *
   * @returns {{value: number, norm: number, weights: number[], u: number[], support: number[],
   *   certificate: number[], unique: boolean, gap: number}} `value` is nL* = ‖u‖₁²; `gap` is
   *   1 − c·y / ‖u‖₁, zero up to rounding; `unique` tells whether no other design is as good.
   *   Where the arrows do not reach c: value Infinity, no support.
   */
  function optimal(arrows, variances, c) {
    if (!c[0] && !c[1]) return nothingAsked(arrows, variances);
    const candidates = [...steps(arrows, variances, c)];
    if (!candidates.length) return unreachable(arrows);
    const tilde = points(arrows, variances);
    const best = Math.min(...candidates.map((each) => each.norm));
    let found = null;
    for (const each of candidates) {
      if (each.norm > best * (1 + TIE)) continue;
      each.most = Math.max(...tilde.map((x) => Math.abs(dot(x, each.y))));
      if (!found || each.most < found.most) found = each;
    }
    const u = arrows.map(() => 0);
    for (const [a, step] of found.u) u[a] += Math.abs(step) > NOTHING * found.norm ? step : 0;
    const norm = sum(u.map(Math.abs));
    const certificate = scaled(found.y, 1 / Math.max(1, found.most));
    const support = u.flatMap((step, a) => (step ? [a] : []));
    return {
      value: norm * norm,
      norm,
      weights: u.map((step) => Math.abs(step) / norm),
      u,
      support,
      certificate,
      unique: isUnique(tilde, support, certificate),
      gap: Math.max(0, 1 - dot(c, certificate) / norm),
    };
  }

  /** All ways to c with one or two steps, each with the line y·z = 1 through its signed points. */
  function* steps(arrows, variances, c) {
    const sigma = variances.map(Math.sqrt);
    const real = arrows.flatMap((x, a) => (x[0] || x[1] ? [a] : []));
    let line = true;
    for (const a of real) {
      for (const b of real) {
        if (b <= a || parallel(arrows[a], arrows[b], PARALLEL)) continue;
        line = false;
        const area = det(arrows[a], arrows[b]);
        const ua = (sigma[a] * det(c, arrows[b])) / area;
        const ub = (sigma[b] * det(arrows[a], c)) / area;
        for (const sa of signs(ua)) {
          for (const sb of signs(ub)) {
            // x(a)·y = ±σ(a) and x(b)·y = ±σ(b), by Cramer's rule.
            const ra = sa * sigma[a];
            const rb = sb * sigma[b];
            const y = [
              det([ra, arrows[a][1]], [rb, arrows[b][1]]) / area,
              det([arrows[a][0], ra], [arrows[b][0], rb]) / area,
            ];
            yield {
              u: [
                [a, ua],
                [b, ub],
              ],
              y,
              norm: Math.abs(ua) + Math.abs(ub),
            };
          }
        }
      }
    }
    if (!line) return;
    for (const a of real) {
      if (!parallel(arrows[a], c, TIE)) continue;
      const square = dot(arrows[a], arrows[a]);
      const ua = (sigma[a] * dot(arrows[a], c)) / square;
      const y = scaled(arrows[a], (Math.sign(ua) * sigma[a]) / square);
      yield { u: [[a, ua]], y, norm: Math.abs(ua) };
    }
  }

  /** A step that is not taken may count either way. */
  const signs = (step) => (step ? [Math.sign(step)] : [1, -1]);

  /**
   * Whether no other steps are as short.
   *
   * Steps that are as short lead along points of the tangent only. With two steps there must be no
   * third such point; with one, no copy of its point, and not points on the tangent to either side.
   */
  function isUnique(tilde, support, y) {
    const touching = tilde.filter((x) => Math.abs(dot(x, y)) > 1 - TIE);
    if (support.length > 1) return touching.length === support.length;
    const x = tilde[support[0]];
    const sides = touching.map((z) => {
      const side = det(x, z) * Math.sign(dot(z, y));
      return Math.abs(side) > TIE * length(x) * length(z) ? Math.sign(side) : 0;
    });
    const copies = sides.filter((side) => side === 0);
    return copies.length === 1 && !(sides.includes(1) && sides.includes(-1));
  }

  /** Where c = 0 nothing is asked; like the library, all rounds go to the quietest arrow. */
  function nothingAsked(arrows, variances) {
    const real = arrows.map((x) => x[0] !== 0 || x[1] !== 0);
    const some = real.some(Boolean);
    const shown = variances.map((v, a) => (real[a] || !some ? v : Infinity));
    const quiet = shown.indexOf(Math.min(...shown));
    const none = arrows.map(() => 0);
    return {
      value: 0,
      norm: 0,
      weights: none.map((_, a) => (a === quiet ? 1 : 0)),
      u: none,
      support: [quiet],
      certificate: [0, 0],
      unique: false,
      gap: 0,
    };
  }

  function unreachable(arrows) {
    const none = arrows.map(() => 0);
    const shown = { weights: none, u: none, support: [], certificate: [0, 0] };
    return { value: Infinity, norm: Infinity, ...shown, unique: false, gap: 0 };
  }

  /**
   * nL(b) = c' A(b)⁻ c, the loss of a design; Infinity where it leaves c open: `pe_loss`.
   *
   * With w(a) = b(a)/σ²(a), Cramer's rule and Cauchy and Binet's formula for the determinant give
   *
   *     nL(b) = Σ_a w(a) det(x(a), c)² / Σ_{a<b} w(a) w(b) det(x(a), x(b))²,
   *
   * in which no two terms cancel. If all that is pulled lies on one line, c must lie on it, too;
   * then nL(b) = |c|² / Σ_a w(a) |x(a)|².
   */
  function loss(arrows, variances, weights, c) {
    if (!c[0] && !c[1]) return 0;
    const pulled = arrows.flatMap((x, a) => (weights[a] > 0 && (x[0] || x[1]) ? [a] : []));
    const w = pulled.map((a) => weights[a] / variances[a]);
    const size = sum(pulled.map((a, i) => w[i] * dot(arrows[a], arrows[a])));
    let above = 0;
    let below = 0;
    pulled.forEach((a, i) => {
      above += w[i] * det(arrows[a], c) ** 2;
      for (let j = 0; j < i; j++) below += w[i] * w[j] * det(arrows[a], arrows[pulled[j]]) ** 2;
    });
    if (below > (1e-14 * size) ** 2) return above / below;
    if (!pulled.length || !pulled.every((a) => parallel(arrows[a], c, TIE))) return Infinity;
    return dot(c, c) / size;
  }

  /** nL of simply running the policy, with the true weights of least squares: `pe_loss`. */
  function onPolicy(arrows, variances, policy) {
    return loss(arrows, variances, policy, direction(arrows, policy));
  }

  /**
   * Elfving's set, the convex hull of all ±x̃(a), and where the ray along c leaves it.
   *
   * @returns {{points: number[][], hull: number[][], exit: ?number[]}} `hull` holds the corners
   *   counter-clockwise (two if all arrows lie on one line); `exit` is c / ‖u‖₁, null for c = 0.
   */
  function elfving(arrows, variances, c) {
    const tilde = points(arrows, variances);
    const { norm } = optimal(arrows, variances, c);
    const exit = norm > 0 && norm < Infinity ? scaled(c, 1 / norm) : null;
    return { points: tilde, hull: hull(tilde.flatMap((x) => [x, scaled(x, -1)])), exit };
  }

  /** The corners of the convex hull, counter-clockwise (Andrew's monotone chains). */
  function hull(points) {
    const sorted = [...points].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
    const chain = (ordered) => {
      const kept = [];
      for (const p of ordered) {
        while (kept.length > 1 && !turnsLeft(kept[kept.length - 2], kept[kept.length - 1], p)) {
          kept.pop();
        }
        kept.push(p);
      }
      return kept.slice(0, -1);
    };
    return [...chain(sorted), ...chain(sorted.reverse())];
  }

  function turnsLeft(p, q, r) {
    const first = [q[0] - p[0], q[1] - p[1]];
    const second = [r[0] - p[0], r[1] - p[1]];
    return det(first, second) > 1e-12 * length(first) * length(second);
  }

  // --- what exploration sees ------------------------------------------------------------------

  /**
   * The matrices that exploration cannot distinguish from Σ, however long it lasts.
   *
   * Exploring x shows x'Σx and nothing else of Σ, which has three unknowns. Two arrows on
   * different lines are two looks at them: Σ + s N has the same variances for every s, with
   * N = pq' + qp' for p at a right angle to the one and q to the other. Noise has no negative
   * variance, which leaves the s with Σ + s N ⪰ 0, an interval: det(Σ + s N) is a parabola in s
   * that opens downwards, since det N < 0. Three lines leave nothing open; one line leaves a plane.
   *
   * @param {{Sigma: number[]}|{sigma: number[]}|number[]} noise the matrix; if a list of
   *   standard deviations is given, which need not come from a matrix, the fit of `believed` replaces it
   * @returns {{rank: number, free: ?number[], range: ?number[], base: number[]}} `rank`: looks out
   *   of 3, `identifiability(...).rank`; `free`: N with Frobenius norm 1 if there are two looks;
   *   `range`: [lo, hi] of s for the matrices base + s N; [0, 0] for rank 3, null for rank 0 or 1
   */
  function possible(arrows, explored, noise) {
    const found = looks(arrows, explored);
    const rank = Math.min(found.length, 3);
    const given = Array.isArray(noise) ? { Sigma: noise } : noise;
    const base = given.Sigma || fit(arrows, explored, variances(arrows, given), true).Sigma;
    if (rank !== 2) return { rank, free: null, range: rank === 3 ? [0, 0] : null, base };
    const p = turned(found[0].axis);
    const q = turned(found[1].axis);
    const N = [2 * p[0] * q[0], p[0] * q[1] + p[1] * q[0], 2 * p[1] * q[1]];
    const first = N[1] || N[0];
    const norm = Math.sign(first) * Math.sqrt(N[0] ** 2 + 2 * N[1] ** 2 + N[2] ** 2);
    const free = N.map((entry) => entry / norm);
    return { rank, free, range: interval(base, free), base };
  }

  /** The s with S + s N ⪰ 0, for S ⪰ 0 and det N < 0: between the roots of det(S + s N). */
  function interval(S, N) {
    const constant = Math.max(0, det([S[0], S[1]], [S[1], S[2]]));
    const half = (S[0] * N[2] + S[2] * N[0] - 2 * S[1] * N[1]) / 2;
    const lead = -det([N[0], N[1]], [N[1], N[2]]);
    // lead s² − 2 half s − constant ≤ 0: the root that does not cancel first, then Vieta's.
    const far = half + (half < 0 ? -1 : 1) * Math.sqrt(half * half + lead * constant);
    const roots = far ? [far / lead, -constant / far] : [0, 0];
    return roots.sort((s, t) => s - t).map((s) => s + 0);
  }

  // --- what a strategy does with it ------------------------------------------------------------

  /** The matrix fitted to exact variances of the explored arrows, and all variances it gives. */
  function fit(arrows, explored, variances, psd, tolerance = 1e-8) {
    const squares = explored.map((a) => (arrows[a][0] || arrows[a][1] ? variances[a] : 0));
    let Sigma = leastSquares(arrows, explored, squares);
    if (psd) Sigma = positive(arrows, explored, squares, Sigma, tolerance);
    const mean = sum(squares) / squares.length;
    return { Sigma, variances: arrows.map((x) => quadratic(Sigma, x)), mean };
  }

  /**
   * The limit of SPEED if it explores some arrows equally, for ever and without error.
   *
   * It finds the variances of the explored arrows, fits a matrix to them (of least norm, or
   * positive semidefinite), takes from it the variances of all arrows, raises those that are below
   * `floor` times the mean of the explored ones, and computes the optimal design for this
   * estimate. The loss of that design depends on the true variances.
   *
   * A list of standard deviations need not come from any matrix. SPEED still fits one, and so does
   * the library; `described` says whether there is a matrix that gives every arrow its variance.
   *
   * @param {{Sigma: number[]}|{sigma: number[]}|number[]} noise the truth
   * @returns {?{Sigma: number[], fitted: number[], variances: number[], raised: boolean[],
   *   design: Object, trueLoss: number, described: boolean}} `fitted` are x'Σ̂x, `variances` the
   *   same with the floor, `design` as `optimal` returns it, `trueLoss` its nL under the truth;
   *   null where no arrow is explored
   */
  function believed(arrows, explored, noise, c, psd, floor = FLOOR) {
    if (!explored.length) return null;
    const truth = variances(arrows, Array.isArray(noise) ? { Sigma: noise } : noise);
    const { Sigma, variances: fitted, mean } = fit(arrows, explored, truth, psd);
    const least = mean > 0 ? floor * mean : 1e-24;
    const used = fitted.map((v) => Math.max(v, least));
    const design = optimal(arrows, used, c);
    return {
      Sigma,
      fitted,
      variances: used,
      raised: fitted.map((v) => v < least),
      design,
      trueLoss: loss(arrows, truth, design.weights, c),
      described: isDescribed(arrows, truth),
    };
  }

  /** Whether a positive semidefinite matrix has these variances, those of arrows 0 aside. */
  function isDescribed(arrows, truth) {
    const all = arrows.map((_, a) => a);
    const { variances: fitted, mean } = fit(arrows, all, truth, true);
    return arrows.every((x, a) => {
      return (!x[0] && !x[1]) || Math.abs(fitted[a] - truth[a]) <= 1e-6 * mean;
    });
  }

  /**
   * ψ, the cost of estimating the variances: `speedlib.asymptotics.estimation_cost`.
   *
   * Exploration of Γ rounds finds σ̂(a) = σ(a)(1 + e(a)) and allocates by it. First-order errors
   * cancel, and the loss grows by the factor 1 + Var_p(e), with a drawn from the optimal design p.
   * The fitted variance of a is a linear function Σ_m L(a, m) s(m) of the mean squared residuals,
   * which have variance κ σ⁴(m) / (Γ q(m)), and e(a) is half the relative error of it. Hence
   *
   *     v = κ/4 Σ_m σ⁴(m)/q(m) · Var_p( L(a, m) / σ²(a) ).
   *
   * Infinity where exploration leaves open the variance of an arrow that the design uses.
   *
   * @param {number[]} design the optimal weights p
   * @param {number[]} explored the arrows explored, equally often: q(m) = 1 / their number
   * @param {number} kappa Var(η²)/σ⁴: 2 for Gaussian noise
   */
  function estimationCost(arrows, variances, design, explored, kappa = 2) {
    const found = looks(arrows, explored);
    const seen = (x) => found.length > 2 || found.some(({ axis }) => parallel(axis, x, SAME_LOOK));
    const used = design.flatMap((share, a) =>
      share > 0 && (arrows[a][0] || arrows[a][1]) ? [a] : [],
    );
    if (!used.every((a) => seen(arrows[a]))) return Infinity;
    return (
      (kappa / 4) *
      explored.length *
      sum(
        explored.map((m) => {
          const S = leastSquares(
            arrows,
            explored,
            explored.map((a) => (a === m ? 1 : 0)),
          );
          const error = used.map((a) => quadratic(S, arrows[a]) / variances[a]);
          const mean = sum(used.map((a, i) => design[a] * error[i]));
          const spread = sum(used.map((a, i) => design[a] * (error[i] - mean) ** 2));
          return variances[m] ** 2 * spread;
        }),
      )
    );
  }

  /** S² (Γ/n² + ψ/(nΓ)), the regret to first order: what Γ rounds waste, and what they teach. */
  const regret = (S2, v, n, Gamma) => S2 * (Gamma / (n * n) + v / (n * Gamma));

  /** Γ* = √(ψ n), which makes it least: `speedlib.asymptotics.best_exploration_length`. */
  const bestLength = (v, n) => Math.sqrt(v * n);

  return {
    FLOOR,
    direction,
    variances,
    points,
    optimal,
    loss,
    onPolicy,
    elfving,
    possible,
    believed,
    estimationCost,
    regret,
    bestLength,
    quadratic,
    fit,
  };
})();
