"""Quoted tools against exact tails, integrals and enumerated events."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

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
