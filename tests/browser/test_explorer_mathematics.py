"""The explorer's numbers, as Chromium computes them, are those of the library."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from speedbook.paths import find_root
from speedbook.press.sphinx.explorer import read_presets
from speedlib import Rewards, identifiability, optimal_design, pe_loss
from speedlib.asymptotics import best_exploration_length, estimation_cost
from speedlib.covariance import CovarianceEstimate, estimate_covariance
from speedlib.designs import Design, target_direction
from speedlib.quadratic import quadratic_features
from speedlib.strategies import SPEED

from .explorer_states import KINDS, random_states

Floats = NDArray[np.float64]

ROOT = find_root()
SCRIPTS = ("geometry", "covariance", "mathematics")
CLOSE = 1e-9

ASK = """states => states.map((s) => {
  const M = SpeedMathematics;
  const variances = M.variances(s.arrows, s.noise);
  const c = M.direction(s.arrows, s.policy);
  const all = s.arrows.map((_, a) => a);
  const design = M.optimal(s.arrows, variances, c);
  return {
    variances, c, design,
    policyLoss: M.onPolicy(s.arrows, variances, s.policy),
    losses: all.map((a) => M.loss(s.arrows, variances, all.map((b) => Number(a === b)), c)),
    ownLoss: M.loss(s.arrows, variances, design.weights, c),
    elfving: M.elfving(s.arrows, variances, c),
    possible: M.possible(s.arrows, s.explored, s.noise),
    lstsq: M.believed(s.arrows, s.explored, s.noise, c, false),
    psd: M.believed(s.arrows, s.explored, s.noise, c, true),
    cost: M.estimationCost(s.arrows, variances, design.weights, s.explored),
    costOfAll: M.estimationCost(s.arrows, variances, design.weights, all, 0.8),
  };
})"""


class Case(NamedTuple):
    """A state with what the browser says of it."""

    name: str
    state: dict[str, Any]
    found: dict[str, Any]

    @property
    def x(self) -> Floats:
        return np.array(self.state["arrows"], dtype=float)

    @property
    def c(self) -> Floats:
        return np.array(self.found["c"])

    @property
    def variances(self) -> Floats:
        """The browser's: rounding in x'Σx is no matter of the design for it."""
        return np.array(self.found["variances"])

    @property
    def points(self) -> Floats:
        """The points x/σ; an arrow 0 has no noise, and its point is 0."""
        sigma = np.where(self.x.any(axis=1), np.sqrt(self.variances), 1)
        return np.asarray(self.x / sigma[:, None])

    @property
    def explored(self) -> list[int]:
        return list(self.state["explored"])

    @property
    def exploration(self) -> Floats:
        return np.isin(np.arange(len(self.x)), self.explored) / len(self.explored)

    def best(self, variances: Floats | None = None) -> Design:
        """Return the library's design."""
        v = self.variances if variances is None else variances
        return optimal_design(self.x, v, direction=self.c)

    def loss(self, weights: Any) -> float:
        return float(pe_loss(weights, self.x, self.variances, direction=self.c))

    def estimate(self, method: str) -> CovarianceEstimate:
        """Return the library's fit to exact variances: rewards of mean 0 with such scatters."""
        counts = np.isin(np.arange(len(self.x)), self.explored).astype(int)
        squares = np.where(self.x.any(axis=1), self.variances, 0)
        rewards = Rewards(counts, np.zeros(len(counts)), counts * squares)
        return estimate_covariance(rewards, self.x, method)

    def condition(self, actions: list[int]) -> float:
        """Return how nearly the looks of some actions agree: the condition of their regression."""
        rows = quadratic_features(self.x[actions])
        rows = rows[rows.any(axis=1)]
        if not len(rows):
            return 1.0
        values = np.linalg.svd(rows / np.linalg.norm(rows, axis=1)[:, None], compute_uv=False)
        kept = values[values > 1e-12 * values[0]]
        return float(kept[0] / kept[-1])

    @property
    def fit_tolerance(self) -> float:
        """What the library's fit in floats may miss."""
        return max(CLOSE, 1e-15 * self.condition(self.explored) ** 2)

    def cost_tolerance(self, actions: list[int]) -> float:
        """What a price in floats may miss: errors of a loud action's coefficient count most."""
        v = self.variances[self.x.any(axis=1)]
        return max(CLOSE, 1e-15 * self.condition(actions) ** 2 * float(v.max() / v.min()))


