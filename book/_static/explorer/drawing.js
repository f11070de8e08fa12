/* global d3, SpeedExplorer */
// The plane: arrows, the noise as an ellipse, Elfving's set, the ray along c; or the ellipses that remain possible.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const { clamp, axes, fromAxes } = EXPLORER.state;

  const LAYERS = ["ground", "set", "curves", "lines", "arrows", "points", "handles", "labels"];
  const MARGIN = 16; // of the outermost handle from the edge
  // From −1 to 1, closer in the middle.
  const STEPS = Array.from({ length: 61 }, (_, i) => ((i - 30) / 30) ** 3);
  let made = 0;

  function Plane(host, hooks) {
    this.hooks = hooks;
    this.svg = d3.select(host).append("svg").attr("class", "sbx-plane").attr("role", "group");
    this.svg.attr("aria-label", "The plane of the actions");
    const clip = `sbx-view-${(made += 1)}`;
    this.view = this.svg.append("clipPath").attr("id", clip).append("rect");
    this.layers = {};
    for (const name of LAYERS) {
      this.layers[name] = this.svg.append("g").attr("class", `sbx-${name}`);
      if (["set", "curves", "lines"].includes(name)) {
        this.layers[name].attr("clip-path", `url(#${clip})`).attr("aria-hidden", "true");
      }
    }
    for (const name of ["ground", "arrows", "points", "labels"]) {
      this.layers[name].attr("aria-hidden", "true");
    }
    this.size = [0, 0];
    this.extent = null;
    this.middle = [0, 0];
    this.unit = 1;
    this.axes = null;
  }

  // Of these pixels on the page; what is drawn is enlarged.
  Plane.prototype.resize = function (wide, high, enlarged = 1) {
    const [width, height] = [wide / enlarged, high / enlarged];
    if (width === this.size[0] && height === this.size[1]) return;
    this.size = [width, height];
    this.extent = null;
    this.svg.attr("width", wide).attr("height", high).attr("viewBox", `0 0 ${width} ${height}`);
    this.view.attr("width", width).attr("height", height);
  };

  // One scale for both directions. It changes only when nothing is held, and only when it must. What is scaled by
  // noise has another unit than the arrows: it is drawn smaller or larger as a whole where the two would not fit.
  Plane.prototype.rescale = function (model) {
    const [width, height] = this.size;
    const most = (points) => Math.max(...points.map(([x, y]) => Math.hypot(x, y)), 1e-6);
    const far = most(model.state.arrows);
    const ratio = most(model.scaled) / far;
    if (!this.extent || ratio * this.unit > 1.9 || ratio * this.unit < 0.55) {
      this.unit = ratio > 1.5 || ratio < 0.67 ? round3(1.15 / ratio) : 1;
    }
    const points = [[0, 0], ...model.state.arrows, model.c];
    for (const [x, y] of model.scaled.map((point) => this.times(point))) points.push([x, y], [-x, -y]);
    if (this.axes) {
      const { angle, along: a, across: b } = this.axes;
      for (const [t, axis] of [[angle, a * this.unit], [angle + Math.PI / 2, b * this.unit]]) {
        const [x, y] = [axis * Math.cos(t), axis * Math.sin(t)];
        if (axis < 1.7 * far) points.push([x, y], [-x, -y]);
      }
    }
    // From edge to edge, in plain units, and the pixels that are there for them.
    const [left, right] = d3.extent(points, ([x]) => x);
    const [low, high] = d3.extent(points, ([, y]) => y);
    const room = [width - 2 * MARGIN - 16, height - 2 * MARGIN - 16];
    const needed = Math.max((right - left) / room[0], (high - low) / room[1], 1e-4);
    const corners = [[left, low], [right, high]].map((point) => this.extent && this.at(point));
    const inside = corners[0] && corners.every(([x, y]) => x > 12 && y > 12 && x < width - 12 && y < height - 12);
    if (!inside || needed < this.extent * 0.6) {
      this.extent = needed * 1.06;
      this.middle = [(left + right) / 2, (low + high) / 2];
    }
  };

  const round3 = (value) => Number(value.toPrecision(3));

  Plane.prototype.times = function ([x, y]) {
    return [x * this.unit, y * this.unit];
  };

  // Where a point of the scaled picture is.
  Plane.prototype.spot = function (point) {
    return this.at(this.times(point));
  };

  Plane.prototype.at = function ([x, y]) {
    const [p, q] = this.middle;
    return [this.size[0] / 2 + (x - p) / this.extent, this.size[1] / 2 - (y - q) / this.extent];
  };

  Plane.prototype.from = function (px, py) {
    const x = clamp(px, [8, this.size[0] - 8]) - this.size[0] / 2;
    const y = this.size[1] / 2 - clamp(py, [8, this.size[1] - 8]);
    return [x * this.extent + this.middle[0], y * this.extent + this.middle[1]];
  };

  // Of a point and its mirror image the one that lies farther from the tips, drawn inside the view.
  Plane.prototype.free = function (point, tips) {
    const [width, height] = this.size;
    const [x0, y0] = this.at([0, 0]);
    const candidates = [1, -1].map((sign) => {
      const [dx, dy] = this.spot([sign * point[0], sign * point[1]]).map((v, i) => v - [x0, y0][i]);
      // How much of the way stays within the view.
      const part = Math.min(1, reach(dx, x0, width), reach(dy, y0, height));
      const [x, y] = [x0 + part * dx, y0 + part * dy];
      const room = Math.min(40, ...tips.map(([p, q]) => Math.hypot(p - x, q - y)));
      return { sign, at: [x, y], room };
    });
    return candidates[1].room > candidates[0].room + 6 ? candidates[1] : candidates[0];
  };

  const reach = (step, from, size) => (step > 0 ? size - 12 - from : from - 12) / Math.max(Math.abs(step), 1e-9);

  Plane.prototype.render = function (model, held) {
    const { state } = model;
    const Sigma = state.noise.Sigma;
    if (!Sigma) this.axes = null;
    else if (!this.axes || distance(fromAxes(this.axes.angle, this.axes.along, this.axes.across), Sigma) > 2e-3) {
      const { angle, short, long } = axes(Sigma);
      this.axes = { angle, along: short, across: long };
    }
    if (!held || !this.extent) this.rescale(model);
    const design = state.tab === "design";
    const tips = state.arrows.map((arrow) => this.at(arrow));
    this.ground();
    this.set(model, design);
    this.curves(model, design);
    this.lines(model, design);
    this.arrows(model, tips, design);
    const noises = design ? this.noises(model, tips) : [];
    this.points(model, design);
    this.handles(model, tips, noises);
    this.words(model, tips, noises, design);
  };

  const distance = (a, b) => Math.max(...a.map((value, i) => Math.abs(value - b[i])));

  // Selections by class and key: existing elements stay, so a held handle is never replaced.
  function join(layer, tag, name, data, key) {
    return layer.selectAll(`.${name}`).data(data, key).join((enter) => enter.append(tag).attr("class", name));
  }

  const path = (points) => d3.line()(points);
  const tenth = (value) => Math.round(value * 100) / 100;

  Plane.prototype.ground = function () {
    const [w, h] = this.size;
    const [x, y] = this.at([0, 0]);
    const lines = [[[0, y], [w, y]], [[x, 0], [x, h]]];
    join(this.layers.ground, "path", "sbx-axis", lines, (_, i) => i).attr("d", path);
  };

  Plane.prototype.set = function (model, design) {
    const hull = design && model.hull.length ? [model.hull.map((point) => this.spot(point))] : [];
    join(this.layers.set, "path", "sbx-hull", hull, () => 0).attr("d", (points) => `${path(points)}Z`);
  };

  // {z : z'Sz = 1} where it is real, as a path in pixels: two arcs, or for a hyperbola its branches.
  Plane.prototype.conic = function ([a, b, c]) {
    const { angle, short, long } = axes([a, b, c]);
    if (a + c > 0 && a * c > b * b && long < 1e3 * short) {
      const p = [short * Math.cos(angle), short * Math.sin(angle)];
      const [start, end] = [this.spot(p), this.spot([-p[0], -p[1]])].map((at) => at.map(tenth));
      const [r, s] = [short, long].map((axis) => tenth((axis * this.unit) / this.extent));
      const arc = `A${r},${s},${tenth((-180 * angle) / Math.PI)},0,0,`;
      return `M${start}${arc}${end}${arc}${start}Z`;
    }
    if (a + c + Math.hypot(a - c, 2 * b) <= 0) return "";
    // Along the second axis by r, and along the first as far as z'Sz = 1 asks for.
    const [x, y] = [Math.cos(angle), Math.sin(angle)];
    const rest = Math.min(0, a + c - 1 / short ** 2);
    const far = (3 * Math.max(...this.size) * this.extent) / this.unit;
    const branch = (sign) =>
      STEPS.map((step) => {
        const r = far * step;
        const along = sign * short * Math.sqrt(1 - rest * r * r);
        return this.spot([along * x - r * y, along * y + r * x]);
      });
    return path(branch(1)) + path(branch(-1));
  };

  Plane.prototype.curves = function (model, design) {
    const { seen, state } = model;
    const shapes = [];
    if (design && state.noise.Sigma) shapes.push({ name: "sbx-noise", S: state.noise.Sigma });
    if (!design && seen) {
      seen.family.forEach((S, i) => shapes.push({ name: "sbx-possible", S, i }));
      if (seen.Sigma) shapes.push({ name: "sbx-believed", S: seen.Sigma });
      if (state.noise.Sigma) shapes.push({ name: "sbx-true", S: state.noise.Sigma });
    }
    join(this.layers.curves, "path", "sbx-curve", shapes, (d) => `${d.name}${d.i ?? ""}`)
      .attr("class", (d) => `sbx-curve ${d.name}`)
      .attr("d", (d) => this.conic(d.S));
  };

  Plane.prototype.lines = function (model, design) {
    const lines = [];
    if (design && model.exit) {
      const [x, y] = this.times(model.exit);
      const [p, q] = model.best.certificate;
      const far = (2 * Math.max(...this.size) * this.extent) / Math.hypot(p, q);
      lines.push({ name: "sbx-tangent", points: [[x - q * far, y + p * far], [x + q * far, y - p * far]] });
      lines.push({ name: "sbx-ray", points: [model.c, [x, y]] });
    }
    join(this.layers.lines, "path", "sbx-line", lines, (d) => d.name)
      .attr("class", (d) => `sbx-line ${d.name}`)
      .attr("d", (d) => path(d.points.map((point) => this.at(point))));
  };

  Plane.prototype.arrows = function (model, tips, design) {
    const origin = this.at([0, 0]);
    const data = tips.map((tip, a) => ({ a, tip, chosen: model.chosen[a] }));
    join(this.layers.arrows, "path", "sbx-arrow", data, (d) => d.a)
      .classed("sbx-chosen", (d) => design && d.chosen)
      .classed("sbx-seen", (d) => !design && model.state.explored.includes(d.a))
      .attr("d", (d) => path([origin, d.tip]));
    const target = design && model.exit ? [this.at(model.c)] : [];
    join(this.layers.arrows, "path", "sbx-target", target, () => 0).attr("d", (tip) => arrow(origin, tip));
  };

  function arrow([x1, y1], [x2, y2]) {
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 1) return "";
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const back = Math.min(11, length);
    const [bx, by] = [x2 - back * dx, y2 - back * dy];
    return `M${x1},${y1}L${bx},${by}M${x2},${y2}L${bx - 4.5 * dy},${by + 4.5 * dx}L${bx + 4.5 * dy},${by - 4.5 * dx}Z`;
  }

  Plane.prototype.points = function (model, design) {
    const data = [];
    model.scaled.forEach((point, a) => {
      for (const sign of [1, -1]) {
        const used = design ? sign * model.signs[a] > 0 : model.state.explored.includes(a);
        data.push({ a, sign, used, at: this.spot([sign * point[0], sign * point[1]]) });
      }
    });
    join(this.layers.points, "circle", "sbx-point", data, (d) => d.sign * (d.a + 1))
      .classed("sbx-used", (d) => d.used)
      .classed("sbx-mirror", (d) => d.sign < 0)
      .attr("r", (d) => (d.used ? 4.5 : 3))
      .attr("cx", (d) => d.at[0])
      .attr("cy", (d) => d.at[1]);
    const exit = design && model.exit ? [this.spot(model.exit)] : [];
    join(this.layers.points, "circle", "sbx-exit", exit, () => 0)
      .attr("r", 5)
      .attr("cx", (d) => d[0])
      .attr("cy", (d) => d[1]);
  };

  Object.assign(EXPLORER, { Plane, join });
})(typeof globalThis === "undefined" ? this : globalThis);
