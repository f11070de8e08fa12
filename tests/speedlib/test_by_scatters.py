"""What strategies that decide by scatters alone share: exact errors, intervals, many phases."""

from __future__ import annotations

import copy
import dataclasses
import sys
from types import FrameType

import numpy as np
import pytest

from speedlib import SPEED, AdaptiveNeyman, BookedOptimism, LinearBandit, mse_curve, one_hot, play
from speedlib.live import PHASES, advance
from speedlib.rewards import Rewards
from speedlib.simulation import squared_errors
from speedlib.strategies._by_scatters import ByScattersTrial, Plan
from speedlib.strategies._deviations import deviations
from speedlib.trials import Strategy, Trial, commit

from .cases import BALL, BY_SCATTERS, ROTATED, begin, phases_of

each = pytest.mark.parametrize("strategy", BY_SCATTERS, ids=repr)


def test_who_decides_by_scatters_alone_says_so() -> None:
    assert [type(s) for s in BY_SCATTERS].count(BookedOptimism) == 2
    assert BookedOptimism().by_scatters_alone and AdaptiveNeyman().by_scatters_alone
    assert not SPEED().by_scatters_alone
    trial = begin(SPEED.practical(exploration_rounds=20), BALL.bandit, BALL.policy, 80, 1)
    assert commit(trial, lambda counts: BALL.bandit.pull(counts, np.random.default_rng(1)))
    assert trial.error_given_pulls(BALL.bandit.variances) > 0

    class Other(Trial):
        """Offers nothing."""

        first_counts = next_counts = estimate = commitment = committed = None

    message = "error_given_pulls: Mine does not offer this method"
    with pytest.raises(NotImplementedError, match=message):
        Other(trial.setting, "Mine").error_given_pulls(BALL.bandit.variances)


@each
def test_means_decide_nothing(strategy: Strategy) -> None:
    """Rewards that are moved by any amounts, action by action, leave all pulls as they are."""
    runs = []
    for theta in ([0.0, 0.0], [300.0, -7.0]):
        bandit = LinearBandit(BALL.bandit.features, theta, variances=BALL.bandit.variances)
        trial = begin(strategy, bandit, BALL.policy, 150, 3, replications=9)
        phases = phases_of(trial, bandit, 4)
        error = trial.error_given_pulls(bandit.variances)
        runs.append(([rewards.counts.tolist() for rewards in phases], error.tolist()))
    assert runs[0] == runs[1]


@each
def test_the_estimate_combines_the_means_of_all_rewards(strategy: Strategy) -> None:
    trial = begin(strategy, ROTATED, BALL.policy, 150, 3, replications=9)
    phases = phases_of(trial, ROTATED, 4)
    pooled = sum(phases[1:], start=phases[0])
    assert pooled.rounds.tolist() == [150] * 9
    value, c = trial.estimate(phases[-1]), BALL.policy @ ROTATED.features
    commitment = trial.commitment
    fresh = phases[-1].counts / np.maximum(pooled.counts, 1)
    last = fresh > 0
    k = commitment.coefficients[last] / fresh[last]
    # The coefficients of all means are those of the last, where there are last pulls; and in all
    # they reproduce the direction.
    known = np.full(pooled.counts.shape, np.nan)
    known[last] = k
    error = trial.error_given_pulls(np.ones(5))
    ones = [trial.error_given_pulls(np.eye(5)[a]) for a in range(5)]
    size = np.sqrt(np.transpose(ones) * pooled.counts)
    assert size[last] == pytest.approx(np.abs(k), rel=1e-9)
    assert error == pytest.approx(np.sum(size**2 / np.maximum(pooled.counts, 1), axis=1))
    signs = np.array([[1 - 2 * (m >> a & 1) for a in range(5)] for m in range(32)])
    for r in range(9):
        ways = signs * size[r]
        fits = np.abs(ways @ ROTATED.features - c).max(axis=1) < 1e-9
        values = ways[fits] @ pooled.means[r]
        assert np.abs(values - value.value[r]).min() < 1e-9


def test_deviations_are_shares_of_the_largest_and_never_zero() -> None:
    scatters = np.array([[0.0, 8.0, 2.0], [0.0, 0.0, 0.0], [8e-26, 8.0, 8e-22]])
    counts = np.array([[16, 3, 3], [2, 4, 9], [100, 3, 3]])
    found = deviations(scatters, counts)
    assert found[:2].tolist() == [[0.25, 1.0, 0.5], [1e-12] * 3]
    assert found[2] == pytest.approx([0.1, 1.0, 1e-11])