@pytest.fixture(scope="module")
def cases(engine: Any) -> list[Case]:
    presets = {name: preset["state"] for name, preset in read_presets(ROOT).items()}
    states = random_states(304, seed=24)
    names = [*presets, *(f"{i}: {state['kind']}" for i, state in enumerate(states))]
    states = [*presets.values(), *states]
    page = engine.new_page()
    faults: list[Any] = []
    page.on("pageerror", lambda error: faults.append(error))
    for script in SCRIPTS:
        page.add_script_tag(path=ROOT / Path(f"book/_static/explorer/{script}.js"))
    found = page.evaluate(ASK, states)
    page.close()
    assert not faults
    return [Case(*each) for each in zip(names, states, found, strict=True)]


@pytest.fixture(scope="module")
def asked(cases: list[Case]) -> list[Case]:
    """Those in which something is asked: c is not 0."""
    return [case for case in cases if case.c.any()]


def off(found: float, expected: float) -> float:
    """By how much a number is off, relative to itself; two infinities agree."""
    if found == expected:
        return 0.0
    if not np.isfinite([found, expected]).all():
        return np.inf
    return abs(found - expected) / max(abs(found), abs(expected))


def test_the_states_are_of_all_kinds(cases: list[Case]) -> None:
    kinds = [case.state["kind"] for case in cases if "kind" in case.state]
    assert len(kinds) >= 300 and len(set(kinds)) == len(KINDS)
    sizes = {len(case.x) for case in cases}
    assert sizes == set(range(3, 9))
    assert sum("sigma" in case.state["noise"] for case in cases) > 60
    assert sum("Sigma" in case.state["noise"] for case in cases) > 60
    assert sum(not case.c.any() for case in cases) > 10, "c = 0"
    looks = [case.found["possible"]["rank"] for case in cases]
    assert min(looks.count(rank) for rank in (1, 2, 3)) > 30
    unique = [case.found["design"]["unique"] for case in cases]
    assert unique.count(True) > 150 and unique.count(False) > 50


def test_direction_and_variances(cases: list[Case]) -> None:
    for name, state, found in cases:
        x = np.array(state["arrows"], dtype=float)
        size = np.abs(x).max()
        c = target_direction(x, state["policy"])
        assert np.array(found["c"]) == pytest.approx(c, rel=1e-13, abs=1e-14 * size), name
        if "sigma" in state["noise"]:
            assert found["variances"] == pytest.approx(np.square(state["noise"]["sigma"])), name
            continue
        s11, s12, s22 = state["noise"]["Sigma"]
        exact = np.einsum("ai,ij,aj->a", x, [[s11, s12], [s12, s22]], x)
        floor = 1e-11 * (s11 + s22) * (x**2).sum(axis=1)
        assert (np.abs(found["variances"] - exact) <= 1e-12 * exact + floor).all(), name


def test_value_and_certificate_of_the_optimal_design(cases: list[Case]) -> None:
    for case in cases:
        found, best = case.found["design"], case.best()
        assert off(found["value"], best.value) <= CLOSE, case.name
        points = case.points
        prices = np.abs(points @ found["certificate"])
        assert prices.max() <= 1 + 1e-12, case.name
        assert off(case.c @ found["certificate"], np.sqrt(best.value)) <= CLOSE, case.name
        assert 0 <= found["gap"] <= 1e-13, case.name
        reached = np.array(found["u"]) @ points
        assert np.abs(reached - case.c).max() <= 1e-12 * np.abs(case.x).max(), case.name
        assert np.flatnonzero(found["weights"]).tolist() == found["support"], case.name
        assert sum(found["weights"]) == pytest.approx(1, abs=1e-14), case.name


def test_weights_where_the_optimum_is_unique(asked: list[Case]) -> None:
    unique = [case for case in asked if case.found["design"]["unique"]]
    for case in unique:
        weights = np.array(case.found["design"]["weights"])
        assert np.abs(weights - case.best().weights).max() <= CLOSE, case.name


def test_an_optimum_is_called_unique_if_no_other_design_is_as_good(asked: list[Case]) -> None:
    """Without an action of its support, a unique optimum cannot be reached; another one can."""
    for case in asked:
        found = case.found["design"]
        values = [_value_without(case, action) for action in found["support"]]
        others = [value for value in values if value <= found["value"] * (1 + 1e-13)]
        if found["unique"]:
            assert not others, case.name
        else:
            near = [value for value in values if value <= found["value"] * (1 + 1e-7)]
            assert near, case.name


