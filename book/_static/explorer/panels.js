/* global d3, SpeedExplorer, SpeedMathematics */
// Next to and below the plane: a row for each action with its bars, and the curve over the length of exploration.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const { clamp, span, withShare } = EXPLORER.state;
  const { makeHandles, describe } = EXPLORER.handles;
  const { percent, decimals, length } = EXPLORER.words;

  // Rows ------------------------------------------------------------------------------------------

  function Rows(host, hooks) {
    this.hooks = hooks;
    this.head = d3.select(host).append("div").attr("class", "sbx-head");
    this.box = d3.select(host).append("div").attr("class", "sbx-rows");
  }

  function makeRow(row, hooks) {
    const check = row.append("label").attr("class", "sbx-check");
    check
      .append("input")
      .attr("type", "checkbox")
      .on("change", function (event, d) {
        hooks.explore(d.a, this.checked);
      });
    check.append("span").attr("class", "sbx-name");
    const bars = row.append("div").attr("class", "sbx-bars");
    for (const name of ["first", "second"]) {
      const track = bars.append("div").attr("class", `sbx-track sbx-${name}`);
      track.append("div").attr("class", "sbx-fill");
    }
    bars.select(".sbx-first").append("div").attr("class", "sbx-knob sbx-handle-html");
    const shares = row.append("div").attr("class", "sbx-shares");
    shares.append("span").attr("class", "sbx-share-first");
    shares.append("span").attr("class", "sbx-share-second");
    const sigma = row.append("div").attr("class", "sbx-sigma");
    sigma.append("span").attr("class", "sbx-sigma-true");
    sigma.append("span").attr("class", "sbx-sigma-believed");
  }

  function head(design, concealed) {
    const word = (name, text) => `<span class="sbx-${name}-word">${text}</span>`;
    const first = design ? [`${word("policy", "policy")} (drag)`] : [word("best", "best"), word("believed", "estimated")];
    if (design && !concealed) first.push(word("best", "best"));
    const bars = concealed && !design ? ["", ""] : [first.join(", "), "share"];
    return [design ? "" : "explore", ...bars, "noise σ"].map((text) => `<span>${text}</span>`).join("");
  }

  Rows.prototype.render = function (model) {
    const design = model.state.tab === "design";
    const kind = `${model.state.tab} ${Boolean(model.concealed)}`;
    if (this.kind !== kind) {
      this.kind = kind;
      this.head.attr("class", `sbx-row sbx-head ${design ? "sbx-design" : ""}`).html(head(design, model.concealed));
    }
    const data = model.state.arrows.map((_, a) => ({
      a,
      first: design ? model.state.policy[a] : model.best.weights[a],
      second: design ? model.best.weights[a] : model.seen.weights[a],
      sigma: Math.sqrt(model.variances[a]),
      believed: design || model.concealed ? null : Math.sqrt(model.seen.variances[a]),
    }));
    const specify = (d) => this.knob(d);
    const rows = this.box
      .selectAll(".sbx-action")
      .data(data, (d) => d.a)
      .join((enter) => {
        const row = enter.append("div").attr("class", "sbx-row sbx-action");
        makeRow(row, this.hooks);
        makeHandles(row.select(".sbx-knob"), (knob) => knob.parentNode, specify, this.hooks);
        return row;
      });
    rows.classed("sbx-design", design);
    rows.select("input").property("checked", (d) => model.state.explored.includes(d.a));
    rows.select("input").attr("aria-label", (d) => `Explore action ${d.a + 1}`);
    rows.select(".sbx-name").text((d) => d.a + 1);
    for (const name of ["first", "second"]) {
      rows.select(`.sbx-${name} .sbx-fill`).style("width", (d) => `${100 * d[name]}%`);
      rows.select(`.sbx-share-${name}`).text((d) => (d[name] === null ? "" : percent(d[name])));
    }
    rows.select(".sbx-knob").style("left", (d) => `${100 * d.first}%`);
    const wrong = (d) => d.believed !== null && Math.abs(d.believed / d.sigma - 1) >= 5e-3;
    rows.select(".sbx-sigma-true").text((d) => decimals(d.sigma, 2));
    rows.select(".sbx-sigma-believed").text((d) => (wrong(d) ? decimals(d.believed, 2) : ""));
    if (design) describe(rows.select(".sbx-knob"), specify);
  };

  Rows.prototype.knob = function (datum) {
    const state = this.hooks.state();
    const share = state.policy[datum.a];
    const knob = this.box.selectAll(".sbx-knob").filter((d) => d.a === datum.a);
    const width = () => knob.node().parentNode.getBoundingClientRect().width;
    // While one bar moves, the others keep their first proportions, which rounding or a bar at 100 % would lose.
    const set = (value) => {
      if (this.base?.a !== datum.a || this.base.policy !== state.policy) this.base = { a: datum.a, first: state.policy };
      state.policy = this.base.policy = withShare(this.base.first, datum.a, value);
      this.hooks.touched(datum.a);
    };
    return {
      label: `The policy’s share of action ${datum.a + 1}`,
      text: percent(share),
      now: Math.round(1000 * share) / 10, min: 0, max: 100,
      at: () => [share * width(), 0],
      to: (x) => set(x / width()),
      by: (dx, dy) => set(share + 0.01 * (dx + dy)),
      end: (which) => set(which < 0 ? 0 : 1),
    };
  };

  // Curve -----------------------------------------------------------------------------------------

  const SPACE = { top: 26, right: 14, bottom: 40, left: 52 };

  function Curve(host, hooks) {
    this.hooks = hooks;
    this.svg = d3.select(host).append("svg").attr("class", "sbx-curve-plot").attr("role", "group");
    this.svg.attr("aria-label", "Regret over the length of exploration");
    this.x = this.svg.append("g").attr("class", "sbx-scale").attr("aria-hidden", "true");
    this.y = this.svg.append("g").attr("class", "sbx-scale").attr("aria-hidden", "true");
    this.ink = this.svg.append("g").attr("aria-hidden", "true");
    this.top = this.svg.append("g");
    this.size = [0, 0];
  }

  Curve.prototype.resize = function (wide, high, enlarged = 1) {
    const [width, height] = (this.size = [wide / enlarged, high / enlarged]);
    this.svg.attr("width", wide).attr("height", high).attr("viewBox", `0 0 ${width} ${height}`);
  };

  function values(model) {
    const { state, seen, best } = model;
    const at = (Gamma) =>
      seen.settles
        ? SpeedMathematics.regret(best.value, seen.cost, state.n, Gamma)
        : (best.value * Gamma) / state.n ** 2 + (seen.trueLoss - best.value) / state.n;
    const [low, high] = span(state);
    const optimum = seen.settles ? SpeedMathematics.bestLength(seen.cost, state.n) : low;
    const Gamma = state.Gamma;
    const found = clamp(optimum, [low, high]);
    return { at, low, high, Gamma, best: optimum, now: at(Gamma), least: at(found), found };
  }

  const power = (value) => {
    const digits = [...String(Math.round(Math.log10(value)))];
    return `10${digits.map((digit) => (digit === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)])).join("")}`;
  };
  const short = (value) => {
    const lead = Number(value.toPrecision(1)) / 10 ** Math.floor(Math.log10(value) + 1e-9);
    const whole = power(10 ** Math.floor(Math.log10(value) + 1e-9));
    return Math.round(lead) === 1 ? whole : `${Math.round(lead)}·${whole}`;
  };
  const isPower = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;

  Curve.prototype.render = function (model) {
    const [width, height] = this.size;
    const shown = values(model);
    const drawn = model.best.value > 0 && Number.isFinite(shown.now) && shown.now > 0;
    const x = d3.scaleLog([shown.low, shown.high], [SPACE.left, width - SPACE.right]);
    const ends = drawn ? [shown.at(shown.low), shown.at(shown.high), shown.least] : [1e-3, 1e-1];
    const y = d3.scaleLog([Math.min(...ends) / 2.5, Math.max(...ends) * 2], [height - SPACE.bottom, SPACE.top]);
    Object.assign(this, { scale: x, span: [shown.low, shown.high] });
    // Powers of ten; if there is only one, also 2 and 5 times powers of ten.
    const ticks = (scale) => {
      const powers = scale.ticks().filter(isPower);
      return powers.length > 1 ? powers : scale.ticks().filter((value) => [1, 2, 5].includes(Number(String(value.toExponential(0))[0])));
    };
    this.x
      .attr("transform", `translate(0,${height - SPACE.bottom})`)
      .call(d3.axisBottom(x).tickValues(ticks(x)).tickFormat(short).tickSizeOuter(0));
    this.y
      .attr("transform", `translate(${SPACE.left},0)`)
      .call(d3.axisLeft(y).tickValues(ticks(y)).tickFormat(short).tickSize(-(width - SPACE.left - SPACE.right)));
    const grid = d3.range(0, 81).map((i) => shown.low * (shown.high / shown.low) ** (i / 80));
    const line = drawn ? d3.line()(grid.map((Gamma) => [x(Gamma), y(shown.at(Gamma))])) : null;
    this.ink.selectAll(".sbx-regret").data(drawn ? [line] : []).join("path")
      .attr("class", `sbx-regret ${model.seen.settles ? "" : "sbx-stays"}`)
      .attr("d", (d) => d);
    const marks = drawn && model.seen.settles ? [shown.found] : [];
    this.ink.selectAll(".sbx-mark").data(marks).join("path").attr("class", "sbx-mark")
      .attr("d", (Gamma) => `M${x(Gamma)},${y(shown.least)}V${height - SPACE.bottom}`);
    const words = [
      { text: "regret, to first order", x: 4, y: 14, anchor: "start" },
      { text: "rounds of exploration Γ", x: width - SPACE.right, y: height - 6, anchor: "end" },
    ];
    if (marks.length && shown.found === shown.best) {
      const right = x(shown.found) < width * 0.7;
      words.push({
        text: "√(ψn)", strong: true, x: x(shown.found) + (right ? 6 : -6),
        y: height - SPACE.bottom - 7, anchor: right ? "start" : "end",
      });
    }
    this.ink.selectAll("text").data(words).join("text")
      .attr("class", (d) => (d.strong ? "sbx-strong" : "sbx-muted-word"))
      .attr("x", (d) => d.x).attr("y", (d) => d.y)
      .attr("text-anchor", (d) => d.anchor)
      .text((d) => d.text);
    this.handle(drawn ? [{ name: "Gamma", at: [x(shown.Gamma), y(shown.now)], said: length(model, shown) }] : []);
  };

  Curve.prototype.handle = function (data) {
    const specify = (datum) => {
      const state = this.hooks.state();
      const set = (Gamma) => {
        state.Gamma = Math.round(clamp(Gamma, this.span));
        this.hooks.touched(null);
      };
      const now = state.Gamma;
      return {
        label: "Rounds of exploration, Γ",
        text: datum.said,
        now, min: this.span[0], max: this.span[1],
        at: () => datum.at,
        to: (px) => set(this.scale.invert(px)),
        by: (dx, dy) => {
          const steps = dx + dy;
          const next = now * 1.05 ** steps;
          set(Math.abs(next - now) < 1 ? now + Math.sign(steps) : next);
        },
        end: (which) => set(this.span[which < 0 ? 0 : 1]),
      };
    };
    const all = this.top
      .selectAll(".sbx-handle")
      .data(data, (d) => d.name)
      .join((enter) => {
        const group = enter.append("g").attr("class", "sbx-handle sbx-green");
        group.append("circle").attr("class", "sbx-hit").attr("r", 20);
        group.append("circle").attr("class", "sbx-focus").attr("r", 12);
        group.append("circle").attr("class", "sbx-grip").attr("r", 7);
        makeHandles(group, () => this.svg.node(), specify, this.hooks);
        return group;
      })
      .attr("transform", (d) => `translate(${d.at[0]},${d.at[1]})`);
    describe(all, specify);
  };

  EXPLORER.Rows = Rows;
  EXPLORER.Curve = Curve;
  EXPLORER.curveValues = values;
})(typeof globalThis === "undefined" ? this : globalThis);
