"""Quoted tools against exact tails, integrals and enumerated events."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special, stats

from paper.theory.tools import (
    event_bound,
    gaussian_divergence,
    least_squares_level,
    printed_divergence,
    sub_exponential_tail,
)


def test_the_sub_exponential_tail_changes_its_form_where_both_agree():
    nu, alpha = 2.0, 4.0
    edge = nu**2 / alpha
    assert sub_exponential_tail(edge / 2, nu, alpha) == pytest.approx(
        np.exp(-((edge / 2) ** 2) / (2 * nu**2))
    )
    assert sub_exponential_tail(2 * edge, nu, alpha) == pytest.approx(np.exp(-2 * edge / 8))
    t = np.linspace(0, 30, 200)
    assert (stats.chi2.sf(1 + t, 1) <= sub_exponential_tail(t, nu, alpha)).all()


@pytest.mark.parametrize("m, v, m2, v2", [(0, 1, 0.5, 2), (1, 0.25, 0.5, 1), (-1, 3, 2, 0.5)])
def test_the_divergence_is_its_integral(m, v, m2, v2):
    p, q = stats.norm(m, v**0.5), stats.norm(m2, v2**0.5)
    value, _ = integrate.quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), -30, 30, limit=200)
    assert gaussian_divergence(m, v, m2, v2) == pytest.approx(value)


def test_the_printed_divergence_has_unit_variances():
    assert printed_divergence(0.0, 2.0) == 2.0


def test_the_event_bound_holds_for_every_event_of_a_small_space():
    rng = np.random.default_rng(0)
    for p, q in rng.dirichlet(np.ones(4), (50, 2)):
        bound = event_bound(np.sum(p * np.log(p / q)))
        for event in range(16):
            inside = np.array([event >> k & 1 for k in range(4)], dtype=bool)
            assert p[inside].sum() + q[~inside].sum() >= bound


def test_the_least_squares_level_adds_rank_and_confidence():
    assert least_squares_level(3, np.exp(-2.0)) == pytest.approx(5)


@pytest.mark.parametrize("jump", [0.05, 0.3, 1.0, 4.0])
def test_the_square_of_a_two_valued_variable_keeps_the_quoted_bound(jump):
    """The least sub-Gaussian constant of such a variable is known in closed form (Kearns, Saul)."""
    p = 1 / (1 + jump**2)  # of the value `jump`, the other is −1/jump: mean 0 and variance 1
    span, other = jump + 1 / jump, 1 - p
    least = span**2 * (1 / 4 if jump == 1 else (other - p) / (2 * np.log(other / p)))
    values, shares = np.array([jump, -1 / jump]) ** 2 / least, np.array([p, other])
    inside = np.linspace(-0.25, 0.25, 1001)[1:-1]
    moment = np.exp(np.outer(inside, values - shares @ values)) @ shares
    assert (np.log(moment) <= 16 * inside**2 + 1e-15).all()


def test_each_step_for_the_square_of_a_sub_gaussian_variable():
    """The page's chain from even moments to the bound, on both sides of one fifth."""
    rate = np.linspace(0, 0.25, 10_001)[1:]
    k = np.arange(2, 200)
    series = 1 + (rate[:, None] ** k * (2.0 ** (k + 1) + 1 / special.factorial(k))).sum(axis=1)
    closed = 1 + 8 * rate**2 / (1 - 2 * rate) + 0.6 * rate**2
    assert (series <= closed).all()
    low = rate <= 0.2
    assert (closed[low] <= 1 + 16 * rate[low] ** 2).all()
    most = 1 + 16.6 * rate[~low] ** 2
    assert (closed[~low] <= most * (1 + 1e-15)).all()
    assert (most <= 1 + 16 * rate[~low] ** 2 + (16 * rate[~low] ** 2) ** 2 / 2).all()
