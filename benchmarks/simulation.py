"""The time of simulations: the engine against plain numpy, exact errors against drawn errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.common import Floats, Row, main, race
from speedlib import SPEED, BookedOptimism, LinearBandit, OnPolicy, mse_curve, play, unit_ball
from speedlib.checks import Counts
from speedlib.rounding import efficient_counts
from speedlib.simulation import squared_errors
from speedlib.trials import Strategy

TITLE = "Simulated experiments"

#: Rounds of one experiment on the large bandit, experiments of the engine and of the baseline.
FULL, QUICK = (10_000, 20_000, 2_000), (10_000, 2_000, 200)

#: A correct engine fails this often.
ALPHA = 1e-4


def bandit_and_policy(n_actions: int = 100, d: int = 5) -> tuple[LinearBandit, Floats]:
    """Return a bandit with Gaussian features and parameters and a random target policy."""
    rng = np.random.default_rng([7, n_actions, d])
    features = rng.normal(size=(n_actions, d))
    Sigma = np.diag(rng.uniform(0.1, 2.0, size=d))
    bandit = LinearBandit(features, rng.normal(size=d), Sigma=Sigma)
    return bandit, rng.dirichlet(np.ones(n_actions))


def experiment(
    bandit: LinearBandit, policy: Floats, actions: Floats, rng: np.random.Generator
) -> float:
    """Simulate one experiment in plain numpy: draw every reward, all rounds together."""
    x, variances = bandit.features[actions], bandit.variances[actions]
    rewards = x @ bandit.theta + np.sqrt(variances) * rng.standard_normal(len(actions))
    weighted = x / variances[:, None]
    theta = np.linalg.solve(weighted.T @ x, weighted.T @ rewards)
    return float((policy @ bandit.features @ (theta - bandit.theta)) ** 2)


def baseline(
    bandit: LinearBandit, policy: Floats, rounds: int, size: int, balanced: bool
) -> Floats:
    """Return squared errors of on-policy experiments, simulated one after the other."""
    rng = np.random.default_rng(8)
    fixed = np.repeat(np.arange(bandit.n_actions), efficient_counts(policy, rounds))
    errors = []
    for _ in range(size):
        actions = fixed if balanced else rng.choice(bandit.n_actions, size=rounds, p=policy)
        errors.append(experiment(bandit, policy, actions, rng))
    return np.array(errors)


def thrifty(bandit: LinearBandit, policy: Floats, rounds: int, size: int, balanced: bool) -> Floats:
    """Return the same with less work: compute fixed parts once, or draw sums of rewards."""
    rng, c = np.random.default_rng(11), policy @ bandit.features
    fixed = efficient_counts(policy, rounds)
    actions = np.repeat(np.arange(bandit.n_actions), fixed)
    per_round = (coefficients(bandit, c, fixed) / np.maximum(fixed, 1))[actions]
    scale = per_round * np.sqrt(bandit.variances[actions])
    errors = []
    for _ in range(size):
        if balanced:
            errors.append(float(scale @ rng.standard_normal(rounds)) ** 2)
            continue
        counts = rng.multinomial(rounds, policy)
        noise = np.sqrt(bandit.variances / np.maximum(counts, 1))
        drawn = noise * rng.standard_normal(bandit.n_actions)
        errors.append(float(coefficients(bandit, c, counts) @ drawn) ** 2)
    return np.array(errors)


def coefficients(bandit: LinearBandit, c: Floats, counts: Counts) -> Floats:
    """Return the coefficients of the mean rewards in weighted least squares."""
    weighted = bandit.features * (counts / bandit.variances)[:, None]
    return np.asarray(weighted @ np.linalg.solve(weighted.T @ bandit.features, c))


def engine(
    bandit: LinearBandit, policy: Floats, strategy: Strategy, rounds: int, size: int, method: str
) -> Floats:
    """Return squared errors from the engine, in blocks of a thousand replications."""
    streams = np.random.SeedSequence(9).spawn(size // 1000)
    parts = [
        squared_errors(bandit, policy, strategy, rounds, 1000, stream, method)[0]
        for stream in streams
    ]
    return np.concatenate(parts)


def drawn_rewards(
    bandit: LinearBandit, policy: Floats, strategy: Strategy, rounds: int, size: int
) -> Floats:
    """Return squared errors of estimates from the rewards of all phases, in their own streams."""
    errors = []
    for stream in np.random.SeedSequence(10).spawn(size // 1000):
        rng = np.random.default_rng(stream)
        trial = strategy.begin(bandit.features, policy, rounds, rng=rng, replications=1000)
        found = play(trial, partial(bandit.pull, rng=rng))
        errors.append((found.value - bandit.value(policy)) ** 2)
    return np.concatenate(errors)


def row(case: str, peer: str, seconds: float, ratio: float, meaning: str, **more: Any) -> Row:
    """Describe one row; a simulation has no gap."""
    gaps = {"peer_seconds": None, "gap": None, "peer_gap": None, "target": "", "met": None}
    return {"case": case, "peer": peer, "seconds": seconds, "ratio": ratio, "meaning": meaning} | (
        gaps | more
    )


def against_numpy(quick: bool, balanced: bool, by: Callable[..., Floats]) -> Row:
    """Race on one bandit; the errors of both contestants must have the same law."""
    rounds, size, peer_size = QUICK if quick else FULL
    bandit, policy = bandit_and_policy()
    strategy = OnPolicy(sampling="balanced" if balanced else "random")
    outcome = race(
        partial(engine, bandit, policy, strategy, rounds, size, "draws"),
        partial(by, bandit, policy, rounds, peer_size, balanced),
        3,
    )
    agreement = float(stats.ks_2samp(outcome.our_answer, outcome.their_answer).pvalue)
    ratio, least = outcome.ratio * size / peer_size, 200 if balanced else 20
    # The targets are set against what a user writes first.
    judged = {"target": f">= {least}", "met": bool(ratio >= least and agreement > ALPHA)}
    return row(
        f"A = 100, d = 5, n = {rounds:,}, " + ("fixed pulls" if balanced else "random"),
        "numpy, one by one" if by is baseline else "numpy, thrifty",
        outcome.ours / size,
        ratio,
        "times the experiments per second",
        peer_seconds=outcome.theirs / peer_size,
        agreement=agreement,
        **(judged if by is baseline else {}),
    )


def against_draws(quick: bool) -> Row:
    """Say by what factor exact conditional errors reduce the replications for equal precision."""
    ball, strategy = unit_ball(), SPEED(exploration="identifiable", covariance="psd")
    rounds, size = 10_000, 4_000 if quick else 100_000
    setting = (ball.bandit, ball.policy, strategy, rounds, size)
    outcome = race(partial(engine, *setting, "exact"), partial(drawn_rewards, *setting), 1)
    exact, drawn = outcome.our_answer, outcome.their_answer
    score = (exact.mean() - drawn.mean()) / np.sqrt((exact.var() + drawn.var()) / size)
    agreement, ratio = float(2 * stats.norm.sf(abs(score))), float(drawn.var() / exact.var())
    return row(
        f"regret of SPEED, unit ball, n = {rounds:,}",
        "drawn rewards",
        outcome.ours / size,
        ratio,
        "times fewer replications for one standard error",
        peer_seconds=outcome.theirs / size,
        agreement=agreement,
        target=">= 100",
        met=bool(ratio >= 100 and agreement > ALPHA),
    )


def throughput(quick: bool) -> Row:
    """Measure replications per second of SPEED through `mse_curve`; each has its own design."""
    ball, strategy = unit_ball(), SPEED(exploration="identifiable", covariance="psd")
    size = 4_000 if quick else 100_000
    run: Callable[[], object] = partial(
        mse_curve, ball.bandit, ball.policy, [strategy], [10_000], size, seed=1
    )
    outcome = race(run, lambda: None, 1 if quick else 3)
    rate = size / outcome.ours
    return row(
        "SPEED with a design each, unit ball",
        "replications per second",
        outcome.ours / size,
        rate,
        "replications per second",
        target=">= 5000",
        met=bool(rate >= 5000),
    )


def booked(quick: bool) -> list[Row]:
    """Measure booked optimism: replications per second, and time at 100,000 times the budget."""
    ball, size = unit_ball(), 2_000 if quick else 20_000

    def curve(rounds: int) -> object:
        return mse_curve(ball.bandit, ball.policy, [BookedOptimism()], [rounds], size, seed=1)

    outcome = race(partial(curve, 10_000), partial(curve, 10**9), 1 if quick else 3)
    rate = size / outcome.ours
    return [
        row(
            "booked optimism, unit ball, n = 10,000",
            "replications per second",
            outcome.ours / size,
            rate,
            "replications per second",
            target=">= 2000",
            met=bool(rate >= 2000),
        ),
        row(
            "booked optimism, unit ball, n = 1,000,000,000",
            "itself at n = 10,000",
            outcome.theirs / size,
            outcome.ratio,
            "times the time at n = 10,000",
            peer_seconds=outcome.ours / size,
            target="<= 10",
            met=bool(outcome.ratio <= 10),
        ),
    ]


def run(quick: bool) -> list[Row]:
    """Race the engine, compare exact errors with drawn ones, count replications."""
    races = [(balanced, by) for by in (baseline, thrifty) for balanced in (False, True)]
    rows = [against_numpy(quick, balanced, by) for balanced, by in races]
    return [*rows, against_draws(quick), throughput(quick), *booked(quick)]


if __name__ == "__main__":
    main("simulation", TITLE, run)
