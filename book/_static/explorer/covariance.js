/**
 * Least squares for the matrix Σ of the noise, as `speedlib.covariance` and `speedlib.psd` do it.
 *
 * Exploring the arrow x shows x'Σx. Given the mean squared residuals q(m) of the explored arrows
 * x(m), the fit is a symmetric S with Σ_m (x(m)'Sx(m) − q(m))² least. Needs geometry.js.
 */
var SpeedCovariance = (function () {
  "use strict";

  const {
    sum,
    dot,
    length,
    scaled,
    det,
    parallel,
    sandwich,
    times,
    moment,
    eigen,
    roots,
    projected,
    inner,
  } = SpeedGeometry;

  /** Arrows whose angle has a smaller sine show the same of Σ. */
  const SAME_LOOK = 1e-7;
  /** An eigenvalue this share of the other one below 0 is 0. */
  const ROUNDING = 1e-14;

  /** The directions that are explored, each once and of length 1, with the arrows that lie on it. */
  function looks(arrows, explored) {
    const found = [];
    for (const a of explored) {
      if (!arrows[a][0] && !arrows[a][1]) continue;
      const same = found.find((look) => parallel(look.axis, arrows[a], SAME_LOOK));
      if (same) same.actions.push(a);
      else found.push({ axis: scaled(arrows[a], 1 / length(arrows[a])), actions: [a] });
    }
    return found;
  }

  /**
   * Least squares for Σ: the S with Σ_m (x(m)'Sx(m) − q(m))² least, of several the one of least
   * Frobenius norm: `estimate_covariance(..., "lstsq")` with q(m) the mean squared residual of m.
   *
   * Arrows t·e on one line with the unit vector e only speak of e'Se, for which least squares
   * gives m = Σ t² q / Σ t⁴. One such line leads to S = m ee'. Two of them, e and f, can be matched
   * by any m and n, and the S of least norm is α (ee' + ff') + β (ee' − ff'). These two parts are at
   * a right angle, so that nothing cancels where e and f are close: with k = (e·f)²,
   *
   *     α = (m + n) / 2(1 + k),     β = (m − n) / 2(1 − k),     1 − k = det(e, f)².
   *
   * Three lines or more are an ordinary regression for three unknowns.
   */
  function leastSquares(arrows, explored, squares) {
    const found = looks(arrows, explored);
    if (!found.length) return [0, 0, 0];
    if (found.length > 2) {
      return regression(
        explored.map((a) => arrows[a]),
        squares,
      );
    }
    const target = new Map(explored.map((a, m) => [a, squares[m]]));
    const [m, n] = found.map(({ axis, actions }) => {
      const t = actions.map((a) => dot(arrows[a], axis) ** 2);
      return sum(actions.map((a, i) => t[i] * target.get(a))) / sum(t.map((each) => each ** 2));
    });
    const [e, f] = found.map((look) => look.axis);
    const [ee, ff] = [e, f || e].map(([p, q]) => [p * p, p * q, q * q]);
    if (!f) return ee.map((entry) => m * entry);
    const alpha = (m + n) / (2 * (1 + dot(e, f) ** 2));
    const beta = (m - n) / (2 * det(e, f) ** 2);
    return ee.map((entry, i) => alpha * (entry + ff[i]) + beta * (entry - ff[i]));
  }

  /** svec(xx'), in which x'Sx is the inner product with svec(S) = (s11, √2 s12, s22). */
  const svec = ([p, q]) => [p * p, Math.SQRT2 * p * q, q * q];

  /** Regression on svec(xx') by Gram and Schmidt, in coordinates where Σ xx' is the identity. */
  function regression(rows, squares) {
    const { inverse } = roots(
      moment(
        rows,
        rows.map(() => 1),
      ),
    );
    const features = rows.map((x) => svec(times(inverse, x)));
    const q = [];
    const R = [
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ];
    for (let j = 0; j < 3; j++) {
      let column = features.map((row) => row[j]);
      for (let pass = 0; pass < 2; pass++) {
        for (let i = 0; i < j; i++) {
          const part = sum(column.map((value, m) => value * q[i][m]));
          R[i][j] += part;
          column = column.map((value, m) => value - part * q[i][m]);
        }
      }
      R[j][j] = Math.hypot(...column);
      q.push(column.map((value) => value / R[j][j]));
    }
    const s = q.map((column) => sum(column.map((value, m) => value * squares[m])));
    for (let j = 2; j >= 0; j--) {
      for (let i = j + 1; i < 3; i++) s[j] -= R[j][i] * s[i];
      s[j] /= R[j][j];
    }
    return sandwich(inverse, [s[0], s[1] / Math.SQRT2, s[2]]);
  }

  /**
   * Least squares for Σ over Σ ⪰ 0: `estimate_covariance(..., "psd")`, by the same steps.
   *
   * A fit without the constraint that meets it is the answer. Else, where exploration leaves Σ open,
   * many matrices fit alike, and which one a strategy believes depends on the method. So this is the
   * method of `speedlib.psd`: start at the fit without the constraint, and take accelerated projected-gradient steps in coordinates that whiten what was
   * explored; 500 of them with a little of all arrows in the whitening, then without.
   */
  function positive(arrows, explored, squares, start, tolerance) {
    const [large, small] = eigen(start).values;
    if (small >= -ROUNDING * large) return start;
    let found = { S: start, optimality: Infinity };
    for (const [share, steps] of [
      [1e-5, 500],
      [0, 5000],
    ]) {
      if (found.optimality > tolerance) {
        const all = moment(
          arrows,
          arrows.map(() => Math.sqrt(share / arrows.length)),
        );
        found = descend(
          explored.map((a) => arrows[a]),
          squares,
          all,
          found.S,
          tolerance,
          steps,
        );
      }
    }
    return found.S;
  }

  /** One stage: to coordinates in which the second moment is the identity, and back. */
  function descend(rows, squares, all, start, tolerance, steps) {
    const w = 1 / Math.sqrt(rows.length);
    const second = moment(
      rows,
      rows.map(() => w),
    ).map((entry, i) => entry + all[i]);
    const [p, q] = [second[0], second[2]].map((entry) => Math.sqrt(entry) || 1);
    const units = [p * p, p * q, q * q];
    const { root, inverse } = roots(
      second.map((entry, i) => entry / units[i]),
      1e-12,
    );
    const size = w * Math.hypot(...squares) || 1;
    const design = rows.map((x) => scaled3(svec(times(inverse, [x[0] / p, x[1] / q])), w));
    const response = squares.map((square) => (w * square) / size);
    const S = projected(
      sandwich(
        root,
        start.map((entry, i) => (entry * units[i]) / size),
      ),
    );
    const found = accelerate(design, response, S, tolerance, steps);
    const back = sandwich(inverse, found.S);
    return { S: back.map((entry, i) => (entry * size) / units[i]), optimality: found.optimality };
  }

  const scaled3 = (row, t) => row.map((value) => value * t);

  /** FISTA with restarts: steps of 1/‖D‖² for ½‖D svec(S) − r‖² over S ⪰ 0. */
  function accelerate(design, response, start, tolerance, steps) {
    const step = 1 / Math.max(largest(design), Number.MIN_VALUE);
    const slope = (S) => {
      const g = [0, 0, 0];
      design.forEach((row, m) => {
        const miss = row[0] * S[0] + row[1] * Math.SQRT2 * S[1] + row[2] * S[2] - response[m];
        for (let i = 0; i < 3; i++) g[i] += row[i] * miss;
      });
      return [g[0], g[1] / Math.SQRT2, g[2]];
    };
    let S = start;
    let ahead = start;
    let momentum = 1;
    for (let i = 0; ; i++) {
      if (i % 10 === 0) {
        const G = slope(S);
        const optimality = Math.max(-eigen(G).values[1], Math.abs(inner(G, S)));
        if (optimality <= tolerance || i === steps) return { S, optimality };
      }
      const G = slope(ahead);
      const fresh = projected(ahead.map((entry, k) => entry - step * G[k]));
      const change = fresh.map((entry, k) => entry - S[k]);
      const uphill =
        inner(
          ahead.map((entry, k) => entry - fresh[k]),
          change,
        ) > 0;
      const old = uphill ? 1 : momentum;
      momentum = (1 + Math.sqrt(1 + 4 * old * old)) / 2;
      const push = uphill ? 0 : (old - 1) / momentum;
      ahead = fresh.map((entry, k) => entry + push * change[k]);
      S = fresh;
    }
  }

  /** The largest eigenvalue of D'D, a symmetric matrix of three rows, in closed form (Smith 1961). */
  function largest(design) {
    const H = [0, 1, 2].map((i) => [0, 1, 2].map((j) => sum(design.map((row) => row[i] * row[j]))));
    const middle = (H[0][0] + H[1][1] + H[2][2]) / 3;
    const B = H.map((row, i) => row.map((entry, j) => entry - (i === j ? middle : 0)));
    const spread = Math.sqrt(sum(B.flat().map((entry) => entry * entry)) / 6);
    if (!spread) return middle;
    const half =
      (B[0][0] * (B[1][1] * B[2][2] - B[1][2] * B[2][1]) -
        B[0][1] * (B[1][0] * B[2][2] - B[1][2] * B[2][0]) +
        B[0][2] * (B[1][0] * B[2][1] - B[1][1] * B[2][0])) /
      (2 * spread ** 3);
    return middle + 2 * spread * Math.cos(Math.acos(Math.min(1, Math.max(-1, half))) / 3);
  }

  return { SAME_LOOK, looks, leastSquares, positive };
})();
