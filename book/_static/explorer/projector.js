// The explorer alone in its window, in large letters: for a class that looks at a wall.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const { button, element } = EXPLORER.controls;
  const PAGE = document.documentElement;
  const Projector = {};

  // The bare view's own buttons, and a heading for those who cannot see that there is one picture only.
  Projector.buildProjector = function () {
    this.heading = element("h1", "sbx-hidden", "The explorer");
    this.whole = button("Full screen", () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else PAGE.requestFullscreen().catch(() => {});
    });
    this.leave = button("Leave", () => this.leaveProjector());
    this.leave.title = "Back to the page (Escape)";
    for (const each of [this.whole, this.leave]) each.classList.add("sbx-only-projected");
    document.addEventListener("fullscreenchange", () => {
      this.whole.textContent = document.fullscreenElement ? "Leave full screen" : "Full screen";
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.projected && !event.defaultPrevented) this.leaveProjector();
    });
    return [this.whole, this.leave];
  };

  Projector.project = function (wanted) {
    if (wanted === this.projected) return;
    this.projected = wanted;
    PAGE.classList.toggle("sbx-projector", wanted);
    this.box.classList.toggle("sbx-projected", wanted);
    if (wanted) this.box.prepend(this.heading);
    else this.heading.remove();
    this.whole.hidden = !document.fullscreenEnabled;
    // All that is beside the explorer goes, for eyes, keys and screen readers alike.
    for (let node = this.box; node !== document.body; node = node.parentNode) {
      for (const other of node.parentNode.children) {
        if (other !== node) other.classList.toggle("sbx-aside", wanted);
      }
    }
    this.plane.extent = null;
    this.resize();
  };

  Projector.leaveProjector = function () {
    if (document.fullscreenElement) document.exitFullscreen();
    this.project(false);
    this.toAddress();
    this.figure.scrollIntoView({ block: "nearest", behavior: "auto" });
    this.projector.focus();
  };

  // How much larger the letters of the page are than those for which the pictures were drawn.
  Projector.enlarged = function () {
    return this.projected ? parseFloat(getComputedStyle(PAGE).fontSize) / 16 : 1;
  };

  EXPLORER.projector = Projector;
})(typeof globalThis === "undefined" ? this : globalThis);
