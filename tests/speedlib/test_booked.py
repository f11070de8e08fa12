"""Booked optimism: against a slow simulator, pull by pull, that enumerates all vertices."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from speedlib import (
    AdaptiveNeyman,
    BookedOptimism,
    LinearBandit,
    mse_curve,
    one_hot,
    optimal_design,
    play,
)
from speedlib.rewards import Rewards

from .cases import BALL, begin, phases_of, space

#: The bandit whose support a short pilot does not find.
SIX = np.array([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1], [1, 0, 0], [1, 1, 0]], dtype=float)
POLICY = np.array([0.28, 0.18, 0.28, 0.18, 0.04, 0.04])


def six(g: float) -> LinearBandit:
    return LinearBandit(SIX, [0.5, -1.0, 2.0], Sigma=np.diag([1.0, 1.0 + g, 1.0]))


class Streams:
    """The rewards of each action, in order: whoever pulls how, the k-th is the same."""

    def __init__(self, bandit: LinearBandit, rounds: int, seed: int) -> None:
        noise = np.random.default_rng(seed).normal(size=(bandit.n_actions, rounds))
        self.rewards = bandit.means[:, None] + np.sqrt(bandit.variances)[:, None] * noise
        self.seen = np.zeros(bandit.n_actions, dtype=int)

    def __call__(self, counts: np.ndarray) -> Rewards:
        actions = np.repeat(np.arange(counts.size), counts)
        parts = [
            row[first : first + count]
            for row, first, count in zip(self.rewards, self.seen, counts, strict=True)
        ]
        self.seen = self.seen + counts
        return Rewards.from_log(actions, np.concatenate(parts), counts.size)


def all_vertices(x: np.ndarray, c: np.ndarray) -> np.ndarray:
    found = []
    for size in range(1, x.shape[1] + 1):
        for chosen in itertools.combinations(range(len(x)), size):
            rows = x[list(chosen)]
            if np.linalg.matrix_rank(rows) < size:
                continue
            w = np.linalg.lstsq(rows.T, c, rcond=None)[0]
            if np.allclose(rows.T @ w, c) and np.abs(w).min() > 1e-9:
                found.append(np.zeros(len(x)))
                found[-1][list(chosen)] = w
    return np.array(found)


def run(
    bandit: LinearBandit, policy: np.ndarray, rounds: int, seed: int, each: int, width: float
) -> tuple[float, list[int], np.ndarray]:
    """Return the estimate, the actions in their order, and bookings less pulls, round by round."""
    rewards = Streams(bandit, rounds, seed).rewards
    vertices = all_vertices(bandit.features, policy @ bandit.features)
    actions = np.flatnonzero(np.any(vertices != 0, axis=0))
    told = {a: list(rewards[a][:each]) for a in actions}
    played = [int(a) for a in np.repeat(actions, each)]
    booked, total = dict.fromkeys(actions, 0.0), np.zeros(len(policy))
    left, ahead = rounds - len(played), []
    for _ in range(left):
        hat = np.ones(len(policy))
        tilde = np.ones(len(policy))
        for a in actions:
            z = math.sqrt(width * math.log(rounds) / (len(told[a]) - 1))
            hat[a] = np.std(told[a], ddof=1)
            tilde[a] = hat[a] / (1 + math.sqrt(2) * z)
        w = vertices[np.argmin(np.abs(vertices) @ tilde)]
        total += w
        cost = np.abs(w) * hat
        for a in actions:
            booked[a] += cost[a] / cost.sum()
        a = max(actions, key=lambda a: booked[a] - (len(told[a]) - each))
        told[a].append(rewards[a][len(told[a])])
        played.append(int(a))
        ahead.append(max(booked[a] - (len(told[a]) - each) for a in actions))
    value = sum(total[a] / left * np.mean(told[a]) for a in actions)
    return float(value), played, np.array(ahead)


@pytest.mark.slow
@pytest.mark.parametrize("which", range(4))
def test_round_by_round_it_does_what_the_rule_says(which: int) -> None:
    idle = LinearBandit(np.eye(4)[[0, 1, 0, 2, 3]] * 2.0, np.ones(4), Sigma=np.eye(4))
    bandit, policy = [
        (six(0.5), POLICY),
        (BALL.bandit, BALL.policy),
        (space(5), np.full(8, 1 / 8)),
        (idle, np.array([0.3, 0.3, 0.1, 0.3, 0.0])),
    ][which]
    for seed, (each, width) in enumerate([(1.0, 1.0), (2.0, 0.5), (1.5, 0.0)]):
        strategy = BookedOptimism(first_pulls=each, width=width, regrowth=0.0)
        trial = begin(strategy, bandit, policy, 200, 1)
        phases: list[Rewards] = []
        streams = Streams(bandit, 200, seed)

        def pull(counts: np.ndarray, phases=phases, streams=streams) -> Rewards:
            phases.append(streams(counts))
            return phases[-1]

        found = play(trial, pull)
        value, played, ahead = run(
            bandit, policy, 200, seed, math.ceil(each * math.log(200)) + 1, width
        )
        first = int(phases[0].counts.sum())
        assert (
            phases[0].counts.tolist() == np.bincount(played[:first], minlength=len(policy)).tolist()
        )
        assert [int(np.argmax(rewards.counts)) for rewards in phases[1:]] == played[first:]
        assert float(found.value) == pytest.approx(value, rel=1e-10)
        used = np.count_nonzero(phases[0].counts)
        assert ahead.max() <= sum(1 / j for j in range(2, used + 1)) + 1e-9


def test_actions_in_no_vertex_are_never_pulled() -> None:
    x = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]])
    bandit = LinearBandit(x, [1.0, 2.0, 3.0], variances=[1.0, 2.0, 1.0, 1.0, 0.0])
    policy = np.array([0.5, 0.25, 0.0, 0.0, 0.25])
    trial = begin(BookedOptimism(), bandit, policy, 1000, 1, replications=5)
    counts = sum(rewards.counts for rewards in phases_of(trial, bandit, 2))
    assert np.all(counts[:, 3:] == 0) and np.all(counts[:, :3] > 20)


@pytest.mark.parametrize("regrowth", [pytest.param(0.0, marks=pytest.mark.slow), 0.1, 0.5, 2.0])
def test_no_count_grows_by_more_than_the_share(regrowth: float) -> None:
    strategy = BookedOptimism(regrowth=regrowth, first_pulls=1.0)
    trial = begin(strategy, six(0.5), POLICY, 300, 1, replications=5)
    rng, counts, longest = np.random.default_rng(2), trial.asked, 0
    told = six(0.5).pull(counts, rng)
    while not trial.committed:
        owed = trial._now.memory.excess
        pulls = trial.next_counts(told)
        several = pulls.sum(axis=1) > 1
        # One pull is always allowed, and what an action lags behind its bookings.
        most = np.maximum(np.maximum(np.floor(regrowth * counts), 1), np.ceil(owed))
        assert np.all(pulls[several] <= most[several])
        told, counts = six(0.5).pull(pulls, rng), counts + pulls
        longest = max(longest, pulls.sum(axis=1).max())
    assert np.all(counts.sum(axis=1) == 300)
    assert longest == 1 if regrowth == 0 else longest > 10


@pytest.mark.parametrize("regrowth", [0.1, 0.3])
def test_phases_are_few_however_few_the_first_pulls(regrowth: float) -> None:
    """Also where an action is owed a pull and the vertex does without it."""
    strategy = BookedOptimism(first_pulls=0.1, regrowth=regrowth)
    for seed in range(4):
        trial = begin(strategy, six(0.5), POLICY, 10_000, 1)
        assert len(phases_of(trial, six(0.5), seed)) < 30 / regrowth


@pytest.mark.parametrize("small", [1e-6, 5e-10, 1e-12, 1e-15, 1e-18])
def test_small_chances_are_refused_at_the_start_or_never(small: float) -> None:
    policy = np.array([0.6, 0.4 - small, small])
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    for x in (np.eye(3), turn, np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])):
        bandit = LinearBandit(x, np.ones(3), Sigma=np.diag([1.0, 4.0, 9.0]))
        p = np.append(policy, np.zeros(len(x) - 3))
        trial = begin(BookedOptimism(), bandit, p, 500, 1, replications=4)
        found = trial.estimate(phases_of(trial, bandit, 2)[-1])
        assert found.estimable.all()
        assert trial.coefficients @ x == pytest.approx(np.tile(p @ x, (4, 1)), abs=1e-14)


@pytest.mark.parametrize(("rounds", "error"), [(0, ValueError), ("x", TypeError), (2.5, TypeError)])
def test_budgets_are_checked_by_name(rounds: object, error: type[Exception]) -> None:
    with pytest.raises((error, ValueError), match="rounds: "):
        BookedOptimism().first_count(rounds)
    with pytest.raises((error, ValueError), match="rounds: "):
        AdaptiveNeyman().pilot_pulls(rounds)


def test_the_smallest_budget_is_named() -> None:
    for strategy in (BookedOptimism(), BookedOptimism.theorem(regrowth=1.0)):
        with pytest.raises(ValueError, match=r"rounds: .*5 actions.* got 40; .*budget is \d"):
            begin(strategy, BALL.bandit, BALL.policy, 40, 1)
        try:
            begin(strategy, BALL.bandit, BALL.policy, 1, 1)
        except ValueError as error:
            least = int(str(error).split()[-1])
        trial = begin(strategy, BALL.bandit, BALL.policy, least, 1)
        assert trial.first_counts().tolist() == [strategy.first_count(least)] * 5
        with pytest.raises(ValueError, match=f"budget is {least}"):
            begin(strategy, BALL.bandit, BALL.policy, least - 1, 1)


def test_the_theorem_has_its_constants() -> None:
    strategy = BookedOptimism.theorem()
    assert (strategy.first_pulls, strategy.width, strategy.regrowth) == (48, 3, 0)
    n = 3000
    assert strategy.first_count(n) == math.ceil(48 * math.log(n)) + 1
    # z is then at most 1/4.
    assert 3 * math.log(n) / (strategy.first_count(n) - 1) <= 1 / 16
    assert BookedOptimism.theorem(label="B", width=2.0).width == 2
    with pytest.raises(TypeError, match="unexpected keyword"):
        BookedOptimism.theorem(depth=1)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"first_pulls": 0.0}, "first_pulls: must be above 0"),
        ({"width": -1.0}, "width: must lie between 0"),
        ({"regrowth": float("nan")}, "regrowth: must lie between 0"),
        ({"regrowth": True}, "regrowth: expected a number"),
    ],
)
def test_parameters_are_checked(choices: dict, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        BookedOptimism(**choices)


def test_with_one_vertex_the_policy_is_kept() -> None:
    """One-hot actions: the estimate is the policy's mean of means, whatever is pulled."""
    world = one_hot([0.5, 0.3, 0.2], [1.0, 4.0, 0.25])
    trial = begin(BookedOptimism(), world.bandit, world.policy, 2000, 1, replications=20)
    phases = phases_of(trial, world.bandit, 2)
    pooled = sum(phases[1:], start=phases[0])
    found = trial.estimate(phases[-1])
    assert found.value == pytest.approx(pooled.means @ world.policy, rel=1e-12)
    error = np.sum(world.policy**2 * world.bandit.variances / pooled.counts, axis=1)
    assert trial.error_given_pulls(world.bandit.variances) == pytest.approx(error, rel=1e-12)


