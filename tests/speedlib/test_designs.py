"""Criteria, losses and certificates of designs; the claims about the structure of the optimum."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from speedlib.designs import (
    CRITERIA,
    Design,
    DesignWarning,
    design_efficiency,
    information_matrix,
    optimal_design,
    pe_loss,
    target_direction,
)
from speedlib.solvers import elfving
from speedlib.solvers.batch import pe_designs
from speedlib.solvers.exchange import exchange_design

POLICY = np.array([0.8, 0.1, 0.1 / 3, 0.1 / 3, 0.1 / 3])


def unit_ball(Sigma):
    """The companion's unit ball: an optimal, an informative and three other actions."""
    angles = np.deg2rad([0, 90, 15, 30, 45])
    x = np.column_stack([np.cos(angles), np.sin(angles)])
    return x, np.einsum("ai,ij,aj->a", x, Sigma, x)


def random_problem(seed, d=None, n_actions=None):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5)) if d is None else d
    n_actions = int(rng.integers(d, 12)) if n_actions is None else n_actions
    x, root = rng.standard_normal((n_actions, d)), rng.standard_normal((d, d))
    Sigma = root @ root.T + 1e-3 * np.eye(d)
    return x, Sigma, np.einsum("ai,ij,aj->a", x, Sigma, x), rng.dirichlet(np.ones(n_actions))


def arguments(criterion, policy, d):
    """What optimal_design needs besides features and variances."""
    if criterion == "PE":
        return {"policy": policy}
    return {"matrix": np.diag(np.arange(1.0, d + 1))} if criterion == "linear" else {}


# The unit ball


def test_unit_ball_losses():
    x, v = unit_ball(np.diag([0.05, 0.35]))

    def loss(weights):
        return round(pe_loss(weights, x, v, policy=POLICY), 4)

    assert loss(optimal_design(x, v, policy=POLICY).weights) == 0.0510
    assert loss(POLICY) == 0.0846
    # For G and D, half of the rounds at 0 and half at 90 degrees; both optima are unique.
    c = POLICY @ x
    assert (
        loss([0.5, 0.5, 0, 0, 0]) == round(2 * (0.05 * c[0] ** 2 + 0.35 * c[1] ** 2), 4) == 0.0938
    )
    assert loss(optimal_design(x, v, "G", tolerance=1e-9).weights) == 0.0938
    assert loss(optimal_design(x, v, "D", tolerance=1e-9).weights) == 0.0938
    assert loss(optimal_design(x, v, "A", tolerance=1e-9).weights) == 0.1533


def test_unit_ball_optimum_with_a_rotated_covariance():
    x, v = unit_ball([[0.15, 0.12], [0.12, 0.35]])
    design = optimal_design(x, v, policy=POLICY)
    assert design.value == pytest.approx(0.159440, abs=5e-7)
    assert design.weights == pytest.approx([0.319, 0, 0.681, 0, 0], abs=5e-4)


# Information matrix, direction, loss


def test_information_matrix_sums_over_actions_and_broadcasts():
    rng = np.random.default_rng(0)
    x, b, v = rng.standard_normal((5, 3)), rng.dirichlet(np.ones(5), 4), rng.gamma(1, size=(4, 5))
    expected = [sum(b[r, a] * np.outer(x[a], x[a]) / v[r, a] for a in range(5)) for r in range(4)]
    assert information_matrix(b, x, v) == pytest.approx(np.array(expected))
    assert information_matrix(b[0], x, v[0]) == pytest.approx(expected[0])


