"""Many A- and D-optimal designs at once: the same optima as one by one, and honest certificates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedlib.solvers import SmoothDesigns, exchange_design, smooth_designs

from .ellipsoids import root_of, sensitivities, value_of

both = pytest.mark.parametrize("criterion", ["A", "D"])


def recomputed(weights: np.ndarray, points: np.ndarray, criterion: str) -> tuple[float, float]:
    """Value and efficiency bound from the textbook: one over the largest sensitivity."""
    inverse = np.linalg.inv((points.T * weights) @ points)
    if criterion == "D":
        largest = np.einsum("ai,ij,aj->a", points, inverse, points).max() / points.shape[1]
        return -float(np.linalg.slogdet(inverse)[1]), 1 / largest
    largest = ((points @ inverse) ** 2).sum(axis=1).max() / np.trace(inverse)
    return float(np.trace(inverse)), 1 / largest


def check(x: np.ndarray, v: np.ndarray, criterion: str, designs: SmoothDesigns) -> None:
    assert np.all(designs.weights >= 0)
    assert designs.weights.sum(axis=1) == pytest.approx(np.ones(len(v)), rel=1e-12)
    for r in range(len(v)):
        points = x / np.sqrt(v[r])[:, None]
        single = exchange_design(points, criterion)
        value, bound = recomputed(designs.weights[r], points, criterion)
        assert designs.values[r] == pytest.approx(value, rel=1e-7, abs=1e-7)
        assert designs.values[r] == pytest.approx(single.value, rel=4e-6, abs=4e-6)
        assert designs.efficiency_bounds[r] >= 1 - 1e-6
        assert designs.efficiency_bounds[r] <= bound + 1e-8


@pytest.mark.slow
@both
@pytest.mark.parametrize(
    ("d", "n_actions"), [(1, 1), (1, 4), (2, 2), (2, 5), (3, 20), (5, 40), (4, 200)]
)
def test_the_same_optima_as_one_by_one(d: int, n_actions: int, criterion: str) -> None:
    rng = np.random.default_rng([d, n_actions])
    x, v = rng.normal(size=(n_actions, d)), np.exp(2 * rng.normal(size=(12, n_actions)))
    designs = smooth_designs(x, v, criterion)
    assert designs.singles == 0
    check(x, v, criterion, designs)


def test_one_hot_actions_by_hand() -> None:
    """A: shares as the deviations, trace the square of their sum; D: equal shares."""
    v = np.array([[1.0, 4.0, 9.0], [1.0, 1.0, 100.0]])
    a = smooth_designs(np.eye(3), v, "A", tolerance=1e-9)
    deviations = np.sqrt(v)
    assert a.weights == pytest.approx(deviations / deviations.sum(axis=1, keepdims=True), abs=1e-6)
    assert a.values == pytest.approx(deviations.sum(axis=1) ** 2)
    d = smooth_designs(np.eye(3), v, "D", tolerance=1e-9)
    assert d.weights == pytest.approx(np.full((2, 3), 1 / 3), abs=1e-6)
    assert d.values == pytest.approx(-np.log(v).sum(axis=1) - 3 * np.log(3))


def test_quadratic_regression_on_three_points() -> None:
    """On a grid of [-1, 1] the D-optimal design has thirds at -1, 0 and 1; A has 1/4, 1/2, 1/4."""
    t = np.linspace(-1, 1, 21)
    x = np.column_stack([np.ones_like(t), t, t**2])
    v = np.ones((1, 21))
    d = smooth_designs(x, v, "D", tolerance=1e-8).weights[0]
    assert np.flatnonzero(d > 1e-4).tolist() == [0, 10, 20]
    assert d[[0, 10, 20]] == pytest.approx(np.full(3, 1 / 3), abs=1e-3)
    a = smooth_designs(x, v, "A", tolerance=1e-8).weights[0]
    assert a[[0, 10, 20]] == pytest.approx([0.25, 0.5, 0.25], abs=1e-3)


@both
def test_brute_force_on_three_actions_in_the_plane(criterion: str) -> None:
    rng = np.random.default_rng(5)
    x, v = rng.normal(size=(3, 2)), np.exp(rng.normal(size=(4, 3)))
    grid = [(i / 60, j / 60, 1 - (i + j) / 60) for i in range(61) for j in range(61 - i)]
    designs = smooth_designs(x, v, criterion)
    for r in range(4):
        points = x / np.sqrt(v[r])[:, None]
        for weights in grid:
            information = (points.T * np.array(weights)) @ points
            if np.linalg.det(information) < 1e-12:
                continue
            if criterion == "D":
                assert np.linalg.slogdet(information)[1] <= designs.values[r] + 2e-6
            else:
                trace = np.trace(np.linalg.inv(information))
                assert trace >= designs.values[r] * (1 - 1e-6)


@pytest.mark.slow
@both
@given(st.integers(0, 10_000))
def test_copies_opposites_and_actions_that_show_nothing(criterion: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(6, 2))
    x = np.vstack([x, x[:2], -x[2:4], np.zeros((1, 2))])
    v = 10.0 ** rng.uniform(-3, 3, size=(3, len(x)))
    check(x, v, criterion, smooth_designs(x, v, criterion))


@pytest.mark.slow
@both
def test_variances_over_twelve_orders_go_one_by_one_if_they_must(criterion: str) -> None:
    rng = np.random.default_rng(9)
    x, v = rng.normal(size=(8, 3)), 10.0 ** rng.uniform(-6, 6, size=(20, 8))
    designs = smooth_designs(x, v, criterion)
    assert np.all(designs.efficiency_bounds >= 1 - 1e-6)
    for r in range(20):
        single = exchange_design(x / np.sqrt(v[r])[:, None], criterion)
        assert designs.values[r] == pytest.approx(single.value, rel=4e-6, abs=4e-6)


@both
def test_large_problems_go_one_by_one(criterion: str) -> None:
    rng = np.random.default_rng(3)
    x, v = rng.normal(size=(600, 10)), np.exp(rng.normal(size=(2, 600)))
    designs = smooth_designs(x, v, criterion)
    assert designs.singles == 2
    check(x, v, criterion, designs)


@pytest.mark.slow
@both
@pytest.mark.parametrize(("d", "n_actions"), [(2, 30), (3, 100), (5, 60)])
def test_few_actions_where_every_action_is_as_good_as_the_others(
    criterion: str, d: int, n_actions: int
) -> None:
    """With variances x'Sx all points lie on an ellipsoid: many designs are optimal."""
    rng = np.random.default_rng(d)
    x, roots = rng.normal(size=(n_actions, d)), rng.normal(size=(20, d, d))
    v = ((x @ roots) ** 2).sum(axis=2)
    designs = smooth_designs(x, v, criterion)
    assert designs.singles == 0
    assert np.count_nonzero(designs.weights, axis=1).max() <= d * (d + 1) // 2
    check(x, v, criterion, designs)


