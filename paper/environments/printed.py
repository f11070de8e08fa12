"""All environments of the paper, as the pages of this book build them.

The paper's experiments come first, then the environments of its theory. Each is a list of cases:
one case, or several draws of a random environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paper import datasets
from paper.environments.air_quality import air_quality
from paper.environments.assumptions import Case
from paper.environments.movielens import draw_run, fit_films
from paper.theory.lower_bound import hypothesis_environment
from speedlib import (
    Environment,
    LinearBandit,
    fit_environment,
    high_dimensional_ball,
    motivating_example,
    one_hot,
    unit_ball,
)

#: Dimensions and horizons of the experiment on increasing dimension; the paper gives no others.
HORIZONS: Mapping[int, int] = {15: 13_000, 20: 18_000, 25: 25_000}
#: The actions of environment E, and its variances in the definition and in the proof.
E_VARIANCES: Mapping[str, tuple[float, float, float]] = {
    "E, defined": (0.05, 1.0, 0.05),
    "E, in proof": (1.0, 1.0, 0.05),
}


def experiments(
    *,
    runs: int = 3,
    low_probability: float = 0.01,
    preprocessing: str = "scale",
    noise: str = "gaussian",
    seed: int = 0,
) -> dict[str, list[Case]]:
    """Return the paper's ten experiments.

    Parameters
    ----------
    runs : int
        Draws of the random ones: movies, hours of air quality, directions.
    low_probability : float
        The probability that the noisiest actions share if the target policy avoids them.
    preprocessing : {"scale", "centre"}
        How the features of wines and of air quality are prepared.
    noise : str
        Noise law of all.
    seed : int
        Seed of the draws.
    """
    options: dict[str, Any] = {"low_probability": low_probability, "noise": noise}
    wines = datasets.load("red-wine")
    X, y = wines.drop(columns="quality").to_numpy(float), wines["quality"].to_numpy(float)
    wine = fit_environment(X, y, preprocessing=preprocessing, **options)
    model = fit_films(datasets.load("movielens-latest-small"), seed=seed)
    streams = np.random.default_rng(seed).spawn(runs)
    found = {
        "motivating": [motivating_example(noise=noise)],
        **{f"ball, A = {count}": [unit_ball(count, noise=noise)] for count in (4, 5, 10)},
        "MovieLens": [draw_run(model, rng, **options) for rng in streams],
        "red wine": [wine],
        "air quality": [
            air_quality(preprocessing=preprocessing, rng=rng, **options) for rng in streams
        ],
    }
    cases = _cases(found, seed)
    for d, horizon in HORIZONS.items():
        balls = [high_dimensional_ball(d, seed=seed + k, noise=noise) for k in range(runs)]
        cases[f"d = {d}"] = [Case(ball, horizon, seed + k) for k, ball in enumerate(balls)]
    return cases


def theory(*, noise: str = "gaussian", seed: int = 0) -> dict[str, list[Case]]:
    """Return the environments of the theory.

    These are environment E with both variances, the environment of the lower bound in 1, 2 and 3
    dimensions, and an environment of one-hot actions.

    Parameters
    ----------
    noise : str
        Noise law of all.
    seed : int
        Seed of the explorations that will be drawn.
    """
    found = {
        **{name: [environment_e(v, noise)] for name, v in E_VARIANCES.items()},
        **{f"bound, d = {d}": [testing(d, noise)] for d in (1, 2, 3)},
        "one-hot": [one_hot(np.full(5, 0.2), np.linspace(0.5, 1.5, 5), noise=noise)],
    }
    return _cases(found, seed)


def turned_ball(
    dimension: int, first_angle: float = 15.0, last_angle: float = 45.0, **options: Any
) -> Environment:
    """Return the ball of the experiment on increasing dimension, with other angles.

    Parameters
    ----------
    dimension : int
        d, at least 2.
    first_angle, last_angle : float
        The first action has these angles with the other actions, except the informative ones:
        equally spaced, in degrees. The paper gives none.
    **options
        Options of `speedlib.environments.high_dimensional_ball`; for angles from 15 to 45 both
        functions return the same.
    """
    ball = high_dimensional_ball(dimension, **options)
    features, given = ball.bandit.features.copy(), ball.bandit
    rest = len(features) - dimension
    before, after = (
        np.deg2rad(np.linspace(*ends, rest)) for ends in ((15.0, 45.0), (first_angle, last_angle))
    )
    features[dimension:, 0] = np.cos(after)
    features[dimension:, 1:] *= (np.sin(after) / np.sin(before))[:, None]
    bandit = LinearBandit(features, given.theta, Sigma=given.Sigma, noise=given.noise)
    return Environment(ball.name, bandit, ball.policy)


def environment_e(variances: Sequence[float], noise: str = "gaussian") -> Environment:
    """Return environment E of Proposition 8 with given variances."""
    x = np.array([[1, 0], [0, 1], [np.sqrt(0.5), np.sqrt(0.5)]])
    bandit = LinearBandit(x, np.array([1.0, 0.0]), variances=np.array(variances), noise=noise)
    return Environment("E", bandit, np.array([0.9, 0.1, 0.0]))


def testing(d: int, noise: str = "gaussian") -> Environment:
    """Return the testing environment of Theorem 2 under its first hypothesis, for β = 1."""
    built = hypothesis_environment(d)
    theta = np.array(built.hypotheses[0], dtype=np.float64)
    bandit = LinearBandit(
        np.array(built.features, dtype=np.float64),
        theta,
        Sigma=np.outer(theta, theta),
        noise=noise,
    )
    return Environment("testing", bandit, np.array(built.policy, dtype=np.float64))


def _cases(found: Mapping[str, Sequence[Environment]], seed: int) -> dict[str, list[Case]]:
    return {
        name: [Case(environment, None, seed + k) for k, environment in enumerate(drawn)]
        for name, drawn in found.items()
    }
