// Describes the pictures in sentences.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const COUNTS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight"];

  const percent = (share) => `${Math.round(100 * share)} %`;
  const capital = (text) => text[0].toUpperCase() + text.slice(1);

  function decimals(value, digits = 3) {
    if (!Number.isFinite(value)) return "∞";
    const size = Math.abs(value);
    if (size >= 1e6) return value.toExponential(1).replace("e+", " × 10^");
    if (size >= 100) return Math.round(value).toLocaleString("en-GB");
    if (size >= 10) return value.toFixed(1);
    return size >= 1 || size === 0 ? value.toFixed(2) : value.toPrecision(digits);
  }

  // "2.3": with as few decimals as needed.
  function times(ratio) {
    if (ratio >= 9.95) return Math.round(ratio).toLocaleString("en-GB");
    return ratio.toFixed(ratio < 1.095 ? 2 : 1);
  }

  function listed(words) {
    return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
  }

  const NOTHING = "The policy’s average arrow is zero, so there is nothing to estimate.";

  function price(model) {
    if (model.best.value === 0) return NOTHING;
    if (!Number.isFinite(model.ratio)) return "Running the policy never determines its value.";
    if (model.ratio < 1.005) return "The policy is as good as the best design.";
    return `The policy needs ${times(model.ratio)} times as many rounds as the best design.`;
  }

  function design(model) {
    const { best, state } = model;
    if (best.value === 0) {
      return `${NOTHING} Move a bar or an arrow.`;
    }
    if (!Number.isFinite(best.value)) {
      return "All arrows lie on one line, but the policy’s average does not, so no design determines its value.";
    }
    const used = model.chosen.flatMap((chosen, a) => (chosen ? [a] : []));
    const count = `${capital(COUNTS[used.length])} of the ${COUNTS[state.arrows.length]} actions`;
    const shares = used.map((a, i) => `action ${a + 1} in ${percent(best.weights[a])}${i ? "" : " of the rounds"}`);
    const enough = used.length === 1 ? `${count} is enough: action ${used[0] + 1}.` : `${count} are enough: ${listed(shares)}.`;
    return best.unique ? enough : `${enough} Other designs are as good.`;
  }

  const LOOKS = [
    "Exploration learns nothing about the noise.",
    "One look at three unknowns: exploration never determines Σ, however long it lasts.",
    "Two looks at three unknowns: exploration never determines Σ, however long it lasts. " +
      "Every thin ellipse fits the results.",
    "Three looks at three unknowns: exploration determines Σ. Only one ellipse fits.",
  ];

  function loss(model) {
    const { seen } = model;
    if (model.best.value === 0) return NOTHING;
    if (!Number.isFinite(seen.excess)) return "The design from this estimate never determines the policy’s value.";
    if (seen.agrees) {
      const a = model.best.unique ? "the" : "a";
      return seen.rank < 3
        ? `Here the estimate still happens to lead to ${a} best design.`
        : `The design from this estimate is ${a} best one.`;
    }
    if (seen.excess < 5e-3) return "The design from this estimate needs less than 0.5 % more rounds than the best design.";
    return `The design from this estimate needs ${times(1 + seen.excess)} times as many rounds as the best design.`;
  }

  function explore(model) {
    const { seen, state } = model;
    const said = [LOOKS[seen.rank]];
    if (!state.noise.Sigma && !seen.described) {
      said[0] = "Each arrow has a noise of its own, which no Σ describes; a Σ is fitted anyway.";
    }
    if (seen.indefinite) said.push("The estimate is not an ellipse: some estimated variances are negative, and are raised to a floor.");
    if (model.best.value === 0) said.push(NOTHING);
    return said.join(" ");
  }

  function length(model, values) {
    const { seen, state } = model;
    if (model.best.value === 0) return "There is no curve: with nothing to estimate, every Γ is as good as any other.";
    if (!seen.settles) {
      return seen.rank < 3 && !seen.agrees
        ? "No Γ helps: this part of the regret stays, however long exploration lasts."
        : "The formula of this curve does not hold here, so do not read the regret off it.";
    }
    const factor = values.now / values.least;
    const far = factor < 1.005 ? "the least regret" : `${times(factor)} times the least regret`;
    const whole = (value) => Math.round(value).toLocaleString("en-GB");
    const said = `Γ = ${whole(state.Gamma)} gives ${far}.`;
    if (values.found === values.best) return `${said} The best length is √(ψn) = ${whole(values.best)}.`;
    if (values.best > values.high) return `${said} √(ψn) exceeds the possible lengths, so Γ = ${whole(values.found)} is best.`;
    const why = seen.cost < 1e-12 ? "Estimation costs nothing (ψ = 0)" : "√(ψn) is below the shortest exploration";
    return `${said} ${why}, so the shortest, Γ = ${whole(values.found)}, is best.`;
  }

  const DESIGN_KEY = {
    arrow: "An arrow is an action: its direction and length say what a pull of it measures. Drag its ring.",
    noise: {
      Sigma:
        "The dashed ellipse is the noise Σ. Divide an arrow by its noise σ: it then ends on this ellipse, at a small " +
        "circle. Drag a diamond: where the ellipse is narrow, the noise is large.",
      sigma:
        "Each action has a noise σ of its own. Divided by σ, its arrow ends at the diamond or at the diamond’s mirror image. " +
        "Drag the diamond: the nearer to the middle, the larger the noise.",
    },
    set: "Elfving’s set is the smallest convex shape with the ends of all arrows, each divided by its noise, and their mirror images (an action may count with a minus).",
    policy: "The red arrow c is the average of the arrows under the policy. The line along it leaves Elfving’s set at the exit. The corners at the two ends of this edge are the actions to try.",
    tangent: "The dotted tangent is the proof: no scaled arrow lies beyond it, so no design is better.",
    "": "Error × rounds is nL: n times the mean squared error after n rounds. A design with twice this number needs twice as many rounds.",
  };
  const EXPLORE_KEY = {
    true: {
      Sigma: "The dashed ellipse is the true noise Σ. Divide an arrow by its noise σ: it then ends on this ellipse.",
      sigma: "Each action has a noise σ of its own: the small circles are the arrows divided by it.",
    },
    possible:
      "Exploration finds the filled points: the ends of the ticked arrows, divided by their noise. Each thin ellipse " +
      "passes through these points, so it remains possible.",
    believed:
      "The green curve is the estimate: the fit of least norm or, with Σ ⪰ 0, a positive semidefinite fit. Without Σ ⪰ 0 " +
      "it need not be an ellipse.",
    "":
      "Green bars are the design from the estimate, blue bars the best design. Estimated variances below 1 % of the average " +
      "are raised to this floor.",
    " ":
      "The curve is S²(Γ/n² + ψ/(nΓ)), the regret to first order: Γ rounds of exploration are lost, and ψ is the cost of " +
      "estimating the noise from them.",
  };

  // Pairs of a sign and its meaning.
  function key({ tab, noise }) {
    const kind = noise.Sigma ? "Sigma" : "sigma";
    return Object.entries(tab === "design" ? DESIGN_KEY : EXPLORE_KEY).map(([sign, text]) => [
      sign.trim() ? `sbx-swatch-${sign}` : "",
      text[kind] ?? text,
    ]);
  }

  EXPLORER.words = { percent, decimals, times, price, design, explore, loss, length, key };
})(typeof globalThis === "undefined" ? this : globalThis);
