"""Fit linear heteroscedastic models to tables, and check the fitted variances against residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from speedlib._extras import needed_by
from speedlib._labels import check_order
from speedlib._tolerances import CONSTANT_TOLERANCE, MODEL_CHANGE, MOMENT_RANK_TOLERANCE
from speedlib.bandit import quadratic_values
from speedlib.checks import (
    LARGEST,
    Counts,
    Floats,
    check_choice,
    check_count,
    check_features,
    check_not_negative,
    check_number,
    check_share,
    check_sizes,
    check_variances,
    check_vector,
)
from speedlib.estimators import column_scale
from speedlib.psd import regress_psd

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "PREPROCESSINGS",
    "Calibration",
    "Fit",
    "calibration",
    "fit_model",
    "fit_variances",
    "prepare_table",
]

#: Ways to prepare a table of features; see `prepare_table`.
PREPROCESSINGS = ("raw", "scale", "centre")


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
    check_order(X, {"y": y}, name="X")
    X = check_features(X, "X")
    target = check_sizes("y", check_vector("y", y, len(X)))
    if preprocessing == "raw":
        return X, target
    spread = X.std(axis=0)
    constant = np.flatnonzero(spread <= CONSTANT_TOLERANCE * np.abs(X).max(axis=0))
    if constant.size:
        raise ValueError(f"X: column {constant[0]} is constant and cannot be scaled; leave it out")
    if preprocessing == "centre":
        X, target = X - X.mean(axis=0), target - target.mean()
    return X / spread, target


@dataclass(frozen=True, eq=False)
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
    tolerance: float = MODEL_CHANGE,
    max_iterations: int = 100,
) -> Fit:
    r"""Fit means and variances by alternating weighted least squares with a PSD regression.

    .. math:: \theta \leftarrow \arg\min_\theta \sum_i \frac{(y_i - x_i^\top\theta)^2}{\sigma_i^2},
              \qquad
              \Sigma \leftarrow \arg\min_{S\succeq0} \sum_i
              \bigl[x_i^\top S x_i - (y_i - x_i^\top\theta)^2\bigr]^2,

    starting from ordinary least squares. The regression itself must have the positive semidefinite
    constraint. Clipping the eigenvalues of an unconstrained fit instead makes the variances many
    times too large.

    Parameters
    ----------
    X : array, shape (N, d)
    y : array, shape (N,)
    variance_floor : float
        Share of the mean squared residual, between 0 and 1, to which the fitted variances are
        raised. To keep the variances quadratic in the features, a multiple of the inverse second
        moment matrix of the features is added to the fitted matrix. On average over the rows, it
        adds this share to the variances.
    tolerance : float
        The alternation ends when theta changes by less than this share.
    max_iterations : int

    Returns
    -------
    Fit

    Notes
    -----
    The paper fits "a weighted least square estimate" of means and variances without saying how
    (file expt.tex).
    """
    check_order(X, {"y": y}, name="X")
    X = check_features(X, "X")
    y = check_sizes("y", check_vector("y", y, len(X)))
    if len(X) <= X.shape[1]:
        raise ValueError(f"X: a fit needs more rows than columns; got shape {X.shape}")
    variance_floor = check_share("variance_floor", variance_floor)
    tolerance = check_number("tolerance", tolerance, least=0)
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
        Sigma = _regress(X, squares, variance_floor, Sigma)
        variances = quadratic_values(X, Sigma)
        if np.linalg.norm(theta - old) <= tolerance * np.linalg.norm(theta):
            break
    return Fit(theta, Sigma, variances, float(squares.mean()), iterations)


def fit_variances(X: ArrayLike, squares: ArrayLike, *, variance_floor: float = 0.05) -> Floats:
    r"""Fit quadratic variances to squared residuals of any model.

    .. math:: \Sigma = \arg\min_{S\succeq0} \sum_i \bigl[x_i^\top S x_i - e_i^2\bigr]^2

    Parameters
    ----------
    X : array, shape (N, d)
        Features of the rows.
    squares : array, shape (N,)
        Squared residuals.
    variance_floor : float
        See `fit_model`.

    Returns
    -------
    array, shape (d, d)
    """
    check_order(X, {"squares": squares}, name="X")
    X = check_features(X, "X")
    squares = _check_squares(squares, len(X))
    variance_floor = check_share("variance_floor", variance_floor)
    return _regress(X, squares, variance_floor, np.zeros((X.shape[1], X.shape[1])))


def _check_squares(squares: ArrayLike, size: int) -> Floats:
    """Return squared residuals, whose own squares must stay within the range of floats."""
    array = check_not_negative("squares", check_vector("squares", squares, size))
    if array.max() > LARGEST**2:
        raise ValueError(f"squares: must be at most {LARGEST**2:g}; got {array.max():g}")
    return array


def _regress(X: Floats, squares: Floats, floor: float, start: Floats) -> Floats:
    """Regress squared residuals on quadratic forms: a floor, plus a PSD part to be found."""
    n, d = X.shape
    # x^T M^- x averages d over the rows when M is their second moment.
    scale = column_scale(X)
    moment = (X / scale).T @ (X / scale) / n
    inverse = np.linalg.pinv(moment, rcond=MOMENT_RANK_TOLERANCE, hermitian=True)
    base = inverse / np.outer(scale, scale) * (floor * squares.mean() / d)
    root = np.full((1, n), 1.0 / np.sqrt(n))
    target = (squares - quadratic_values(X, base))[None, :]
    free, _ = regress_psd(X[None], root, target, X, (start - base)[None])
    return np.asarray(base + free[0])


@dataclass(frozen=True, eq=False)
class Calibration:
    """Fitted variances compared with squared residuals, in groups of rows.

    Parameters
    ----------
    rows : array of int, shape (G,)
        Rows of each group; the groups go from the lowest fitted variances to the highest.
    fitted : array, shape (G,)
        Mean fitted variance of each group.
    observed : array, shape (G,)
        Mean squared residual of each group.
    standard_error : array, shape (G,)
        Standard error of `observed`, from the spread of the squares in the group.
    """

    rows: Counts
    fitted: Floats
    observed: Floats
    standard_error: Floats

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each group, numbered from 1 (needs pandas)."""
        with needed_by("Calibration.to_frame", "tables"):
            import pandas as pd

        columns = {
            "rows": self.rows,
            "fitted variance": self.fitted,
            "mean squared residual": self.observed,
            "standard error": self.standard_error,
        }
        index = pd.RangeIndex(1, len(self.rows) + 1, name="group")
        return pd.DataFrame(columns, index=index)


