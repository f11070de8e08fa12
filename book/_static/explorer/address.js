// The address follows the explorer, and the explorer follows a link.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const { initial, encode, decode } = EXPLORER.state;
  const { element } = EXPLORER.controls;
  const Address = {};

  Address.name = function () {
    return document.querySelectorAll(".sb-explorer").length > 1 && this.figure.id ? this.figure.id : "explorer";
  };

  Address.query = function (projected) {
    const answers = this.hidden ? "&answers=hidden" : "";
    return `${encode(this.state, this.id)}${answers}${projected ? "&view=projector" : ""}`;
  };

  Address.toAddress = function () {
    history.replaceState(history.state, "", `#${this.name()}?${this.query(this.projected)}`);
    this.toLinks();
  };

  // The links to the explorer's own page open what is shown here.
  Address.toLinks = function () {
    const page = `${document.documentElement.dataset.content_root || "./"}book/explorer.html#explorer?`;
    if (this.link) this.link.href = page + this.query(false);
    this.projector.href = page + this.query(true);
  };

  Address.fromAddress = function (moved) {
    // Before any change there was no address to follow.
    if (moved && !location.hash) {
      this.id = this.first.id;
      this.project(false);
      this.hideAnswers(false);
      this.restart(initial(this.id, this.first.tab), false);
      return;
    }
    const [name, query] = location.hash.slice(1).split(/\?(.*)/s);
    const known = [this.name(), this.figure.id].includes(name);
    const only = name === "explorer" && document.querySelector(".sb-explorer") === this.root;
    if (query === undefined || !(known || only)) return;
    const { id, state, hidden, projected } = decode(query, this.first.id, this.first.tab);
    if (!this.full) state.tab = this.first.tab;
    this.id = id;
    this.hideAnswers(hidden);
    if (!moved) {
      this.state = state;
      this.project(this.full && projected);
    } else {
      this.project(this.full && projected);
      this.restart(state);
      if (this.projected) return;
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      this.figure.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
    }
  };

  Address.copyLink = async function () {
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

  EXPLORER.address = Address;
})(typeof globalThis === "undefined" ? this : globalThis);