@each
def test_rewards_without_scatter_end_well(strategy: Strategy) -> None:
    """Constant rewards, of some actions or of all: a value, all pulls spent, and no error."""
    for varying in ([], [1], [0, 1, 2, 3, 4]):
        rng = np.random.default_rng(5)

        def pull(counts: np.ndarray, varying=varying, rng=rng) -> Rewards:
            means = np.where(counts > 0, ROTATED.means, 0.0)
            noise = rng.chisquare(np.maximum(counts - 1, 1)) * (counts > 1)
            return Rewards(counts, means, noise * np.isin(np.arange(5), varying))

        trial = begin(strategy, ROTATED, BALL.policy, 120, 1, replications=3)
        found = play(trial, pull)
        assert found.value == pytest.approx(ROTATED.value(BALL.policy), rel=1e-12)
        assert found.estimable.all() and not np.isnan(found.standard_error).any()


@each
def test_nothing_to_estimate_is_known_to_be_zero(strategy: Strategy) -> None:
    trial = strategy.begin([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [0.5, 0.5, 0.0], 30, rng=1)
    assert trial.committed and trial.first_counts().tolist() == [30, 0, 0]
    found = trial.estimate(Rewards([30, 0, 0], [2.0, 0, 0], [5.0, 0, 0]))
    assert (float(found.value), float(found.standard_error)) == (0.0, 0.0)
    assert bool(found.estimable)
    assert trial.error_given_pulls(np.ones(3)) == 0


@each
def test_an_experiment_can_be_taken_up_from_its_log(strategy: Strategy) -> None:
    names = list("abcde")

    def fresh() -> Trial:
        return begin(strategy, BALL.bandit, BALL.policy, 400, 3)

    phases = phases_of(fresh(), BALL.bandit, 4)
    assert 2 <= len(phases) < PHASES
    for k in {0, 1, len(phases) // 2, len(phases) - 1}:
        there = advance(fresh(), phases[:k], names)
        assert (there.phase, there.asked.tolist()) == (k + 1, phases[k].counts.tolist())
        assert there.estimate is None
    end = advance(fresh(), phases, names).estimate
    whole = fresh()
    for rewards in phases[:-1]:
        whole.next_counts(rewards)
    assert end is not None
    assert float(end.value) == float(whole.estimate(phases[-1]).value)


def test_even_long_experiments_have_few_phases() -> None:
    trial = begin(BookedOptimism(), BALL.bandit, BALL.policy, 10**15, 3, replications=20)
    assert len(phases_of(trial, BALL.bandit, 4)) < 150


@each
def test_refusals_before_the_end(strategy: Strategy) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 150, 3)
    for ask in (lambda: trial.commitment, lambda: trial.error_given_pulls(np.ones(5))):
        with pytest.raises(RuntimeError, match=rf"{strategy.name}.*pass its rewards first"):
            ask()
    asked = trial.first_counts()
    with pytest.raises(RuntimeError, match="pass its rewards first"):
        trial.estimate(BALL.bandit.pull(asked, np.random.default_rng(1)))
    trial.next_counts(BALL.bandit.pull(asked, np.random.default_rng(1)))
    with pytest.raises(RuntimeError, match=r"first_counts.*`asked`"):
        trial.first_counts()


@each
def test_rare_values_are_not_taken_for_none(strategy: Strategy) -> None:
    """Rewards 0 and 1: what was not seen to vary is pulled on, and the interval holds the value."""
    policy, size, n = np.array([0.5, 0.3, 0.2]), 4000, 30_000
    for chance in (0.02, 0.005, 0.0005, 0.0):
        chances, rng = np.array([chance, 0.5, 0.1]), np.random.default_rng(5)

        def pull(counts: np.ndarray, chances=chances, rng=rng) -> Rewards:
            ones = rng.binomial(counts, chances)
            pulled = np.maximum(counts, 1)
            return Rewards(counts, ones / pulled, ones * (counts - ones) / pulled)

        trial = strategy.begin(np.eye(3), policy, n, rng=1, replications=size)
        found, value = play(trial, pull), policy @ chances
        low, high = found.interval(0.95)
        assert 0.93 < np.mean((low <= value) & (value <= high)) < 0.97
        best = np.sum(policy * np.sqrt(chances * (1 - chances))) ** 2
        assert n * np.mean((found.value - value) ** 2) < 1.3 * best


@each
@pytest.mark.parametrize("level", [0.0, 1.7e9])
def test_errors_are_known_far_from_zero(strategy: Strategy, level: float) -> None:
    """Of many rewards with a large mean even true noise looks like rounding."""
    rng, noise = np.random.default_rng(4), 5e-4 * np.array([1.0, 1.2, 1.0])

    def pull(counts: np.ndarray) -> Rewards:
        actions = np.repeat(np.arange(3), counts)
        rewards = level + noise[actions] * rng.standard_normal(actions.size)
        return Rewards.from_log(actions, rewards, 3)

    policy = np.array([0.5, 0.3, 0.2])
    trial = strategy.begin(np.eye(3), policy, 10_000, rng=1)
    found = play(trial, pull)
    error = np.sqrt(float(trial.error_given_pulls(noise**2)))
    assert float(found.standard_error) == pytest.approx(error, rel=0.05)


@each
@pytest.mark.parametrize("level", [0.1, 1.7e9 / 7])
def test_the_error_of_constant_rewards_is_unknown(strategy: Strategy, level: float) -> None:
    def pull(counts: np.ndarray) -> Rewards:
        actions = np.repeat(np.arange(3), counts)
        return Rewards.from_log(actions, np.full(actions.size, level), 3)

    trial = strategy.begin(np.eye(3), np.array([0.5, 0.3, 0.2]), 10_000, rng=1)
    assert play(trial, pull).standard_error == np.inf


def ended(trial: Trial, seed: int) -> list[list[int]]:
    """Play on to the end; return the pulls of each phase and what comes out."""
    rng, counts = np.random.default_rng(seed), [trial.asked]
    while not trial.committed:
        counts.append(trial.next_counts(BALL.bandit.pull(counts[-1], rng)))
    found = trial.estimate(BALL.bandit.pull(counts[-1], rng))
    return [*(each.tolist() for each in counts), found.value.tolist()]


@each
def test_a_copy_goes_its_own_way(strategy: Strategy) -> None:
    def halfway() -> Trial:
        trial = begin(strategy, BALL.bandit, BALL.policy, 400, 3, replications=3)
        trial.next_counts(BALL.bandit.pull(trial.asked, np.random.default_rng(6)))
        return trial

    alone = ended(halfway(), 7)
    trial = halfway()
    twin = copy.copy(trial)
    assert ended(twin, 8) != alone
    assert ended(trial, 7) == alone


class Interrupt:
    """Interrupts the code of a trial before its k-th line."""

    def __init__(self, line: int) -> None:
        self.left = line

    def __call__(self, frame: FrameType, event: str, _arg: object) -> Interrupt | None:
        ours = frame.f_code.co_filename.endswith(
            ("booked.py", "neyman.py", "scatters.py", "deviations.py")
        )
        if ours and event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self if ours else None


@pytest.mark.parametrize(
    ("strategy", "phases"),
    [
        (BookedOptimism(first_pulls=1.0), 0),
        (BookedOptimism(first_pulls=1.0), 1),
        (BookedOptimism(first_pulls=1.0), 3),
        (AdaptiveNeyman.many(pilot=2), 0),
        (AdaptiveNeyman.many(pilot=2), 2),
    ],
    ids=lambda each: getattr(each, "name", each),
)
def test_an_interrupt_leaves_a_trial_as_it_was(strategy: Strategy, phases: int) -> None:
    line, ends = 0, False
    while not ends:
        line += 1
        trials = [
            begin(strategy, BALL.bandit, BALL.policy, 150, 3, replications=3) for _ in range(2)
        ]
        rng = np.random.default_rng(6)
        for _ in range(phases):
            rewards = BALL.bandit.pull(trials[0].asked, rng)
            for trial in trials:
                trial.next_counts(rewards)
        before = trials[0].asked
        rewards, traced = BALL.bandit.pull(before, rng), sys.gettrace()
        try:
            sys.settrace(Interrupt(line))
            trials[0].next_counts(rewards)
            ends = True
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(traced)
        if trials[0].asked is before:
            trials[0].next_counts(rewards)
        trials[1].next_counts(rewards)
        assert ended(trials[0], 7) == ended(trials[1], 7)
    assert line > 30


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [BookedOptimism(first_pulls=1.0), AdaptiveNeyman()], ids=repr)
def test_exact_errors_are_the_mean_of_drawn_ones(strategy: Strategy) -> None:
    """Drawn ones look at the means of all phases, and know nothing of independence."""
    size = 4000
    found = [
        squared_errors(BALL.bandit, BALL.policy, strategy, 60, size, np.random.SeedSequence(s), m)
        for s, m in ((1, "exact"), (2, "draws"))
    ]
    exact, drawn = (errors for errors, _ in found)
    assert not any(inestimable.any() for _, inestimable in found)
    error = np.sqrt((exact.var() + drawn.var()) / size)
    assert abs(exact.mean() - drawn.mean()) < 4.5 * error
    assert exact.std() < 0.2 * drawn.std()


