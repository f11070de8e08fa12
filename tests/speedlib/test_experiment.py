"""Experiments that live: what came, what is owed; JSON; histories; limits; visitors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from speedlib import (
    SPEED,
    AdaptiveNeyman,
    BookedOptimism,
    OnPolicy,
    Oracle,
    PerArm,
    Rewards,
    Strategy,
    Trial,
    Uniform,
    least_squares,
    optimal_design,
    play,
)
from speedlib.experiment import Experiment

from .small_experiment import experiment, pull
from .ten_days import FEATURES, POLICY, TRUTH, WORLD

STRATEGIES = [
    SPEED.practical(),
    SPEED(exploration="uniform", keep_exploration=True),
    SPEED.practical(exploration_rounds=40, exploration_sampling="random"),
    PerArm(),
    OnPolicy(estimator="ols"),
    OnPolicy(estimator="mean"),
    Uniform(estimator="feasible", sampling="balanced"),
    BookedOptimism(),
    AdaptiveNeyman.many(support=(0, 2, 6)),
]
NAMED = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)


@NAMED
def test_if_all_comes_at_once_it_is_the_trial(strategy: Strategy) -> None:
    """Asked for phase by phase, with nothing lost, the estimate is that of `play`."""
    mine = experiment(strategy)
    seeds = iter(range(1000))
    plain = play(
        strategy.begin(FEATURES, POLICY, 600, rng=np.random.default_rng(np.random.SeedSequence(3))),
        lambda counts: pull(counts, next(seeds)),
    )
    seeds = iter(range(1000))
    while not mine.finished:
        mine.tell(pull(mine.ask(), next(seeds)))
    found = mine.estimate()
    assert float(found.value) == pytest.approx(float(plain.value), rel=1e-12)
    assert float(found.standard_error) == pytest.approx(float(plain.standard_error), rel=1e-9)
    assert not mine.books.owed.any() and mine.books.asked.sum() == mine.books.came.sum()


@NAMED
def test_each_night_through_json_changes_nothing(strategy: Strategy) -> None:
    """The same batches, whether the process lives or begins anew before each."""
    alive, revived = experiment(strategy), experiment(strategy)
    rng = np.random.default_rng(8)
    for day in range(40):
        revived = Experiment.from_json(revived.to_json())
        batch, again = alive.ask(37, wait=False), revived.ask(37, wait=False)
        assert batch.tolist() == again.tolist()
        came = np.maximum(rng.binomial(batch, 0.9), np.minimum(batch, 2))
        for each in (alive, revived):
            each.tell(pull(came, day))
        if alive.finished:
            break
    assert alive.finished and revived.finished
    one, other = alive.estimate(), revived.estimate()
    assert float(one.value) == pytest.approx(float(other.value), rel=1e-12)
    assert float(one.standard_error) == pytest.approx(float(other.standard_error), rel=1e-9)
    assert alive.to_json() == revived.to_json()


@NAMED
def test_a_trial_alone_through_json(strategy: Strategy) -> None:
    trial = strategy.begin(FEATURES, POLICY, 600, rng=4)
    again = Trial.from_json(trial.to_json())
    steps = 0
    while not trial.committed:
        assert trial.asked.tolist() == again.asked.tolist()
        rewards = pull(trial.asked, steps)
        trial.next_counts(rewards)
        again.next_counts(rewards)
        again = Trial.from_json(again.to_json())
        steps += 1
    last = pull(trial.commitment.counts, 99)
    assert float(trial.estimate(last).value) == pytest.approx(float(again.estimate(last).value))


def test_a_trial_of_an_oracle_keeps_its_variances() -> None:
    trial = Oracle().begin(FEATURES, POLICY, 100, rng=1, variances=WORLD.variances)
    again = Trial.from_json(trial.to_json())
    assert again.first_counts().tolist() == trial.first_counts().tolist()
    assert again.setting.variances.tolist() == trial.setting.variances.tolist()


def test_the_books() -> None:
    mine = experiment(
        Uniform(estimator="ols", sampling="balanced"), rounds=80, names=list("abcdefgh")
    )
    assert mine.ask(16).tolist() == [2] * 8
    with pytest.warns(UserWarning, match="1 more came than were requested, such as of 'a'"):
        mine.tell(["a", "a", "a", "b"], [1.0, 2.0, 3.0, 4.0])  # and one of b is missing
    books = mine.books
    assert books.came.tolist() == [3, 1, 0, 0, 0, 0, 0, 0]
    assert books.owed.tolist() == [0, 1, 2, 2, 2, 2, 2, 2]
    assert books.extra.tolist() == [1, 0, 0, 0, 0, 0, 0, 0]
    assert mine.write_off().tolist() == [0, 1, 2, 2, 2, 2, 2, 2]
    mine.tell([2], [5.0])  # late, and written off already
    books = mine.books
    assert books.written_off.tolist() == [0, 1, 1, 2, 2, 2, 2, 2]
    assert not books.owed.any()
    assert np.array_equal(np.maximum(books.asked - books.came, 0), books.owed + books.written_off)
    assert "asked 16, came 5, owed 0, written off 12, extra 1" in repr(mine)


def test_it_waits_for_what_is_owed_unless_it_is_told_not_to() -> None:
    mine = experiment(SPEED.practical(exploration_rounds=48))
    first = mine.ask()
    mine.tell(pull(first - (np.arange(8) == 0), 1))
    with pytest.warns(UserWarning, match=r"^rewards: the experiment waits for .* owed \(1\)"):
        assert not mine.ask().any()
    assert not mine.trial.committed
    assert mine.ask(wait=False).sum() == 600 - 48
    assert mine.books.written_off.tolist() == [1, 0, 0, 0, 0, 0, 0, 0]


def test_zeros_of_a_plan_that_waits_differ_from_those_of_one_that_is_over() -> None:
    """Both are warned of, each in its words, and neither books anything."""
    mine = experiment(SPEED.practical(exploration_rounds=48))
    assert not mine.waiting
    first = mine.ask()
    assert mine.waiting and not mine.finished
    with pytest.warns(UserWarning, match=r"owed \(48\).* `wait=False`$") as by:
        assert not mine.ask(5).any()
    assert by[0].filename == __file__
    assert mine.books.asked.sum() == 48
    mine.tell(pull(first, 1))
    assert not mine.waiting
    last = mine.ask()
    mine.tell(pull(last // 2, 2))
    ends = f"^budget: all 600 tries .* none is left; pass the {(last - last // 2).sum()} owed"
    assert mine.finished and not mine.waiting
    for request in (mine.ask, mine.assign):
        with pytest.warns(UserWarning, match=ends) as by:
            request(5, wait=False)
        assert by[0].filename == __file__
    mine.write_off()
    with pytest.warns(UserWarning, match="none is left; call `estimate`$"):
        assert not mine.ask().any()
    assert mine.books.asked.sum() == 600


def test_too_little_to_decide_by_is_said_and_changes_nothing() -> None:
    mine = experiment(SPEED.practical())
    mine.ask()
    before = mine.to_json()
    with pytest.raises(ValueError, match=r"rewards: no action has two.*wait for more"):
        mine.ask(wait=False)
    assert mine.to_json() == before
    booked = experiment(BookedOptimism())
    first = booked.ask()
    booked.tell(pull(np.minimum(first, np.where(np.arange(8) == 4, 1, 99)), 1))
    with pytest.raises(ValueError, match=r"needs two rewards of each action.*action 4 has 1"):
        booked.ask(wait=False)


def test_the_estimate_of_what_came_is_weighted_least_squares() -> None:
    """By hand, from the fresh rewards and the variances that exploration left."""
    mine = experiment(SPEED.practical(exploration_rounds=48))
    mine.tell(pull(mine.ask(), 1))
    asked = mine.ask()
    came = pull(np.maximum(asked - 3, 0), 2)
    mine.tell(came)
    with pytest.warns(UserWarning, match="more came than were requested"):
        mine.tell(pull(np.array([0, 0, 0, 1, 0, 0, 0, 1]), 3))  # nobody asked for these actions
    used = came + pull(np.array([0, 0, 0, 1, 0, 0, 0, 1]), 3)
    theta = least_squares(used, FEATURES, mine.trial.variances)
    assert float(mine.estimate().value) == pytest.approx(POLICY @ FEATURES @ theta, rel=1e-9)
    other = np.eye(8)[3]
    assert float(mine.estimate(other).value) == pytest.approx(FEATURES[3] @ theta, rel=1e-9)


def test_late_rewards_of_exploration_enter_the_estimate_and_change_no_decision() -> None:
    mine = experiment(SPEED.practical(exploration_rounds=48))
    first = mine.ask()
    late = np.minimum(first, 2)
    mine.tell(pull(first - late, 1))
    plan = mine.ask(wait=False)
    learnt = mine.trial.variances.copy()
    mine.tell(pull(plan, 2))
    before = float(mine.estimate().standard_error)
    mine.tell(pull(late, 3))
    assert mine.trial.variances.tolist() == learnt.tolist()
    assert float(mine.estimate().standard_error) != before
    assert not mine.books.written_off.any()


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.6, 1.0])
def test_the_error_is_the_claimed_one_with_losses(share: float) -> None:
    """Over 400 experiments with a share of rewards lost: unbiased, and Student's t fits."""
    t = []
    for seed in range(400):
        rng = np.random.default_rng([seed, 5])
        mine = Experiment(SPEED.practical(exploration_rounds=60), FEATURES, POLICY, 300, seed=seed)
        for _ in range(2):
            batch = mine.ask(wait=False)
            mine.tell(WORLD.pull(rng.binomial(batch, share), rng))
        found = mine.estimate()
        t.append(
            stats.norm.ppf(
                stats.t.cdf(
                    (float(found.value) - TRUTH) / float(found.standard_error),
                    float(found.degrees_of_freedom),
                )
            )
        )
    assert abs(np.mean(t)) < 4 / np.sqrt(400)
    assert 0.85 < np.std(t) < 1.2  # 400 normal ones: 0.035 either way


