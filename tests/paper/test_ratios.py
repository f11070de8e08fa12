"""Advantages and ratios: by hand, and how often their intervals cover."""

from __future__ import annotations

import re
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import norm

from paper.advantage import expected_advantage, smallest_advantage
from paper.plots import JUST_RUN, over_policy, plot_over_policy, plot_ratios, ratio_table
from speedlib import OnPolicy, Oracle, mse_curve, unit_ball
from speedlib.comparison import Comparison, with_ends
from speedlib.curves import MSECurves

BALL = unit_ball()


def curves(mse: list[list[float]], error: list[list[float]], rounds: list[int]) -> MSECurves:
    shape = np.shape(mse)
    return MSECurves(
        strategies=("SPEED", "On-policy", "A-optimal")[: shape[0]],
        methods=("exact",) * shape[0],
        rounds=np.array(rounds),
        replications=10,
        mse=np.array(mse),
        standard_error=np.array(error),
        inestimable=np.zeros(shape),
        oracle_loss=np.full(shape[1], 0.5),
        group_means=np.repeat(np.array(mse)[..., None], 2, axis=-1),
        group_sizes=np.array([5, 5]),
    )


MSE = [[2.0, 1.0, 0.5], [3.0, 1.2, 1.0], [9.0, 1.5, 0.8]]
ERROR = [[0.02, 0.01, 0.0], [0.06, 0.0, 0.01], [0.0, 0.0, 0.0]]


def test_the_smallest_advantage_is_that_over_the_best_of_the_others() -> None:
    found = smallest_advantage(curves(MSE, ERROR, [10, 100, 1000]), ["On-policy", "A-optimal"])
    assert (found.over, found.rounds) == ("On-policy", 100)
    assert found.estimate == pytest.approx(1.2)
    width = norm.isf(0.005 / 6) * 0.01
    assert found.interval == pytest.approx((1.2 * np.exp(-width), 1.2 * np.exp(width)))


def test_what_counts_can_be_restricted() -> None:
    both = curves(MSE, ERROR, [10, 100, 1000])
    late = smallest_advantage(both, ["On-policy", "A-optimal"], from_rounds=101)
    assert (late.over, late.rounds, late.estimate) == ("A-optimal", 1000, pytest.approx(1.6))
    assert smallest_advantage(both, ["On-policy"], from_rounds=100).rounds == 100
    assert smallest_advantage(both, ["SPEED"], strategy="A-optimal").estimate == pytest.approx(
        2 / 9
    )


def test_the_strategy_may_have_curves_of_its_own() -> None:
    both = curves(MSE, ERROR, [10, 100, 1000])
    mine = curves([[1.0, 0.5, 0.25]], [[0.0, 0.0, 0.0]], [10, 100, 1000])
    found = smallest_advantage(both, ["On-policy"], own=mine)
    assert (found.estimate, found.rounds) == (pytest.approx(2.4), 100)
    with pytest.raises(ValueError, match="own: needs the rounds"):
        smallest_advantage(both, ["On-policy"], own=curves([[1.0]], [[0.0]], [10]))


@pytest.mark.parametrize("choice", [{"over": []}, {"over": ["On-policy"], "from_rounds": 1001}])
def test_nothing_to_compare_is_refused(choice: dict) -> None:
    with pytest.raises(ValueError, match="over, from_rounds: leave nothing to compare"):
        smallest_advantage(curves(MSE, ERROR, [10, 100, 1000]), **choice)


def test_the_interval_covers_the_smallest_ratio() -> None:
    """Of 400 noisy pairs of curves whose least ratio is 1.1, about one in a hundred may miss."""
    rng, missed = np.random.default_rng(5), 0
    truth, error = np.array([[1.0, 1.0], [1.1, 1.12]]), np.full((2, 2), 0.02)
    for _ in range(400):
        noisy = curves((truth + error * rng.standard_normal((2, 2))).tolist(), error, [10, 100])
        low, high = smallest_advantage(noisy, ["On-policy"]).interval
        missed += not low <= 1.1 <= high
    assert missed <= 14  # more would happen once in 10,000 times if one in a hundred missed


def test_ratios_are_in_units_of_the_oracle_loss() -> None:
    found = mse_curve(BALL.bandit, BALL.policy, [Oracle(), OnPolicy()], [100, 1000], 50, seed=1)
    fig, ax = plt.subplots()
    plot_ratios(ax, found)
    drawn = ax.lines[0].get_ydata()
    assert drawn == pytest.approx(found.mse[0] / found.oracle_loss)
    titles = [ax.get_title(loc=loc) for loc in ("left", "center", "right")]
    assert "mean squared error / oracle loss" in titles
    plt.close(fig)
    cell = ratio_table(found).loc[1000, "On-policy"]
    mean, width = map(float, cell.split(" ± "))
    assert mean == pytest.approx(found.mse[1, 1] / found.oracle_loss[1], abs=6e-4)
    assert width == pytest.approx(
        1.96 * found.standard_error[1, 1] / found.oracle_loss[1], abs=6e-4
    )


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.5, np.nan])
def test_a_level_is_between_zero_and_one(level: float) -> None:
    with pytest.raises(ValueError, match="level: must lie strictly between 0 and 1; got"):
        ratio_table(curves(MSE, ERROR, [10, 100, 1000]), level)


