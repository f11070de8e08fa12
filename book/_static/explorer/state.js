/* global SpeedPresets */
// What the explorer is set to, as a plain object; its way into the address and back.
//
//   #explorer?preset=unit-ball&tab=explore&arrow=0:1.2,0.4&explored=0,1&n=1000&Gamma=30&psd=0&answers=hidden
//
// Before the question mark stands the name of the figure ("explorer" for the only one of a page). What the address
// does not name is as in the preset. Actions are counted from 0, as in speedlib; numbers have up to three decimals.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const LEAST_ARROWS = 3;
  const MOST_ARROWS = 8;
  const LIMITS = {
    coordinate: [-5, 5],
    // Half axes of the ellipse are 1 / σ.
    axis: [0.2, 5],
    loudness: [0.05, 20],
    // Shares of a link need not sum to 1.
    share: [0, 1e6],
    n: [10, 1e7],
  };

  const clamp = (value, [low, high]) => Math.min(high, Math.max(low, value));
  const round = (value) => Math.round(value * 1000) / 1000;
  const clone = (state) => JSON.parse(JSON.stringify(state));
  const alike = (a, b) =>
    a.length === b.length && a.every((value, i) => Math.abs(value - b[i]) < 5e-4);

  // A link may name what every object inherits ("constructor"): that is no preset.
  function presetId(id) {
    return Object.hasOwn(SpeedPresets, id) ? id : Object.keys(SpeedPresets)[0];
  }

  const preset = (id) => SpeedPresets[presetId(id)];

  function initial(id, tab) {
    const state = clone(preset(id).state);
    state.tab = tab || state.tab || "design";
    return clean(state);
  }

  // Γ is between one round for each explored action and nine tenths of all.
  function span({ explored, n }) {
    const low = Math.max(2, explored.length);
    return [low, Math.max(low + 1, Math.floor(0.9 * n))];
  }

  // Whatever a link says, what comes out can be drawn.
  function clean(state) {
    const count = state.arrows.length;
    state.arrows = state.arrows.map((arrow) => {
      const [x, y] = arrow.map((value) => clamp(value, LIMITS.coordinate));
      return Math.hypot(x, y) < 0.02 ? [0.02, 0] : [x, y];
    });
    const policy = Array.from({ length: count }, (_, a) => clamp(state.policy[a] || 0, LIMITS.share));
    const total = policy.reduce((sum, share) => sum + share, 0);
    if (total < 1e-6) state.policy = policy.map(() => 1 / count);
    // A sum of 1 but for rounding stays as it is.
    else state.policy = Math.abs(total - 1) > 1e-9 ? policy.map((share) => share / total) : policy;
    if (state.noise.sigma) {
      const sigma = Array.from({ length: count }, (_, a) => state.noise.sigma[a] || 1);
      state.noise = { sigma: sigma.map((value) => clamp(value, LIMITS.loudness)) };
    }
    const explored = new Set(state.explored.filter((a) => Number.isInteger(a) && a >= 0 && a < count));
    state.explored = [...explored].sort((a, b) => a - b);
    if (!state.explored.length) state.explored = [0];
    state.n = clamp(Math.round(state.n), LIMITS.n);
    state.Gamma = clamp(Math.round(state.Gamma), span(state));
    state.psd = Boolean(state.psd);
    return state;
  }

  // Is this a Σ that can be drawn: no negative square, and the largest one that of a noise within its limits?
  function isNoise([a, b, c]) {
    const middle = (a + c) / 2;
    const half = Math.hypot((a - c) / 2, b);
    const [low, high] = LIMITS.loudness;
    return middle + half >= low ** 2 && middle + half <= high ** 2 && middle - half >= -1e-9 * middle;
  }

  const text = (value) => String(round(value));
  const list = (values) => values.map(text).join(",");

  function encode(state, id) {
    const base = initial(id, state.tab);
    const said = [`preset=${id}`, `tab=${state.tab}`];
    if (state.arrows.length === base.arrows.length) {
      const moved = state.arrows.flatMap((arrow, a) =>
        alike(arrow, base.arrows[a]) ? [] : [`${a}:${list(arrow)}`],
      );
      if (moved.length) said.push(`arrow=${moved.join(";")}`);
    } else {
      said.push(`arrows=${state.arrows.map(list).join(";")}`);
    }
    const kind = state.noise.Sigma ? "Sigma" : "sigma";
    if (!base.noise[kind] || !alike(state.noise[kind], base.noise[kind])) {
      // Of an ellipse as many digits as it has: see fromAxes.
      const { Sigma, sigma } = state.noise;
      const digits = (value) => String(Number(value.toPrecision(12)));
      said.push(Sigma ? `ellipse=${Sigma.map(digits).join(",")}` : `loudness=${list(sigma)}`);
    }
    if (!alike(state.policy, base.policy)) said.push(`policy=${list(state.policy)}`);
    if (!alike(state.explored, base.explored)) said.push(`explored=${list(state.explored)}`);
    if (state.n !== base.n) said.push(`n=${state.n}`);
    if (state.Gamma !== base.Gamma) said.push(`Gamma=${state.Gamma}`);
    if (state.psd !== base.psd) said.push(`psd=${state.psd ? 1 : 0}`);
    return said.join("&");
  }

  function numbers(said) {
    const found = said.split(",").map(Number);
    return said && found.every(Number.isFinite) ? found : null;
  }

  const pair = (said) => {
    const found = numbers(said);
    return found && found.length === 2 ? found : null;
  };

  // {id, state, hidden, projected}: the preset and what becomes of it, whether the answers are hidden, and whether the
  // explorer is alone in its window. What cannot be understood is passed over.
  function decode(query, defaultId, defaultTab) {
    const said = Object.create(null);
    for (const part of query.split("&")) {
      const [key, ...value] = part.split("=");
      let decoded = value.join("=");
      try {
        decoded = decodeURIComponent(decoded);
      } catch {
        continue;
      }
      said[key] = said[key] && key === "arrow" ? `${said[key]};${decoded}` : decoded;
    }
    const id = presetId(said.preset || defaultId);
    const state = initial(id, ["design", "explore"].includes(said.tab) ? said.tab : defaultTab);
    if (said.arrows) {
      const arrows = said.arrows.split(";").map(pair);
      const few = arrows.length >= LEAST_ARROWS && arrows.length <= MOST_ARROWS;
      if (few && arrows.every(Boolean)) state.arrows = arrows;
    }
    for (const each of (said.arrow || "").split(";")) {
      const [index, place] = each.split(":");
      const arrow = place && pair(place);
      if (arrow && /^\d+$/.test(index) && Number(index) in state.arrows) state.arrows[Number(index)] = arrow;
    }
    const ellipse = said.ellipse && numbers(said.ellipse);
    if (ellipse && ellipse.length === 3 && isNoise(ellipse)) state.noise = { Sigma: ellipse };
    const loudness = said.loudness && numbers(said.loudness);
    if (loudness && loudness.every((value) => value > 0)) state.noise = { sigma: loudness };
    for (const key of ["policy", "explored"]) {
      const found = said[key] && numbers(said[key]);
      if (found) state[key] = found;
    }
    for (const key of ["n", "Gamma"]) {
      if (said[key] && Number(said[key]) >= 1) state[key] = Number(said[key]);
    }
    if (said.psd) state.psd = said.psd !== "0" && said.psd !== "false";
    const hidden = said.answers === "hidden";
    return { id, state: clean(state), hidden, projected: said.view === "projector" };
  }

  // One share is set; the others keep their proportions and the sum stays 1, to three decimals: each of the others
  // has the thousandths below its own, and those that are left over go to the largest remainders.
  function withShare(policy, action, wanted) {
    const own = Math.round(1000 * clamp(wanted, [0, 1]));
    const rest = policy.reduce((sum, value, a) => (a === action ? sum : sum + value), 0);
    const others = policy.length - 1;
    const exact = policy.map((value, a) => (a === action ? own : (1000 - own) * (rest > 1e-9 ? value / rest : 1 / others)));
    // A thousandth that is one but for rounding counts as whole.
    const parts = exact.map((value) => Math.floor(value + 1e-9));
    const over = 1000 - parts.reduce((sum, value) => sum + value, 0);
    const order = parts.map((_, a) => a).filter((a) => a !== action);
    order.sort((a, b) => exact[b] - parts[b] - (exact[a] - parts[a]));
    for (const a of order.slice(0, over)) parts[a] += 1;
    return parts.map((value) => value / 1000);
  }

  // Half axes and directions of {z : z'Σz = 1}; the first has the angle that is given back.
  function axes([a, b, c]) {
    const middle = (a + c) / 2;
    const half = Math.hypot((a - c) / 2, b);
    const angle = 0.5 * Math.atan2(2 * b, a - c); // of the larger eigenvalue, the shorter axis
    const least = Math.max(middle - half, 1e-9);
    return { angle, short: 1 / Math.sqrt(middle + half), long: 1 / Math.sqrt(least) };
  }

  // Three decimals, unless an axis is longer than a handle makes it: rounding would give that axis another length, or
  // make a square negative.
  function fromAxes(angle, along, across) {
    const [l, m] = [along, across].map((axis) => 1 / axis ** 2);
    const [x, y] = [Math.cos(angle), Math.sin(angle)];
    const Sigma = [l * x * x + m * y * y, (l - m) * x * y, l * y * y + m * x * x];
    return Math.max(along, across) > LIMITS.axis[1] ? Sigma : Sigma.map(round);
  }

  EXPLORER.state = {
    LEAST_ARROWS, MOST_ARROWS, LIMITS,
    clamp, round, clone, preset, presetId, initial, clean, span, encode, decode,
    withShare, axes, fromAxes,
  };
})(typeof globalThis === "undefined" ? this : globalThis);
