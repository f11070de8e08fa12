/* global SpeedExplorer */
// What can be moved in the plane, and the words that stand in it.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const { clamp, round, LIMITS, fromAxes } = EXPLORER.state;
  const { makeHandles, describe } = EXPLORER.handles;
  const { place, disc, along } = EXPLORER.labels;
  const { Plane, join } = EXPLORER;

  const COMPASS = Array.from({ length: 30 }, (_, i) => [Math.cos((i * Math.PI) / 15), Math.sin((i * Math.PI) / 15)]);
  const spoken = (value) => (Math.round(value * 100) / 100).toFixed(2);

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
      remove: () => {
        this.hooks.remove(a);
        // The last ring goes, and the others take the next names: one keeps the focus.
        const near = `tip${Math.min(a, state.arrows.length - 1)}`;
        this.layers.handles.selectAll(".sbx-handle").filter((d) => d.name === near).node()?.focus();
      },
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
      // Turning leaves the length as it is, which may be that of a thin ellipse, beyond the limits.
      this.axes = { ...now, angle, [name]: axis === now[name] ? axis : clamp(axis, LIMITS.axis) };
      state.noise.Sigma = fromAxes(this.axes.angle, this.axes.along, this.axes.across);
      this.hooks.touched(null);
    };
    const degrees = Math.round(((now.angle + (i * Math.PI) / 2) * 180) / Math.PI);
    return {
      label: `Noise ellipse, half axis ${i + 1}`,
      text: `${now[name] > LIMITS.axis[1] ? `more than ${LIMITS.axis[1]}` : spoken(now[name])} long, turned by ${((degrees % 180) + 180) % 180} degrees: ` +
        `an arrow of length 1 there has noise of standard deviation ${spoken(1 / now[name])}`,
      now: round(clamp(now[name], LIMITS.axis)), min: LIMITS.axis[0], max: LIMITS.axis[1],
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
    if (design && model.hull.length) {
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

  // Words for the estimated and the true curve, which are obstacles for each other.
  Plane.prototype.curveWords = function ({ seen, state }, obstacles) {
    const spots = (S) =>
      COMPASS.flatMap(([x, y]) => {
        const square = S[0] * x * x + 2 * S[1] * x * y + S[2] * y * y;
        if (square <= 0) return [];
        const at = this.spot([x / Math.sqrt(square), y / Math.sqrt(square)]);
        return at.every((v, i) => v > 10 && v < this.size[i] - 10) ? [at] : [];
      });
    const [believed, truth] = [seen.Sigma ? spots(seen.Sigma) : [], state.noise.Sigma ? spots(state.noise.Sigma) : []];
    obstacles.push(...[...believed, ...truth].map((at) => disc(at, 3)));
    const items = [];
    if (seen.differs || !truth.length) {
      items.push({ text: "estimated", anchors: believed, r: 6, optional: true, name: "sbx-believed-word" });
    }
    const text = seen.differs ? "true" : "true = estimated";
    if (truth.length) items.push({ text, anchors: truth, r: 6, optional: true, name: "sbx-strong" });
    return items;
  };
})(typeof globalThis === "undefined" ? this : globalThis);
