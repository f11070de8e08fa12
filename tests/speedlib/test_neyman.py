"""Adaptive Neyman allocation: supports by linear programming, errors by the closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from speedlib import AdaptiveNeyman, LinearBandit, Rewards, mse_curve, one_hot, optimal_design, play
from speedlib.solvers.elfving import elfving_design
from speedlib.strategies._known_support import known_support, support_of

from .cases import BALL, begin, phases_of, space

# --- the support ----------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.booleans())
def test_in_a_plane_the_support_is_that_of_every_covariance(
    seed: int, n_actions: int, lifted: bool
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_actions, 2))
    if lifted:  # a plane in five dimensions
        x = x @ rng.normal(size=(2, 5))
    c = rng.dirichlet(np.ones(n_actions)) @ x
    w = known_support(x, c, "N")
    assert w @ x == pytest.approx(c, rel=1e-9, abs=1e-12)
    for _ in range(5):
        root = rng.normal(size=(x.shape[1],) * 2)
        variances = np.sum((x @ root) ** 2, axis=1)
        best = elfving_design(x, variances, c)
        assert best.support.tolist() == np.flatnonzero(w).tolist()
        cost = np.abs(w) * np.sqrt(variances)
        assert best.weights == pytest.approx(cost / cost.sum(), rel=1e-6)


def test_of_parallel_actions_the_first_is_taken() -> None:
    x = np.array([[-1.0, 1.0], [0.0, 2.0], [3.0, 0.0], [0.0, -1.0], [1.0, 0.0]])
    c = np.array([1.0, 1.0])
    assert known_support(x, c, "N").tolist() == pytest.approx([0, 0.5, 1 / 3, 0, 0])
    # One that is parallel to the direction, or to its opposite, stands alone.
    alone = np.vstack([x, [[-2.0, -2.0], [1.0, 1.0]]])
    assert known_support(alone, c, "N").tolist() == pytest.approx([0, 0, 0, 0, 0, -0.5, 0])


def test_independent_actions_are_all_of_it() -> None:
    x = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 3, 2, 0]])
    policy = np.array([0.5, 0.0, 0.5, 0.0])
    assert known_support(x[:3], policy[:3] @ x[:3], "N") == pytest.approx([0.5, 0.0, 0.5])
    # The last one is a sum of the first two. A value in their plane does not need the third.
    policy = np.array([0.5, 0.1, 0.0, 0.4])
    assert known_support(x, policy @ x, "N") == pytest.approx([0.45, 0.0, 0.0, 0.45])


@settings(max_examples=20, deadline=None)
@example(seed=18000, d=3, along=True)
@given(st.integers(0, 10**6), st.integers(3, 5), st.booleans())
def test_copies_and_an_action_along_c_leave_it_known(seed: int, d: int, along: bool) -> None:
    rng = np.random.default_rng(seed)
    lines, sizes = rng.integers(0, d, 2 * d), rng.uniform(0.5, 2, (2 * d, 1))
    x = rng.normal(size=(d, d))[lines] * sizes * rng.choice([-1, 1], (2 * d, 1))
    c = rng.dirichlet(np.ones(2 * d)) @ x
    if along:  # and others that are dependent in any way
        x = np.vstack([x, rng.normal(size=(d, d)), -1.5 * c, c])
    w = known_support(x, c, "N")
    assert w @ x == pytest.approx(c, rel=1e-9, abs=1e-12)
    if along:
        # Where all the others are copies of one, it is along c itself, and the first.
        assert np.flatnonzero(w).tolist() == [3 * d if len(set(lines.tolist())) > 1 else 0]
    else:
        first = {line: lines.tolist().index(line) for line in lines.tolist()}
        assert set(np.flatnonzero(w).tolist()) == set(first.values())
    for _ in range(5):
        variances = np.sum((x @ rng.normal(size=(d, d))) ** 2, axis=1)
        best = optimal_design(x, variances, direction=c).value
        assert (np.abs(w) @ np.sqrt(variances)) ** 2 == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize(
    ("features", "policy", "expected"),
    [
        ([[1, 0], [2, 0], [0, 1]], (0.5, 0.5, 0), [1.5, 0, 0]),
        ([[1, 0], [1, 0], [0, 1]], (0.2, 0.2, 0.6), [0.4, 0, 0.6]),
        ([[1], [2]], (0.5, 0.5), [1.5, 0]),
        (np.eye(3)[[0, 0, 1, 2]], (0.25, 0.25, 0.25, 0.25), [0.5, 0, 0.25, 0.25]),
    ],
)
def test_copies_of_an_action_need_no_name(
    features: list, policy: tuple[float, ...], expected: list[float]
) -> None:
    x = np.array(features, dtype=float)
    assert known_support(x, np.array(policy) @ x, "N").tolist() == pytest.approx(expected)


def test_lines_that_nearly_coincide_still_give_the_value() -> None:
    x = np.array([[1.0, 1.0], [-1.0, -1 + 2e-9], [1.0, 1 + 1e-9]])
    policy, theta = np.array([0.5, 0.4, 0.1]), np.array([3.0, 2.0])
    w = known_support(x, policy @ x, "N")
    assert w @ (x @ theta) == pytest.approx(policy @ x @ theta, rel=1e-7)
    # All lie to the right of c: the last before it and, round the other way, the first.
    assert np.flatnonzero(w).tolist() == [1, 2]


def test_where_it_depends_on_the_variances_it_must_be_named() -> None:
    bandit, policy = space(5), np.full(8, 1 / 8)
    with pytest.raises(
        ValueError, match=r"support: Adaptive Neyman needs the optimal actions .*support=\("
    ):
        begin(AdaptiveNeyman(), bandit, policy, 100, 1)
    trial = begin(AdaptiveNeyman(support=[5, 0, 2], pilot=4), bandit, policy, 100, 1)
    assert trial.first_counts().tolist() == [4, 0, 4, 0, 0, 4, 0, 0]
    for support, message in [
        ((0, 1), r"must span the direction of the policy; got \(0, 1\)"),
        ((0, 1, 2, 3), "must be linearly independent"),
        ((0, 1, 8), "have the numbers 0 to 7; got 8"),
    ]:
        with pytest.raises(ValueError, match=f"^support: .*{message}"):
            begin(AdaptiveNeyman(support=support), bandit, policy, 100, 1)


def test_named_actions_that_are_not_needed_are_not_pulled() -> None:
    w = support_of((0, 1, 2), np.eye(3) * 1e20, np.array([0.5, 0.5, 0.0]) * 1e20)
    assert w.tolist() == pytest.approx([0.5, 0.5, 0.0])
    assert w[2] == 0
    # One is needed though its feature has a small unit, or its part of c is as small as c.
    w = support_of((0, 1), np.array([[1e10, 0.0], [0.0, 1.0]]), np.array([5e9, 0.5]))
    assert w.tolist() == pytest.approx([0.5, 0.5])
    x = np.array([[1.0, 0, 0], [1, 1e-10, 0], [0, 1, 1]])
    w = support_of((0, 1, 2), x, np.array([0.0, 2e-10, 1e-10]))
    assert w.tolist() == pytest.approx([-1.0, 1.0, 1e-10])


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"fractions": (0.5, 0.5)}, ValueError, "fractions: must rise"),
        ({"fractions": (0.5, 1.0)}, ValueError, "fractions: must lie strictly between 0 and 1"),
        ({"fractions": 0.5}, TypeError, "fractions: expected a tuple"),
        ({"fractions": "0.5"}, TypeError, "fractions: expected a tuple"),
        ({"pilot": 1}, ValueError, "pilot: must be at least 2; got 1"),
        ({"pilot": "root"}, ValueError, 'pilot: must be a number or "sqrt"'),
        ({"pilot": 2.5}, TypeError, "pilot: expected a whole number"),
        ({"support": ()}, ValueError, "support: must name different actions"),
        ({"support": (1, 1)}, ValueError, "support: must name different actions"),
        ({"support": (-1, 1)}, ValueError, "support: must be at least 0"),
        ({"support": 3}, TypeError, "support: expected a tuple"),
    ],
)
def test_parameters_are_checked(choices: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        AdaptiveNeyman(**choices)


def test_lists_are_taken_for_tuples() -> None:
    one = AdaptiveNeyman(fractions=[0.25, 0.5], support=np.array([3, 1]))
    assert one == AdaptiveNeyman(fractions=(0.25, 0.5), support=(3, 1)) and hash(one)
    assert AdaptiveNeyman.many(pilot=7).pilot == 7
    assert AdaptiveNeyman.many().fractions == pytest.approx([0.96 / 2**k for k in range(9, -1, -1)])


def test_the_smallest_budget_is_named() -> None:
    for strategy in (AdaptiveNeyman(), AdaptiveNeyman(pilot=30)):
        least = next(n for n in range(1, 99) if 2 * strategy.pilot_pulls(n) < n)
        with pytest.raises(ValueError, match=f"rounds: .*2 actions.*budget is {least}"):
            begin(strategy, BALL.bandit, BALL.policy, least - 1, 1)
        assert begin(strategy, BALL.bandit, BALL.policy, least, 1).first_counts().sum() < least
    assert [AdaptiveNeyman().pilot_pulls(n) for n in (1, 4, 5, 9, 10**12)] == [1, 2, 3, 3, 10**6]


# --- the pulls ------------------------------------------------------------------------------------


def test_each_stage_brings_counts_to_the_shares_of_all_scatters_so_far() -> None:
    strategy = AdaptiveNeyman(fractions=(0.1, 0.4, 0.8), pilot=20)
    world = one_hot([0.2, 0.3, 0.5], [4.0, 1.0, 0.25])
    trial = begin(strategy, world.bandit, world.policy, 1000, 1, replications=30)
    phases = phases_of(trial, world.bandit, 2)
    pooled = phases[0]
    assert pooled.counts.tolist() == [[20] * 3] * 30 and len(phases) == 5
    for rewards, total in zip(phases[1:], (100, 400, 800, 1000), strict=True):
        cost = world.policy * np.sqrt(pooled.scatters / (pooled.counts - 1))
        shares = cost / cost.sum(axis=1, keepdims=True)
        after = pooled.counts + rewards.counts
        assert np.all(after.sum(axis=1) == total)
        kept = np.all(total * shares >= pooled.counts, axis=1)
        assert kept.any()
        assert np.abs(after - total * shares)[kept].max() < 1
        pooled = pooled + rewards


def test_stages_that_the_pilot_has_overtaken_are_left_out() -> None:
    trial = begin(AdaptiveNeyman.many(), BALL.bandit, BALL.policy, 100, 1)
    phases = phases_of(trial, BALL.bandit, 2)
    assert np.cumsum([rewards.rounds for rewards in phases]).tolist() == [20, 24, 48, 96, 100]
    none = begin(AdaptiveNeyman(fractions=()), BALL.bandit, BALL.policy, 100, 1)
    assert [int(p.rounds) for p in phases_of(none, BALL.bandit, 2)] == [20, 80]


def test_a_single_action_needs_no_shares() -> None:
    bandit = LinearBandit([[2.0]], [3.0], Sigma=[[1.0]])
    trial = begin(AdaptiveNeyman(), bandit, np.ones(1), 50, 1)
    rng = np.random.default_rng(3)
    told: list[Rewards] = []

    def pull(counts: np.ndarray) -> Rewards:
        told.append(bandit.pull(counts, rng))
        return told[-1]

    found = play(trial, pull)
    pooled = sum(told[1:], start=told[0])
    assert float(found.value) == pytest.approx(float(pooled.means[0]))
    mean_error = math.sqrt(pooled.scatters[0] / 49 / 50)
    assert float(found.standard_error) == pytest.approx(mean_error)
    assert float(found.degrees_of_freedom) == pytest.approx(49)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("r", [2, 4, 8])
def test_the_second_term_is_that_of_the_closed_form(r: int) -> None:
    """n^2 R_n / S^2 -> (r - 1) / (2 f), with the last fraction f."""
    n = 10**6
    world = one_hot(np.full(r, 1 / r), np.linspace(0.5, 2.0, r))
    strategies = [AdaptiveNeyman(), AdaptiveNeyman(fractions=(0.8,), label="late")]
    strategies.append(AdaptiveNeyman.many())
    curves = mse_curve(world.bandit, world.policy, strategies, [n], 20_000, seed=1)
    best = optimal_design(world.bandit.features, world.bandit.variances, policy=world.policy).value
    second = (curves.mse[:, 0] - best / n) * n**2 / best
    error = curves.standard_error[:, 0] * n**2 / best
    assert np.all(
        np.abs(second - (r - 1) / (2 * np.array([0.5, 0.8, 0.96]))) < 4.5 * error + 0.02 * r
    )
    assert np.all(error < 0.02 * r)