# --- batches and visitors -------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 100])
def test_batches_follow_the_plan(size: int) -> None:
    mine = experiment(Uniform(estimator="ols", sampling="balanced"), rounds=160)
    total = np.zeros(8, dtype=int)
    while not mine.finished:
        total += mine.ask(size)
        even = total.sum() / 8
        assert np.all(np.abs(total - even) <= 1)
    assert total.tolist() == [20] * 8


def test_a_large_batch_is_filled_with_exploration() -> None:
    mine = experiment(SPEED.practical(), rounds=1000)
    assert mine.planned.sum() < 100
    assert mine.ask(100).sum() == 100
    assert mine.trial.asked.sum() == 100
    assert experiment(SPEED.practical(), rounds=1000).ask(900).sum() == 500  # half, not more


def test_visitors_and_their_propensities() -> None:
    """Drawn one after the other: the plan is met, and each action comes as often as logged."""
    mine = experiment(Uniform(estimator="ols", sampling="balanced"), rounds=16)
    again = Experiment.from_json(mine.to_json())
    drawn = mine.assign(20)
    assert np.bincount(drawn.actions, minlength=8).tolist() == [2] * 8
    assert drawn.probabilities.sum(axis=1) == pytest.approx(1)
    assert drawn.propensities[0] == 1 / 8
    assert drawn.propensities[-1] == 1.0
    parts = [again.assign(5)]
    parts.append(Experiment.from_json(again.to_json()).assign(11))
    assert np.concatenate([part.actions for part in parts]).tolist() == drawn.actions.tolist()


