"""The environments of the paper, by name, and environments fitted to data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import shown
from speedlib._labels import check_order
from speedlib._tolerances import PROBABILITY_TOLERANCE
from speedlib.bandit import LinearBandit, check_bandit
from speedlib.checks import (
    Floats,
    check_count,
    check_number,
    check_policy,
    check_sizes,
    check_variances,
    frozen,
)
from speedlib.fitting import PREPROCESSINGS, Fit, fit_model, prepare_table

__all__ = [
    "PREPROCESSINGS",
    "Environment",
    "Fit",
    "fit_environment",
    "fit_model",
    "high_dimensional_ball",
    "motivating_example",
    "one_hot",
    "prepare_table",
    "threshold_policy",
    "unit_ball",
]


@dataclass(frozen=True, eq=False)
class Environment:
    """A bandit with the target policy to be evaluated in it.

    Parameters
    ----------
    name : str
    bandit : LinearBandit
    policy : array, shape (A,)
        Target policy.

    Examples
    --------
    >>> from speedlib import LinearBandit
    >>> bandit = LinearBandit([[1, 0], [0, 1]], theta=[2, 1], variances=[1, 4])
    >>> world = Environment("two actions", bandit, [0.5, 0.5])
    >>> world.value
    1.5
    """

    name: str
    bandit: LinearBandit
    policy: Floats

    def __post_init__(self) -> None:
        check_bandit(self.bandit)
        policy = check_policy(self.policy, self.bandit.n_actions)
        object.__setattr__(self, "policy", frozen(policy))

    def __reduce__(self) -> tuple[Any, ...]:
        """Build a copy from its parts, since NumPy forgets that an array is read-only."""
        return type(self), (self.name, self.bandit, self.policy)

    @property
    def value(self) -> float:
        """Value of the target policy."""
        return self.bandit.value(self.policy)


def check_environment(environment: object, name: str = "environment") -> Environment:
    """Return an environment, or say what it is instead."""
    if not isinstance(environment, Environment):
        raise TypeError(f"{name}: expected an Environment; got {shown(environment)}")
    return environment


def unit_ball(
    n_actions: int = 5,
    *,
    low_variance: float = 0.05,
    high_variance: float = 0.35,
    optimal_probability: float = 0.8,
    informative_probability: float = 0.1,
    noise: str = "gaussian",
) -> Environment:
    r"""Return the unit-ball environment.

    Action 0 points along :math:`\theta_* = (1, 0)` and is optimal; action 1, at a right angle to
    it, is the informative one; the other actions have equally spaced angles from 15 to 45 degrees.
    :math:`\Sigma_* = \operatorname{diag}(\text{low}, \text{high})`, so the informative action has
    the high variance.

    Parameters
    ----------
    n_actions : int
        Number of actions, at least 3.
    low_variance, high_variance : float
        Variances of the optimal and of the informative action, positive.
    optimal_probability, informative_probability : float
        Target probabilities of these two actions; the other actions share the rest evenly.
    noise : str
        Noise law of the bandit.

    Notes
    -----
    The paper gives the three groups of actions, the high variance 0.35 and the probability 0.1 of
    the informative action, but no coordinates (Appendix D, file addl_expt.tex): the angles, the
    low variance and the probability 0.8 are our choice.

    Examples
    --------
    >>> ball = unit_ball()
    >>> ball.bandit.variances.round(3).tolist()
    [0.05, 0.35, 0.07, 0.125, 0.2]
    >>> ball.policy.round(3).tolist()
    [0.8, 0.1, 0.033, 0.033, 0.033]
    """
    n_actions = check_count("n_actions", n_actions, 3)
    if n_actions == 3:
        others = np.array([30.0])
    else:
        others = np.linspace(15.0, 45.0, n_actions - 2)
    angles = np.deg2rad(np.concatenate([[0.0, 90.0], others]))
    features = np.column_stack([np.cos(angles), np.sin(angles)])
    features[1, 0] = 0.0  # the cosine of a right angle, exactly
    variances = _levels(low_variance, high_variance)
    optimal_probability, informative_probability = _probabilities(
        optimal_probability, informative_probability
    )
    rest = 1.0 - optimal_probability - informative_probability
    if rest < -PROBABILITY_TOLERANCE:
        raise ValueError(
            "optimal_probability, informative_probability: their sum must be at most 1; "
            f"got {optimal_probability} + {informative_probability}"
        )
    policy = np.full(n_actions, max(rest, 0.0) / (n_actions - 2))
    policy[:2] = optimal_probability, informative_probability
    bandit = LinearBandit(features, np.array([1.0, 0.0]), Sigma=np.diag(variances), noise=noise)
    return Environment("unit ball", bandit, policy)


def _levels(low: float, high: float) -> Floats:
    """Return two variances, each checked under its own name."""
    named = (("low_variance", low), ("high_variance", high))
    return np.array([check_variances([check_number(n, v)], 1, name=n)[0] for n, v in named])


def _probabilities(optimal: float, informative: float) -> tuple[float, float]:
    return (
        check_number("optimal_probability", optimal, least=0, most=1),
        check_number("informative_probability", informative, least=0, most=1),
    )


def motivating_example(
    n_actions: int = 100,
    *,
    variances: ArrayLike = (0.05, 0.35),
    optimal_probability: float = 0.9,
    noise: str = "gaussian",
) -> Environment:
    r"""Return the paper's motivating example: two actions along the axes, all others between them.

    The parameter is :math:`\theta_* = (1, 0)`, and all actions but the first and the second are
    :math:`(1, 1)/\sqrt2`.

    Parameters
    ----------
    n_actions : int
        Number of actions, at least 3; 100 in the paper.
    variances : array-like, shape (2,)
        Variances of the first two actions, the diagonal of :math:`\Sigma_*`.
    optimal_probability : float
        Target probability of the first action; the others share the rest equally.
    noise : str
        Noise law of the bandit.

    Notes
    -----
    Section 3 of the paper (file loss_definition.tex) gives all but the variances.

    Examples
    --------
    >>> example = motivating_example(4)
    >>> example.bandit.features.round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.707, 0.707], [0.707, 0.707]]
    >>> example.policy.round(3).tolist()
    [0.9, 0.033, 0.033, 0.033]
    """
    n_actions = check_count("n_actions", n_actions, 3)
    variances = check_variances(variances, 2)
    optimal_probability = check_number("optimal_probability", optimal_probability, least=0, most=1)
    features = np.full((n_actions, 2), np.sqrt(0.5))
    features[:2] = np.eye(2)
    policy = np.full(n_actions, (1.0 - optimal_probability) / (n_actions - 1))
    policy[0] = optimal_probability
    bandit = LinearBandit(features, np.array([1.0, 0.0]), Sigma=np.diag(variances), noise=noise)
    return Environment("motivating example", bandit, policy)


def high_dimensional_ball(
    dimension: int,
    n_actions: int | None = None,
    *,
    seed: int = 0,
    low_variance: float = 0.05,
    high_variance: float = 0.35,
    optimal_probability: float = 0.8,
    informative_probability: float = 0.1,
    noise: str = "gaussian",
) -> Environment:
    r"""Return the unit ball in more dimensions, in the same three groups of actions.

    The first action is :math:`e_1 = \theta_*`; the d - 1 informative ones are the other unit
    vectors; the rest are :math:`\cos\varphi\,e_1 + \sin\varphi\,u`. Their angles :math:`\varphi`
    are equally spaced from 15 to 45 degrees, and each u is a random direction orthogonal to
    :math:`e_1`. The same seed gives the same directions. The matrix :math:`\Sigma_*` is diagonal,
    and its first entry is the low variance.

    Parameters
    ----------
    dimension : int
        d, at least 2.
    n_actions : int, optional
        Number of actions, more than d; by default d² + 20, as in the paper.
    seed : int
        Seed of the random directions.
    low_variance, high_variance : float
        Variances of the first action and of each informative one.
    optimal_probability, informative_probability : float
        Target probability of the first action, and of the informative ones together; the others
        share the rest equally.
    noise : str
        Noise law of the bandit.

    Notes
    -----
    The paper (Appendix D, file addl_expt.tex) has d = 15, 20, 25 with d² + 20 actions and places
    them "in a unit ball in R²". It says only that the informative actions have high variance and
    low probability. Angles, directions and numbers are our choice.

    Examples
    --------
    >>> ball = high_dimensional_ball(4)
    >>> ball.bandit.features.shape, round(ball.value, 3)
    ((36, 4), 0.886)
    """
    d = check_count("dimension", dimension, 2)
    count = check_count("n_actions", d**2 + 20 if n_actions is None else n_actions, d + 1)
    levels = _levels(low_variance, high_variance)
    optimal_probability, informative_probability = _probabilities(
        optimal_probability, informative_probability
    )
    rest = 1.0 - optimal_probability - informative_probability
    if not rest >= 0:
        raise ValueError(
            "optimal_probability, informative_probability: must be at least 0 and their sum at "
            f"most 1; got {optimal_probability} + {informative_probability}"
        )
    away = np.random.default_rng(check_count("seed", seed, 0)).standard_normal((count - d, d - 1))
    angles = np.deg2rad(np.linspace(15.0, 45.0, count - d))
    away *= (np.sin(angles) / np.linalg.norm(away, axis=1))[:, None]
    features = np.vstack([np.eye(d), np.column_stack([np.cos(angles), away])])
    policy = np.full(count, rest / (count - d))
    policy[0], policy[1:d] = optimal_probability, informative_probability / (d - 1)
    Sigma = np.diag([levels[0], *np.full(d - 1, levels[1])])
    bandit = LinearBandit(features, np.eye(d)[0], Sigma=Sigma, noise=noise)
    return Environment(f"ball in {d} dimensions", bandit, policy)


def one_hot(policy: ArrayLike, variances: ArrayLike, *, noise: str = "gaussian") -> Environment:
    r"""Return the classical bandit: one coordinate per action, any positive variances.

    Here :math:`b_*(a) \propto \pi(a)\sigma(a)` and
    :math:`nL_n^* = \bigl(\sum_a\pi(a)\sigma(a)\bigr)^2`. All means are 0.

    Examples
    --------
    >>> from speedlib import optimal_design
    >>> world = one_hot([0.5, 0.5], [1.0, 4.0])
    >>> design = optimal_design(world.bandit.features, world.bandit.variances, policy=world.policy)
    >>> round(design.value, 6)
    2.25
    """
    check_order(policy, {"variances": variances}, name="policy")
    variances = check_variances(variances)
    policy = check_policy(policy, variances.size)
    bandit = LinearBandit(
        np.eye(variances.size), np.zeros(variances.size), Sigma=np.diag(variances), noise=noise
    )
    return Environment("one-hot", bandit, policy)


def threshold_policy(variances: ArrayLike, n_low: int, low_probability: float) -> Floats:
    r"""Return the target policy of the data experiments.

    The `n_low` actions of highest variance share the probability `low_probability`; the other
    actions share the rest evenly.

    Parameters
    ----------
    variances : array, shape (A,)
    n_low : int
        Number of actions with low probability, 1 to A - 1 (40 for red wine, 30 for air quality).
    low_probability : float
        Probability that these actions share, between 0 and 1.

    Notes
    -----
    In the paper (file addl_expt.tex) the actions whose variance crosses a level tau are "set with
    low target probability". The paper gives the number of these actions, but neither tau nor the
    probability.
    """
    variances = check_variances(variances, allow_zero=True)
    n_low = check_count("n_low", n_low, 1)
    if n_low >= variances.size:
        raise ValueError(f"n_low: must be less than the {variances.size} actions; got {n_low}")
    low_probability = check_number("low_probability", low_probability, least=0, most=1)
    policy = np.full(variances.size, (1.0 - low_probability) / (variances.size - n_low))
    policy[np.argsort(-variances, kind="stable")[:n_low]] = low_probability / n_low
    return policy


def fit_environment(
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_low: int = 40,
    low_probability: float = 0.01,
    preprocessing: str = "scale",
    variance_floor: float = 0.05,
    noise: str = "gaussian",
    name: str = "data",
) -> Environment:
    """Turn a table into an environment: its rows are the actions.

    Parameters
    ----------
    X : array, shape (N, d)
        Features, one row per sample.
    y : array, shape (N,)
        Target of each sample; the fitted rewards imitate it.
    n_low, low_probability
        See `threshold_policy`.
    preprocessing
        See `prepare_table`. The paper does not state its preprocessing, which decides the outcome.
    variance_floor
        See `fit_model`.
    noise : str
        Noise law of the bandit.
    name : str

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> table = rng.standard_normal((60, 3))
    >>> world = fit_environment(table, table[:, 0] + rng.standard_normal(60), n_low=10)
    >>> world.bandit.n_actions, world.bandit.d
    (60, 3)
    """
    X, y = prepare_table(X, y, preprocessing)
    threshold_policy(np.ones(len(X)), n_low, low_probability)  # refuses before the fit, not after
    fit = fit_model(X, y, variance_floor=variance_floor)
    check_sizes("y", fit.variances, "the variances fitted to it")
    policy = threshold_policy(fit.variances, n_low, low_probability)
    return Environment(name, LinearBandit(X, fit.theta, Sigma=fit.Sigma, noise=noise), policy)