@pytest.mark.slow
@both
def test_few_actions_however_many_copies_and_opposites_there_are(criterion: str) -> None:
    """Points on a grid of whole numbers: the same design can be had in many ways."""
    rng = np.random.default_rng(8)
    x = rng.integers(-2, 3, size=(15, 3)).astype(float)
    x = np.vstack([x, x[:3], -x[:3], np.zeros((2, 3))])
    v = rng.integers(1, 4, size=(50, len(x))).astype(float)
    designs = smooth_designs(x, v, criterion)
    assert designs.singles == 0
    assert np.mean(np.count_nonzero(designs.weights, axis=1) <= 6) >= 0.9
    check(x, v, criterion, designs)


# --- the equivalence theorem, and Newton's method ------------------------------------------------


@both
@pytest.mark.parametrize(("n_actions", "d"), [(4, 1), (5, 2), (9, 3), (30, 4)])
def test_no_sensitivity_above_one_and_one_on_the_support(
    criterion: str, n_actions: int, d: int
) -> None:
    """Kiefer's equivalence theorem, from the inverse of the information matrix."""
    rng = np.random.default_rng([n_actions, d])
    x, v = rng.normal(size=(n_actions, d)), np.exp(rng.normal(size=(6, n_actions)))
    designs = smooth_designs(x, v, criterion, tolerance=1e-9)
    for weights, variances in zip(designs.weights, v, strict=True):
        points = x / np.sqrt(variances)[:, None]
        root = root_of(criterion, None, d)
        q = sensitivities(points, weights, root)
        assert q.max() <= 1 + 1e-8
        assert q[weights > 1e-4] == pytest.approx(1, abs=1e-4)