def test_the_propensities_make_weighted_averages_unbiased() -> None:
    """Inverse propensities of an action average to one visitor each."""
    weights = []
    for seed in range(400):
        one = Experiment(SPEED.practical(), FEATURES, POLICY, 300, seed=seed).assign(1)
        weights.append((one.actions[0] == 0) / one.propensities[0])
    p = one.probabilities[0, 0]
    assert abs(np.mean(weights) - 1) < 4 * np.sqrt((1 / p - 1) / 400)


def test_streamed_traffic_goes_through_the_phases() -> None:
    mine = experiment(SPEED.practical(exploration_rounds=48), rounds=200)
    mine.tell(pull(np.bincount(mine.assign(48).actions, minlength=8), 1))
    drawn = mine.assign(1000)
    assert mine.trial.committed and len(drawn.actions) == 152
    assert np.bincount(drawn.actions, minlength=8).tolist() == mine.trial.asked.tolist()


# --- earlier rewards ------------------------------------------------------------------------------


def test_a_history_that_determines_everything_replaces_exploration() -> None:
    history = pull(np.full(8, 30), 7)
    mine = experiment(SPEED.practical(exploration_rounds=48), history=history)
    assert mine.history_determines.complete
    assert mine.trial.committed
    assert mine.ask().sum() == 600
    variances = mine.trial.variances
    design = optimal_design(FEATURES, variances, policy=POLICY)
    assert mine.trial.asked / 600 == pytest.approx(design.weights, abs=0.01)


def test_a_history_that_determines_little_does_not() -> None:
    history = pull(np.array([50, 50, 1, 0, 0, 0, 0, 0]), 7)
    mine = experiment(SPEED.practical(exploration_rounds=48), history=history)
    assert mine.history_determines.rank == 2
    assert mine.history_determines.determined.tolist()[:3] == [True, True, False]
    assert mine.ask().sum() == 48


