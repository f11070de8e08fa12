"""Comparisons over runs: by hand, and against what the library simulates."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from paper.plots.tables import plot_calibration, plot_shares
from speedbook.figures import plotted_data
from speedlib import (
    SPEED,
    Environment,
    LinearBandit,
    OnPolicy,
    Oracle,
    mse_curve,
    optimal_design,
    unit_ball,
)
from speedlib.comparison import (
    Comparison,
    by_variance,
    compare,
    compare_with_best,
    sample_actions,
    shares,
)

MSE = np.array([[[2.0, 1.0], [4.0, 3.0]], [[6.0, 2.0], [6.0, 8.0]]])
LOSS = np.array([[1.0, 0.5], [2.0, 1.0]])
HAND = Comparison(("A", "B"), np.array([10, 100]), MSE, LOSS, np.zeros((2, 2)))


def test_curves_by_hand() -> None:
    rounds, means, errors = HAND.curves()["A"]
    assert rounds.tolist() == [10, 100]
    assert means.tolist() == [4.0, 1.5]
    np.testing.assert_allclose(errors, [2.0, 0.5])
    assert HAND.curves()["B"][1].tolist() == [5.0, 5.5]


def test_multiples_of_the_oracle_loss_by_hand() -> None:
    means, lows, highs = HAND.multiples(level=0.9)
    np.testing.assert_allclose(means, np.sqrt([[6.0, 4.0], [12.0, 48.0]]))
    # Two runs: half the distance of their logarithms, times the quantile of a Cauchy law.
    factors = np.exp(np.tan(np.pi * 0.45) * np.log([[1.5, 1.0], [4 / 3, 4 / 3]]) / 2)
    np.testing.assert_allclose(highs, means * factors)
    np.testing.assert_allclose(lows, means / factors)
    assert HAND.table(0.9).loc["B", "n = 100"] == f"7 [{lows[1, 1]:.0f}, {highs[1, 1]:.0f}]"


def test_intervals_of_multiples_stay_above_zero_however_runs_differ() -> None:
    mse = np.array([1e-3, 1.0, 1e3])[:, None, None]
    wild = Comparison(("A",), np.array([10]), mse, np.ones((3, 1)), np.zeros((1, 1)))
    _, low, high = wild.multiples()
    assert 0 < low.item() < 1 < high.item()


def test_ratio_to_the_best_baseline_by_hand() -> None:
    found = HAND.against("B", ["A"], level=0.9)
    assert found.reference == "A"
    assert found.estimate == pytest.approx(np.sqrt(3 * 4))
    width = np.tan(np.pi * 0.45) * abs(np.log(4 / 3)) / 2
    assert found.low == pytest.approx(np.sqrt(12) * np.exp(-width))
    assert found.high == pytest.approx(np.sqrt(12) * np.exp(width))
    assert HAND.against("A", ["A", "B"], budget=0).reference == "A"


def test_the_fall_of_a_ratio_by_hand() -> None:
    # B over A: 2 and 3 in the first run, 1 and 4 in the second.
    found = HAND.fall("B", "A", level=0.9)
    assert found.reference == "A"
    assert found.estimate == pytest.approx(np.sqrt(3 / 2 * 4))
    width = np.tan(np.pi * 0.45) * np.log(4 / 1.5) / 2
    assert found.low == pytest.approx(np.sqrt(6) * np.exp(-width))
    assert found.high == pytest.approx(np.sqrt(6) * np.exp(width))
    assert HAND.fall("A", "B").estimate == pytest.approx(1 / np.sqrt(6))


def test_the_fall_is_from_the_first_budget_to_the_last() -> None:
    """Ratios 2, 5 and 3 in the first run, 1, 7 and 4 in the second: what is between is nothing."""
    mse = np.array([[[1.0, 1.0, 1.0], [2.0, 5.0, 3.0]], [[2.0, 1.0, 1.0], [2.0, 7.0, 4.0]]])
    three = Comparison(("A", "B"), np.array([10, 30, 100]), mse, np.ones((2, 3)), mse[0])
    assert three.fall("B", "A").estimate == pytest.approx(np.sqrt(3 / 2 * 4))


@pytest.mark.parametrize(
    "form",
    [tuple, np.array, pd.Index, pd.Series, set, frozenset, iter, dict.fromkeys],
    ids=lambda form: form.__name__,
)
def test_baselines_may_come_in_any_collection(form) -> None:
    found = HAND.against("B", form(["B", "A"]))
    assert found == HAND.against("B", ["A", "B"])
    assert (found.reference, type(found.reference)) == ("A", str)


def test_of_baselines_that_are_alike_the_first_strategy_is_best() -> None:
    alike = Comparison(("A", "B", "C"), HAND.rounds, MSE[:, [0, 0, 1]], LOSS, np.zeros((3, 2)))
    for names in (["A", "B"], ["B", "A"], {"A", "B"}):
        assert alike.against("C", names).reference == "A"


def test_which_baseline_is_best_is_asked_at_the_budget_in_question() -> None:
    mse = np.array([[[1.0, 9.0], [2.0, 4.0], [6.0, 6.0]]] * 2)
    crossing = Comparison(("A", "B", "C"), np.array([10, 100]), mse, np.ones((2, 2)), mse[0])
    assert crossing.against("C", ["A", "B"], budget=0).reference == "A"
    assert crossing.against("C", ["A", "B"]).reference == "B"


def test_intervals_cover_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        logs = rng.normal(0.3, 0.5, size=8)
        mse = np.stack([np.exp(logs), np.ones(8)], axis=1)[:, :, None]
        one = Comparison(("A", "B"), np.array([1]), mse, np.ones((8, 1)), np.zeros((2, 1)))
        found = one.against("A", ["B"])
        hits += found.low <= np.exp(0.3) <= found.high
    assert stats.binomtest(hits, 400, 0.95).pvalue > 0.001


def test_every_run_has_an_environment_of_its_own_and_a_seed_gives_it_again() -> None:
    drawn = []

    def draw(rng: np.random.Generator) -> Environment:
        environment = unit_ball(high_variance=rng.uniform(0.2, 0.5))
        drawn.append(environment)
        return environment

    first, again = (compare(draw, [Oracle(), OnPolicy()], [50, 500], 20, 3, 7) for _ in range(2))
    assert first.mse.shape == (3, 2, 2)
    assert np.array_equal(first.mse, again.mse)
    assert len({each.bandit.variances[1] for each in drawn}) == 3
    for row, each in zip(first.oracle_loss, drawn, strict=False):
        best = optimal_design(each.bandit.features, each.bandit.variances, policy=each.policy)
        np.testing.assert_allclose(row, best.value / np.array([50, 500]))
    means, _, _ = first.multiples()
    assert np.all(means > 0.99)


def test_the_best_is_chosen_before_and_measured_again_at_the_last_budget() -> None:
    """The new runs are those of `compare`, and hold nothing of the old ones."""
    strategies = [
        *(OnPolicy(label=name, estimator="ols") for name in ("C", "A", "D")),
        Oracle(label="B"),
    ]
    mse = np.stack([MSE[:, 0] * size for size in (3.0, 2.0, 1.0, 4.0)], axis=1)
    before = Comparison(("B", "C", "A", "D"), HAND.rounds, mse, LOSS, np.zeros((4, 2)))

    def draw(rng: np.random.Generator) -> Environment:
        return unit_ball(high_variance=rng.uniform(0.2, 0.5))

    again, best = compare_with_best(before, "B", ["C", "A", "D"], draw, strategies, 20, 3, 5)
    plain = compare(draw, [strategies[1], strategies[3]], [100], 20, 3, 5)
    assert best == "A"
    assert again.strategies == ("A", "B")
    assert np.array_equal(again.mse, plain.mse)


def test_the_simulation_does_not_use_the_stream_that_draws_the_environment() -> None:
    seeds = []

    def draw(rng: np.random.Generator) -> Environment:
        sequence = rng.bit_generator.seed_seq
        assert isinstance(sequence, np.random.SeedSequence)
        seeds.append(int(sequence.generate_state(1)[0]))
        return unit_ball()

    found = compare(draw, [SPEED()], [200], 20, 2, 7).mse
    ball = unit_ball()
    for mse, seed in zip(found, seeds, strict=True):
        same = mse_curve(ball.bandit, ball.policy, [SPEED()], [200], 20, seed=seed).mse
        assert not np.array_equal(mse, same)
    assert found[0] != found[1]


def test_what_cannot_be_estimated_is_counted_over_all_runs() -> None:
    """Two pulls of three one-hot actions: the value is lost in every replication."""
    one_hot = Environment(
        "three", LinearBandit(np.eye(3), np.ones(3), Sigma=np.eye(3)), [1 / 3] * 3
    )
    lost = compare(lambda _: one_hot, [OnPolicy()], [2, 3000], 25, 2, 7).inestimable
    assert lost.tolist() == [[1.0, 0.0]]


def test_one_run_has_no_interval() -> None:
    with pytest.raises(ValueError, match="runs"):
        compare(lambda _: unit_ball(), [Oracle()], [50], 5, 1, 7)


def test_shares_are_those_of_the_designs() -> None:
    environment = unit_ball()
    bandit, policy = environment.bandit, environment.policy
    found = shares(environment, [Oracle(), OnPolicy(), SPEED()], 10_000, 50, seed=3)
    best = optimal_design(bandit.features, bandit.variances, policy=policy)
    np.testing.assert_allclose(found["Oracle"], best.weights, atol=2e-4)
    np.testing.assert_allclose(found["On-policy"], policy, atol=0.005)
    assert found["SPEED"].sum() == pytest.approx(1.0, abs=0.01)
    # Shares are of all rounds: those that rounding down leaves unused are missing.
    spent = shares(environment, [SPEED()], 100, 50, seed=3)["SPEED"].sum() * 100
    assert 97 <= spent < 99.9
    assert found["SPEED"][[0, 2]].sum() > 0.9


def test_a_seed_gives_the_shares_again_and_another_gives_others() -> None:
    first, again, other = (
        shares(unit_ball(), [OnPolicy()], 100, 5, seed=seed)["On-policy"] for seed in (3, 3, 4)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_shares_are_added_up_from_quiet_to_noisy() -> None:
    table = by_variance({"A": np.array([0.1, 0.2, 0.3, 0.4])}, np.array([4.0, 1.0, 3.0, 2.0]), 2)
    np.testing.assert_allclose(table.loc["A"], [0.6, 0.4])
    assert list(table.columns) == [1, 2]


def test_pictures_show_their_numbers() -> None:
    table = pd.DataFrame([[0.64, 0.36], [0.0, 1.0]], index=["Oracle", "SPEED"], columns=[1, 2])
    fig, (left, right) = plt.subplots(ncols=2)
    plot_shares(left, table, title="share", xlabel="group")
    plot_calibration(right, [1.0, 2.0], [1.5, 2.5], [0.1, 0.2])
    drawn = plotted_data(fig)
    assert any(np.array_equal(part, table.to_numpy()) for part in drawn.values())
    assert [text.get_text() for text in left.texts] == ["64", "36", "·", "100"]
    assert any(np.array_equal(part, [[1.0, 1.5], [2.0, 2.5]]) for part in drawn.values())
    bars = np.array([[[1.0, 1.3], [1.0, 1.7]], [[2.0, 2.1], [2.0, 2.9]]])
    assert any(part.shape == bars.shape and np.allclose(part, bars) for part in drawn.values())
    plt.close(fig)


def test_rewards_are_drawn_from_the_environment_that_is_given() -> None:
    """A strategy that learns must see the environment's noise, not another's."""
    quiet, loud = (
        Environment("two", LinearBandit(np.eye(2), [0.0, 0.0], Sigma=np.diag(v)), [0.5, 0.5])
        for v in ([0.01, 4.0], [4.0, 0.01])
    )
    first, second = (
        shares(each, [SPEED(covariance="psd")], 4000, 20, seed=1)["SPEED"] for each in (quiet, loud)
    )
    assert first[1] > 0.8
    assert second[0] > 0.8


@pytest.mark.parametrize("described", [True, False])
def test_a_sample_of_actions_keeps_all_but_their_number(described: bool) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(50, 3))
    v = np.einsum("ai,i,ai->a", x, [1.0, 2.0, 3.0], x)
    noise = {"Sigma": np.diag([1.0, 2.0, 3.0])} if described else {"variances": v}
    bandit = LinearBandit(x, np.ones(3), noise="uniform", **noise)
    policy = rng.dirichlet(np.ones(50))
    some = sample_actions(Environment("fifty", bandit, policy), 20, np.random.default_rng(6))
    places = [int(np.flatnonzero((x == row).all(axis=1))[0]) for row in some.bandit.features]
    assert places == sorted(set(places)) and len(places) == 20
    assert some.bandit.variances == pytest.approx(v[places])
    assert some.policy.sum() == pytest.approx(1)
    assert some.policy / policy[places] == pytest.approx(1 / policy[places].sum())
    assert (some.name, some.bandit.noise) == ("fifty", "uniform")
    assert (some.bandit.Sigma is not None) == described


def test_a_sample_of_all_actions_is_the_environment_itself() -> None:
    environment = unit_ball(5)
    assert sample_actions(environment, 5, np.random.default_rng(7)) is environment


def test_a_sample_that_the_policy_avoids_is_refused() -> None:
    policy = np.array([1.0, *np.zeros(99)])
    environment = Environment("", LinearBandit(np.ones((100, 1)), [1.0], Sigma=[[1.0]]), policy)
    with pytest.raises(ValueError, match="size: the policy takes none of the 1 actions drawn"):
        sample_actions(environment, 1, np.random.default_rng(8))


HALVES = Environment("two", LinearBandit(np.eye(2), np.ones(2), Sigma=np.eye(2)), [0.5, 0.5])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare(lambda _: 3, [Oracle()], [50], 2, 2, 1), "draw: expected an Environ.*3"),
        (lambda: compare(lambda _: HALVES, [], [50], 2, 2, 1), "strategies: need at least one"),
        (lambda: compare(lambda _: HALVES, [Oracle()] * 2, [50], 2, 2, 1), "distinct names"),
        (lambda: compare(lambda _: HALVES, [Oracle()], [50], 2, 2, None), "seed: .*None"),
        (lambda: shares(HALVES.bandit, [Oracle()], 50, 2, 1), "environment: expected an Env"),
        (lambda: shares(HALVES, ["Oracle"], 50, 2, 1), "strategies: .*'Oracle'"),
        (lambda: sample_actions(HALVES, 1, None), "rng: .*None"),
        (lambda: HAND.against("C", ["A"]), "strategy: must be one of 'A', 'B'; got 'C'"),
        (lambda: HAND.against("B", ["C"]), "baselines: must be one of 'A', 'B'; got 'C'"),
        (lambda: HAND.against("B", []), "baselines: must be a list of at least one"),
        (lambda: HAND.against("B", "A"), "baselines: must be a list .* got 'A'"),
        (lambda: HAND.against("B", None), "baselines: must be a list .* got None"),
        (lambda: HAND.against("B", (n for n in "")), "baselines: must be a list of at least one"),
        (lambda: HAND.against("B", ["A", "A"]), "baselines: names must differ; got 'A' twice"),
        (lambda: HAND.against("B", np.arange(2)), "baselines: every name must be a text; got "),
        (lambda: HAND.against("B", ["A"], budget=2), "budget: must be at most 1; got 2"),
        (lambda: HAND.fall("B", "C"), "baseline: must be one of 'A', 'B'; got 'C'"),
        (lambda: HAND.table(1.0), "level: must lie strictly between 0 and 1"),
        (lambda: by_variance([1.0], [1.0], 1), "found: must be what `shares` returns"),
        (lambda: by_variance({"A": [1.0]}, [1.0, 2.0], 1), "found: "),
        (lambda: by_variance({"A": [0.5, 0.5]}, [1.0, 2.0], 3), "groups: must be at most 2; got 3"),
        (lambda: compare_with_best(HAND, "B", ["A"], None, [Oracle(label="B")], 2, 2, 1), "'A'"),
    ],
)
def test_a_wrong_argument_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_nothing_is_drawn_where_an_argument_is_wrong() -> None:
    drawn: list[object] = []
    with pytest.raises(ValueError, match="replications"):
        compare(lambda rng: drawn.append(rng), [Oracle()], [50], 1, 2, 1)  # type: ignore[arg-type,return-value,func-returns-value]
    assert drawn == []


def test_shares_with_the_labels_of_other_actions_are_refused() -> None:
    share, noise = pd.Series([0.1, 0.9], ["a", "b"]), pd.Series([2.0, 1.0], ["b", "a"])
    with pytest.raises(ValueError, match="found: "):
        by_variance({"A": share}, noise, 2)
    assert by_variance({"A": share}, noise[["a", "b"]], 2).loc["A"].tolist() == [0.1, 0.9]
