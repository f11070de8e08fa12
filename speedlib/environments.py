"""The environments of the paper, by name, and environments fitted to data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from speedlib.bandit import LinearBandit, quadratic_form
from speedlib.checks import (
    Floats,
    check_choice,
    check_count,
    check_features,
    check_finite,
    check_policy,
    check_variances,
    check_vector,
    frozen,
)
from speedlib.estimators import column_scale
from speedlib.psd import fit_psd

#: Ways to prepare a table of features; see `prepare_table`.
PREPROCESSINGS = ("raw", "scale", "centre")


@dataclass(frozen=True, eq=False)
class Environment:
    """A bandit with the target policy to be evaluated in it.

    Parameters
    ----------
    name : str
    bandit : LinearBandit
    policy : array, shape (A,)
        Target policy.
    """

    name: str
    bandit: LinearBandit
    policy: Floats

    def __post_init__(self) -> None:
        policy = check_policy(self.policy, self.bandit.n_actions)
        object.__setattr__(self, "policy", frozen(policy))

    @property
    def value(self) -> float:
        """Value of the target policy."""
        return self.bandit.value(self.policy)


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
    it, is the informative one; the others stand at equally spaced angles from 15 to 45 degrees.
    :math:`\Sigma_* = \operatorname{diag}(\text{low}, \text{high})`, so that the informative action
    has the high variance.

    Parameters
    ----------
    n_actions : int
        Number of actions, at least 3.
    low_variance, high_variance : float
        Variances of the optimal and of the informative action, positive.
    optimal_probability, informative_probability : float
        Target probabilities of the two; the others share the rest evenly.
    noise : str
        Noise law of the bandit.

    Notes
    -----
    The paper gives the three groups of actions, the high variance 0.35 and the probability 0.1 of
    the informative action, but no coordinates (Appendix A.8, file addl_expt.tex): the angles, the
    low variance and the probability 0.8 are our choice.
    """
    n_actions = check_count("n_actions", n_actions, 3)
    if n_actions == 3:
        others = np.array([30.0])
    else:
        others = np.linspace(15.0, 45.0, n_actions - 2)
    angles = np.deg2rad(np.concatenate([[0.0, 90.0], others]))
    features = np.column_stack([np.cos(angles), np.sin(angles)])
    features[1, 0] = 0.0  # the cosine of a right angle, exactly
    variances = check_variances([low_variance, high_variance], 2)
    rest = 1.0 - optimal_probability - informative_probability
    if rest < -1e-12:
        raise ValueError(
            "optimal_probability, informative_probability: their sum must be at most 1; "
            f"got {optimal_probability} + {informative_probability}"
        )
    policy = np.full(n_actions, max(rest, 0.0) / (n_actions - 2))
    policy[:2] = optimal_probability, informative_probability
    bandit = LinearBandit(features, np.array([1.0, 0.0]), Sigma=np.diag(variances), noise=noise)
    return Environment("unit ball", bandit, policy)


def one_hot(policy: ArrayLike, variances: ArrayLike, *, noise: str = "gaussian") -> Environment:
    r"""Return the classical bandit: one coordinate an action, any positive variances.

    Here :math:`b_*(a) \propto \pi(a)\sigma(a)` and
    :math:`nL_n^* = \bigl(\sum_a\pi(a)\sigma(a)\bigr)^2`. All means are 0.
    """
    variances = check_variances(variances, np.size(variances))
    policy = check_policy(policy, variances.size)
    bandit = LinearBandit(
        np.eye(variances.size), np.zeros(variances.size), Sigma=np.diag(variances), noise=noise
    )
    return Environment("one-hot", bandit, policy)


def prepare_table(
    X: ArrayLike, y: ArrayLike, preprocessing: str = "scale"
) -> tuple[Floats, Floats]:
    """Prepare a table of features and targets for a linear model without an intercept.

    Parameters
    ----------
    X : array, shape (N, d)
    y : array, shape (N,)
    preprocessing : {"raw", "scale", "centre"}
        ``"raw"``: as it is; ``"scale"``: each feature divided by its standard deviation;
        ``"centre"``: features and target centred, then features scaled.

    Returns
    -------
    X : array, shape (N, d)
    y : array, shape (N,)

    Raises
    ------
    ValueError
        If a feature is constant (it cannot be scaled) or entries are not finite.
    """
    check_choice("preprocessing", preprocessing, PREPROCESSINGS)
    X = check_features(X, "X")
    target = check_vector("y", y, len(X))
    if preprocessing == "raw":
        return X, target
    spread = X.std(axis=0)
    constant = np.flatnonzero(spread <= 1e-12 * np.abs(X).max(axis=0))
    if constant.size:
        raise ValueError(f"X: column {constant[0]} is constant and cannot be scaled; leave it out")
    if preprocessing == "centre":
        X, target = X - X.mean(axis=0), target - target.mean()
    return X / spread, target


@dataclass(frozen=True)
class Fit:
    """A linear heteroscedastic model fitted to a table.

    Parameters
    ----------
    theta : array, shape (d,)
    Sigma : array, shape (d, d)
    variances : array, shape (N,)
        Fitted variances of the rows.
    residual_variance : float
        Mean squared residual, to be compared with the mean of `variances`.
    iterations : int
        Rounds of the alternation.
    """

    theta: Floats
    Sigma: Floats
    variances: Floats
    residual_variance: float
    iterations: int