def calibration(variances: ArrayLike, squares: ArrayLike, groups: int = 10) -> Calibration:
    r"""Compare fitted variances with squared residuals, group by group.

    If the model is right, the mean of :math:`e_i^2` over rows of similar :math:`x_i^\top\Sigma x_i`
    is the mean of these fitted variances, up to its standard error. If the two differ by more, the
    variances are not quadratic in the features, or the means are not linear.

    Parameters
    ----------
    variances : array, shape (N,)
        Fitted variances.
    squares : array, shape (N,)
        Squared residuals.
    groups : int
        Number of groups, equally large up to one row; by default deciles.

    Returns
    -------
    Calibration

    Raises
    ------
    ValueError
        If there are fewer than two rows per group.
    """
    check_order(variances, {"squares": squares}, name="variances")
    variances = check_variances(variances, allow_zero=True)
    squares = _check_squares(squares, variances.size)
    groups = check_count("groups", groups, 1)
    if variances.size < 2 * groups:
        raise ValueError(
            f"groups: each group needs two of the {variances.size} rows; got {groups} groups"
        )
    parts = np.array_split(np.argsort(variances, kind="stable"), groups)
    rows = np.array([part.size for part in parts])
    spread = np.array([squares[part].std(ddof=1) for part in parts])
    return Calibration(
        rows,
        np.array([variances[part].mean() for part in parts]),
        np.array([squares[part].mean() for part in parts]),
        spread / np.sqrt(rows),
    )
