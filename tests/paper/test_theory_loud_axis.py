"""The motivating example: exact polynomials against losses that the library computes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from paper.theory.loud_axis import certified, is_positive, margin
from speedlib import optimal_design, pe_loss
from speedlib.environments import motivating_example


def losses(n_actions: int, ratio: float) -> tuple[float, float]:
    example = motivating_example(n_actions, variances=(1.0, ratio))
    x, v, policy = example.bandit.features, example.bandit.variances, example.policy
    return pe_loss(policy, x, v, policy=policy), optimal_design(x, v, policy=policy).value


@pytest.mark.parametrize("n_actions", [3, 10, 100])
@pytest.mark.parametrize("ratio", [1.0, 8.0, 99.0])
def test_the_polynomial_is_the_difference_of_the_losses(n_actions: int, ratio: float) -> None:
    # At t = start all that is left of the expansion is its constant.
    start = Fraction(float(np.sqrt(1 + ratio)))
    factor = Fraction(13, 10)
    a, b = margin(n_actions, factor, start)[0]
    unit, rates = 10 * (n_actions - 1), 9 * (n_actions - 1) * (n_actions - 1) * ratio
    rates += 9 * (n_actions - 1) + n_actions - 2
    policy, best = losses(n_actions, ratio)
    expected = (policy - float(factor) * best) * unit**2 * rates
    assert float(a) + float(b) * 2**0.5 == pytest.approx(expected, rel=1e-7)


def test_the_expansion_does_not_change_the_polynomial() -> None:
    def value(start: Fraction, t: Fraction) -> np.ndarray:
        return sum(
            np.array(pair) * (t - start) ** k
            for k, pair in enumerate(margin(100, Fraction(11, 10), start))
        )

    t = Fraction(7, 2)
    assert (value(Fraction(0), t) == value(Fraction(33, 10), t)).all()


def test_a_tenth_is_certified_from_ten_on_and_no_more_than_is_true() -> None:
    start = Fraction(33, 10)
    assert start**2 < 11
    assert certified(100, Fraction(11, 10), start)
    policy, best = losses(100, 10.0)
    too_much = Fraction(policy / best) + Fraction(1, 100)
    assert not certified(100, too_much, start)
    # At seven, the ratio of the unit ball, the policy loses less than a tenth.
    assert not certified(100, Fraction(11, 10), Fraction(28, 10))


@pytest.mark.parametrize("a", range(-4, 5))
@pytest.mark.parametrize("b", range(-4, 5))
def test_signs_are_exact(a: int, b: int) -> None:
    assert is_positive((Fraction(a), Fraction(b))) == (a + b * 2**0.5 > 0)


def test_fewer_than_three_actions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"n_actions: must be at least 3; got 2"):
        margin(2, Fraction(1), Fraction(3))