def test_direction_is_the_mean_feature_without_rounding_noise():
    x = [[0.1, 1.0], [0.2, 1.0], [-0.3, 1.0]]
    assert sum(t[0] for t in x) != 0
    assert target_direction(x, [1 / 3, 1 / 3, 1 / 3]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("seed", range(20))
def test_loss_is_the_quadratic_form_of_the_inverse(seed):
    x, _, v, policy = random_problem(seed)
    b, c = np.random.default_rng(seed).dirichlet(np.ones(len(x))), policy @ x
    expected = c @ np.linalg.solve(information_matrix(b, x, v), c)
    assert pe_loss(b, x, v, policy=policy) == pytest.approx(expected, rel=1e-6)
    assert pe_loss(b, x, v, direction=c) == pytest.approx(expected, rel=1e-6)


def test_loss_of_a_singular_design_is_finite_only_in_its_range():
    x, v = np.array([[1.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), np.array([1.0, 2.0, 2.0])
    assert pe_loss([0, 1, 0], x, v, direction=[3, 3]) == pytest.approx(18)
    assert pe_loss([0, 0.5, 0.5], x, v, direction=[3, 3]) == pytest.approx(9 / (0.25 + 1.0))
    assert pe_loss([0, 0.5, 0.5], x, v, direction=[3, 3.001]) == np.inf
    assert pe_loss([0, 0, 0], x, v, direction=[1, 0]) == np.inf
    assert pe_loss([0, 1, 0], x, v, direction=[0, 0]) == 0


def test_an_inestimable_direction_in_tiny_units_is_still_infinite():
    x, v = np.array([[1e6, 0.0], [0.0, 1e-9]]), np.ones(2)
    losses = pe_loss([[1, 0], [0.5, 0.5], [0, 1]], x, v, direction=[1e6, 1e-9])
    assert losses == pytest.approx([np.inf, 4.0, np.inf])


def test_a_design_almost_without_a_needed_action_is_bad_not_good():
    x, v = np.eye(2), np.ones(2)
    for share in (1e-3, 1e-9, 1e-15):
        loss = pe_loss([1 - share, share], x, v, direction=[1, 1])
        assert loss == pytest.approx(1 / (1 - share) + 1 / share, rel=1e-9)
    near = np.array([[1.0, 0.0], [1.0, 1e-5]])
    assert pe_loss([0.5, 0.5], near, v, direction=[0, 1]) == pytest.approx(4e10, rel=1e-6)


def test_loss_broadcasts_over_designs_and_variances():
    x, _, v, policy = random_problem(1, d=3, n_actions=6)
    rng = np.random.default_rng(2)
    b, many = rng.dirichlet(np.ones(6), size=(4, 1)), v * rng.gamma(2, size=(5, 6))
    losses = pe_loss(b, x, many, policy=policy)
    expected = [[pe_loss(r[0], x, s, policy=policy) for s in many] for r in b]
    assert losses.shape == (4, 5) and losses == pytest.approx(np.array(expected))


# Claims about the optimum


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_lower_corrected_the_optimum_lies_between_its_bounds(seed):
    x, Sigma, v, policy = random_problem(seed)
    c, design = policy @ x, optimal_design(x, v, policy=policy)
    assert c @ Sigma @ c <= design.value * (1 + 1e-9)
    assert design.value <= (policy @ np.sqrt(v)) ** 2 * (1 + 1e-9)
    assert design.value <= pe_loss(policy, x, v, policy=policy) * (1 + 1e-9)
    assert pe_loss(policy, x, v, policy=policy) <= policy @ v * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_support_d2_in_the_plane_the_support_does_not_depend_on_the_covariance(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((int(rng.integers(2, 10)), 2))
    c = rng.dirichlet(np.ones(len(x))) @ x
    root = rng.standard_normal((50, 2, 2))
    v = np.einsum("ai,rij,aj->ra", x, root @ root.transpose(0, 2, 1), x)
    assume(v.min() > 1e-6)
    used = pe_designs(x, v, c).weights > 0
    assert np.array_equal(used.all(axis=0), used.any(axis=0))


def test_support_d2_fails_in_three_dimensions():
    x, _, _, policy = random_problem(0, d=3, n_actions=8)
    root = np.random.default_rng(0).standard_normal((50, 3, 3))
    v = np.einsum("ai,rij,aj->ra", x, root @ root.transpose(0, 2, 1), x)
    used = pe_designs(x, v, policy @ x).weights > 0
    assert not np.array_equal(used.all(axis=0), used.any(axis=0))


# Certificates


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_equivalence_theorem_holds_at_the_pe_optimum(seed):
    x, _, v, policy = random_problem(seed)
    design = optimal_design(x, v, policy=policy)
    sensitivity = (x @ design.dual) ** 2 / v
    assert sensitivity.max() <= 1 + 1e-9
    assert sensitivity[design.support] == pytest.approx(1, abs=1e-9)
    # The dual is a generalised solution of A(b) y = c, up to the length of c.
    information = information_matrix(design.weights, x, v)
    assert information @ design.dual * np.sqrt(design.value) == pytest.approx(policy @ x, abs=1e-8)
    assert pe_loss(design.weights, x, v, policy=policy) == pytest.approx(design.value, rel=1e-8)
    assert design.efficiency_bound >= 1 - 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_equivalence_theorem_holds_at_the_other_optima(seed):
    x, _, v, _ = random_problem(seed, d=3, n_actions=20)
    points = x / np.sqrt(v)[:, None]

    def largest(design, kernel, rows):
        inverse = np.linalg.inv(information_matrix(design.weights, rows, np.ones(20)))
        return np.einsum("ai,ij,aj->a", rows, inverse @ kernel(inverse) @ inverse, rows).max()

    d_optimal = optimal_design(x, v, "D")
    assert largest(d_optimal, np.linalg.inv, points) == pytest.approx(3, rel=1e-5)
    g_optimal = optimal_design(x, v, "G")
    assert largest(g_optimal, np.linalg.inv, x) == pytest.approx(g_optimal.value, rel=1e-9)
    assert g_optimal.value == pytest.approx(3, rel=1e-5)
    a_optimal = optimal_design(x, v, "A")
    assert largest(a_optimal, lambda _: np.eye(3), points) == pytest.approx(
        a_optimal.value, rel=1e-5
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_efficiency_is_the_ratio_of_values_and_one_at_the_optimum(criterion):
    x, _, v, policy = random_problem(5, d=3, n_actions=15)
    extra = arguments(criterion, policy, 3)
    best = optimal_design(x, v, criterion, **extra)
    assert 1 - 1e-5 <= design_efficiency(best.weights, x, v, criterion, **extra) <= 1
    inverse = np.linalg.inv(information_matrix(policy, x, np.ones(15) if criterion == "G" else v))
    truth = {
        "PE": lambda: best.value / (policy @ x @ inverse @ (policy @ x)),
        "A": lambda: best.value / np.trace(inverse),
        "D": lambda: np.exp((-np.linalg.slogdet(inverse)[1] - best.value) / 3),
        "G": lambda: 3 / np.einsum("ai,ij,aj->a", x, inverse, x).max(),
        "linear": lambda: best.value / np.trace(inverse @ extra["matrix"]),
    }[criterion]()
    efficiency = design_efficiency(policy, x, v, criterion, **extra)
    assert truth * (1 - 1e-5) <= efficiency <= truth * (1 + 1e-9)


def test_an_efficiency_takes_the_direction_for_the_policy():
    x, _, v, policy = random_problem(5, d=3, n_actions=15)
    by_policy = design_efficiency(np.full(15, 1 / 15), x, v, policy=policy)
    assert design_efficiency(np.full(15, 1 / 15), x, v, direction=policy @ x) == by_policy < 0.9


@pytest.mark.parametrize("size", [0.01, 0.1, 1.0])
def test_an_efficiency_may_have_a_small_value(size):
    """The design (1/2, 1/2) is worth 9/10 of the best one, whatever the best value is."""
    x, direction = np.eye(2), size * np.array([0.5, 0.5])
    assert design_efficiency([0.5, 0.5], x, [1, 4], direction=direction) == pytest.approx(0.9)
    assert design_efficiency([0.5, 0.5], x, [0.5, 2], direction=direction) == pytest.approx(0.9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_design_that_cannot_estimate_has_efficiency_zero(criterion):
    x, _, v, policy = random_problem(5, d=3, n_actions=15)
    one = np.eye(15)[0]
    assert design_efficiency(one, x, v, criterion, **arguments(criterion, policy, 3)) == 0


def test_linear_criterion_with_a_rank_one_matrix_is_the_pe_criterion():
    x, _, v, policy = random_problem(7, d=3, n_actions=15)
    c = policy @ x
    linear = optimal_design(x, v, "linear", matrix=np.outer(c, c))
    assert linear.value == pytest.approx(optimal_design(x, v, policy=policy).value, rel=1e-5)


def test_a_missed_tolerance_is_a_warning_with_cause_and_cure():
    powers = np.vander(np.linspace(0, 1, 500), 12)
    with pytest.warns(DesignWarning, match=r"certified efficiency .* misses 1 - 1e-15.*; drop"):
        optimal_design(powers, np.ones(500), direction=1.5 ** np.arange(12.0), tolerance=1e-15)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimal_design(powers[:, 6:], np.ones(500), direction=1.5 ** np.arange(6.0))


@pytest.mark.parametrize("call", [optimal_design, design_efficiency])
def test_a_warning_points_to_whoever_called(call, monkeypatch):
    solve = elfving.solve
    monkeypatch.setattr(elfving, "solve", lambda *given: replace(solve(*given), gap=0.1))
    first = () if call is optimal_design else ([0.5, 0.5],)
    with pytest.warns(DesignWarning) as told:
        call(*first, np.eye(2), np.ones(2), direction=[1, 1])
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    ("residual", "gap", "bound"),
    [(0.0, 0.1, 0.81), (1e-11, 0.5, 0.25), (1.1e-11, 0.1, 0.0), (0.0, 1.5, 0.0)],
)
def test_a_certificate_rests_on_equations_that_hold(monkeypatch, residual, gap, bound):
    """What the solver says of its own answer decides how much of it is certified."""
    solve = elfving.solve

    def told(*arguments):
        return replace(solve(*arguments), residual=residual, gap=gap)

    monkeypatch.setattr(elfving, "solve", told)
    with warnings.catch_warnings():
        warnings.simplefilter("error" if bound >= 0.25 else "ignore")
        # A bound that just keeps the tolerance is no cause for a warning.
        design = optimal_design(np.eye(2), np.ones(2), policy=[0.5, 0.5], tolerance=0.75)
    assert design.efficiency_bound == pytest.approx(bound)


@pytest.mark.parametrize("unit", [2.0**-190, 2.0**190])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_value_and_dual_are_in_the_units_given(criterion, unit):
    """Features in another unit: the dual shrinks as they grow, and the value as it must."""
    x, v = np.array([[1.0, 0.2], [0.3, 2.0], [1.0, 1.0]]), np.array([1.0, 2.0, 0.5])
    extra = arguments(criterion, [0.5, 0.3, 0.2], 2)
    if criterion == "PE":
        extra = {"direction": [1.0, -0.5]}
    one = optimal_design(x, v, criterion, **extra)
    design = optimal_design(unit * x, v, criterion, **extra)
    scaled = {"D": one.value + 4 * np.log(unit), "G": one.value}
    assert design.value == pytest.approx(scaled.get(criterion, one.value / unit / unit), rel=1e-5)
    reach = np.linalg.norm((unit * x @ design.dual).reshape(3, -1), axis=1)
    deviation = np.ones(3) if criterion == "G" else np.sqrt(v)
    assert (reach / deviation).max() == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_design_tells_what_it_is_and_how_long_it_took(criterion):
    x, _, v, policy = random_problem(5, d=3, n_actions=15)
    design = optimal_design(x, v, criterion, **arguments(criterion, policy, 3))
    assert isinstance(design.iterations, int) and 1 <= design.iterations < 1000
    assert design.criterion == criterion


@pytest.mark.parametrize("criterion", ["A", "D", "G", "linear"])
def test_a_large_tolerance_is_reached_sooner(criterion):
    x, _, v, policy = random_problem(6, d=3, n_actions=30)
    extra = arguments(criterion, policy, 3)
    fast, slow = (
        optimal_design(x, v, criterion, tolerance=tolerance, **extra) for tolerance in (0.2, 1e-6)
    )
    assert fast.iterations < slow.iterations
    assert 0.8 <= fast.efficiency_bound < slow.efficiency_bound
    assert slow.efficiency_bound >= 1 - 1e-6


# The object and its input


def test_repr_shows_what_matters():
    x, v = unit_ball(np.diag([0.05, 0.35]))
    text = repr(optimal_design(x, v, policy=POLICY))
    assert text == (
        "Design(PE-optimal, 2 of 5 actions, value=0.0510132, efficiency>=0.999999999, "
        "weights={0: 0.3258, 2: 0.6742})"
    )


@pytest.mark.parametrize(("size", "dots"), [(1, False), (6, False), (7, True), (8, True)])
def test_repr_shows_six_weights_and_says_if_there_are_more(size, dots):
    weights = np.full(size, 1 / size)
    text = repr(Design(weights, 1.0, 1.0, np.ones(1), "A", 1))
    assert text.startswith(f"Design(A-optimal, {size} of {size} actions, value=1, ")
    shown = [f"{a}: {weights[0]:.4g}" for a in range(min(size, 6))]
    assert text.endswith(f"weights={{{', '.join(shown)}{', ...' * dots}}})")


def test_a_design_is_frozen():
    design = optimal_design(np.eye(2), np.ones(2), policy=[0.5, 0.5])
    with pytest.raises(AttributeError):
        design.value = 0.0


def test_nothing_to_estimate_is_estimated_perfectly():
    x = [[1.0, 0.0], [-1.0, 0.0]]
    design = optimal_design(x, [1.0, 2.0], policy=[0.5, 0.5])
    assert design.value == 0 and design.efficiency_bound == 1
    assert design.weights.sum() == 1
    assert design_efficiency([0.5, 0.5], x, [1.0, 2.0], policy=[0.5, 0.5]) == 1


BAD_CALLS = [
    ({}, "policy, direction: pass exactly one"),
    ({"policy": [0.5, 0.5], "direction": [1, 0]}, "policy, direction: pass exactly one"),
    ({"policy": [0.5, 0.4]}, "policy: entries must sum to 1"),
    ({"policy": [1.5, -0.5]}, "policy: entries must be at least 0"),
    ({"direction": [1, 0, 0]}, "direction: expected shape"),
    ({"criterion": "E"}, "criterion: must be one of 'PE', 'A', 'D', 'G', 'linear'; got 'E'"),
    ({"criterion": "D", "policy": [0.5, 0.5]}, 'policy, direction: only for criterion "PE"'),
    ({"criterion": "linear"}, 'matrix: required by criterion "linear"'),
    ({"criterion": "A", "matrix": np.eye(2)}, 'matrix: required by criterion "linear"'),
    ({"criterion": "linear", "matrix": np.diag([1, -1])}, "matrix: must be positive semidefinite"),
    ({"direction": [1, 0], "tolerance": 0}, "tolerance: must lie strictly between 0 and 1; got 0"),
    ({"direction": [1, 0], "tolerance": 1}, "tolerance: must lie strictly between 0 and 1; got 1"),
]


@pytest.mark.parametrize(("arguments", "text"), BAD_CALLS)
def test_bad_arguments_are_named(arguments, text):
    with pytest.raises(ValueError, match=f"^{text}"):
        optimal_design(np.eye(2), np.ones(2), **arguments)


def test_an_efficiency_names_bad_arguments_too():
    with pytest.raises(ValueError, match=r"^criterion: must be one of 'PE'.*; got 'E'"):
        design_efficiency([0.5, 0.5], np.eye(2), np.ones(2), "E")


def test_bad_weights_are_named():
    with pytest.raises(ValueError, match="weights: entries must be at least 0; got -1"):
        pe_loss([2, -1], np.eye(2), [1, 1], direction=[1, 0])
    with pytest.raises(ValueError, match="weights: expected one weight per action"):
        information_matrix([1, 0, 0], np.eye(2), [1, 1])
    with pytest.raises(ValueError, match=r"^weights: entries must sum to 1"):
        design_efficiency([0.5, 0.4], np.eye(2), [1, 1], policy=[0.5, 0.5])


def test_features_that_span_too_little_are_refused():
    x = [[1.0, 1.0], [2.0, 2.0]]
    assert optimal_design(x, [1, 1], direction=[1, 1]).value == pytest.approx(0.25)
    with pytest.raises(ValueError, match="direction: not in the span"):
        optimal_design(x, [1, 1], direction=[1, 0])
    for criterion in ("A", "D", "G"):
        with pytest.raises(ValueError, match="span"):
            optimal_design(x, [1, 1], criterion)


@pytest.mark.parametrize("seed", range(6))
def test_a_direction_just_outside_the_span_is_outside_at_every_door(seed: int) -> None:
    """By 1e-7 of its length: a hundred times what rounding does, which is forgiven."""
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    features, normal = rng.normal(size=(9, 3)) @ frame[:3], frame[3]
    inside = rng.normal(size=9) @ features
    inside /= np.linalg.norm(inside)
    outside, ones, weights = inside + 1e-7 * normal, np.ones(9), np.full(9, 1 / 9)
    assert pe_loss(weights, features, ones, direction=inside) < np.inf
    assert pe_loss(weights, features, ones, direction=outside) == np.inf
    assert optimal_design(features, ones, direction=inside).value > 0
    with pytest.raises(ValueError, match="direction: not in the span"):
        optimal_design(features, ones, direction=outside)
    assert exchange_design(features, "linear", matrix=np.outer(inside, inside)).value > 0
    with pytest.raises(ValueError, match="miss some that the criterion needs"):
        exchange_design(features, "linear", matrix=np.outer(outside, outside))
