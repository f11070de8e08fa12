"""Losses, strangers and money in a live experiment: each test is for a whole kind of fault."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest

from speedlib import (
    SPEED,
    AdaptiveNeyman,
    BookedOptimism,
    OnPolicy,
    Strategy,
    Uniform,
)
from speedlib.experiment import Experiment

from .living import COSTS, KINDS, begin
from .small_experiment import experiment, pull
from .ten_days import FEATURES, POLICY, TRUTH, WORLD

ONE = np.eye(8, dtype=np.int64)
BY_SCATTERS: list[Strategy] = [
    BookedOptimism(),
    AdaptiveNeyman(support=(0, 2, 6)),
    AdaptiveNeyman.many(support=(0, 2, 6)),
]
NAMED = pytest.mark.parametrize("strategy", BY_SCATTERS, ids=lambda s: s.name)


def finish(mine: Experiment) -> Experiment:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        while not mine.finished:
            mine.tell(pull(mine.ask(), int(mine.books.asked.sum())))
    return mine


# --- books ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("late", [1, 2])
def test_a_late_reward_settles_what_was_written_off_and_nothing_later(late: int) -> None:
    """All that a later batch asks for is owed, whatever was written off and came before."""
    mine = experiment(Uniform(estimator="ols", sampling="balanced"), rounds=160)
    mine.tell(pull(mine.ask(80) - 2, 1))
    mine.write_off()
    mine.tell(pull(np.full(8, late), 2))
    for _ in range(2):
        mine = Experiment.from_json(mine.to_json())
        assert mine.books.written_off.tolist() == [2 - late] * 8
        before = mine.books.owed.sum()
        assert mine.ask(40).sum() == 40
        assert mine.books.owed.sum() == before + 40


# --- rewards that nobody asked for ----------------------------------------------------------------


@NAMED
def test_extra_rewards_go_through_json_and_cost_nothing(strategy: Strategy) -> None:
    mine = experiment(strategy, rounds=900)
    first = mine.ask()
    with pytest.warns(UserWarning, match="more came than were requested"):
        mine.tell(pull(first + 2 * (first > 0), 1))
    mine.ask(1)
    mine = finish(Experiment.from_json(mine.to_json()))
    assert mine.books.asked.sum() == 900
    assert mine.estimate().estimable


@NAMED
@pytest.mark.parametrize("number", [1, 50])
def test_rewards_of_actions_that_are_never_tried_change_nothing(
    strategy: Strategy, number: int
) -> None:
    """Neither stop the experiment, since they are too few, nor change what is tried."""
    mine, other = (experiment(strategy, rounds=900) for _ in range(2))
    strange = int(np.flatnonzero(mine.planned == 0)[0]) if np.any(mine.planned == 0) else None
    if strange is None:
        pytest.skip("it tries all actions")
    with pytest.warns(UserWarning, match="more came than were requested"):
        mine.tell(pull(number * ONE[strange], 5))
    while not other.finished:
        batch = other.ask()
        assert mine.ask().tolist() == batch.tolist()
        rewards = pull(batch, int(batch.sum()))
        other.tell(rewards)
        mine.tell(rewards)
    assert mine.finished and mine.books.asked.sum() == 900


# --- too few rewards ------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [256, 300, 320])
def test_single_rewards_decide_where_all_of_them_came(rounds: int) -> None:
    """A pilot of eight tries of eight actions has no two rewards of one; the trial goes on."""
    mine = experiment(SPEED.practical(), rounds=rounds)
    assert mine.planned.max() == 1
    assert finish(mine).books.asked.sum() == rounds


@pytest.mark.parametrize("strategy", [SPEED.practical(), SPEED(exploration="uniform")])
def test_who_lost_too_many_rewards_can_explore_again(strategy: Strategy) -> None:
    mine = experiment(strategy, rounds=200)
    first = mine.ask()
    mine.tell(pull(np.minimum(first, ONE[int(first.argmax())]), 1))
    with pytest.raises(ValueError, match=r"no action has two.*Experiment\.explore"):
        mine.ask(wait=False)
    more = mine.explore(30)
    assert more.sum() == 30 and np.array_equal(mine.books.asked, first + more)
    again = Experiment.from_json(mine.to_json())
    assert again.explore(10**6).sum() == 100 - 30 - first.sum()  # half of the budget, not more
    mine.tell(pull(more, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        mine.ask(wait=False)
    assert finish(mine).books.asked.sum() <= 200
    assert not mine.explore(5).any()


def test_who_has_explored_half_of_the_budget_can_only_wait() -> None:
    """The error no longer offers to explore again, since that would request nothing."""
    mine = experiment(SPEED.practical(), rounds=200)
    first = mine.ask()
    with pytest.raises(ValueError, match=r"no action has two.*wait for more, or explore again \("):
        mine.ask(wait=False)
    assert mine.explore(10**6).sum() == 100 - first.sum() and not mine.explore(1).any()
    over = r"no action has two .*; exploration has had half of the budget, so wait for rewards"
    with pytest.raises(ValueError, match=over):
        mine.ask(wait=False)
    mine.tell(pull(2 * ONE[int(first.argmax())], 1))
    with pytest.warns(UserWarning, match="too few rewards of exploration"):
        assert mine.ask(wait=False).sum() == 100


@NAMED
def test_an_action_that_lost_all_its_rewards_is_tried_again(strategy: Strategy) -> None:
    """The experiment waits, says why it cannot go on, and goes on within its budget."""
    mine = experiment(strategy, rounds=900)
    first = mine.ask()
    lost = int(np.flatnonzero(first)[-1])
    mine.tell(pull(first * (1 - ONE[lost]), 1))
    assert mine.waiting
    for request in (mine.ask, mine.assign):
        with pytest.warns(UserWarning, match="go on without them by `wait=False`$"):
            request(3)
    assert (mine.books.asked == first).all()
    mine.write_off()
    before = mine.to_json()
    cure = rf"action {lost} has 0: wait for more, or try it again \(Experiment\.explore\)"
    with pytest.raises(ValueError, match=cure):
        mine.ask()
    assert mine.to_json() == before
    assert np.array_equal(mine.explore(5), 5 * ONE[lost])
    mine = Experiment.from_json(mine.to_json())
    mine.tell(pull(2 * ONE[lost], 2))
    mine.tell(pull(mine.ask(wait=False), 3))
    assert not mine.explore(5).any()
    mine = finish(Experiment.from_json(mine.to_json()))
    assert mine.books.asked.sum() == 900 and mine.books.written_off.sum() == first[lost] + 3
    assert mine.estimate().estimable


@NAMED
def test_to_try_again_leaves_a_try_of_the_budget(strategy: Strategy) -> None:
    mine = experiment(strategy, rounds=900)
    first = mine.ask()
    some = np.minimum(first, ONE[0])
    mine.tell(pull(some, 1))
    more = mine.explore(10**6)
    assert (first + more).sum() == 899 and not mine.explore(1).any()
    assert np.ptp(more[first > 0]) <= 1 and not more[first == 0].any()
    with pytest.raises(ValueError, match=r"wait for more; the budget of 900 has no try left for"):
        mine.ask(wait=False)
    mine = Experiment.from_json(mine.to_json())
    mine.tell(pull(2 * (first > 0), 2))
    mine.tell(pull(mine.ask(wait=False), 3))
    assert finish(mine).books.asked.sum() == 900


@NAMED
def test_stored_tries_that_were_made_again_fit_the_requested_ones(strategy: Strategy) -> None:
    mine = experiment(strategy, rounds=900)
    mine.ask()
    mine.explore(20)
    parts = json.loads(mine.to_json())
    del parts["checksum"]
    for wrong in (0, 19, 21):
        parts["state"]["tried again"] = wrong
        with pytest.raises(ValueError, match=r"state: .*(asked|tried again): must be"):
            Experiment.from_json(json.dumps(parts))
    del parts["state"]["tried again"]  # as earlier versions wrote it
    with pytest.raises(ValueError, match=r"state: .*asked: must be at most"):
        Experiment.from_json(json.dumps(parts))


def test_who_has_no_exploration_cannot_explore_again() -> None:
    with pytest.raises(ValueError, match="explore: Uniform cannot explore longer"):
        experiment(Uniform(estimator="ols")).explore(5)
    with pytest.raises(ValueError, match="size: must be at least 1"):
        experiment(SPEED()).explore(0)


@pytest.mark.parametrize(
    "kind", ["tuned", "random", "tuned, long history", "booked", "neyman, ten"]
)
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_decision_that_fails_changes_nothing(
    kind: str, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted at the last step, also where one request decides two phases."""
    mine = begin(kind)
    mine.tell(pull(mine.ask(), 1))
    before, calls = mine.to_json(), []
    method = "_committed_to" if hasattr(mine.trial, "_committed_to") else "_after"
    whole = getattr(mine.trial, method)

    def fails(*given: Any) -> Any:
        whole(*given)
        calls.append(1)
        raise error("at the last step")

    if mine.trial.committed:
        monkeypatch.setattr(type(mine.trial), method, lambda self, *given: fails(*given))
        with pytest.raises(error, match="at the last step"):
            mine.limit(most=np.where(ONE[0], 0.3, 1))
    else:
        if hasattr(mine.trial, "_more_exploration"):
            nothing = np.zeros(8, dtype=np.int64)
            monkeypatch.setattr(type(mine.trial), "_more_exploration", lambda *_: nothing)
        monkeypatch.setattr(type(mine.trial), method, lambda self, *given: fails(*given))
        with pytest.raises(error, match="at the last step"):
            mine.ask()
    assert calls and mine.to_json() == before


