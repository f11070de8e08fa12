/**
 * Arrows and symmetric matrices in the plane, for the mathematics of the explorer.
 *
 * An arrow is [x1, x2], a symmetric matrix [s11, s12, s22].
 */
var SpeedGeometry = (function () {
  "use strict";

  const dot = (p, q) => p[0] * q[0] + p[1] * q[1];
  const length = (p) => Math.hypot(p[0], p[1]);
  const scaled = (p, t) => [p[0] * t, p[1] * t];
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const turned = (p) => [-p[1], p[0]];

  /** x' S x, the variance that the matrix S gives an arrow. */
  const quadratic = (S, x) => S[0] * x[0] * x[0] + 2 * S[1] * x[0] * x[1] + S[2] * x[1] * x[1];

  /** What rounding cuts off the product p q: with it the product is exact (Dekker 1971). */
  function cutOff(p, q, product) {
    const high = (value) => {
      const t = 134217729 * value;
      return t - (t - value);
    };
    const p1 = high(p);
    const q1 = high(q);
    return p1 * q1 - product + p1 * (q - q1) + (p - p1) * q1 + (p - p1) * (q - q1);
  }

  /**
   * det(p, q) = p1 q2 − p2 q1, twice the area between two arrows, with its sign.
   *
   * All that follows rests on such areas. They are exact to the last digits even where the arrows
   * are nearly parallel and the two products cancel.
   */
  function det(p, q) {
    const plus = p[0] * q[1];
    const minus = p[1] * q[0];
    return plus - minus + (cutOff(p[0], q[1], plus) - cutOff(p[1], q[0], minus));
  }

  /** Whether two arrows lie on one line through the origin; the arrow 0 lies on every line. */
  const parallel = (p, q, tolerance) => Math.abs(det(p, q)) <= tolerance * length(p) * length(q);

  /** M S M for symmetric M and S. */
  function sandwich(M, S) {
    const p = [M[0], M[1]];
    const q = [M[1], M[2]];
    const across = S[0] * M[0] * M[1] + S[1] * (M[0] * M[2] + M[1] * M[1]) + S[2] * M[1] * M[2];
    return [quadratic(S, p), across, quadratic(S, q)];
  }

  const times = (M, x) => [M[0] * x[0] + M[1] * x[1], M[1] * x[0] + M[2] * x[1]];

  /** Σ_m w(m)² x(m) x(m)'. */
  const moment = (rows, w) =>
    [
      [0, 0],
      [0, 1],
      [1, 1],
    ].map(([i, j]) => sum(rows.map((x, m) => w[m] ** 2 * x[i] * x[j])));

  /** Eigenvalues of a symmetric matrix, the larger one first, and its unit eigenvector. */
  function eigen(S) {
    const middle = (S[0] + S[2]) / 2;
    const half = (S[0] - S[2]) / 2;
    const radius = Math.hypot(half, S[1]);
    if (!radius) return { values: [middle, middle], vector: [1, 0] };
    const vector = half >= 0 ? [half + radius, S[1]] : [S[1], radius - half];
    const determinant = det([S[0], S[1]], [S[1], S[2]]);
    const large = middle < 0 ? middle - radius : middle + radius;
    const values = middle < 0 ? [determinant / large, large] : [large, determinant / large];
    return { values, vector: scaled(vector, 1 / length(vector)) };
  }

  /** The symmetric matrix with the same eigenvectors and other eigenvalues. */
  function rebuilt({ vector: [p, q] }, [large, small]) {
    return [large * p * p + small * q * q, (large - small) * p * q, large * q * q + small * p * p];
  }

  /** The root of a positive semidefinite matrix and its inverse, on the span where it is one. */
  function roots(M, cut = 0) {
    const found = eigen(M);
    const root = found.values.map((v) => (v > cut * found.values[0] ? Math.sqrt(v) : 0));
    return {
      root: rebuilt(found, root),
      inverse: rebuilt(
        found,
        root.map((v) => (v ? 1 / v : 0)),
      ),
    };
  }

  /** The nearest positive semidefinite matrix: negative eigenvalues become 0. */
  function projected(S) {
    const found = eigen(S);
    return rebuilt(
      found,
      found.values.map((v) => Math.max(v, 0)),
    );
  }

  /** The inner product of two symmetric matrices. */
  const inner = (S, T) => S[0] * T[0] + 2 * S[1] * T[1] + S[2] * T[2];

  return {
    sum,
    dot,
    length,
    scaled,
    turned,
    det,
    parallel,
    quadratic,
    sandwich,
    times,
    moment,
    eigen,
    roots,
    projected,
    inner,
  };
})();