def _value_without(case: Case, action: int) -> float:
    rest = np.arange(len(case.x)) != action
    try:
        return optimal_design(case.x[rest], case.variances[rest], direction=case.c).value
    except ValueError:
        return np.inf


def test_losses(asked: list[Case]) -> None:
    infinite = 0
    for case in asked:
        assert off(case.found["policyLoss"], case.loss(case.state["policy"])) <= CLOSE, case.name
        assert off(case.found["ownLoss"], case.found["design"]["value"]) <= CLOSE, case.name
        for a, loss in enumerate(case.found["losses"]):
            assert off(loss, case.loss(np.eye(len(case.x))[a])) <= CLOSE, (case.name, a)
            infinite += loss == np.inf
    assert infinite > 100, "one action alone seldom tells the value"


def test_elfvings_set_has_all_points_inside_and_the_ray_leaves_it_at_its_edge(
    asked: list[Case],
) -> None:
    for case in asked:
        corners = np.array(case.found["elfving"]["hull"])
        points = np.array(case.found["elfving"]["points"])
        assert points == pytest.approx(case.points, rel=1e-13)
        exit_point = np.array(case.found["elfving"]["exit"])
        if len(corners) == 2:
            assert np.linalg.matrix_rank(points, tol=1e-9 * np.abs(points).max()) == 1, case.name
            continue
        sides = np.roll(corners, -1, axis=0) - corners
        normals = np.column_stack([sides[:, 1], -sides[:, 0]])
        heights = (normals * corners).sum(axis=1)
        assert (heights > 0).all(), "the origin is inside, and the corners go round it"
        assert (np.vstack([points, -points]) @ normals.T <= heights * (1 + 1e-9)).all(), case.name
        assert (exit_point @ normals.T / heights).max() == pytest.approx(1, rel=1e-9), case.name


def test_what_remains_possible(cases: list[Case]) -> None:
    for case in cases:
        found = case.found["possible"]
        assert found["rank"] == identifiability(case.x, case.exploration).rank, case.name
        if found["rank"] != 2:
            assert found["free"] is None
            assert found["range"] == ([0, 0] if found["rank"] == 3 else None), case.name
            continue
        base, N = _matrix(found["base"]), _matrix(found["free"])
        assert np.linalg.norm(N) == pytest.approx(1, rel=1e-12)
        for a in case.explored:
            square = case.x[a] @ case.x[a]
            # Looks that agree within `SAME_LOOK` are one.
            assert abs(case.x[a] @ N @ case.x[a]) <= 1e-7 * square, case.name
        low, high = found["range"]
        assert low <= 1e-12 and high >= -1e-12, case.name
        size = np.trace(base) + max(-low, high)
        for end, beyond in ((low, -1), (high, 1)):
            assert abs(np.linalg.eigvalsh(base + end * N)[0]) <= 1e-9 * size, case.name
            further = base + (end + beyond * 1e-3 * size) * N
            assert np.linalg.eigvalsh(further)[0] < 0, case.name


def _matrix(entries: list[float]) -> Floats:
    return np.array([[entries[0], entries[1]], [entries[1], entries[2]]])


@pytest.mark.parametrize("method", ["lstsq", "psd"])
def test_fit_and_what_is_believed(method: str, cases: list[Case]) -> None:
    floor, raised = SPEED().variance_floor, 0
    for case in cases:
        found, estimate = case.found[method], case.estimate(method)
        near = case.fit_tolerance
        size = max(np.abs(estimate.variances).max(), float(estimate.mean_square))
        if not size:  # an arrow 0 alone is explored, and says nothing
            assert not any(found["fitted"])
            continue
        assert np.abs(found["fitted"] - estimate.variances).max() <= near * size, case.name
        # Where all arrows are nearly parallel, the library's matrix has few digits across them; on
        # one line its positive fit differs where no arrow sees it.
        if case.state.get("kind") not in {"narrow", "one_line" if method == "psd" else ""}:
            upper = estimate.Sigma[np.triu_indices(2)]
            norm = np.abs(upper).max()
            assert np.abs(found["Sigma"] - upper).max() <= 10 * near * norm, case.name
        variances = estimate.floored(floor)
        assert found["variances"] == pytest.approx(variances, rel=10 * near), case.name
        raised += any(found["raised"])
        best = case.best(variances)
        assert off(found["design"]["value"], best.value) <= 10 * near, case.name
        if found["design"]["unique"] and case.c.any():
            assert off(found["trueLoss"], case.loss(best.weights)) <= 10 * near, case.name
    assert raised > 10, "some estimates are raised to the floor"