# --- money ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tuned, money", "printed, money"])
def test_the_unit_of_money_does_not_matter(kind: str) -> None:
    strategy = KINDS[kind][0]
    batches = []
    for unit in (1, 100):
        mine = Experiment(strategy, FEATURES, POLICY, 2000 * unit, seed=1, costs=unit * COSTS)
        parts = []
        while not mine.finished:
            batch = mine.ask()
            mine.tell(pull(batch, len(parts)))
            parts.append(batch.tolist())
        batches.append(parts)
    assert batches[0] == batches[1]


@pytest.mark.parametrize("price", [3, 10, 40])
@pytest.mark.parametrize("size", [None, 30])
def test_exploration_takes_at_most_half_of_the_money(price: float, size: int | None) -> None:
    """Also where the actions that explore cost much more than the policy."""
    costs = np.where(ONE[0], 1.0, price)
    mine = Experiment(SPEED.practical(), FEATURES, POLICY, 4000, seed=1, costs=costs)
    spent = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        while not mine.finished:
            batch = mine.ask(size)
            if not mine.trial.committed:
                spent = float(mine.books.asked @ costs)
            mine.tell(pull(batch, 1))
    assert 0 < spent <= 2000 + price
    assert 4000 - 2 * price <= mine.books.asked @ costs <= 4000


