// Places words in a picture: next to what they name, and without covering anything else.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const HEIGHT = 15;
  const DIRECTIONS = Array.from({ length: 12 }, (_, i) => (i * Math.PI) / 6);

  const width = (text) => 7.2 * [...text].length + 6; // with a little room on both sides

  function overlap(a, b) {
    const wide = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x);
    const high = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y);
    return wide > 0 && high > 0 ? wide * high : 0;
  }

  const disc = ([x, y], r) => ({ x: x - r, y: y - r, w: 2 * r, h: 2 * r });

  // items: {text, anchors: [[x, y], ...], r: distance, away: [x, y] or none, optional}
  // obstacles: boxes {x, y, w, h}; size: [width, height]. Returns the items that found room, with x and y of their
  // middle. Those that come first choose first.
  function place(items, obstacles, [wide, high]) {
    const taken = [...obstacles];
    const placed = [];
    for (const item of items) {
      const w = width(item.text);
      let best = null;
      for (const [x, y] of item.anchors) {
        for (const angle of item.r ? DIRECTIONS : [0]) {
          if (best && best.cost < 0.5) break;
          const [dx, dy] = item.r ? [Math.cos(angle), Math.sin(angle)] : [0, 0];
          const middle = [x + dx * (item.r + w / 2), y + dy * (item.r + HEIGHT / 2)];
          const box = { x: middle[0] - w / 2, y: middle[1] - HEIGHT / 2, w, h: HEIGHT };
          let cost = taken.reduce((sum, other) => sum + overlap(box, other), 0);
          cost += 1e4 * (box.x < 2 || box.y < 2 || box.x + w > wide - 2 || box.y + HEIGHT > high - 2);
          if (item.away) cost += 6 * (1 - dx * item.away[0] - dy * item.away[1]);
          if (!best || cost < best.cost) best = { cost, middle, box };
        }
      }
      if (!best || (item.optional && best.cost > 25)) continue;
      taken.push(best.box);
      placed.push({ ...item, x: best.middle[0], y: best.middle[1] });
    }
    return placed;
  }

  // Small boxes along a line, for words to keep clear of it.
  function along([x1, y1], [x2, y2], r = 3) {
    const steps = Math.max(1, Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 9));
    return Array.from({ length: steps + 1 }, (_, i) =>
      disc([x1 + ((x2 - x1) * i) / steps, y1 + ((y2 - y1) * i) / steps], r),
    );
  }

  EXPLORER.labels = { place, disc, along };
})(typeof globalThis === "undefined" ? this : globalThis);
