/* global d3, SpeedExplorer */
// The plane: arrows, the noise as an ellipse, Elfving's set, the ray along c; or the ellipses that remain possible.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const { clamp, round, LIMITS, axes, fromAxes } = EXPLORER.state;
  const { makeHandles, describe } = EXPLORER.handles;
  const { place, disc, along } = EXPLORER.labels;

  const LAYERS = ["ground", "set", "curves", "lines", "arrows", "points", "handles", "labels"];
  const MARGIN = 16; // of the outermost handle from the edge
  const ANGLES = Array.from({ length: 181 }, (_, i) => (i * Math.PI) / 90);
  const COMPASS = ANGLES.map((t) => [Math.cos(t), Math.sin(t)]);
  const spoken = (value) => (Math.round(value * 100) / 100).toFixed(2);
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

  Plane.prototype.resize = function (width, height) {
    if (width === this.size[0] && height === this.size[1]) return;
    this.size = [width, height];
    this.extent = null;
    this.svg.attr("width", width).attr("height", height).attr("viewBox", `0 0 ${width} ${height}`);
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

  // Selections by class and key: what is there stays, so that a held handle is never made anew.
  function join(layer, tag, name, data, key) {
    return layer.selectAll(`.${name}`).data(data, key).join((enter) => enter.append(tag).attr("class", name));
  }

  const path = (points) => d3.line()(points);

  Plane.prototype.ground = function () {
    const [w, h] = this.size;
    const [x, y] = this.at([0, 0]);
    const lines = [[[0, y], [w, y]], [[x, 0], [x, h]]];
    join(this.layers.ground, "path", "sbx-axis", lines, (_, i) => i).attr("d", path);
  };

  Plane.prototype.set = function (model, design) {
    const hull = design ? [model.hull.map((point) => this.spot(point))] : [];
    join(this.layers.set, "path", "sbx-hull", hull, () => 0).attr("d", (points) => `${path(points)}Z`);
  };

  // {z : z'Sz = 1} where it is real, as a path in pixels.
  Plane.prototype.conic = function ([a, b, c]) {
    const parts = [];
    let part = [];
    for (const [x, y] of COMPASS) {
      const square = a * x * x + 2 * b * x * y + c * y * y;
      const radius = square > 1e-9 ? 1 / Math.sqrt(square) : Infinity;
      if (radius * this.unit < 6 * Math.max(...this.size) * this.extent) {
        part.push(this.spot([radius * x, radius * y]));
      } else if (part.length) {
        parts.push(part);
        part = [];
      }
    }
    if (part.length) parts.push(part);
    return parts.map(path).join("");
  };

  Plane.prototype.curves = function (model, design) {
    const { seen, state } = model;
    const shapes = [];
    if (design && state.noise.Sigma) shapes.push({ name: "sbx-noise", S: state.noise.Sigma });
    if (!design && seen) {
      seen.family.forEach((S, i) => shapes.push({ name: "sbx-possible", S, i }));
      shapes.push({ name: "sbx-believed", S: seen.Sigma });
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

  // The handles of the noise: two half axes, or a point for each arrow.
  Plane.prototype.noises = function (model, tips) {
    if (this.axes) {
      return ["along", "across"].map((name, i) => {
        const turn = this.axes.angle + (i * Math.PI) / 2;
        const axis = this.axes[name];
        const free = this.free([axis * Math.cos(turn), axis * Math.sin(turn)], tips);
        return { name, i, turn, axis, ...free };
      });
    }
    return model.scaled.map((point, a) => ({ name: `loudness${a}`, a, ...this.free(point, tips) }));
  };

  Plane.prototype.handles = function (model, tips, noises) {
    const data = tips.map((at, a) => ({ name: `tip${a}`, tip: a, at }));
    const layer = this.layers.handles;
    const specify = (datum) => (datum.tip === undefined ? this.noiseHandle(datum) : this.tipHandle(datum));
    const all = layer
      .selectAll(".sbx-handle")
      .data([...noises, ...data], (d) => d.name)
      .join((enter) => {
        const group = enter.append("g").attr("class", "sbx-handle");
        group.append("circle").attr("class", "sbx-hit").attr("r", 17);
        group.append("circle").attr("class", "sbx-focus").attr("r", 12);
        group.filter((d) => d.tip !== undefined).append("circle").attr("class", "sbx-grip").attr("r", 6.5);
        group
          .filter((d) => d.tip === undefined)
          .append("path")
          .attr("class", "sbx-grip sbx-square")
          .attr("d", "M0,-7.5L7.5,0L0,7.5L-7.5,0Z");
        makeHandles(group, () => this.svg.node(), specify, this.hooks);
        return group;
      })
      .order()
      .classed("sbx-chosen", (d) => d.tip !== undefined && model.state.tab === "design" && model.chosen[d.tip])
      .classed("sbx-seen", (d) => d.tip !== undefined && model.state.tab !== "design" && model.state.explored.includes(d.tip))
      .attr("transform", (d) => `translate(${d.at[0]},${d.at[1]})`);
    describe(all, specify);
  };

  Plane.prototype.tipHandle = function (datum) {
    const state = this.hooks.state();
    const a = datum.tip;
    const [x, y] = state.arrows[a];
    const move = (p, q) => {
      const next = [p, q].map((value) => round(clamp(value, LIMITS.coordinate)));
      if (Math.hypot(...next) >= 0.02) state.arrows[a] = next;
      this.hooks.touched(a);
    };
    return {
      label: `Arrow of action ${a + 1}`,
      text: `${spoken(x)} across, ${spoken(y)} up`,
      now: round(x), min: LIMITS.coordinate[0], max: LIMITS.coordinate[1],
      at: () => this.at([x, y]),
      to: (px, py) => move(...this.from(px, py)),
      by: (dx, dy) => move(x + 0.02 * dx, y + 0.02 * dy),
      remove: () => this.hooks.remove(a),
    };
  };

  Plane.prototype.noiseHandle = function (datum) {
    const state = this.hooks.state();
    if (datum.a !== undefined) {
      const sigma = state.noise.sigma;
      const arrow = state.arrows[datum.a];
      const length = Math.hypot(...arrow);
      const set = (value) => {
        sigma[datum.a] = round(clamp(value, LIMITS.loudness));
        this.hooks.touched(datum.a);
      };
      return {
        label: `Noise of action ${datum.a + 1}`,
        text: `standard deviation ${spoken(sigma[datum.a])}`,
        now: round(sigma[datum.a]), min: LIMITS.loudness[0], max: LIMITS.loudness[1],
        at: () => datum.at,
        to: (px, py) => {
          const [x, y] = this.from(px, py);
          const reach = (datum.sign * (x * arrow[0] + y * arrow[1])) / length / this.unit;
          set(length / Math.max(reach, 1e-3));
        },
        by: (dx, dy) => set(sigma[datum.a] * 1.03 ** (dx + dy)),
      };
    }
    const { i, name, sign } = datum;
    const now = this.axes;
    const set = (angle, axis) => {
      this.axes = { ...now, angle, [name]: clamp(axis, LIMITS.axis) };
      state.noise.Sigma = fromAxes(this.axes.angle, this.axes.along, this.axes.across);
      this.hooks.touched(null);
    };
    const degrees = Math.round(((now.angle + (i * Math.PI) / 2) * 180) / Math.PI);
    return {
      label: `Noise ellipse, half axis ${i + 1}`,
      text: `${spoken(now[name])} long, turned by ${((degrees % 180) + 180) % 180} degrees: ` +
        `an arrow of length 1 there has noise of standard deviation ${spoken(1 / now[name])}`,
      now: round(now[name]), min: LIMITS.axis[0], max: LIMITS.axis[1],
      at: () => datum.at,
      to: (px, py) => {
        const [x, y] = this.from(px, py).map((value) => (sign * value) / this.unit);
        set(Math.atan2(y, x) - (i * Math.PI) / 2, Math.hypot(x, y));
      },
      by: (dx, dy) => set(now.angle - (dx * Math.PI) / 60, now[name] * 1.03 ** dy),
    };
  };

  Plane.prototype.words = function (model, tips, noises, design) {
    const origin = this.at([0, 0]);
    const away = ([x, y]) => {
      const length = Math.hypot(x - origin[0], y - origin[1]) || 1;
      return [(x - origin[0]) / length, (y - origin[1]) / length];
    };
    const items = tips.map((tip, a) => ({
      text: String(a + 1), anchors: [tip], r: 8, away: away(tip),
      name: (design ? model.chosen[a] : model.state.explored.includes(a)) ? "sbx-strong" : "",
    }));
    const obstacles = [...tips, ...noises.map((each) => each.at)].map((at) => disc(at, 8));
    for (const tip of tips) obstacles.push(...along(origin, tip));
    for (const [x, y] of model.scaled) {
      obstacles.push(disc(this.spot([x, y]), 5), disc(this.spot([-x, -y]), 5));
    }
    if (design && model.exit) {
      const [c, exit] = [this.at(model.c), this.spot(model.exit)];
      obstacles.push(...along(origin, c), ...along(c, exit), disc(exit, 6));
      items.push({ text: "c", anchors: [c], r: 5, away: away(c), name: "sbx-policy-word" });
      model.scaled.forEach((point, a) => {
        if (model.signs[a] >= 0) return;
        const at = this.spot([-point[0], -point[1]]);
        items.push({ text: `−${a + 1}`, anchors: [at], r: 5, away: away(at), name: "sbx-strong" });
      });
      items.push({ text: "exit", anchors: [exit], r: 7, away: away(exit), optional: true, name: "sbx-policy-word" });
    }
    if (!design) items.push(...this.curveWords(model, obstacles));
    if (design) {
      const corners = model.hull.map((point) => this.spot(point));
      corners.forEach((p, i) => obstacles.push(...along(p, corners[(i + 1) % corners.length], 2)));
      const inner = corners.flatMap((p, i) => {
        const q = corners[(i + 1) % corners.length];
        return [0.4, 0.55, 0.7].map((t) => [0, 1].map((k) => origin[k] + t * ((p[k] + q[k]) / 2 - origin[k])));
      });
      items.push({ text: "Elfving’s set", anchors: inner, r: 0, optional: true, name: "sbx-set-word" });
    }
    const placed = place(items, obstacles, this.size);
    join(this.layers.labels, "text", "sbx-word", placed, (d) => d.text)
      .attr("class", (d) => `sbx-word ${d.name}`)
      .attr("x", (d) => d.x)
      .attr("y", (d) => d.y)
      .text((d) => d.text);
  };

  // Words for the believed and the true curve, which are obstacles for each other.
  Plane.prototype.curveWords = function ({ seen, state }, obstacles) {
    const spots = (S) =>
      COMPASS.filter((_, i) => i % 4 === 0).flatMap(([x, y]) => {
        const square = S[0] * x * x + 2 * S[1] * x * y + S[2] * y * y;
        if (square <= 0) return [];
        const at = this.spot([x / Math.sqrt(square), y / Math.sqrt(square)]);
        return at.every((v, i) => v > 10 && v < this.size[i] - 10) ? [at] : [];
      });
    const [believed, truth] = [spots(seen.Sigma), state.noise.Sigma ? spots(state.noise.Sigma) : []];
    obstacles.push(...[...believed, ...truth].map((at) => disc(at, 3)));
    const items = [];
    if (seen.differs || !truth.length) {
      items.push({ text: "believed", anchors: believed, r: 6, optional: true, name: "sbx-believed-word" });
    }
    const text = seen.differs ? "true" : "true = believed";
    if (truth.length) items.push({ text, anchors: truth, r: 6, optional: true, name: "sbx-strong" });
    return items;
  };

  EXPLORER.Plane = Plane;
})(typeof globalThis === "undefined" ? this : globalThis);
