"""Designs in exact rational arithmetic, for small examples that a reader can check by hand.

Vectors are tuples of `fractions.Fraction`, matrices are tuples of rows. Numbers may be given as
whole numbers, fractions or texts such as ``"1/12"``; a float is refused, since it is rarely exactly
the number that was meant. All functions are meant for a handful of actions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]
Number = int | str | Fraction
Numbers = Iterable[Number]


def rational(value: Number) -> Fraction:
    """Return one number exactly.

    Raises
    ------
    TypeError
        If it is a float or anything else that is not exact.

    Examples
    --------
    >>> rational("1/12") + 1
    Fraction(13, 12)
    """
    if isinstance(value, bool) or not isinstance(value, int | str | Fraction):
        raise TypeError(f"value: exact numbers are int, str or Fraction; got {value!r}")
    return Fraction(value)


def root(value: Number, digits: int = 15) -> tuple[Fraction, Fraction]:
    """Return two fractions with `digits` decimals; the square root is between them.

    The two fractions are equal if the root has no further decimals.

    Raises
    ------
    ValueError
        If the value is negative.

    Examples
    --------
    >>> root("1/4"), [float(end) for end in root(2, 3)]
    ((Fraction(1, 2), Fraction(1, 2)), [1.414, 1.415])
    """
    square = rational(value)
    if square < 0:
        raise ValueError(f"value: must be at least 0; got {square}")
    scale = 10**digits
    below = math.isqrt(square.numerator * scale**2 // square.denominator)
    low = Fraction(below, scale)
    return low, low if low**2 == square else Fraction(below + 1, scale)


def vector(values: Numbers) -> Vector:
    """Return a vector of exact numbers; a text may list them: ``"1/2 1/4 1/4"``."""
    return tuple(map(rational, values.split() if isinstance(values, str) else values))


def matrix(rows: Iterable[Numbers]) -> Matrix:
    """Return a matrix of exact numbers from its rows, which must have the same length."""
    result = tuple(map(vector, rows))
    if len({len(row) for row in result}) > 1:
        raise ValueError(f"rows: must have the same length; got {[len(r) for r in result]}")
    return result


def dot(left: Vector, right: Vector) -> Fraction:
    """Return the inner product."""
    return sum((x * y for x, y in zip(left, right, strict=True)), Fraction(0))


def times(rows: Matrix, right: Vector) -> Vector:
    """Return matrix times vector."""
    return tuple(dot(row, right) for row in rows)


def trace(square: Matrix) -> Fraction:
    """Return the sum of the diagonal."""
    return sum((square[i][i] for i in range(len(square))), Fraction(0))


def solve(rows: Matrix, right: Vector) -> Vector | None:
    r"""Solve :math:`M y = r` by elimination.

    Parameters
    ----------
    rows : Matrix
        M, of any shape.
    right : Vector

    Returns
    -------
    Vector or None
        A solution, with zeros for the unknowns that are free; None if there is no solution.

    Examples
    --------
    >>> solve(matrix([[2, 1], [1, 1]]), vector([3, 2]))
    (Fraction(1, 1), Fraction(1, 1))
    """
    work = [[*row, value] for row, value in zip(rows, right, strict=True)]
    width = len(rows[0])
    pivots: list[int] = []
    for column in range(width):
        rank = len(pivots)
        pivot = next((i for i in range(rank, len(work)) if work[i][column]), None)
        if pivot is None:
            continue
        work[rank], work[pivot] = work[pivot], work[rank]
        head = work[rank][column]
        work[rank] = [value / head for value in work[rank]]
        for i, row in enumerate(work):
            if i != rank and (factor := row[column]):
                work[i] = [x - factor * y for x, y in zip(row, work[rank], strict=True)]
        pivots.append(column)
    if any(row[-1] for row in work[len(pivots) :]):
        return None
    solution = [Fraction(0)] * width
    for row, column in zip(work, pivots, strict=False):
        solution[column] = row[-1]
    return tuple(solution)


def inverse(square: Matrix) -> Matrix:
    """Return the inverse.

    Raises
    ------
    ValueError
        If there is none.
    """
    size = range(len(square))
    columns = [solve(square, tuple(Fraction(int(i == j)) for i in size)) for j in size]
    if any(column is None for column in columns):
        raise ValueError("square: is singular")
    return tuple(zip(*(column for column in columns if column is not None), strict=True))


def determinant(square: Matrix) -> Fraction:
    """Return the determinant, by cofactors of the first row."""
    if not square:
        return Fraction(1)
    minors = (tuple(row[:j] + row[j + 1 :] for row in square[1:]) for j in range(len(square)))
    return sum(
        ((-1) ** j * square[0][j] * determinant(minor) for j, minor in enumerate(minors)),
        Fraction(0),
    )


def eigenvalues(square: Matrix) -> tuple[Fraction, Fraction]:
    """Return both eigenvalues of a symmetric two-by-two matrix, the smaller one first.

    Raises
    ------
    ValueError
        If they are not rational.

    Examples
    --------
    >>> eigenvalues(matrix([[2, 1], [1, 2]]))
    (Fraction(1, 1), Fraction(3, 1))
    """
    half = trace(square) / 2
    square_of_gap = half**2 - determinant(square)
    gap = Fraction(math.isqrt(square_of_gap.numerator), math.isqrt(square_of_gap.denominator))
    if gap**2 != square_of_gap:
        raise ValueError(f"square: its eigenvalues are not rational; got {text(square)}")
    return half - gap, half + gap


def variances(features: Matrix, Sigma: Matrix) -> Vector:
    r"""Return :math:`\sigma^2(a) = x(a)^\top \Sigma\, x(a)` for each action."""
    return tuple(dot(x, times(Sigma, x)) for x in features)


def mean_feature(policy: Vector, features: Matrix) -> Vector:
    r"""Return the target direction :math:`c = \sum_a \pi(a) x(a)`."""
    return tuple(dot(policy, column) for column in zip(*features, strict=True))


def information(weights: Vector, features: Matrix, variances: Vector) -> Matrix:
    r"""Return the information matrix :math:`\sum_a b(a) x(a) x(a)^\top / \sigma^2(a)`."""
    shares = [b / v for b, v in zip(weights, variances, strict=True)]
    columns = list(zip(*features, strict=True))
    return tuple(
        tuple(
            sum((s * x * y for s, x, y in zip(shares, i, j, strict=True)), Fraction(0))
            for j in columns
        )
        for i in columns
    )


def loss(
    weights: Vector, features: Matrix, variances: Vector, direction: Vector
) -> Fraction | float:
    r"""Return n times the loss, :math:`c^\top A(b)^- c`; infinity if no estimate exists.

    No estimate exists if c is not in the range of the information matrix A(b).

    Examples
    --------
    >>> loss(vector("1/2 1/2"), matrix([[1, 0], [0, 1]]), vector([1, 4]), vector("1/2 1/2"))
    Fraction(5, 2)
    """
    solution = solve(information(weights, features, variances), direction)
    return math.inf if solution is None else dot(direction, solution)


def gradient(weights: Vector, features: Matrix, variances: Vector, direction: Vector) -> Vector:
    r"""Return the derivatives of n times the loss, :math:`-(x(a)^\top A^{-1} c)^2/\sigma^2(a)`.

    Raises
    ------
    ValueError
        If the information matrix is singular.
    """
    y = times(inverse(information(weights, features, variances)), direction)
    return tuple(-(dot(x, y) ** 2) / v for x, v in zip(features, variances, strict=True))


@dataclass(frozen=True)
class BestDesign:
    r"""A PE-optimal design: `weights`, and its loss :math:`nL^*` as `value`.

    The `combination` w is the cheapest way to write the target direction as
    :math:`\sum_a w_a x(a)`, at the cost :math:`\sum_a |w_a| \sigma(a) = \sqrt{nL^*}`.
    """

    weights: Vector
    value: Fraction
    combination: Vector

    @property
    def support(self) -> tuple[int, ...]:
        """Actions with positive weight."""
        return tuple(a for a, b in enumerate(self.weights) if b)


def best_design(features: Matrix, deviations: Vector, direction: Vector) -> BestDesign:
    r"""Find a PE-optimal design by trying all sets of actions that are a basis.

    Minimise :math:`\sum_a |w_a|\sigma(a)` over all w with :math:`\sum_a w_a x(a) = c` (Elfving): a
    basic solution is best, so at most d actions have to be combined. Then
    :math:`b^* \propto |w|\sigma`. For a handful of actions only.

    Parameters
    ----------
    features : Matrix, shape (A, d)
    deviations : Vector, shape (A,)
        Standard deviations of the noise, all positive.
    direction : Vector, shape (d,)
        Target direction c, not zero.

    Raises
    ------
    ValueError
        If no combination of actions is the direction, or the direction is zero.
    """
    best: tuple[Fraction, Vector] | None = None
    for size in range(1, len(direction) + 1):
        for chosen in combinations(range(len(features)), size):
            columns = tuple(zip(*(features[a] for a in chosen), strict=True))
            solution = solve(columns, direction)
            if solution is None:
                continue
            found = dict(zip(chosen, solution, strict=True))
            w = tuple(found.get(a, Fraction(0)) for a in range(len(features)))
            cost = dot(tuple(map(abs, w)), deviations)
            if best is None or cost < best[0]:
                best = cost, w
    if best is None or not best[0]:
        raise ValueError("direction: must be a combination of the actions, and not zero")
    cost, w = best
    weights = tuple(abs(x) * s / cost for x, s in zip(w, deviations, strict=True))
    return BestDesign(weights, cost**2, w)


def text(value: Any) -> str:
    """Write an exact number, vector or matrix: ``1/12``, ``(1/2, 1/2)``, ``[1, 0; 0, 1]``."""
    if isinstance(value, tuple):
        if value and isinstance(value[0], tuple):
            return "[" + "; ".join(", ".join(map(text, row)) for row in value) + "]"
        return "(" + ", ".join(map(text, value)) + ")"
    return "∞" if value == math.inf else str(value)


def steps(rows: Mapping[str, Any] | Sequence[tuple[str, Any]]) -> pd.DataFrame:
    """Return a table with a row for each step of a calculation: the step's name and exact value."""
    import pandas as pd

    pairs = rows.items() if isinstance(rows, Mapping) else rows
    table = [(name, text(value)) for name, value in pairs]
    return pd.DataFrame(table, columns=["step", "value"]).set_index("step")
