// Elements that can be moved: the same behaviour for mouse, finger, pen and keys, and words for a screen reader.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const KEYS = {
    ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1],
    PageDown: [0, -10], PageUp: [0, 10],
  };

  // Make each element of a selection a slider. `specify(datum)` is called at every event, so it uses the current state.
  // It returns
  //   label, text      its name, and its value in words
  //   now, min, max    its value as a number
  //   at()             its place, in pixels of `frame(element)`
  //   to(x, y)         called when it is dragged there
  //   by(dx, dy)       called when keys move it by these steps (times 5 with shift)
  //   end(which)       optional, for Home (-1) and End (1)
  //   remove()         optional, for Delete
  function makeHandles(selection, frame, specify, hooks) {
    selection.each(function (first) {
      const element = this;
      element.__datum = first;
      const spec = () => specify(element.__datum);
      element.setAttribute("tabindex", "0");
      element.setAttribute("role", "slider");
      let offset = null;
      const place = (event) => {
        const shown = frame(element);
        const box = shown.getBoundingClientRect();
        // A drawing may be shown larger than it is drawn.
        const scale = shown.viewBox ? shown.viewBox.baseVal.width / box.width : 1;
        return [scale * (event.clientX - box.left), scale * (event.clientY - box.top)];
      };
      element.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        const [x, y] = place(event);
        const [atX, atY] = spec().at();
        offset = [atX - x, atY - y];
        element.setPointerCapture(event.pointerId);
        element.classList.add("sbx-held");
        element.focus({ preventScroll: true });
        event.preventDefault();
      });
      // Some browsers ignore `touch-action: none` on parts of a drawing; this stops scrolling under a finger.
      element.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
      element.addEventListener("pointermove", (event) => {
        if (!offset) return;
        const [x, y] = place(event);
        spec().to(x + offset[0], y + offset[1]);
        hooks.changed(false);
      });
      const release = () => {
        if (!offset) return;
        offset = null;
        element.classList.remove("sbx-held");
        hooks.changed(true);
      };
      element.addEventListener("pointerup", release);
      element.addEventListener("pointercancel", release);
      element.addEventListener("lostpointercapture", release);
      element.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        const now = spec();
        const step = KEYS[event.key];
        if (step) {
          const times = event.shiftKey ? 5 : 1;
          now.by(step[0] * times, step[1] * times);
        } else if (now.end && (event.key === "Home" || event.key === "End")) {
          now.end(event.key === "Home" ? -1 : 1);
        } else if (now.remove && (event.key === "Delete" || event.key === "Backspace")) {
          now.remove();
        } else {
          return;
        }
        event.preventDefault();
        hooks.changed(true);
      });
    });
  }

  function describe(selection, specify) {
    selection.each(function (datum) {
      this.__datum = datum;
      const { label, text, now, min, max } = specify(datum);
      const set = (name, value) => {
        if (this.getAttribute(name) !== String(value)) this.setAttribute(name, value);
      };
      set("aria-label", label);
      set("aria-valuetext", text);
      set("aria-valuenow", now);
      set("aria-valuemin", min);
      set("aria-valuemax", max);
    });
  }

  EXPLORER.handles = { makeHandles, describe };
})(typeof globalThis === "undefined" ? this : globalThis);