def fit_model(
    X: ArrayLike,
    y: ArrayLike,
    *,
    variance_floor: float = 0.05,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
) -> Fit:
    r"""Fit means and variances by alternating weighted least squares with a PSD regression.

    .. math:: \theta \leftarrow \arg\min_\theta \sum_i \frac{(y_i - x_i^\top\theta)^2}{\sigma_i^2},
              \qquad
              \Sigma \leftarrow \arg\min_{S\succeq0} \sum_i
              \bigl[x_i^\top S x_i - (y_i - x_i^\top\theta)^2\bigr]^2,

    starting from ordinary least squares. The positive semidefinite constraint belongs to the
    regression: to clip the eigenvalues of an unconstrained fit instead inflates the variances
    many-fold.

    Parameters
    ----------
    X : array, shape (N, d)
    y : array, shape (N,)
    variance_floor : float
        A multiple of the mean squared residual that the fitted variances are raised to, between 0
        and 1. It is added as a multiple of the inverse second moment of the features, so that the
        variances stay quadratic in the features: no row falls below about this share, on average.
    tolerance : float
        Relative change of theta at which the alternation ends.
    max_iterations : int

    Returns
    -------
    Fit

    Notes
    -----
    The paper fits "a weighted least square estimate" of both without saying how (file expt.tex).
    """
    X = check_features(X, "X")
    y = check_vector("y", y, len(X))
    if len(X) <= X.shape[1]:
        raise ValueError(f"X: a fit needs more rows than columns; got shape {X.shape}")
    if not 0 < variance_floor < 1:
        raise ValueError(f"variance_floor: must lie between 0 and 1; got {variance_floor}")
    scale = column_scale(X)
    variances = np.ones(len(X))
    theta, Sigma = np.zeros(X.shape[1]), np.zeros((X.shape[1], X.shape[1]))
    iterations = 0
    for _ in range(check_count("max_iterations", max_iterations, 1)):
        iterations += 1
        # Rows of variance 0 are fitted exactly, or hold no feature: their weight is immaterial.
        old, sigma = theta, np.sqrt(np.where(variances > 0, variances, 1.0))
        rows = X / scale / sigma[:, None]
        theta = np.asarray(np.linalg.lstsq(rows, y / sigma, rcond=None)[0]) / scale
        squares = (y - X @ theta) ** 2
        Sigma = _fit_sigma(X, squares, variance_floor, Sigma)
        variances = quadratic_form(X, Sigma)
        if np.linalg.norm(theta - old) <= tolerance * np.linalg.norm(theta):
            break
    return Fit(theta, Sigma, variances, float(squares.mean()), iterations)


def _fit_sigma(X: Floats, squares: Floats, floor: float, start: Floats) -> Floats:
    """Regress squared residuals on quadratic forms: a floor, plus a PSD part to be found."""
    n, d = X.shape
    # x^T M^- x averages d over the rows when M is their second moment.
    scale = column_scale(X)
    inverse = np.linalg.pinv((X / scale).T @ (X / scale) / n, rcond=1e-12, hermitian=True)
    base = inverse / np.outer(scale, scale) * (floor * squares.mean() / d)
    root = np.full((1, n), 1.0 / np.sqrt(n))
    target = (squares - quadratic_form(X, base))[None, :]
    free, _ = fit_psd(X[None], root, target, start=(start - base)[None])
    return np.asarray(base + free[0])


def threshold_policy(variances: ArrayLike, n_low: int, low_probability: float) -> Floats:
    r"""Return the target policy of the data experiments.

    The `n_low` actions of highest variance share the probability `low_probability`; the rest is
    spread evenly over the other actions.

    Parameters
    ----------
    variances : array, shape (A,)
    n_low : int
        Number of actions with low probability, 1 to A - 1 (40 for red wine, 30 for air quality).
    low_probability : float
        What they share, between 0 and 1.

    Notes
    -----
    File addl_expt.tex: a level tau of the variance such that so many actions cross it are "set
    with low target probability"; neither tau nor the probability is given.
    """
    variances = check_finite("variances", variances)
    n_low = check_count("n_low", n_low, 1)
    if n_low >= variances.size:
        raise ValueError(f"n_low: must be less than the {variances.size} actions; got {n_low}")
    if not 0 <= low_probability <= 1:
        raise ValueError(f"low_probability: must lie between 0 and 1; got {low_probability}")
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
        Target, which the fitted rewards mimic.
    n_low, low_probability
        See `threshold_policy`.
    preprocessing
        See `prepare_table`. The paper does not state it, and it decides the outcome.
    variance_floor
        See `fit_model`.
    noise : str
        Noise law of the bandit.
    name : str
    """
    X, y = prepare_table(X, y, preprocessing)
    fit = fit_model(X, y, variance_floor=variance_floor)
    policy = threshold_policy(fit.variances, n_low, low_probability)
    return Environment(name, LinearBandit(X, fit.theta, Sigma=fit.Sigma, noise=noise), policy)