@pytest.mark.parametrize(
    ("cost", "rounds", "tries"), [(0.1, 100, 1000), (0.7, 700, 1000), (0.3, 90, 300)]
)
def test_a_cost_that_floats_cannot_hold_buys_as_many_tries(
    cost: float, rounds: int, tries: int
) -> None:
    mine = Experiment(SPEED.practical(), FEATURES, POLICY, rounds, seed=1, costs=cost)
    assert finish(mine).books.asked.sum() == tries


@pytest.mark.parametrize("whole", [2000.0, np.float64(2e3), np.float32(2000)])
def test_a_budget_is_whole_also_if_it_is_a_float(whole: Any) -> None:
    for costs in (None, COSTS):
        plain, other = (experiment(SPEED(), n, costs=costs) for n in (2000, whole))
        assert plain.to_json() == other.to_json()


@pytest.mark.parametrize("rounds", [2000.5, np.float64(0.5), np.inf, np.nan])
def test_a_budget_of_money_that_is_not_whole_needs_a_smaller_unit(rounds: float) -> None:
    with pytest.raises(TypeError, match=r"^rounds: expected a whole number; got [^;]+$"):
        experiment(SPEED(), rounds)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^rounds: .* got .*; .* in a smaller unit of money"):
        experiment(SPEED(), rounds, costs=COSTS)  # type: ignore[arg-type]


@pytest.mark.parametrize("rounds", [300, 601])
def test_limits_after_a_budget_that_was_rounded_up(rounds: int) -> None:
    mine = finish(experiment(SPEED(rounding="ceil", exploration="uniform"), rounds=rounds))
    asked = mine.books.asked
    assert rounds < asked.sum() < rounds + 8
    mine.limit(most=np.where(ONE[0], 0.3, 1))
    assert mine.finished and mine.books.asked.tolist() == asked.tolist()


# --- earlier rewards, and rewards lost unevenly ---------------------------------------------------


@pytest.mark.parametrize("many", [50, 100_000])
def test_earlier_rewards_that_determine_too_little_shorten_no_exploration(many: int) -> None:
    """However many they are of two actions; their variances are known better, that is all."""
    lengths = []
    for history in (None, pull(np.array([many, many, 0, 0, 0, 0, 0, 0]), 7)):
        mine = experiment(SPEED.practical(), rounds=100_000, history=history)
        mine.tell(pull(mine.ask(), 1))
        lengths.append(int(mine.ask().sum()))
        assert not mine.trial.committed
    assert lengths[1] > 158  # more than the pilot, as the pilot's rewards recommend


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["random", "balanced"])
@pytest.mark.parametrize("change", ["all", "lost", "extra"])
def test_the_average_is_that_of_the_policy_whoever_loses_rewards(
    sampling: str, change: str
) -> None:
    """Its bias and its error, over 400 experiments that lose rewards of one action alone."""
    errors, claimed = [], []
    for seed in range(400):
        strategy = OnPolicy(estimator="mean", sampling=sampling)
        mine = Experiment(strategy, FEATURES, POLICY, 200, seed=seed)
        came = mine.ask().copy()
        if change == "lost":
            came[0] = max(1, came[0] // 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            mine.tell(
                WORLD.pull(
                    came * (1 + 2 * ONE[1] * (change == "extra")), np.random.default_rng(seed)
                )
            )
        found = mine.estimate()
        errors.append(float(found.value) - TRUTH)
        claimed.append(float(found.standard_error))
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(400)
    assert np.std(errors) == pytest.approx(np.sqrt(np.mean(np.square(claimed))), rel=0.15)


def test_the_average_needs_a_reward_of_each_action_that_was_tried() -> None:
    mine = experiment(OnPolicy(estimator="mean", sampling="balanced"))
    mine.tell(pull(mine.ask() * (1 - ONE[4]), 1))
    found = mine.estimate()
    assert not found.estimable and np.isinf(found.standard_error)
    mine.tell(pull(ONE[4], 2))
    assert mine.estimate().estimable
