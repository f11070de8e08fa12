"""Designs with costs, bounds and several policies: against a second solver and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from speedlib import DesignWarning, design_efficiency, optimal_design, pe_loss
from speedlib._tolerances import SNAPS
from speedlib.limits import Limits
from speedlib.solvers._limited import _Problem

KINDS = ("costs", "least", "most", "both", "all", "policies", "policies within", "A", "linear")


class Case:
    """A random problem; the kind says what it has."""

    def __init__(self, kind: str, seed: int) -> None:
        rng = np.random.default_rng([KINDS.index(kind), seed])
        d = int(rng.integers(1, 6))
        n = int(rng.integers(d + 1, 25))
        self.x = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d))
        self.v = np.exp(rng.normal(size=n))
        self.limits: dict[str, np.ndarray] = {}
        if kind in ("costs", "all", "policies within") or (kind in "A linear" and seed % 2):
            self.limits["costs"] = np.exp(rng.normal(size=n))
        if kind in ("least", "both", "all", "policies within", "linear"):
            self.limits["least"] = rng.integers(0, 2, n) * rng.uniform(0, 0.9, n) / n
        if kind in ("most", "both", "all", "policies within", "A"):
            self.limits["most"] = np.minimum(1, (0.9 + rng.uniform(0.3, 4, n)) / n)
        self.target: dict[str, object] = {"policy": rng.dirichlet(np.ones(n))}
        self.root = (self.target["policy"] @ self.x)[:, None]
        self.criterion = "PE"
        if kind.startswith("policies"):
            k = int(rng.integers(1, 4))
            policies, importance = rng.dirichlet(np.ones(n), k), rng.uniform(0.2, 1, k)
            self.target = {"policy": policies, "importance": importance}
            self.root = np.sqrt(importance / importance.sum()) * (policies @ self.x).T
        if kind in ("A", "linear"):
            self.criterion, self.target, self.root = kind, {}, np.eye(d)
        if kind == "linear":
            self.root = rng.normal(size=(d, d))
            self.target = {"matrix": self.root @ self.root.T}

    def solve(self, **changes: object):
        return optimal_design(
            self.x, self.v, self.criterion, **(self.target | self.limits | changes)
        )


def by_cvxpy(case: Case) -> float:
    """Solve the second-order cone program for pulls per unit of money and coefficients."""
    cvxpy = pytest.importorskip("cvxpy")
    scale = np.abs(case.x).max(axis=0)  # units of the features do not matter
    x, root = case.x / scale, case.root / scale[:, None]
    size = float(np.abs(root).max())
    pulls, total = cvxpy.Variable(len(x)), cvxpy.Variable()
    w = cvxpy.Variable((len(x), root.shape[1]))
    costs = case.limits.get("costs", np.ones(len(x)))
    loss = sum(case.v[a] * cvxpy.quad_over_lin(w[a], pulls[a]) for a in range(len(x)))
    rules = [x.T @ w == root / size, costs @ pulls == 1, total == cvxpy.sum(pulls)]
    rules += [pulls >= case.limits.get("least", np.zeros(len(x))) * total]
    rules += [pulls <= case.limits.get("most", np.ones(len(x))) * total]
    problem = cvxpy.Problem(cvxpy.Minimize(loss), rules)
    # Where the solver stops before a tolerance, its value may be wrong by more than that.
    for tolerance in (1e-11, 1e-10, 1e-9):
        names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
        problem.solve(solver="CLARABEL", max_threads=1, **dict.fromkeys(names, tolerance))
        if problem.status == cvxpy.OPTIMAL:
            break
    return float(problem.value) * size**2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # to 1e-11, which is not needed
@pytest.mark.parametrize("kind", KINDS)
def test_the_value_is_that_of_a_second_solver(kind: str) -> None:
    for seed in range(40):
        case = Case(kind, seed)
        design = case.solve()
        assert design.value == pytest.approx(by_cvxpy(case), rel=1e-7), seed
        assert design.efficiency_bound >= 1 - 1e-8 if case.criterion == "PE" else 1 - 1e-6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_certificate_can_be_checked_by_hand(kind: str, seed: int) -> None:
    """Bounds hold, the value is the loss per unit of money, and Y prices no design above its cost.

    Whether some design does is a linear program: solved here by SciPy's.
    """
    from scipy.optimize import linprog

    case = Case(kind, seed)
    design = case.solve()
    n = len(case.x)
    low, high = (case.limits.get(k, v * np.ones(n)) for k, v in (("least", 0.0), ("most", 1.0)))
    costs = case.limits.get("costs", np.ones(n))
    assert np.all(design.weights >= low - 1e-12) and np.all(design.weights <= high + 1e-12)
    assert design.weights.sum() == pytest.approx(1, abs=1e-12)
    assert design.cost == pytest.approx(design.weights @ costs)
    losses = [pe_loss(design.weights, case.x, case.v, direction=column) for column in case.root.T]
    assert design.value == pytest.approx(sum(losses) * design.cost, rel=1e-9)
    prices = ((case.x @ design.dual.reshape(case.x.shape[1], -1)) ** 2).sum(axis=1) / case.v
    bounds = np.column_stack([low, high])
    worst = linprog(costs - prices, A_eq=np.ones((1, n)), b_eq=[1], bounds=bounds)
    assert -worst.fun <= 1e-9 * float(costs.max())
    if case.criterion == "PE" and not kind.startswith("policies"):
        bound = float(case.root[:, 0] @ design.dual) ** 2
        assert bound == pytest.approx(design.value * design.efficiency_bound, rel=1e-9)
        assert bound >= design.value * (1 - 2e-8)


@pytest.mark.parametrize(("kind", "seed"), [("both", 16), ("all", 28), ("policies within", 3)])
def test_the_order_of_the_actions_does_not_matter(kind: str, seed: int) -> None:
    """It changes how sums are rounded, and so where the solver's path ends."""
    case, rng = Case(kind, seed), np.random.default_rng(1)
    value = case.solve().value
    for _ in range(20):
        order = rng.permutation(len(case.x))
        target = case.target | {"policy": np.asarray(case.target["policy"])[..., order]}
        limits = {name: bound[order] for name, bound in case.limits.items()}
        design = optimal_design(case.x[order], case.v[order], case.criterion, **target, **limits)
        assert design.efficiency_bound >= 1 - 1e-8
        assert design.value == pytest.approx(value, rel=1e-8)