@pytest.mark.slow
def test_the_regret_falls_almost_like_one_over_n_squared() -> None:
    """The six-action bandit, where explore and commit falls by n^-1.06."""
    budgets, bandit = np.array([10**6, 10**9]), six(0.5)
    curves = mse_curve(bandit, POLICY, [BookedOptimism()], budgets, 400, seed=1)
    best = optimal_design(SIX, bandit.variances, policy=POLICY).value
    regret = (curves.mse[0] - best / budgets) / best
    slope = np.log(regret[1] / regret[0]) / np.log(1000)
    assert -2 < slope < -1.9
    assert np.all(curves.standard_error[0] / best < 0.03 * regret)


@pytest.mark.slow
def test_the_bound_of_the_proof_holds() -> None:
    """With a wide margin, on the bandit and on one that is hard for this budget."""
    n = 10**5
    for g in (0.5, 20 / np.sqrt(n)):
        bandit = six(g)
        strategy = BookedOptimism.theorem(regrowth=0.05)
        curves = mse_curve(bandit, POLICY, [strategy], [n], 200, seed=1)
        best = optimal_design(SIX, bandit.variances, policy=POLICY).value
        first = 6 * strategy.first_count(n)
        left, log = n - first, math.log(n)
        bound = (first + 36) / (n * left) + 40 * math.sqrt(6 * log) / left**1.5
        bound += 190 * 6 * log * (1 + math.log(left)) / left**2
        assert 0 < curves.mse[0, 0] / best - 1 / n < bound
