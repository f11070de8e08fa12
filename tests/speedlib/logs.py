"""Small explorations for the tests of covariance estimates."""

from __future__ import annotations

import numpy as np

from speedlib.bandit import LinearBandit
from speedlib.rewards import Rewards


def exact_squares(counts: list[int], squares: list[float]) -> Rewards:
    """Rewards of mean zero whose mean squared residuals are exactly these."""
    pulls = np.array(counts)
    return Rewards(pulls, np.zeros(len(counts)), pulls * np.array(squares))


def random_log(
    rng: np.random.Generator, n_actions: int, d: int, rounds: int, explored: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    features = rng.normal(size=(n_actions, d))
    actions = rng.integers(0, explored, rounds)
    rewards = features[actions] @ rng.normal(size=d) + rng.normal(size=rounds)
    return features, actions, rewards


def drawn_problem(seed: int, d: int, k: int, pulls: int) -> tuple[np.ndarray, Rewards]:
    """Return a small exploration after which the free estimate is often indefinite."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, max(1, d - 1)))
    bandit = LinearBandit(
        rng.normal(size=(k, d)), rng.normal(size=d), Sigma=root @ root.T + 0.01 * np.eye(d)
    )
    return bandit.features, bandit.pull(rng.integers(1, pulls, k), rng)
