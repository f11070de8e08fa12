"""Certificates of Elfving's program against exact arithmetic, from the numbers as stored."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from speedlib.solvers.elfving import elfving_design

GAP = 1e-9


def exact_efficiency(x, v, c, solution):
    """Bound and value in exact rational arithmetic, from the numbers as they are stored."""
    d = x.shape[1]
    rows = [[Fraction(t) for t in row] for row in x]
    y = [Fraction(t) for t in solution.dual]
    products = [sum(a * b for a, b in zip(row, y, strict=True)) for row in rows]
    worst = max(p * p / Fraction(s) for p, s in zip(products, v, strict=True))
    lower = sum(Fraction(a) * b for a, b in zip(c, y, strict=True)) ** 2 / worst
    system = [[rows[a][j] for a in solution.support] + [Fraction(c[j])] for j in range(d)]
    for i in range(d):
        pivot = next(k for k in range(i, d) if system[k][i] != 0)
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [t / system[i][i] for t in system[i]]
        for k in range(d):
            if k != i:
                system[k] = [
                    s - system[k][i] * t for s, t in zip(system[k], system[i], strict=True)
                ]
    w = [row[-1] for row in system]
    total = sum(Fraction(b) for b in solution.weights)
    value = sum(
        t * t * Fraction(v[a]) * total / Fraction(solution.weights[a])
        for t, a in zip(w, solution.support, strict=True)
    )
    return lower / value


@pytest.mark.parametrize("seed", range(40))
def test_certificates_hold_in_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    d = 1 + seed % 4
    x, v = rng.standard_normal((20, d)), np.exp(rng.standard_normal(20))
    c = rng.dirichlet(np.ones(20)) @ x
    solution = elfving_design(x, v, c)
    assert solution.support.size == d
    efficiency = exact_efficiency(x, v, c, solution)
    assert (1 - solution.gap) ** 2 - 1e-13 <= efficiency <= 1
    assert solution.gap <= 1e-12


def long_and_short(seed, d):
    """Actions whose features differ in length by up to ten orders of magnitude."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((12, d)) * 10.0 ** rng.uniform(-5, 5, size=(12, 1))
    return x, np.exp(rng.standard_normal(12)), rng


@pytest.mark.slow
def test_certificates_hold_in_exact_arithmetic_however_unlike_the_lengths():
    checked = 0
    for seed in range(200):
        x, v, rng = long_and_short(seed, 2 + seed % 3)
        c = rng.dirichlet(np.ones(12)) @ x
        solution = elfving_design(x, v, c)
        if solution.support.size == x.shape[1]:
            assert (1 - solution.gap) ** 2 - 1e-13 <= exact_efficiency(x, v, c, solution) <= 1, seed
            checked += 1
    assert checked > 150


@pytest.mark.parametrize("seed", range(20))
def test_actions_without_weight_do_not_spoil_the_certificate(seed):
    # One long action is the direction; those that complete its basis are short.
    x, v, rng = long_and_short(seed, 4)
    x[0] = 1e6 * rng.standard_normal(4)
    x[1:] *= 1e-4
    solution = elfving_design(x, v, x[0])
    assert solution.support.tolist() == [0]
    assert solution.gap <= GAP


@pytest.mark.parametrize("seed", range(60))
def test_certificates_allow_for_what_the_direction_is_known_to(seed):
    """Two nearly parallel actions, c between them up to rounding: no way to move c back counts.

    Which point of their plane c stands for depends on the units of the features. Whatever they
    are, the gap reported covers the gap that exact arithmetic finds for it.
    """
    rng = np.random.default_rng([29599, seed])
    d = 3 + seed % 4
    x = rng.standard_normal(d) + 1e-6 * rng.standard_normal((2, d))
    v = 10.0 ** rng.uniform(-5, 5, 2)
    c = rng.dirichlet([1, 1]) @ x
    solution = elfving_design(x, v, c)
    rows = [[Fraction(t) for t in row] for row in x]
    y = [Fraction(t) for t in solution.dual]
    prices = [abs(float(sum(a * b for a, b in zip(row, y, strict=True)))) for row in rows]
    top = (prices / np.sqrt(v)).max()
    lower = float(sum(Fraction(a) * b for a, b in zip(c, y, strict=True))) / top
    for units in (np.ones(d), np.abs(x).max(axis=0), np.exp(rng.standard_normal(d))):
        norm = projected_norm(rows, v, [Fraction(t) for t in c], [Fraction(t) for t in units])
        assert lower / norm >= 1 - solution.gap - 1e-15


def projected_norm(rows, v, c, units):
    """Norm of the coefficients of two actions that come closest to c in the given units."""
    inner = [
        [sum(a * b / u**2 for a, b, u in zip(one, other, units, strict=True)) for other in rows]
        for one in rows
    ]
    goal = [sum(a * b / u**2 for a, b, u in zip(row, c, units, strict=True)) for row in rows]
    determinant = inner[0][0] * inner[1][1] - inner[0][1] ** 2
    first = (goal[0] * inner[1][1] - goal[1] * inner[0][1]) / determinant
    second = (goal[1] * inner[0][0] - goal[0] * inner[0][1]) / determinant
    return abs(float(first)) * np.sqrt(v[0]) + abs(float(second)) * np.sqrt(v[1])