@pytest.mark.slow
@both
@given(st.integers(0, 10_000))
def test_no_move_towards_an_action_improves_a_design(criterion: str, seed: int) -> None:
    """Values of mixtures of the design with each action, which the bound limits."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    x, v = rng.normal(size=(d + 4, d)), np.exp(rng.normal(size=(2, d + 4)))
    designs = smooth_designs(x, v, criterion, tolerance=1e-8)
    for r in range(2):
        points, root = x / np.sqrt(v[r])[:, None], root_of(criterion, None, d)
        for share in (1e-3, 0.1):
            mixed = (1 - share) * designs.weights[r] + share * np.eye(d + 4)
            values = np.array([value_of(points, each, root) for each in mixed])
            gain = (
                values - designs.values[r] if criterion == "D" else 1 - values / designs.values[r]
            )
            assert gain.max() <= 1e-7


@both
def test_more_digits_need_no_other_solver(criterion: str) -> None:
    """Newton's method doubles them at each step: the batch has steps enough for all."""
    rng = np.random.default_rng(16)
    x, v = rng.normal(size=(30, 4)), np.exp(rng.normal(size=(40, 30)))
    for tolerance in (1e-3, 1e-6, 1e-11):
        designs = smooth_designs(x, v, criterion, tolerance=tolerance)
        assert designs.singles == 0
        assert designs.efficiency_bounds.min() >= 1 - tolerance


@both
@pytest.mark.parametrize("distance", [1e-4, 1e-6])
def test_the_bound_holds_in_exact_arithmetic(criterion: str, distance: float) -> None:
    """Nearly dependent columns: the largest sensitivity in rational numbers."""
    base = np.random.default_rng(10).normal(size=(9, 2))
    x = np.column_stack([base[:, 0], base[:, 0] + distance * base[:, 1]])
    # Squares of powers of two: dividing by deviations rounds nothing.
    v = 4.0 ** np.random.default_rng(11).integers(-2, 3, size=(6, 9))
    designs = smooth_designs(x, v, criterion)
    exact = [[Fraction(float(entry)) for entry in row] for row in x]
    for r in range(6):
        points = [[e / Fraction(2.0 ** (np.log2(v[r, a]) / 2)) for e in exact[a]] for a in range(9)]
        w = [Fraction(float(weight)) for weight in designs.weights[r]]
        (p, q, s) = (
            sum(w[a] * points[a][i] * points[a][j] for a in range(9)) / sum(w)
            for i, j in [(0, 0), (0, 1), (1, 1)]
        )
        images = [[s * y - q * z, p * z - q * y] for y, z in points]  # det M times M^-1 x
        determinant = p * s - q * q
        if criterion == "D":
            largest = max(
                (y * i + z * j) / (2 * determinant)
                for (y, z), (i, j) in zip(points, images, strict=True)
            )
        else:
            largest = max((i * i + j * j) / (determinant * (p + s)) for i, j in images)
        assert designs.efficiency_bounds[r] >= 1 - 1e-6
        assert designs.efficiency_bounds[r] <= 1 / largest


