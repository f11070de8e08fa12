r"""The motivating example with a diagonal noise matrix: the loss of the target policy.

One action is along x and has variance 1, one is along y and has variance r, and A - 2 are along the
diagonal and have variance (1 + r)/2. The target policy plays the first with probability 9/10 and
the others equally rarely. In units of 1/(10(A - 1)), its probabilities are the whole numbers p =
9(A - 1), q = 1 and, for the diagonal as a whole, m = A - 2. With :math:`\kappa = m/\sqrt2`, the
direction of the value is :math:`C = (p + \kappa, q + \kappa)` in the same unit.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

#: a + b √2 with rational a and b, and a polynomial of such numbers, the constant term first.
Surd = tuple[Fraction, Fraction]
Polynomial = list[Surd]


def is_positive(number: Surd) -> bool:
    """Decide exactly whether a + b √2 is positive.

    Examples
    --------
    >>> is_positive((Fraction(-7, 5), Fraction(1))), is_positive((Fraction(3), Fraction(-3)))
    (True, False)
    """
    a, b = number
    if a >= 0 and b >= 0:
        return a > 0 or b > 0
    if a <= 0 and b <= 0:
        return False
    return (a * a > 2 * b * b) == (a > 0)


def margin(n_actions: int, factor: Fraction, start: Fraction) -> Polynomial:
    r"""Return the policy's loss minus a factor times a design's loss, as a polynomial.

    The design on the first action and the diagonal that is best for C has the loss
    :math:`(p - q + (q + \kappa)t)^2` with :math:`t = \sqrt{1 + r}`, and the target policy
    :math:`(p + q + m) N/D` with

    .. math:: N &= C_2^2 p r^2 + \bigl(C_1^2(q + m) - 2C_1C_2m + C_2^2(p + m)\bigr) r + C_1^2 q, \\
              D &= p(q + m)\,r + q(p + m).

    Parameters
    ----------
    n_actions : int
        The number of actions A, at least 3.
    factor : Fraction
        The factor f.
    start : Fraction
        A value of t, around which the polynomial is expanded.

    Returns
    -------
    list of (Fraction, Fraction)
        Coefficients a + b √2, the constant first, of the polynomial
        :math:`(p+q+m)N - f\,D\,(p - q + (q+\kappa)t)^2` in :math:`t - \text{start}`. If all are
        positive, the policy loses more than f times the oracle wherever :math:`t \ge \text{start}`.

    Raises
    ------
    ValueError
        If there are fewer than three actions.
    """
    if n_actions < 3:
        raise ValueError(f"n_actions: must be at least 3; got {n_actions}")
    p, q, m = 9 * (n_actions - 1), 1, n_actions - 2
    kappa: Surd = (Fraction(0), Fraction(m, 2))
    first, second = (
        _plus((Fraction(p), Fraction(0)), kappa),
        _plus((Fraction(q), Fraction(0)), kappa),
    )
    squares = [_times(first, first), _times(first, second), _times(second, second)]
    linear = _plus(
        _plus(_scaled(q + m, squares[0]), _scaled(-2 * m, squares[1])), _scaled(p + m, squares[2])
    )
    # In r, and then in t: r = t² - 1.
    policy = _in_root([_scaled(q, squares[0]), linear, _scaled(p, squares[2])])
    rates = _in_root([_whole(q * (p + m)), _whole(p * (q + m))])
    root = [_whole(p - q), second]
    best = _product(rates, _product(root, root))
    total = p + q + m
    difference = [
        _plus(_scaled(total, left), _scaled(-factor, right))
        for left, right in zip(policy, best, strict=True)
    ]
    return _around(difference, start)


def certified(n_actions: int, factor: Fraction, start: Fraction) -> bool:
    """Decide whether `margin` proves the factor for all t that are at least `start`."""
    return all(map(is_positive, margin(n_actions, factor, start)))


def _whole(number: int) -> Surd:
    return Fraction(number), Fraction(0)


def _plus(left: Surd, right: Surd) -> Surd:
    return left[0] + right[0], left[1] + right[1]


def _scaled(factor: Fraction | int, number: Surd) -> Surd:
    return factor * number[0], factor * number[1]


def _times(left: Surd, right: Surd) -> Surd:
    return (
        left[0] * right[0] + 2 * left[1] * right[1],
        left[0] * right[1] + left[1] * right[0],
    )


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    result = [_whole(0)] * (len(left) + len(right) - 1)
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            result[i + j] = _plus(result[i + j], _times(one, other))
    return result


def _in_root(polynomial: Polynomial) -> Polynomial:
    """Substitute t² - 1."""
    result = [_whole(0)] * (2 * len(polynomial) - 1)
    for power, number in enumerate(polynomial):
        for k in range(power + 1):
            sign = comb(power, k) * (-1) ** (power - k)
            result[2 * k] = _plus(result[2 * k], _scaled(sign, number))
    return result


def _around(polynomial: Polynomial, start: Fraction) -> Polynomial:
    """Expand around another point."""
    result = [_whole(0)] * len(polynomial)
    for power, number in enumerate(polynomial):
        for k in range(power + 1):
            share = comb(power, k) * start ** (power - k)
            result[k] = _plus(result[k], _scaled(share, number))
    return result