@pytest.mark.parametrize("noise", ["gaussian", "laplace", "rademacher"])
def test_methods_say_what_was_done(noise: str) -> None:
    bandit = dataclasses.replace(BALL.bandit, noise=noise)
    strategies = [BookedOptimism(first_pulls=1.0), SPEED(exploration="uniform")]
    for method in ("exact", "draws"):
        curves = mse_curve(bandit, BALL.policy, strategies, [80], 40, seed=1, method=method)
        by_scatters = method if noise == "gaussian" else "draws"
        assert curves.methods == (by_scatters, method)
        assert np.isfinite(curves.mse).all()
        spread = curves.standard_error * np.sqrt(40) / curves.mse
        assert (spread[0, 0] > 0.5) == (by_scatters == "draws")


def test_exact_errors_know_what_coefficients_miss() -> None:
    """A chance that is lost in rounding, of an action whose rewards are large."""
    policy = np.exp([0.0, -0.5, -40.0])
    policy /= policy.sum()
    bandit = LinearBandit(np.eye(3), [0.0, 0.0, 1e14], variances=np.full(3, 1e-6))
    strategies = [BookedOptimism(), AdaptiveNeyman()]
    exact, drawn = (
        mse_curve(bandit, policy, strategies, [3000], 200, seed=1, method=method)
        for method in ("exact", "draws")
    )
    assert exact.mse == pytest.approx(drawn.mse, rel=0.05)
    assert np.all(exact.mse > 1e-8)


