"""A slow and obvious simulator: one round at a time, a log of rounds, textbook linear algebra.

speedlib works with sufficient statistics of whole batches of replications; here every reward is
drawn by itself and every regression is `numpy.linalg.lstsq` on one row a round. The two must agree:
on one log to rounding, and over many logs in distribution. Nothing of speedlib's estimators,
covariance, exploration, rounding, designs or strategies is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

from speedlib.bandit import LinearBandit


@dataclass
class Log:
    """The actions and rewards of some rounds, in order."""

    actions: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)

    def regression(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the design, one row a round, and the responses."""
        return features[np.array(self.actions, dtype=int)], np.array(self.rewards)

    def counts(self, n_actions: int) -> np.ndarray:
        return np.array([self.actions.count(action) for action in range(n_actions)])


@dataclass
class Result:
    """What one run of a strategy came to."""

    value: float
    pulls: np.ndarray
    variances: np.ndarray


def draw_noise(law: str, rng: np.random.Generator) -> float:
    """Draw one noise of mean 0 and variance 1, by a route of its own."""
    if law == "gaussian":
        return float(rng.normal())
    if law == "uniform":
        return math.sqrt(12.0) * (rng.random() - 0.5)
    if law == "rademacher":
        return 1.0 if rng.random() < 0.5 else -1.0
    if law == "laplace":
        return (rng.exponential() - rng.exponential()) / math.sqrt(2.0)
    if law == "student":
        return rng.normal() / math.sqrt(rng.chisquare(5) / 5) * math.sqrt(3 / 5)
    raise AssertionError(law)


def play(bandit: LinearBandit, action: int, rng: np.random.Generator) -> float:
    """Return the reward of one round."""
    mean = sum(x * t for x, t in zip(bandit.features[action], bandit.theta, strict=True))
    return mean + math.sqrt(bandit.variances[action]) * draw_noise(bandit.noise, rng)


def play_counts(bandit: LinearBandit, counts: np.ndarray, rng: np.random.Generator) -> Log:
    """Play every action as often as `counts` says, round by round."""
    log = Log()
    for action, count in enumerate(counts):
        for _ in range(count):
            log.actions.append(action)
            log.rewards.append(play(bandit, action, rng))
    return log


def ordinary_least_squares(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(X, y, rcond=None)[0]


def weighted_least_squares(X: np.ndarray, y: np.ndarray, variances: np.ndarray) -> np.ndarray:
    sigma = np.sqrt(variances)
    return np.linalg.lstsq(X / sigma[:, None], y / sigma, rcond=None)[0]


def covariance(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Regress squared residuals on vec(xx'): the least-norm matrix, and the mean square."""
    squares = (y - X @ ordinary_least_squares(X, y)) ** 2
    rows = np.array([np.outer(x, x).ravel() for x in X])
    vector = np.linalg.lstsq(rows, squares, rcond=None)[0]
    return vector.reshape(X.shape[1], X.shape[1]), float(squares.mean())


def floored_variances(
    X: np.ndarray, y: np.ndarray, features: np.ndarray, floor: float
) -> np.ndarray:
    Sigma, mean_square = covariance(X, y)
    return np.array([max(x @ Sigma @ x, floor * mean_square) for x in features])


def pe_design(features: np.ndarray, variances: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Minimise the sum of |w(a)| sigma(a) subject to sum of w(a) x(a) = c; normalise |w| sigma."""
    sigma = np.sqrt(variances)
    program = linprog(
        np.concatenate([sigma, sigma]),
        A_eq=np.hstack([features.T, -features.T]),
        b_eq=direction,
        bounds=(0, None),
    )
    assert program.status == 0, program.message
    plus, minus = np.split(program.x, 2)
    share = np.abs(plus - minus) * sigma
    return share / share.sum()


def policy_value(policy: np.ndarray, features: np.ndarray, theta: np.ndarray) -> float:
    return float(sum(p * (x @ theta) for p, x in zip(policy, features, strict=True)))


def pca_actions(features: np.ndarray, rng: np.random.Generator) -> list[int]:
    """Draw one action for every principal direction from those closest to it in angle."""
    directions = np.linalg.svd(features)[2]
    owners = []
    for x in features:
        angles = [math.acos(min(1.0, abs(x @ v) / np.linalg.norm(x))) for v in directions]
        owners.append(int(np.argmin(angles)))
    groups = [[a for a, o in enumerate(owners) if o == k] for k in range(len(directions))]
    assert all(groups), "this simulator knows no rule for directions without an action"
    return [group[int(rng.integers(len(group)))] for group in groups]


def commit(
    log: Log, features: np.ndarray, policy: np.ndarray, left: int, floor: float
) -> tuple[np.ndarray, np.ndarray]:
    """Steps 2 to 4 of Algorithm 1: from exploration data to variances and pulls."""
    X, y = log.regression(features)
    variances = floored_variances(X, y, features, floor)
    weights = pe_design(features, variances, policy @ features)
    return variances, np.array([math.floor(weight * left + 1e-9) for weight in weights])


def estimate(log: Log, features: np.ndarray, policy: np.ndarray, variances: np.ndarray) -> float:
    """Return the value at the weighted least-squares estimate from a log."""
    X, y = log.regression(features)
    theta = weighted_least_squares(X, y, variances[np.array(log.actions)])
    return policy_value(policy, features, theta)


def run_speed(
    bandit: LinearBandit,
    policy: np.ndarray,
    rounds: int,
    rng: np.random.Generator,
    *,
    exploration: str = "pca",
    floor: float = 0.01,
) -> Result:
    """Algorithm 1: explore for sqrt(n) rounds, estimate Sigma, commit, weight by the estimate."""
    gamma = math.floor(math.sqrt(rounds))
    if exploration == "pca":
        choices = pca_actions(bandit.features, rng)
    else:
        choices = list(range(bandit.n_actions))
    log = Log()
    for _ in range(gamma):
        action = choices[int(rng.integers(len(choices)))]
        log.actions.append(action)
        log.rewards.append(play(bandit, action, rng))
    variances, pulls = commit(log, bandit.features, policy, rounds - gamma, floor)
    data = play_counts(bandit, pulls, rng)
    return Result(estimate(data, bandit.features, policy, variances), pulls, variances)


def run_oracle(
    bandit: LinearBandit, policy: np.ndarray, rounds: int, rng: np.random.Generator
) -> Result:
    """Pull by the optimal design for the true variances, rounded up, as Proposition 5 has it."""
    weights = pe_design(bandit.features, bandit.variances, policy @ bandit.features)
    pulls = np.array([math.ceil(weight * rounds - 1e-9) for weight in weights])
    data = play_counts(bandit, pulls, rng)
    value = estimate(data, bandit.features, policy, bandit.variances)
    return Result(value, pulls, bandit.variances)


def run_on_policy(
    bandit: LinearBandit,
    policy: np.ndarray,
    rounds: int,
    rng: np.random.Generator,
    *,
    estimator: str = "wls",
) -> Result:
    """Draw every action from the policy; estimate by least squares or by the plain average."""
    log = Log()
    for _ in range(rounds):
        action = int(rng.choice(bandit.n_actions, p=policy))
        log.actions.append(action)
        log.rewards.append(play(bandit, action, rng))
    weights = bandit.variances if estimator == "wls" else np.ones(bandit.n_actions)
    if estimator == "mean":
        value = sum(log.rewards) / rounds
    else:
        value = estimate(log, bandit.features, policy, weights)
    return Result(value, log.counts(bandit.n_actions), weights)
