/* global SpeedExplorer, SpeedPresets, SpeedMathematics */
// The interactive picture of the book: made in the place of every figure of class sb-explorer.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const { LEAST_ARROWS, MOST_ARROWS, LIMITS, clamp, round, span, initial, presetId } = EXPLORER.state;
  const { words } = EXPLORER;
  const { TABS, Controls, element } = EXPLORER.controls;
  const { GIVEN, conceal, Answers } = EXPLORER.answers;
  const QUIET = 600; // milliseconds without a change before the numbers are spoken
  const ADDRESS = 150; // and before the address follows
  let made = 0;

  function Explorer(root) {
    this.root = root;
    this.number = made += 1;
    this.figure = root.closest("figure") || root;
    this.full = root.dataset.height !== "half";
    this.first = { id: presetId(root.dataset.preset), tab: root.dataset.tab || "design" };
    this.id = this.first.id;
    this.state = initial(this.id, this.first.tab);
    this.last = null;
    this.held = false;
    this.hidden = this.projected = false;
    this.build();
    this.fromAddress(false);
    const observer = new ResizeObserver(() => this.resize());
    for (const each of [this.box, this.stage]) observer.observe(each);
    this.resize();
  }

  Object.assign(Explorer.prototype, Controls, EXPLORER.address, Answers, EXPLORER.projector);

  // The functions that the handles call.
  Explorer.prototype.hooks = function () {
    return {
      state: () => this.state,
      touched: (a) => {
        this.last = a === null ? this.last : a;
      },
      changed: (settled) => this.changed(settled),
      remove: (a) => this.remove(a),
      explore: (a, ticked) => {
        const others = this.state.explored.filter((each) => each !== a);
        if (ticked) others.push(a);
        if (others.length) this.state.explored = others.sort((p, q) => p - q);
        this.changed(true);
      },
    };
  };

  // Changing ----------------------------------------------------------------------------------------

  Explorer.prototype.show = function (tab) {
    this.state.tab = tab;
    this.changed(true);
  };

  Explorer.prototype.restart = function (state, noted = true) {
    this.state = state;
    this.last = null;
    this.plane.extent = null;
    this.plane.axes = null;
    this.changed(true, noted);
  };

  Explorer.prototype.add = function () {
    const { arrows, policy, noise } = this.state;
    if (arrows.length >= MOST_ARROWS) return;
    // In the middle of the widest gap between the lines of the arrows, as long as they are on average.
    const angles = arrows.map(([x, y]) => (Math.atan2(y, x) + 2 * Math.PI) % Math.PI).sort((a, b) => a - b);
    const gaps = angles.map((angle, i) => (angles[i + 1] ?? angles[0] + Math.PI) - angle);
    const widest = gaps.indexOf(Math.max(...gaps));
    const angle = angles[widest] + gaps[widest] / 2;
    const size = arrows.reduce((sum, arrow) => sum + Math.hypot(...arrow), 0) / arrows.length;
    arrows.push([round(size * Math.cos(angle)), round(size * Math.sin(angle))]);
    this.state.policy = [...policy, 0];
    if (noise.sigma) noise.sigma.push(1);
    this.last = arrows.length - 1;
    this.changed(true);
  };

  Explorer.prototype.remove = function (a) {
    const { state } = this;
    if (state.arrows.length <= LEAST_ARROWS) return;
    state.arrows.splice(a, 1);
    if (state.noise.sigma) state.noise.sigma.splice(a, 1);
    const policy = state.policy.filter((_, b) => b !== a);
    const rest = policy.reduce((sum, share) => sum + share, 0);
    state.policy = EXPLORER.state.withShare(policy, 0, rest > 0 ? policy[0] / rest : 1 / policy.length);
    state.explored = state.explored.filter((b) => b !== a).map((b) => (b > a ? b - 1 : b));
    if (!state.explored.length) state.explored = [0];
    this.last = null;
    this.changed(true);
  };

  Explorer.prototype.switchNoise = function (each) {
    const { arrows, noise } = this.state;
    const variances = SpeedMathematics.variances(arrows, noise);
    if (each) {
      this.state.noise = { sigma: variances.map((value) => clamp(round(Math.sqrt(value)), LIMITS.loudness)) };
    } else {
      const all = arrows.map((_, a) => a);
      const [a, b, d] = SpeedMathematics.fit(arrows, all, variances, true).Sigma;
      const { angle, short, long } = EXPLORER.state.axes([a, b, d]);
      this.state.noise = { Sigma: EXPLORER.state.fromAxes(angle, clamp(short, LIMITS.axis), clamp(long, LIMITS.axis)) };
    }
    this.changed(true);
  };

  // Called after every change. `settled`: no handle is held any more.
  Explorer.prototype.changed = function (settled, noted = true) {
    this.held = !settled;
    // The explored actions and the rounds limit Γ.
    this.state.Gamma = clamp(this.state.Gamma, span(this.state));
    this.render();
    clearTimeout(this.later);
    if (noted) this.later = setTimeout(() => this.toAddress(), ADDRESS);
    clearTimeout(this.spoken);
    this.spoken = setTimeout(() => this.speak(), QUIET);
  };

  Explorer.prototype.speak = function () {
    const { state, model } = this;
    if (this.hidden) this.live.textContent = "The answers are hidden.";
    else this.live.textContent = state.tab === "design" ? words.price(model) : words.loss(model);
  };

  // Drawing -----------------------------------------------------------------------------------------

  Explorer.prototype.resize = function () {
    const width = Math.floor(this.stage.clientWidth);
    if (!width) return;
    const enlarged = this.enlarged();
    this.plane.resize(width, this.projected ? this.stage.clientHeight : this.height(width), enlarged);
    const across = this.projected ? width : Math.floor(this.panel.clientWidth);
    if (this.curve) this.curve.resize(across, (this.projected ? 192 : 220) * enlarged, enlarged);
    this.render();
  };

  // On a phone, the bars are in sight with the plane.
  Explorer.prototype.height = function (width) {
    const most = this.full ? 440 : 290;
    const share = this.full && width > 420 ? 0.88 : 0.72;
    return Math.max(230, Math.min(most, Math.round(width * share)));
  };

  Explorer.prototype.render = function () {
    const { state } = this;
    const design = state.tab === "design";
    if (this.box.dataset.tab !== state.tab) this.showTab();
    const kind = `${state.tab} ${Object.keys(state.noise)} ${this.hidden}`;
    if (this.kind !== kind) {
      this.kind = kind;
      this.explain();
    }
    const model = (this.model = EXPLORER.derive(state));
    const shown = this.hidden ? conceal(model) : model;
    if (this.plane.size[0]) this.plane.render(shown, this.held);
    this.rows.render(shown);
    if (this.hidden) this.sayNothing();
    else this.say(model, design);
    this.settings(design);
  };

  Explorer.prototype.settings = function (design) {
    const { state } = this;
    if (this.menu.value !== this.id) this.menu.value = this.id;
    this.psd.checked = state.psd;
    if (!this.full) return;
    const noted = `${this.id} ${state.tab}`;
    if (this.noted !== noted && !this.hidden) {
      this.noted = noted;
      const { note, try: wish, tryTab = "design" } = SpeedPresets[this.id];
      this.note.textContent = note;
      if (wish && tryTab === state.tab) this.note.append(element("span", "sbx-try", ` ${wish}`));
    }
    if (design) {
      const last = this.last ?? state.arrows.length - 1;
      this.fewer.textContent = `Remove action ${last + 1}`;
      this.fewer.disabled = state.arrows.length <= LEAST_ARROWS;
      this.more.disabled = state.arrows.length >= MOST_ARROWS;
      this.each.checked = Boolean(state.noise.sigma);
    } else {
      this.roundsText.textContent = `rounds n = ${state.n.toLocaleString("en-GB")}`;
      const place = Math.log10(state.n).toFixed(1);
      if (this.rounds.value !== place) this.rounds.value = place;
      this.rounds.setAttribute("aria-valuetext", state.n.toLocaleString("en-GB"));
    }
  };

  Explorer.prototype.showTab = function () {
    this.box.dataset.tab = this.state.tab;
    if (this.full) {
      this.tabButtons.forEach((tab, i) => {
        const chosen = TABS[i][0] === this.state.tab;
        tab.setAttribute("aria-selected", chosen);
        tab.tabIndex = chosen ? 0 : -1;
        if (chosen) this.panel.setAttribute("aria-labelledby", tab.id);
      });
    }
    this.toLinks();
  };

  // What the lines and signs mean, for the tab and for the kind of noise.
  Explorer.prototype.explain = function () {
    this.key.querySelector("ul").replaceChildren(
      ...words.key(this.state).filter(([swatch]) => !this.hidden || GIVEN.includes(swatch)).map(([swatch, text]) => {
        const item = element("li");
        item.append(element("span", `sbx-swatch ${swatch || ""}`), element("span", "", text));
        return item;
      }),
    );
  };

  // Start -------------------------------------------------------------------------------------------

  function start() {
    EXPLORER.all = [...document.querySelectorAll(".sb-explorer")].map((root) => new Explorer(root));
    global.addEventListener("hashchange", () => {
      for (const each of EXPLORER.all) each.fromAddress(true);
    });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})(typeof globalThis === "undefined" ? this : globalThis);
