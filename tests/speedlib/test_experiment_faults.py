"""What can go wrong in a live experiment: late rewards, new prices, edited text, wrong labels."""

from __future__ import annotations

import json

import numpy as np
import pytest

from speedlib import SPEED, DesignWarning, LinearBandit, Rewards, Uniform
from speedlib.experiment import Experiment

FEATURES = [[1, 0.2, 0], [1, 0.2, 1], [1, 0.6, 0.5], [1, 1, 0], [1, 1, 1], [1, 0.6, 1]]
POLICY = [0.4, 0.1, 0.2, 0.1, 0.1, 0.1]
WORLD = LinearBandit(FEATURES, theta=[2, 1, 3], Sigma=np.diag([0.2, 0.1, 5]))
COSTS = np.array([1, 2, 1, 1, 3, 1.0])


def begin(rounds: int = 1000, **changes) -> Experiment:
    return Experiment(SPEED.practical(), FEATURES, POLICY, rounds, seed=1, **changes)


def played(days: int, size: int, **changes) -> Experiment:
    mine = begin(**changes)
    for day in range(days):
        mine.tell(WORLD.pull(mine.ask(size, wait=False), np.random.default_rng(day)))
    return mine


# --- exploration while rewards are owed -----------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 300])
def test_visitors_explore_evenly_while_rewards_are_owed(size: int) -> None:
    mine = begin()
    parts = [mine.assign(size) for _ in range(300 // size)]
    actions = np.concatenate([part.actions for part in parts])
    counts = np.bincount(actions, minlength=6)
    assert counts.max() - counts.min() <= 2
    chances = np.concatenate([part.probabilities for part in parts])
    # No action is certain, but for the last of a block.
    assert np.mean(chances.max(axis=1) == 1) <= 1 / 6
    assert abs(chances[:, 0].sum() - counts[0]) < 20


def test_small_batches_explore_as_evenly_as_large_ones() -> None:
    mine = begin()
    while mine.trial.asked.sum() < 100:
        assert mine.trial.fill(1).sum() == 1
        assert np.ptp(mine.trial.asked) <= 1


def test_after_a_limit_exploration_follows_the_new_design_from_then_on() -> None:
    mine = begin()
    before = mine.ask(10)  # fewer than are planned, so a larger batch is filled up
    mine.limit(most=[0.05, 1, 1, 1, 1, 1])
    more = mine.ask(200)
    assert more.sum() == 200
    assert more[0] <= 0.05 * 200 + 1
    again = Experiment.from_json(mine.to_json())
    assert again.trial.fill(60).tolist() == mine.trial.fill(60).tolist()
    assert before[0] > 0.05 * 10 + 1


# --- limits and prices ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limits",
    [
        {"most": [1, 0, 0, 0, 0, 0]},
        {"most": [0, 0.5, 0, 0.5, 0, 0]},
        {"least": 0.5},
        {"least": 0.3, "most": 0.2},
        {"costs": 2.0},
    ],
)
@pytest.mark.parametrize("days", [0, 3])
def test_a_refused_limit_changes_nothing(limits: dict, days: int) -> None:
    mine = played(days, 50)
    before = mine.to_json()
    with pytest.raises(ValueError, match=r"costs|least|most|limits"):
        mine.limit(**limits)
    assert mine.to_json() == before


@pytest.mark.parametrize("factor", [0.5, 2, 1.3])
def test_earlier_tries_have_cost_what_they_cost(factor: float) -> None:
    mine = played(10, 60, costs=COSTS)
    spent = float(mine.books.asked @ COSTS)
    mine.limit(costs=factor * COSTS)
    mine = Experiment.from_json(mine.to_json())
    total = spent + factor * float(mine.ask() @ COSTS)
    assert 1000 - 3 * factor <= total <= 1000
    mine.limit(costs=COSTS)
    assert mine.finished or (mine.ask().any() and total < 1000)


def test_exploration_is_shortened_or_refused_if_prices_rise() -> None:
    for factor in (5, 20, 60, 1000):
        mine, costs = begin(costs=COSTS), factor * COSTS
        if factor >= 60:
            before = mine.to_json()
            with pytest.raises(ValueError, match="costs: half of the budget 1000 must pay"):
                mine.limit(costs=costs)
            assert mine.to_json() == before
            continue
        mine.limit(costs=costs)
        money, day = 0.0, 0
        while not mine.finished and day < 60:
            batch = mine.ask(30, wait=False)
            money += float(batch @ costs)
            mine.tell(WORLD.pull(batch, np.random.default_rng(day)))
            day += 1
        assert mine.finished and money <= 1000


def test_prices_that_return_to_what_they_were_change_nothing() -> None:
    mine = begin(300, costs=2)
    plan = mine.planned
    for costs in (1, 2):
        mine.limit(costs=costs)
    assert mine.planned.tolist() == plan.tolist()


def test_a_budget_is_in_money_also_where_all_costs_are_one() -> None:
    mine = begin(costs=1)
    again = Experiment.from_json(mine.to_json())
    for each in (mine, again):
        each.limit(costs=2)
        while not each.finished:
            each.tell(WORLD.pull(each.ask(), np.random.default_rng(1)))
        assert each.books.asked.sum() == 500


@pytest.mark.parametrize("limits", [{"most": [1, 0, 0, 0, 0, 0]}, {"least": [1, 0, 0, 0, 0, 0]}])
def test_limits_that_leave_too_few_actions_are_refused_at_once(limits: dict) -> None:
    with pytest.raises(ValueError, match="actions that the limits allow: they span 1 of 3"):
        begin(**limits)
    mine = begin()
    with pytest.raises(ValueError, match="actions that the limits allow: they span 1 of 3"):
        mine.limit(**limits)
    assert begin(most=[1, 1, 1, 1, 0, 0]).ask()[4:].tolist() == [0, 0]


# --- edited text ----------------------------------------------------------------------------------


def edited(parts: dict, path: tuple[str, ...], value: object) -> str:
    parts = json.loads(json.dumps(parts))
    inner = parts
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(parts)


@pytest.fixture(scope="module")
def parts() -> dict:
    return json.loads(played(3, 50).to_json())


TWO = {"counts": [[1] * 6] * 2, "means": [[1.0] * 6] * 2, "scatters": [[0.0] * 6] * 2}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("asked",), [1, 2], "^asked: expected one count per action"),
        (("asked",), [1.7] * 6, "^asked: numbers of pulls must be whole"),
        (("asked",), [1] * 6, "^made in this phase: must be at most 'asked'"),
        (("written off",), [-3] * 6, "^written off: numbers of pulls must be at least 0"),
        (("came", "counts"), [1.5] * 6, "^came: counts: .*whole"),
        (("came",), TWO, "^came: must be rewards of one trial"),
        (("came since the last decision", "counts"), [900] * 6, "^came since.*at most 'came'"),
        (("visitors", "state"), {}, "^visitors: cannot have this state"),
        (("random generator", "state"), {"state": -1, "inc": 2}, "^random generator: cannot"),
        (("strategy", "choices"), {"foo": 1}, "^strategy: SPEED has no choice 'foo'"),
        (("setting", "features"), [[1, 0, 0]] * 3, "^setting: policy: expected one"),
        (("setting", "policy"), [0.5] * 6, "^setting: policy: entries must sum to 1"),
        (("setting", "policy"), [0, 0, 0, 0, 0, 1], "^setting: direction: is not the mean"),
        (("setting", "rounds"), 300.7, "^setting: rounds: expected a whole number"),
        (("setting", "rounds"), -4, "^setting: rounds: must be at least 1"),
        (("setting", "variances"), [1.0], "^setting: variances: expected one"),
        (("setting", "targets"), [1.0], r"^setting: targets: expected shape \(3, K\)"),
        (("setting", "limits"), {"costs": 1, "least": 0, "most": 1, "x": 1}, "limits: 'x' is"),
        (("setting", "limits"), {"costs": [1] * 3, "least": 0, "most": 1}, "costs: expected"),
        (("setting", "history"), TWO, "history: must be rewards of one trial"),
        (("state",), None, "^state: does not fit SPEED"),
        (("state", "asked"), [5, 5], r"^state: does not fit .*asked: expected one"),
        (("state", "made"), [-9] * 6, "made: numbers of pulls must be at least 0"),
        (("state", "made"), [10**6] * 6, "^made: must be at most 'asked', .* got 1000000"),
        (("state", "variances"), [-1.0] * 6, "variances: must be greater than 0"),
        (("state", "variances"), None, "variances: are missing"),
        (("state", "exploration design"), [9.0] * 6, "exploration design: entries must sum"),
        (("state", "explored"), {"counts": 3}, "explored: rewards: has no part 'means'"),
    ],
)
def test_edited_text_is_refused_and_the_part_is_named(
    parts: dict, path: tuple[str, ...], value: object, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Experiment.from_json(edited(parts, path, value))


@pytest.mark.parametrize("text", [b'{"a": "\xe9"}', "[" * 100_000])
def test_what_is_no_text_at_all_is_said_to_be_none(text: str | bytes) -> None:
    with pytest.raises(ValueError, match="text: is no JSON, or was cut off"):
        Experiment.from_json(text)


def test_the_counts_of_rewards_are_whole_and_single_rewards_have_no_scatter() -> None:
    rewards = Rewards.from_log([0, 0, 2], [1.0, 3.0, 5.0], 3)
    with pytest.raises(ValueError, match=r"counts: numbers of pulls must be whole.*1\.5"):
        Rewards.from_dict(rewards.as_dict() | {"counts": [2, 0, 1.5]})
    with pytest.raises(ValueError, match="scatters: must be 0 for actions with a single reward"):
        Rewards.from_dict(rewards.as_dict() | {"scatters": [2.0, 0.0, 1.0]})


def test_text_of_the_earlier_library_is_read(parts: dict) -> None:
    old = json.loads(json.dumps(parts))
    del old["budget in money"], old["setting"]["revalued"], old["state"]["made by another design"]
    del old["checksum"]
    new, again = Experiment.from_json(json.dumps(parts)), Experiment.from_json(json.dumps(old))
    assert new.to_json() == again.to_json()


@pytest.mark.parametrize("method", ["ask", "assign"])
def test_a_batch_beyond_all_counts_is_refused(method: str) -> None:
    with pytest.raises(ValueError, match=r"size|visitors: must be at most"):
        getattr(begin(), method)(10**30)


def test_a_strategy_of_fixed_pulls_checks_its_text_too() -> None:
    mine = Experiment(Uniform(estimator="ols"), FEATURES, POLICY, 60, seed=1)
    text = edited(json.loads(mine.to_json()), ("state", "asked"), [1.5] * 6)
    with pytest.raises(ValueError, match="asked: numbers of pulls must be whole"):
        Experiment.from_json(text)


def test_another_strategy_than_the_stored_one_is_refused() -> None:
    text = begin().to_json()
    again = Experiment.from_json(text, SPEED.practical())
    assert again.to_json() == text
    with pytest.raises(ValueError, match="whose keep_exploration is False; got True"):
        Experiment.from_json(text, SPEED.practical(keep_exploration=True))
    with pytest.raises(ValueError, match="whose class is 'SPEED'; got 'Uniform'"):
        Experiment.from_json(text, Uniform(estimator="ols"))


@pytest.mark.parametrize("strategy", [SPEED, "SPEED"])
def test_a_class_or_a_name_is_no_strategy(strategy: object) -> None:
    with pytest.raises(TypeError, match="strategy: expected an object like SPEED"):
        Experiment.from_json(begin().to_json(), strategy)


# --- what is told ---------------------------------------------------------------------------------


def test_labels_of_pandas_must_agree() -> None:
    pd = pytest.importorskip("pandas")
    mine = begin(names=list("abcdef"))
    mine.ask(30)
    rewards = pd.Series([30.0, 10.0, 20.0], index=[2, 0, 1])
    for actions in (["a", "b", "c"], [0, 1, 2]):
        with pytest.raises(ValueError, match="rewards: has the labels of actions in another order"):
            mine.tell(pd.Series(actions), rewards)
    mine.tell(pd.Series(["a", "b", "c"]), rewards.sort_index())
    assert mine.rewards.means[:3].tolist() == [10, 20, 30]


@pytest.mark.parametrize("actions", ["0", "01", b"0", {"0"}, {"0": 1.5}, 0, None, np.array(0)])
def test_actions_that_are_no_sequence_are_refused(actions: object) -> None:
    with pytest.raises(TypeError, match="actions: expected a sequence of names or numbers"):
        begin().tell(actions, [1.0])


def test_actions_may_come_one_by_one() -> None:
    mine = begin(names=list("abcdef"))
    mine.ask(30)
    mine.tell((name for name in "ab"), [1.0, 2.0])
    assert mine.rewards.means[:2].tolist() == [1, 2]


def test_rewards_told_twice_are_warned_of_and_extra() -> None:
    mine = begin()
    came = WORLD.pull(mine.ask(20), np.random.default_rng(1))
    mine.tell(came)
    with pytest.warns(UserWarning, match="20 more came than were requested, such as of '0'"):
        mine.tell(came)
    assert mine.books.extra.sum() == 20


def test_the_books_cannot_be_changed() -> None:
    mine = begin()
    mine.ask(20)[:] = 7
    for name in ("asked", "came", "owed", "written_off", "extra"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(mine.books, name)[:] = 7
    assert mine.books.asked.sum() == 20


@pytest.mark.parametrize("strategy", [SPEED.practical(), Uniform(estimator="ols")])
def test_rewards_of_several_trials_are_no_rewards_of_one(strategy: object) -> None:
    trial = strategy.begin(FEATURES, POLICY, 300, rng=1)
    two = Rewards(TWO["counts"], TWO["means"], TWO["scatters"])
    method = trial.estimate_of if trial.committed else trial.go_on
    with pytest.raises(ValueError, match="rewards: must be rewards of one trial"):
        method(two)


def test_visitors_are_returned_even_if_the_next_phase_fails() -> None:
    mine = begin(rounds=300)
    drawn = mine.assign(200, wait=False)
    assert len(drawn.actions) == mine.books.asked.sum() > 0
    with pytest.raises(ValueError, match="no action has two"):
        mine.assign(1, wait=False)


def test_to_commit_by_very_few_rewards_is_warned_of() -> None:
    mine = begin()
    mine.ask()
    mine.tell([0, 0], [1.0, 2.0])
    with pytest.warns(DesignWarning, match="too few rewards of exploration, which leave 5 var"):
        while not mine.trial.committed:
            mine.ask(wait=False)


def test_losses_that_leave_every_variance_known_are_not_warned_of(
    recwarn: pytest.WarningsRecorder,
) -> None:
    mine = begin()
    while not mine.finished:
        batch = mine.ask(100, wait=False)
        mine.tell(WORLD.pull(np.maximum(batch - 1, 0), np.random.default_rng(int(batch.sum()))))
    assert not [each for each in recwarn if each.category is DesignWarning]
