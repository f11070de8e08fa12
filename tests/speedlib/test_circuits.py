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


@settings(max_examples=60, deadline=None)
@given(problems(), st.data())
def test_lengths_and_units_do_not_matter(
    problem: tuple[np.ndarray, np.ndarray], data: st.DataObject
) -> None:
    x, c = problem
    power = st.sampled_from([-18, 0, 18])
    lengths = 2.0 ** np.array([data.draw(power) for _ in range(len(x))])
    units = 2.0 ** np.array([data.draw(st.integers(-90, 90)) for _ in range(x.shape[1])])
    exact = occurring(x, c)
    assert occurring(x * units * lengths[:, None], c * units).tolist() == exact.tolist()


def test_short_actions_and_long_ones_occur_alike() -> None:
    x = np.array([[1e-5, 1e-5], [1e5, 1e5], [1e5, -1e5], [0, 1.0]])
    assert occurring(x, x.mean(axis=0)).all()
    x = np.array([[1e-6, 0], [1e5, 0], [0, 1]])
    for order in itertools.permutations(range(3)):
        assert occurring(x[list(order)], x.mean(axis=0)).all()
        found = Vertices(x[list(order)], x.mean(axis=0)).cheapest(np.ones((1, 3)))
        assert found @ x[list(order)] == pytest.approx(x.mean(axis=0)[None], rel=1e-12)


@pytest.mark.parametrize("small", [1e-6, 5e-10, 1e-12])
def test_what_is_small_is_not_zero(small: float) -> None:
    """Nor is it where only a turned basis shows it, or an action needs another but little."""
    x, c = np.eye(3), np.array([0.6, 0.4 - small, small])
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    assert occurring(x, c).all() and occurring(x @ turn, c @ turn).all()
    x = np.array([[1.0, 0, 0], [0, 1, 0], [1, small, 0], [0, 0, 1]])
    c = np.array([1.0, 0, 0])
    assert occurring(x, c).tolist() == [True, True, True, False]


def test_what_nearly_parallel_actions_share_is_not_dropped() -> None:
    """Coordinates in such a basis are known badly one by one, and well together."""
    rng = np.random.default_rng(1)
    for apart in (1e-7, 1e-9, 1e-10):
        for small in (1e-4, 1e-8, 1e-10):
            for _ in range(20):
                x = rng.normal(size=(3, 4))
                x[1] = x[0] * (1 + apart * rng.normal(size=4))
                for p in ([0, small, 1 - small], [small, 0, 1 - small], [small, small, 1]):
                    found = Vertices(x, p @ x)
                    vertex = found.cheapest(np.ones((1, found.actions.size)))
                    assert vertex @ x[found.actions] == pytest.approx((p @ x)[None], abs=1e-12)


@pytest.mark.parametrize("d", [2, 5, 20, 60])
def test_rounding_joins_nothing(d: int) -> None:
    """Two spaces that know nothing of each other, in coordinates that hide them."""
    rng = np.random.default_rng(d)
    for _ in range(20):
        x = np.zeros((6 * d, 2 * d))
        x[: 3 * d, :d], x[3 * d :, d:] = rng.normal(size=(2, 3 * d, d))
        policy = np.append(rng.dirichlet(np.ones(3 * d)), np.zeros(3 * d))
        x = x @ np.linalg.qr(rng.normal(size=(2 * d, 2 * d)))[0]
        x *= 10.0 ** rng.uniform(-3, 3, size=(6 * d, 1))
        assert occurring(x, policy @ x).tolist() == (policy > 0).tolist()


def test_independent_actions_have_one_vertex(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is solved for at the start, and no search is made for it."""
    x, sigma = np.random.default_rng(1).normal(size=(4, 6)), np.full((3, 4), 2.0)
    w = np.array([0.1, 0.2, 0.3, 0.4])
    found = Vertices(x, w @ x)
    monkeypatch.setattr("speedlib.strategies._vertices.pe_designs", None)
    assert found.cheapest(sigma) == pytest.approx(np.tile(w, (3, 1)), rel=1e-12)


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