@given(st.integers(2, 12), st.integers(0, 10**6), st.sampled_from(SNAPS))
def test_no_share_exceeds_its_bound_where_others_are_put_on_theirs(
    n: int, seed: int, snap: float
) -> None:
    """The solver ends with shares near their bounds: some are put on them, the rest is scaled."""
    rng = np.random.default_rng(seed)
    most = np.minimum(1, rng.uniform(1, 3, n) / n)
    problem = _Problem(rng.normal(size=(n, 2)), np.eye(2), Limits.of(n, most=most))
    near = most * (1 - 10.0 ** rng.uniform(-10, -2, n))
    inner = np.where(rng.random(n) < 0.7, near, 10.0 ** rng.uniform(-11, -1, n) / n)
    for design in (problem.design(inner), problem.snapped(inner, snap)):
        assert np.all(design <= most + 1e-15) and np.all(design >= 0)
        assert design.sum() == pytest.approx(1, abs=1e-14)


def test_two_actions_by_hand() -> None:
    """With features e1, e2 and c = (1, 1)/2: shares of money go like sigma times root kappa."""
    design = optimal_design(np.eye(2), [1.0, 4.0], policy=[0.5, 0.5], costs=[1.0, 9.0])
    assert design.weights.tolist() == pytest.approx([1 / (1 + 2 / 3), 2 / 3 / (1 + 2 / 3)])
    assert design.value == pytest.approx((0.5 * 1 + 0.5 * 2 * 3) ** 2)
    assert design.cost == pytest.approx(design.weights @ [1, 9])
    capped = optimal_design(np.eye(2), [1.0, 4.0], policy=[0.5, 0.5], most=[1.0, 0.5])
    assert capped.weights == pytest.approx([0.5, 0.5])
    assert capped.value == pytest.approx(0.25 / 0.5 + 0.25 * 4 / 0.5)


def test_bounds_that_do_not_bind_change_nothing() -> None:
    case = Case("costs", 3)
    free = optimal_design(case.x, case.v, **case.target)
    loose = case.solve(costs=None, most=(1 + free.weights.max()) / 2)
    assert loose.value == pytest.approx(free.value, rel=1e-8)
    assert case.solve(costs=7.0).weights == pytest.approx(free.weights, abs=1e-9)
    assert case.solve(costs=7.0).value == pytest.approx(7 * free.value)


def test_the_unit_of_money_does_not_matter() -> None:
    case = Case("all", 1)
    design, cents = case.solve(), case.solve(costs=100 * case.limits["costs"])
    assert cents.value == pytest.approx(100 * design.value, rel=1e-8)
    assert cents.weights == pytest.approx(design.weights, abs=1e-4)


def test_bounds_that_leave_one_design() -> None:
    only = np.array([0.2, 0.5, 0.3])
    design = optimal_design([[1, 0], [0, 1], [1, 1]], [1, 2, 3], policy=only, least=only, most=only)
    assert design.weights == pytest.approx(only)
    assert design.efficiency_bound == pytest.approx(1, abs=1e-9)
    assert design_efficiency(
        only, [[1, 0], [0, 1], [1, 1]], [1, 2, 3], policy=only, least=only, most=only
    ) == pytest.approx(1)


def test_least_shares_that_leave_nothing_to_others() -> None:
    """Other actions cannot be used, whatever `most` says."""
    with pytest.raises(ValueError, match="actions that the limits allow: they span 1 of 2"):
        optimal_design(np.eye(2), [1, 1], policy=[0.5, 0.5], least=[1, 0])
    found = optimal_design(np.eye(2), [1, 1], policy=[1, 0], least=[1, 0])
    assert found.weights.tolist() == [1, 0] and found.value == pytest.approx(1)