def test_a_history_goes_through_json_and_not_into_the_estimate() -> None:
    history = pull(np.full(8, 30), 7)
    mine = Experiment.from_json(experiment(SPEED.practical(), history=history).to_json())
    assert mine.history_determines.complete
    while not mine.finished:
        mine.tell(pull(mine.ask(), 3))
    used = mine.rewards.counts.sum()
    assert used == 600
    with pytest.raises(ValueError, match="history: Uniform does not learn"):
        experiment(Uniform(estimator="ols"), history=history)


# --- costs and bounds -----------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [SPEED.practical(), SPEED(exploration="uniform")])
def test_a_budget_in_money_is_kept(strategy: Strategy) -> None:
    costs = np.array([1, 2.5, 1, 1, 4, 1, 1, 0.5])
    mine = experiment(strategy, rounds=2000, costs=costs)
    while not mine.finished:
        mine.tell(pull(mine.ask(), int(mine.books.asked.sum())))
    spent = mine.books.asked @ costs
    assert spent <= 2000
    assert spent > 2000 - (costs.max() if "practical" in strategy.name else 8 * costs.max())
    variances = mine.trial.variances
    best = optimal_design(FEATURES, variances, policy=POLICY, costs=costs)
    shares = mine.trial.asked / mine.trial.asked.sum()
    assert shares == pytest.approx(best.weights, abs=0.02)


def test_bounds_hold_in_every_phase() -> None:
    most = np.array([1, 0.1, 0.2, 1, 1, 1, 1, 1])
    least = np.full(8, 0.02)
    mine = experiment(SPEED.practical(), rounds=3000, least=least, most=most)
    while not mine.finished:
        batch = mine.ask()
        assert np.all(batch <= most * batch.sum() + 1) and np.all(batch >= least * batch.sum() - 1)
        mine.tell(pull(batch, int(batch.sum())))
    best = optimal_design(
        FEATURES, mine.trial.variances, policy=POLICY, least=least, most=most
    ).weights
    assert mine.trial.asked / mine.trial.asked.sum() == pytest.approx(best, abs=2e-3)


def test_a_limit_from_today_on() -> None:
    mine = experiment(SPEED.practical(exploration_rounds=48), rounds=1048)
    mine.tell(pull(mine.ask(), 1))
    before = mine.ask(300)
    top = int(before.argmax())
    mine.limit(most=np.where(np.arange(8) == top, 0.1, 1.0))
    rest = mine.ask()
    assert before.sum() + rest.sum() == 1000
    assert rest[top] <= 0.1 * 700 + 1
    mine.tell(pull(before + rest, 2))
    assert mine.estimate().estimable
    with pytest.raises(ValueError, match="costs: the budget is in rounds"):
        mine.limit(costs=np.full(8, 2.0))
    with pytest.raises(ValueError, match="limit: Uniform takes neither"):
        experiment(Uniform(estimator="ols")).limit(most=0.5)


def test_several_policies_from_one_experiment() -> None:
    policies = np.stack([POLICY, np.eye(8)[5]])
    mine = Experiment(SPEED.practical(), FEATURES, policies, 4000, seed=1, importance=[1, 3])
    while not mine.finished:
        mine.tell(pull(mine.ask(), int(mine.books.asked.sum())))
    best = optimal_design(FEATURES, mine.trial.variances, policy=policies, importance=[1, 3])
    assert mine.trial.asked / mine.trial.asked.sum() == pytest.approx(best.weights, abs=2e-3)
    for policy in policies:
        found = mine.estimate(policy)
        error = abs(float(found.value) - WORLD.value(policy))
        assert error < 4 * float(found.standard_error)
    mean = mine.estimate()
    each = [float(mine.estimate(policy).value) for policy in policies]
    assert float(mean.value) == pytest.approx((each[0] + 3 * each[1]) / 4)


def test_who_takes_no_costs_says_so() -> None:
    with pytest.raises(ValueError, match="costs: Uniform takes neither costs nor bounds"):
        Uniform(estimator="ols").begin(FEATURES, POLICY, 10, rng=1, costs=2.0)
    with pytest.raises(ValueError, match="policy: Per-arm takes neither"):
        PerArm().begin(FEATURES, np.stack([POLICY, POLICY]), 10, rng=1)


# --- rewards that cannot be -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["nine"], [1.0]), "actions: 'nine' is none of"),
        (([9], [1.0]), "actions: must lie between 0 and 7"),
        (([1],), "rewards: pass one for each action"),
        (([1, 2], [1.0]), "actions, rewards: expected two sequences of one length"),
        ((Rewards.none((8,)), [1.0]), "rewards: must be left out"),
        ((Rewards.none((3,)),), "actions: their counts must have shape"),
    ],
)
def test_rewards_that_cannot_be_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        experiment(SPEED()).tell(*arguments)