@both
def test_one_hopeless_problem_does_not_hold_up_the_others(criterion: str) -> None:
    x = np.vstack([np.eye(3), np.ones((1, 3))])
    v = np.exp(np.random.default_rng(12).normal(size=(40, 4)))
    alone = smooth_designs(x, v, criterion)
    v[17] = [1e-60, 1e60, 1e60, 1e60]
    designs = smooth_designs(x, v, criterion)
    assert (alone.singles, designs.singles) == (0, 1)
    others = np.arange(40) != 17
    assert designs.weights[others] == pytest.approx(alone.weights[others], abs=1e-9)


@both
def test_failure_of_linear_algebra_is_no_failure(
    criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(13)
    x, v = rng.normal(size=(6, 2)), np.exp(rng.normal(size=(4, 6)))

    def refuse(*_: object) -> None:
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(np.linalg, "solve", refuse)
    designs = smooth_designs(x, v, criterion)
    assert designs.singles == 4
    check(x, v, criterion, designs)


@both
def test_actions_that_show_nothing_stay_in_the_batch(criterion: str) -> None:
    rng = np.random.default_rng(15)
    x = np.vstack([rng.normal(size=(5, 3)), np.zeros((2, 3))])
    v = np.exp(rng.normal(size=(10, 7)))
    designs = smooth_designs(x, v, criterion)
    assert designs.singles == 0
    assert not designs.weights[:, 5:].any()
    check(x, v, criterion, designs)


@both
def test_wide_spreads_of_variances_seldom_leave_the_batch(criterion: str) -> None:
    rng = np.random.default_rng(14)
    x, v = rng.normal(size=(10, 3)), 10.0 ** rng.uniform(-2, 2, size=(200, 10))
    assert smooth_designs(x, v, criterion).singles <= 4


@both
@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_units_do_not_matter(criterion: str, unit: float) -> None:
    rng = np.random.default_rng(4)
    x, v = rng.normal(size=(6, 2)), np.exp(rng.normal(size=(5, 6)))
    one = smooth_designs(x, v, criterion, tolerance=1e-9)
    same = smooth_designs(x * unit, v * unit, criterion, tolerance=1e-9)
    assert same.weights == pytest.approx(one.weights, abs=1e-4)


@both
def test_a_problem_does_not_notice_the_others(criterion: str) -> None:
    rng = np.random.default_rng(6)
    x, v = rng.normal(size=(7, 3)), np.exp(rng.normal(size=(9, 7)))
    together = smooth_designs(x, v, criterion)
    for r in range(9):
        alone = smooth_designs(x, v[[r]], criterion)
        assert alone.weights[0] == pytest.approx(together.weights[r], abs=1e-9)


@pytest.mark.slow
@both
def test_the_order_of_the_problems_changes_nothing(criterion: str) -> None:
    """So many that they are solved in two blocks, and in others when they are reversed."""
    rng = np.random.default_rng(7)
    x, v = rng.normal(size=(30, 7)), np.exp(rng.normal(size=(400, 30)))
    forward, backward = smooth_designs(x, v, criterion), smooth_designs(x, v[::-1], criterion)
    assert backward.weights[::-1] == pytest.approx(forward.weights, abs=1e-9)
    assert backward.values[::-1] == pytest.approx(forward.values, rel=1e-9)
    assert forward.singles == 0


@both
def test_no_problems_are_no_trouble(criterion: str) -> None:
    assert smooth_designs(np.eye(2), np.ones((0, 2)), criterion).weights.shape == (0, 2)


@both
def test_features_that_do_not_span_are_refused(criterion: str) -> None:
    with pytest.raises(ValueError, match=r"span 1 of 2 dimensions"):
        smooth_designs([[1.0, 2.0], [2.0, 4.0]], [[1.0, 1.0]], criterion)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(2), np.ones(2), "A"), r"variances.*\(R, 2\).*\(2,\)"),
        ((np.eye(2), [[1.0, 0.0]], "A"), "variances.*greater than 0"),
        ((np.eye(2), [[1.0, 1.0]], "E"), "criterion.*'A', 'D'.*'E'"),
    ],
)
def test_bad_input_is_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        smooth_designs(*arguments)
