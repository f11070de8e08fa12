"""Which actions occur in a vertex: by enumeration of all vertices, in exact arithmetic."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from speedlib.solvers._circuits import occurring
from speedlib.strategies._vertices import Vertices, coefficients_on


def solve_exactly(rows: list[list[Fraction]], target: list[Fraction]) -> list[Fraction] | None:
    """Return the one combination of rows that is the target; None if there is none, or several."""
    table = [[*column, goal] for *column, goal in zip(*rows, target, strict=True)]
    unknowns, rank = len(rows), 0
    for j in range(unknowns):
        pivot = next((i for i in range(rank, len(table)) if table[i][j] != 0), None)
        if pivot is None:
            return None
        table[rank], table[pivot] = table[pivot], table[rank]
        table[rank] = [entry / table[rank][j] for entry in table[rank]]
        for i in range(len(table)):
            if i != rank:
                factor = table[i][j]
                table[i] = [a - factor * b for a, b in zip(table[i], table[rank], strict=True)]
        rank += 1
    if any(row[-1] != 0 for row in table[rank:]):
        return None
    return [table[j][-1] for j in range(unknowns)]


def vertices(x: np.ndarray, c: np.ndarray) -> list[dict[int, Fraction]]:
    """Return all vertices, by trying all sets of actions."""
    rows, target = [[Fraction(int(e)) for e in row] for row in x], [Fraction(int(e)) for e in c]
    found = []
    for size in range(1, x.shape[1] + 1):
        for chosen in itertools.combinations(range(len(x)), size):
            w = solve_exactly([rows[a] for a in chosen], target)
            if w is not None and all(entry != 0 for entry in w):
                found.append(dict(zip(chosen, w, strict=True)))
    return found


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Small whole features, many of them 0 or parallel, and a policy on some of the actions."""
    d, n_actions = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    entry = st.sampled_from([-2, -1, 0, 0, 0, 1, 1])
    x = np.array([[draw(entry) for _ in range(d)] for _ in range(n_actions)], dtype=float)
    weights = np.array([draw(st.integers(0, 2)) for _ in range(n_actions)], dtype=float)
    return x, weights @ x


@settings(max_examples=60, deadline=None)
@given(problems())
def test_an_action_occurs_in_a_vertex_or_in_none(problem: tuple[np.ndarray, np.ndarray]) -> None:
    x, c = problem
    exact = np.zeros(len(x), dtype=bool)
    for vertex in vertices(x, c) if c.any() else []:
        exact[list(vertex)] = True
    assert occurring(x, c).tolist() == exact.tolist()


def test_a_direct_sum_leaves_the_other_part_out() -> None:
    x = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 2], [0, 0, 0]])
    assert occurring(x, np.array([1.0, 2.0, 0.0])).tolist() == [True] * 3 + [False] * 3
    assert occurring(x, np.array([0.0, 0.0, 1.0])).tolist() == [False] * 3 + [True, True, False]
    assert not occurring(x, np.zeros(3)).any()
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0] * 1e20
    assert (
        occurring(x @ turn, np.array([1.0, 2.0, 0.0]) @ turn).tolist() == [True] * 3 + [False] * 3
    )


@settings(max_examples=40, deadline=None)
@given(problems(), st.integers(0, 10**6))
def test_the_cheapest_vertex_is_the_cheapest_of_all(
    problem: tuple[np.ndarray, np.ndarray], seed: int
) -> None:
    x, c = problem
    if not c.any():
        return
    found = Vertices(x, c)
    sigma = np.random.default_rng(seed).lognormal(size=(4, found.actions.size))
    chosen = found.cheapest(sigma)
    number = {action: place for place, action in enumerate(found.actions.tolist())}
    table = np.zeros((0, found.actions.size))
    for vertex in vertices(x, c):
        row = np.zeros(found.actions.size)
        row[[number[a] for a in vertex]] = [float(w) for w in vertex.values()]
        table = np.vstack([table, row])
    costs = np.abs(table) @ sigma.T
    for r in range(4):
        assert chosen[r] @ x[found.actions] == pytest.approx(c, abs=1e-12)
        assert np.abs(chosen[r]) @ sigma[r] == pytest.approx(costs[:, r].min(), rel=1e-12)
        assert chosen[r] == pytest.approx(table[costs[:, r].argmin()], rel=1e-12, abs=1e-14)


def test_coefficients_have_all_their_digits_in_any_units() -> None:
    rows = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0]])
    w = np.array([0.1, -0.7])
    for unit in (1e-30, 1.0, 1e30):
        scale = np.array([1.0, unit, 1 / unit])
        assert coefficients_on(rows * scale, w @ (rows * scale)) == pytest.approx(w, rel=1e-14)