def test_nothing_to_estimate_costs_as_little_as_it_may() -> None:
    design = optimal_design([[1.0], [1.0]], [1, 1], direction=[0.0], costs=[1, 5], least=[0, 0.25])
    assert design.weights.tolist() == [0.75, 0.25]
    assert (design.value, design.efficiency_bound) == (0.0, 1.0)


@pytest.mark.slow
def test_many_actions() -> None:
    rng = np.random.default_rng(1)
    x, v = rng.normal(size=(4000, 5)), np.exp(rng.normal(size=4000))
    design = optimal_design(x, v, direction=np.ones(5), most=0.02, costs=rng.uniform(1, 2, 4000))
    assert design.efficiency_bound > 1 - 1e-8
    assert design.weights.max() <= 0.02 + 1e-12


def test_the_efficiency_of_a_design_within_limits() -> None:
    case = Case("all", 5)
    design = case.solve()
    even = Limits.of(len(case.x), **case.limits).nearest(np.full(len(case.x), 1 / len(case.x)))
    found = design_efficiency(even, case.x, case.v, **case.target, **case.limits)
    loss = pe_loss(even, case.x, case.v, **case.target) * (even @ case.limits["costs"])
    assert found == pytest.approx(design.value / loss, rel=1e-7)
    with pytest.raises(ValueError, match="weights: must be at most"):
        design_efficiency([1.0, 0.0], np.eye(2), [1, 1], policy=[0.5, 0.5], most=0.6)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_nearest_design_is_within_and_keeps_ratios(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    low = rng.integers(0, 2, n) * rng.uniform(0, 1, n) / n
    high = np.minimum(1, np.maximum(low, rng.uniform(0, 3, n) / n))
    high += (1 - high) * max(0.0, (1 - high.sum()) / max(1e-12, (1 - high).sum()))
    b = rng.dirichlet(np.ones(n)) * rng.integers(0, 2, n)
    b = b / b.sum() if b.sum() else np.full(n, 1 / n)
    found = Limits.of(n, least=low, most=np.minimum(high, 1)).nearest(b)
    assert np.all(found >= low - 1e-9) and np.all(found <= high + 1e-9)
    assert found.sum() == pytest.approx(1)
    between = (found > low + 1e-9) & (found < high - 1e-9) & (b > 0)
    ratios = found[between] / b[between]
    assert ratios == pytest.approx(np.full(ratios.size, ratios[0] if ratios.size else 1))


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_the_largest_ratio_is_that_of_a_linear_program(seed: int) -> None:
    """Charnes and Cooper: with y = b / (b'costs) the ratio is linear."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    low = rng.integers(0, 2, n) * rng.uniform(0, 1, n) / n
    high = np.minimum(1, low + rng.uniform(1, 3, n) / n)
    costs, scores = np.exp(rng.normal(size=n)), rng.uniform(0, 3, n)
    found = Limits.of(n, least=low, most=high, costs=costs).largest(scores)
    ones = np.ones((n, n))
    rules = np.vstack([low[:, None] * ones - np.eye(n), np.eye(n) - high[:, None] * ones])
    best = linprog(-scores, A_ub=rules, b_ub=np.zeros(2 * n), A_eq=costs[None], b_eq=[1])
    assert found.value == pytest.approx(-best.fun, rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"least": 0.6}, "least: must sum to at most 1; got 1.2"),
        ({"most": 0.4}, "most: must sum to at least 1; got 0.8"),
        (
            {"least": [0.5, 0], "most": [0.4, 1]},
            "least: must be at most .* 0.5 above 0.4 .*action 0",
        ),
        ({"most": [1, 1.5]}, "most: must lie between 0 and 1; got 1.5 for action 1"),
        ({"least": [-0.1, 0]}, "least: must lie between 0 and 1; got -0.1"),
        ({"costs": [1, 0]}, "costs: must be greater than 0; got 0 for action 1"),
        ({"costs": [1, 2, 3]}, r"costs: expected one number, or one per action, shape \(2,\)"),
        ({"importance": [1, 1]}, "importance: only for several policies"),
        ({"policy": [[1, 0], [0, 1]], "importance": [1]}, "importance: .*one number per policy"),
        ({"policy": [[1, 0], [0, 1]], "importance": [0, 0]}, "importance: .*sum above 0"),
        ({"policy": [[1, 0], [0.5, 1]]}, "policy: entries must sum to 1"),
        ({"criterion": "D", "policy": None, "most": 0.6}, "least, most: offered for"),
        ({"criterion": "G", "policy": None, "costs": 2}, 'costs: not offered for criterion "G"'),
        ({"most": [1, 0]}, "features of the actions that the limits allow"),
    ],
)
def test_what_is_refused(changes: dict, message: str) -> None:
    arguments = {"criterion": "PE", "policy": [0.5, 0.5]} | changes
    with pytest.raises(ValueError, match=message):
        optimal_design(np.eye(2), [1, 4], **arguments)


def test_a_missed_tolerance_is_said() -> None:
    case = Case("both", 2)
    with pytest.warns(DesignWarning, match="within these limits"):
        case.solve(tolerance=1e-17)
