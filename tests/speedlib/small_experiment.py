"""The world of the ten days in a small experiment, for tests of one feature each."""

from __future__ import annotations

import numpy as np

from speedlib import Rewards, Strategy
from speedlib.experiment import Experiment

from .ten_days import FEATURES, POLICY, WORLD


def experiment(strategy: Strategy, rounds: int = 600, **changes) -> Experiment:
    return Experiment(strategy, FEATURES, POLICY, rounds, seed=3, **changes)


def pull(counts: np.ndarray, seed: int) -> Rewards:
    return WORLD.pull(counts, np.random.default_rng(seed))