def test_coefficients_that_miss_the_direction_estimate_nothing() -> None:
    class Short(ByScattersTrial):
        """Gives the third action no coefficient."""

        def _plan(self, rewards: Rewards) -> Plan:
            return Plan(np.array([[5, 5, 5]]), np.array([[0.5, 0.3, 0.0]]))

    setting = begin(
        BookedOptimism(), one_hot([0.5, 0.3, 0.2], np.ones(3)).bandit, [0.5, 0.3, 0.2], 200, 1
    ).setting
    trial = Short(setting, "Short", Plan(np.array([[5, 5, 5]]), None))
    rewards = Rewards([5, 5, 5], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    trial.next_counts(rewards)
    found = trial.estimate(rewards)
    assert not found.estimable and found.standard_error == np.inf
    assert not trial.commitment.estimable


class Replay:
    """Tells some of the replications of phases that were played before."""

    def __init__(self, phases: list[Rewards], rows: list[int]) -> None:
        self.phases, self.rows = iter(phases), rows

    def __call__(self, counts: np.ndarray) -> Rewards:
        told = next(self.phases)
        assert counts.tolist() == told.counts[self.rows].tolist()
        return Rewards(counts, told.means[self.rows], told.scatters[self.rows])


@each
def test_replications_know_nothing_of_each_other(strategy: Strategy) -> None:
    """Some of them, in another order, come out the same to the last bit."""
    trial = begin(strategy, ROTATED, BALL.policy, 600, 3, replications=12)
    phases, rows = phases_of(trial, ROTATED, 4), [7, 2, 11, 3]
    some = begin(strategy, ROTATED, BALL.policy, 600, 3, replications=4)
    replay = Replay(phases, rows)
    commitment = commit(some, replay)
    value = some.estimate(replay(commitment.counts)).value
    ends = np.max([np.flatnonzero([p.counts[r].any() for p in phases])[-1] for r in rows])
    if ends == len(phases) - 1:
        whole = trial.estimate(phases[-1]).value
        assert value.tolist() == whole[rows].tolist()
    error = trial.error_given_pulls(ROTATED.variances)[rows]
    assert some.error_given_pulls(ROTATED.variances).tolist() == error.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["gaussian", "uniform", "laplace"])
@each
def test_intervals_hold_the_value(strategy: Strategy, noise: str) -> None:
    bandit, size = dataclasses.replace(BALL.bandit, noise=noise), 4000
    trial = begin(strategy, bandit, BALL.policy, 400, 3, replications=size)
    rng = np.random.default_rng(8)
    found = play(trial, lambda counts: bandit.pull(counts, rng))
    low, high = found.interval(0.95)
    truth = bandit.value(BALL.policy)
    share = np.mean((low <= truth) & (truth <= high))
    assert 0.935 < share < 0.965


@pytest.mark.slow
def test_on_one_hot_actions_both_come_close_to_neyman() -> None:
    world = one_hot([0.5, 0.3, 0.2], [1.0, 4.0, 0.25])
    sigma = np.sqrt(world.bandit.variances)
    best = world.policy * sigma / np.sum(world.policy * sigma)
    for strategy in (BookedOptimism(), AdaptiveNeyman(), AdaptiveNeyman.many()):
        trial = begin(strategy, world.bandit, world.policy, 10**7, 3, replications=50)
        phases = phases_of(trial, world.bandit, 4)
        counts = sum(rewards.counts for rewards in phases)
        assert np.abs(counts / 10**7 - best).max() < 0.003
        last = phases[-1].counts > 0
        share = phases[-1].counts[last] / counts[last]
        policy = np.broadcast_to(world.policy, counts.shape)[last]
        assert trial.commitment.coefficients[last] == pytest.approx(policy * share, rel=1e-12)