def test_least_squares_in_exact_arithmetic(cases: list[Case]) -> None:
    """The library's own rounding, where looks nearly agree, is no measure there: fractions are."""
    narrow = 0
    for case in cases:
        if case.found["possible"]["rank"] != len(case.explored):
            continue
        exact = _least_norm(case.x[case.explored], case.variances[case.explored])
        size = np.abs(exact).max()
        assert np.abs(case.found["lstsq"]["Sigma"] - exact).max() <= CLOSE * size, case.name
        narrow += case.fit_tolerance > CLOSE
    assert narrow > 3


def _least_norm(arrows: Floats, squares: Floats) -> Floats:
    """Solve for Σ = Σ_m y_m x_m x_m' with the variances given, in fractions."""
    x = [[Fraction(z) for z in row] for row in arrows]
    rows = [[(p[0] * q[0] + p[1] * q[1]) ** 2 for q in x] for p in x]
    table = [[*row, Fraction(z)] for row, z in zip(rows, squares, strict=True)]
    for i in range(len(table)):
        table[i:] = sorted(table[i:], key=lambda row: -abs(row[i]))
        table[i] = [z / table[i][i] for z in table[i]]
        for k in range(len(table)):
            if k != i:
                table[k] = [z - table[k][i] * w for z, w in zip(table[k], table[i], strict=True)]
    entries = [
        sum(row[-1] * p[i] * p[j] for row, p in zip(table, x, strict=True))
        for i, j in ((0, 0), (0, 1), (1, 1))
    ]
    return np.array([float(entry) for entry in entries])


def test_the_price_of_estimating_the_variances(asked: list[Case]) -> None:
    finite = 0
    for case in asked:
        weights = case.found["design"]["weights"]
        cost = float(estimation_cost(case.x, case.variances, weights, case.exploration))
        assert off(case.found["cost"], cost) <= case.cost_tolerance(case.explored), case.name
        finite += np.isfinite(cost)
        alike = np.full(len(case.x), 1 / len(case.x))
        cost = float(estimation_cost(case.x, case.variances, weights, alike, 0.8))
        every = list(range(len(case.x)))
        assert off(case.found["costOfAll"], cost) <= case.cost_tolerance(every), case.name
    assert 50 < finite < len(asked) - 50


def test_areas_are_exact_where_arrows_are_nearly_parallel(engine: Any) -> None:
    rng = np.random.default_rng(5)
    first = rng.standard_normal((50, 2))
    pairs = np.stack([first, first * rng.uniform(0.5, 2, (50, 1)) * (1 + 1e-12)], axis=1)
    page = engine.new_page()
    page.add_script_tag(path=ROOT / "book/_static/explorer/geometry.js")
    found = page.evaluate("all => all.map(([p, q]) => SpeedGeometry.det(p, q))", pairs.tolist())
    page.close()
    for (p, q), area in zip(pairs.tolist(), found, strict=True):
        exact = Fraction(p[0]) * Fraction(q[1]) - Fraction(p[1]) * Fraction(q[0])
        assert abs(Fraction(area) - exact) <= abs(exact) * Fraction(1, 10**15)
    assert any(found)


def test_regret_is_least_at_the_best_length(engine: Any) -> None:
    page = engine.new_page()
    for script in SCRIPTS:
        page.add_script_tag(path=ROOT / Path(f"book/_static/explorer/{script}.js"))
    ask = "([v, n]) => [1, 0.9, 1.1].map((t) => SpeedMathematics.regret(3, v, n, t * L(v, n)))"
    page.evaluate("() => { globalThis.L = SpeedMathematics.bestLength; }")
    least, below, above = page.evaluate(ask, [0.7, 1000])
    length = page.evaluate("() => L(0.7, 1000)")
    page.close()
    assert length == pytest.approx(float(best_exploration_length(0.7, 1000)), rel=1e-14)
    assert least == pytest.approx(2 * 3 * np.sqrt(0.7) * 1000**-1.5, rel=1e-12)
    assert least < min(below, above)
