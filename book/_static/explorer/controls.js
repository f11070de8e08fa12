/* global SpeedExplorer, SpeedPresets */
// The explorer's tabs, menus, boxes and buttons.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const { initial } = EXPLORER.state;
  const TABS = [["design", "Which actions"], ["explore", "What exploration sees"]];

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

  const Controls = {};

  // Building ----------------------------------------------------------------------------------------

  Controls.build = function () {
    const box = (this.box = element("div", `sbx sbx-${this.full ? "full" : "half"}`));
    const bar = element("div", "sbx-bar");
    if (this.full) bar.append(this.tabs());
    bar.append(this.presets(), this.actions());
    this.note = this.full ? element("p", "sbx-note") : null;
    this.panel = element("div", "sbx-panel");
    this.panel.id = `sbx-panel-${this.number}`;
    if (this.full) this.panel.setAttribute("role", "tabpanel");
    const body = element("div", "sbx-body");
    this.stage = element("div", "sbx-stage");
    const side = element("div", "sbx-side");
    const rows = element("div", "sbx-table");
    this.result = element("p", "sbx-result");
    side.append(this.result, rows, this.controls());
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

  Controls.tabs = function () {
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

  Controls.presets = function () {
    const label = element("label", "sbx-preset");
    label.append(element("span", "sbx-hidden", "Example"));
    this.menu = element("select");
    for (const [id, each] of Object.entries(SpeedPresets)) this.menu.append(new Option(each.title, id));
    this.menu.addEventListener("change", () => {
      this.id = this.menu.value;
      this.restart(initial(this.id, this.state.tab));
    });
    label.append(this.menu);
    return label;
  };

  Controls.actions = function () {
    const group = element("div", "sbx-actions");
    this.answers = button("Hide the answers", () => this.switchAnswers());
    group.append(this.answers, button("Reset", () => this.restart(initial(this.id, this.state.tab))));
    if (this.full) {
      this.copy = button("Copy link", () => this.copyLink());
      this.copy.classList.add("sbx-not-projected");
      group.append(this.copy);
    } else {
      this.link = element("a", "sbx-link", "Full size");
      group.append(this.link);
    }
    // Always the same second window: a link of the page sets the picture here, and this link sends it there.
    this.projector = element("a", "sbx-link sbx-not-projected", "Projector");
    this.projector.target = "speed-projector";
    this.projector.title = "This picture alone in a second window, in large letters";
    group.append(this.projector, ...this.buildProjector());
    return group;
  };

  Controls.controls = function () {
    const box = (this.tools = element("div", "sbx-tools"));
    this.psd = element("input");
    this.psd.type = "checkbox";
    this.psd.addEventListener("change", () => {
      this.state.psd = this.psd.checked;
      this.changed(true);
    });
    const psd = element("label", "sbx-choice sbx-only-explore");
    psd.append(this.psd, element("span", "", "keep all variances ≥ 0 (Σ ⪰ 0)"));
    box.append(psd);
    if (!this.full) return box;
    this.rounds = element("input");
    this.rounds.type = "range";
    Object.assign(this.rounds, { min: 1.5, max: 6, step: 0.1 });
    this.rounds.addEventListener("input", () => {
      this.state.n = Number((10 ** Number(this.rounds.value)).toPrecision(2));
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

  EXPLORER.controls = { TABS, Controls, button, element };
})(typeof globalThis === "undefined" ? this : globalThis);