@pytest.mark.parametrize("share", [0.2, 0.249, 0.251, 0.3])
def test_an_interval_that_is_half_as_wide_as_its_ratio_is_told_by_its_ends(share: float) -> None:
    """Half of it is a quarter of the ratio: up to there it is symmetric."""
    error = [[share * 2.0 / norm.isf(0.05)]]
    cell = ratio_table(curves([[2.0]], error, [10]), level=0.9).iloc[0, 0]
    symmetric = f"4.000 ± {4 * share:.3f}"
    ends = with_ends(4.0, 4 * np.exp(-share), 4 * np.exp(share))
    assert cell == (symmetric if share < 0.25 else ends)


def test_a_wide_interval_of_a_ratio_tells_its_ends_and_stays_above_zero() -> None:
    found = mse_curve(BALL.bandit, BALL.policy, [OnPolicy()], [100], 50, seed=1)
    loose = replace(found, standard_error=0.6 * found.mse)
    mean, low, high = map(float, re.findall(r"[\d.]+", ratio_table(loose).iloc[0, 0]))
    assert 0 < low < mean < high
    assert high / mean == pytest.approx(np.exp(1.96 * 0.6), rel=0.05)


# Errors in units of running the policy.


def test_running_the_policy_is_at_one_and_a_share_of_its_error_below() -> None:
    found = over_policy(curves(MSE, ERROR, [10, 100, 1000]), "On-policy")
    _, ratio, error = found["SPEED"]
    assert ratio == pytest.approx([2 / 3, 1 / 1.2, 0.5])
    # Relative errors of both add up as squares.
    assert error[0] == pytest.approx(2 / 3 * np.hypot(0.01, 0.02))
    _, ratio, error = found["On-policy"]
    assert (ratio.tolist(), error.tolist()) == ([1.0] * 3, [0.0] * 3)


def test_over_several_runs_ratios_are_geometric_means_of_each_run() -> None:
    mse = np.array([[[1.0], [2.0]], [[4.0], [2.0]], [[1.0], [1.0]]])
    rounds, none = np.array([10]), np.zeros((2, 1))
    found = Comparison(("SPEED", "On-policy"), rounds, mse, np.ones((3, 1)), none)
    _, ratio, error = over_policy(found, "On-policy")["SPEED"]
    assert ratio == pytest.approx([1.0])  # of 1/2, 2 and 1
    assert error == pytest.approx([np.log(2) / np.sqrt(3)])


def test_the_policy_may_have_been_measured_apart() -> None:
    base = curves(MSE, ERROR, [10, 100, 1000])
    apart = curves([[6.0, 6.0, 6.0]], [[0.0, 0.0, 0.0]], [10, 100, 1000])
    assert over_policy(apart, "On-policy", base)["SPEED"][1] == pytest.approx([2.0, 5.0, 6.0])
    with pytest.raises(ValueError, match="policy: must be one of SPEED; got 'On-policy'"):
        over_policy(apart, "On-policy")
    with pytest.raises(ValueError, match="base: must have the same rounds"):
        over_policy(curves([[1.0]], [[0.0]], [10]), "On-policy", base)


@pytest.mark.parametrize(("highest", "named"), [(3.0, [0.7, 1, 1.5, 2]), (40.0, [1, 2, 5, 10, 20])])
def test_the_line_of_running_the_policy_is_named_and_ratios_can_be_read_off(
    highest: float, named: list[float]
) -> None:
    shown = {"SPEED": ([10, 100], [highest, 0.6], [0, 0]), "On-policy": ([10, 100], [1, 1], [0, 0])}
    fig, ax = plt.subplots()
    plot_over_policy(ax, shown, "On-policy")
    fig.canvas.draw()
    assert [text.get_text() for text in ax.texts] == ["SPEED", JUST_RUN]
    words = {float(label.get_text()) for label in ax.get_yticklabels()}
    assert set(named) <= words
    plt.close(fig)


# Expected errors over runs.


def test_the_expected_advantage_is_the_ratio_of_the_means() -> None:
    ratio, low, high = expected_advantage([1.0, 3.0], [4.0, 4.0], level=0.9)
    assert ratio == pytest.approx(2.0)
    # The influences are 1 - 1/2 and 1 - 3/2: standard error 1/2, one degree of freedom.
    half = np.tan(np.pi * 0.45) / 2
    assert (low, high) == pytest.approx((2 * np.exp(-half), 2 * np.exp(half)))


def test_a_common_unit_of_a_run_cancels_where_errors_are_proportional() -> None:
    unit = np.array([1.0, 2.0, 5.0])
    assert expected_advantage(unit, 3 * unit, level=0.999) == pytest.approx((3.0, 3.0, 3.0))


def test_intervals_of_the_expected_advantage_cover() -> None:
    rng, inside = np.random.default_rng(11), 0
    for _ in range(2000):
        own, other = rng.gamma(20.0, 1 / 20, 24), 1.5 * rng.gamma(50.0, 1 / 50, 24)
        _, low, high = expected_advantage(own, other, level=0.9)
        inside += low < 1.5 < high
    assert inside / 2000 == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize(
    ("own", "other", "level"),
    [
        ([1.0], [1.0], 0.9),
        ([1.0, 0.0], [1.0, 1.0], 0.9),
        ([1.0, np.inf], [1.0, 1.0], 0.9),
        ([1.0, 2.0], [1.0, 2.0, 3.0], 0.9),
        ([1.0, 2.0], [1.0, 2.0], 1.0),
    ],
)
def test_what_has_no_expected_advantage_is_refused(
    own: list[float], other: list[float], level: float
) -> None:
    with pytest.raises(ValueError, match=r"own, other|level|shape"):
        expected_advantage(own, other, level=level)
