/* global SpeedExplorer, SpeedPresets, SpeedMathematics */
// The interactive picture of the book: made in the place of every figure of class sb-explorer.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const { LEAST_ARROWS, MOST_ARROWS, LIMITS, round, initial, encode, decode, presetId } = EXPLORER.state;
  const { words } = EXPLORER;
  const TABS = [["design", "Which actions"], ["explore", "What exploration sees"]];
  const QUIET = 600; // milliseconds without a change before the numbers are spoken
  const ADDRESS = 150; // and before the address follows
  let made = 0;

  const element = (tag, name, text) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text) node.textContent = text;
    return node;
  };

  const button = (text, act) => {
    const node = element("button", "sbx-button", text);
    node.type = "button";
    node.addEventListener("click", act);
    return node;
  };

  function Explorer(root) {
    this.root = root;
    this.number = made += 1;
    this.figure = root.closest("figure") || root;
    this.full = root.dataset.height !== "half";
    this.first = { id: presetId(root.dataset.preset), tab: root.dataset.tab || "design" };
    this.id = this.first.id;
    this.tab = this.first.tab;
    this.state = initial(this.id, this.tab);
    this.last = null;
    this.held = false;
    this.build();
    this.fromAddress(false);
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.resize();
  }

  // What the handles may ask and tell.
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

  // Building ----------------------------------------------------------------------------------------

  Explorer.prototype.build = function () {
    const box = (this.box = element("div", `sbx sbx-${this.full ? "full" : "half"}`));
    const bar = element("div", "sbx-bar");
    if (this.full) bar.append(this.tabs());
    bar.append(this.presets(), this.actions());
    this.note = element("p", "sbx-note");
    this.panel = element("div", "sbx-panel");
    this.panel.id = `sbx-panel-${this.number}`;
    if (this.full) this.panel.setAttribute("role", "tabpanel");
    const body = element("div", "sbx-body");
    this.stage = element("div", "sbx-stage");
    const side = element("div", "sbx-side");
    const rows = element("div", "sbx-table");
    this.result = element("p", "sbx-result");
    side.append(rows, this.result, this.controls());
    body.append(this.stage, side);
    this.says = element("p", "sbx-says");
    this.below = element("div", "sbx-below");
    this.key = element("details", "sbx-key");
    this.key.append(element("summary", "", "What you see"), element("ul"));
    this.panel.append(body, this.says, this.below, this.key);
    this.live = element("div", "sbx-hidden");
    this.live.setAttribute("role", "status");
    this.live.setAttribute("aria-live", "polite");
    box.append(bar, ...(this.full ? [this.note] : []), this.panel, this.live);
    this.root.append(box);
    this.root.classList.add("sb-explorer-live");
    const hooks = this.hooks();
    this.plane = new EXPLORER.Plane(this.stage, hooks);
    this.rows = new EXPLORER.Rows(rows, hooks);
    this.curve = this.full ? new EXPLORER.Curve(this.below, hooks) : null;
    if (this.full) {
      this.length = element("p", "sbx-length");
      this.below.append(this.length);
    }
  };

  Explorer.prototype.tabs = function () {
    const list = element("div", "sbx-tabs");
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Two pictures");
    this.tabButtons = TABS.map(([name, title], i) => {
      const tab = button(title, () => this.show(name));
      tab.className = "sbx-tab";
      tab.id = `sbx-tab-${this.number}-${name}`;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", `sbx-panel-${this.number}`);
      tab.addEventListener("keydown", (event) => {
        if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
        event.preventDefault();
        this.show(TABS[1 - i][0]);
        this.tabButtons[1 - i].focus();
      });
      return tab;
    });
    list.append(...this.tabButtons);
    return list;
  };

  Explorer.prototype.presets = function () {
    const label = element("label", "sbx-preset");
    label.append(element("span", "sbx-muted", "Example"));
    this.menu = element("select");
    for (const [id, each] of Object.entries(SpeedPresets)) this.menu.append(new Option(each.title, id));
    this.menu.addEventListener("change", () => {
      this.id = this.menu.value;
      this.restart(initial(this.id, this.state.tab));
    });
    label.append(this.menu);
    return label;
  };

  Explorer.prototype.actions = function () {
    const group = element("div", "sbx-actions");
    group.append(button("Reset", () => this.restart(initial(this.id, this.state.tab))));
    if (this.full) {
      this.copy = button("Copy link", () => this.copyLink());
      group.append(this.copy);
    } else {
      this.link = element("a", "sbx-link", "Full size");
      group.append(this.link);
    }
    return group;
  };

  Explorer.prototype.controls = function () {
    const box = (this.tools = element("div", "sbx-tools"));
    this.psd = element("input");
    this.psd.type = "checkbox";
    this.psd.addEventListener("change", () => {
      this.state.psd = this.psd.checked;
      this.changed(true);
    });
    const psd = element("label", "sbx-choice sbx-only-explore");
    psd.append(this.psd, element("span", "", "keep all variances ≥ 0 (Σ ⪰ 0)"));
    box.append(psd);
    if (!this.full) return box;
    this.rounds = element("input");
    this.rounds.type = "range";
    Object.assign(this.rounds, { min: 1.5, max: 6, step: 0.1 });
    this.rounds.addEventListener("input", () => {
      this.state.n = Number((10 ** Number(this.rounds.value)).toPrecision(2));
      this.state.Gamma = Math.min(this.state.Gamma, this.state.n - 1);
      this.changed(true);
    });
    this.roundsText = element("span");
    const rounds = element("label", "sbx-choice sbx-only-explore");
    rounds.append(this.roundsText, this.rounds);
    this.each = element("input");
    this.each.type = "checkbox";
    this.each.addEventListener("change", () => this.switchNoise(this.each.checked));
    const each = element("label", "sbx-choice sbx-only-design");
    each.append(this.each, element("span", "", "each action has a noise of its own"));
    this.more = button("Add an action", () => this.add());
    this.fewer = button("Remove", () => this.remove(this.last ?? this.state.arrows.length - 1));
    const count = element("div", "sbx-count sbx-only-design");
    count.append(this.more, this.fewer);
    box.append(rounds, each, count);
    return box;
  };

  // Changing ----------------------------------------------------------------------------------------

  Explorer.prototype.show = function (tab) {
    this.state.tab = tab;
    this.changed(true);
  };

  Explorer.prototype.restart = function (state) {
    this.state = state;
    this.last = null;
    this.plane.extent = null;
    this.plane.axes = null;
    this.changed(true);
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
    policy.push(0);
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
      this.state.noise = { sigma: variances.map((value) => round(Math.sqrt(value))) };
    } else {
      const all = arrows.map((_, a) => a);
      const [a, b, d] = SpeedMathematics.fit(arrows, all, variances, true).Sigma;
      const { angle, short, long } = EXPLORER.state.axes([a, b, d]);
      this.state.noise = { Sigma: EXPLORER.state.fromAxes(angle, short, Math.min(long, LIMITS.axis[1])) };
    }
    this.changed(true);
  };

  // Every change comes here. `settled`: nothing is held any more.
  Explorer.prototype.changed = function (settled) {
    this.held = !settled;
    this.render();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.toAddress(), ADDRESS);
    clearTimeout(this.spoken);
    this.spoken = setTimeout(() => this.speak(), QUIET);
  };

  Explorer.prototype.speak = function () {
    const { state, model } = this;
    this.live.textContent = state.tab === "design" ? words.price(model) : words.loss(model);
  };

  // The address -------------------------------------------------------------------------------------

  Explorer.prototype.name = function () {
    return document.querySelectorAll(".sb-explorer").length > 1 && this.figure.id ? this.figure.id : "explorer";
  };

  Explorer.prototype.hash = function () {
    return `#${this.name()}?${encode(this.state, this.id)}`;
  };

  Explorer.prototype.toAddress = function () {
    history.replaceState(history.state, "", this.hash());
    if (this.link) this.link.href = this.fullPage();
  };

  Explorer.prototype.fullPage = function () {
    const top = document.documentElement.dataset.content_root || "./";
    return `${top}book/explorer.html#explorer?${encode(this.state, this.id)}`;
  };

  Explorer.prototype.fromAddress = function (moved) {
    const [name, query] = location.hash.slice(1).split(/\?(.*)/s);
    const known = [this.name(), this.figure.id].includes(name);
    const only = name === "explorer" && document.querySelector(".sb-explorer") === this.root;
    if (query === undefined || !(known || only)) return;
    const { id, state } = decode(query, this.first.id, this.first.tab);
    if (!this.full) state.tab = this.first.tab;
    this.id = id;
    if (!moved) {
      this.state = state;
    } else {
      this.restart(state);
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      this.figure.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
    }
  };

  Explorer.prototype.copyLink = async function () {
    this.toAddress();
    let done = false;
    try {
      await navigator.clipboard.writeText(location.href);
      done = true;
    } catch {
      const field = element("textarea", "sbx-hidden");
      field.value = location.href;
      document.body.append(field);
      field.select();
      done = document.execCommand("copy");
      field.remove();
    }
    this.copy.textContent = done ? "Copied" : "Copy it from the address";
    setTimeout(() => {
      this.copy.textContent = "Copy link";
    }, 2000);
  };

  // Drawing -----------------------------------------------------------------------------------------

  Explorer.prototype.resize = function () {
    const width = Math.floor(this.stage.clientWidth);
    if (!width) return;
    const most = this.full ? 440 : 300;
    this.plane.resize(width, Math.max(230, Math.min(most, Math.round(width * (this.full ? 0.88 : 0.78)))));
    if (this.curve) this.curve.resize(Math.floor(this.panel.clientWidth), 220);
    this.render();
  };

  Explorer.prototype.render = function () {
    const { state } = this;
    const design = state.tab === "design";
    if (this.box.dataset.tab !== state.tab) this.showTab(design);
    const model = (this.model = EXPLORER.derive(state));
    if (this.plane.size[0]) this.plane.render(model, this.held);
    this.rows.render(model);
    if (this.curve && !design) {
      if (this.curve.size[0]) this.curve.render(model);
      const shown = EXPLORER.curveValues(model);
      this.length.textContent = words.length(model, shown);
    }
    this.numbers(model, design);
    this.says.textContent = design ? words.design(model) : words.explore(model);
    this.settings(design);
  };

  Explorer.prototype.numbers = function (model, design) {
    const { best, policyLoss, ratio, seen } = model;
    const factor = design ? ratio : 1 + seen.excess;
    const strong = element("strong", "sbx-factor", `${words.times(factor)} ×`);
    const text = design ? " as many rounds with the policy" : " as many rounds with the belief";
    const line = element("span", "sbx-losses");
    line.append(
      "nL ",
      element("b", "sbx-best-word", words.decimals(best.value)),
      " at best, ",
      element("b", design ? "sbx-policy-word" : "sbx-believed-word", words.decimals(design ? policyLoss : seen.trueLoss)),
      design ? " with the policy" : " with the belief",
    );
    this.result.replaceChildren(strong, text, line);
  };

  Explorer.prototype.settings = function (design) {
    const { state } = this;
    if (this.menu.value !== this.id) this.menu.value = this.id;
    this.psd.checked = state.psd;
    if (!this.full) return;
    if (this.noted !== this.id) {
      this.noted = this.id;
      const { note, try: wish } = SpeedPresets[this.id];
      this.note.textContent = note;
      if (wish) this.note.append(element("span", "sbx-try", ` ${wish}`));
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

  Explorer.prototype.showTab = function (design) {
    this.box.dataset.tab = this.state.tab;
    if (this.full) {
      this.tabButtons.forEach((tab, i) => {
        const chosen = TABS[i][0] === this.state.tab;
        tab.setAttribute("aria-selected", chosen);
        tab.tabIndex = chosen ? 0 : -1;
        if (chosen) this.panel.setAttribute("aria-labelledby", tab.id);
      });
    }
    const key = design ? words.DESIGN_KEY : words.EXPLORE_KEY;
    this.key.querySelector("ul").replaceChildren(
      ...key.map(([swatch, text]) => {
        const item = element("li");
        item.append(element("span", `sbx-swatch ${swatch || ""}`), element("span", "", text));
        return item;
      }),
    );
    if (this.link) this.link.href = this.fullPage();
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
