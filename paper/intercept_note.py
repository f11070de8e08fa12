"""The note of a page on the intercept: whether the model has it, and whether the data need it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paper.intercept import FAR, constant_term


def intercept_note(
    X: ArrayLike, y: ArrayLike, theta: ArrayLike, *, intercept: bool, centred: bool
) -> str:
    """Say in Markdown whether the model has an intercept, and whether the data need it.

    Parameters
    ----------
    X, y : array, shapes (N, d) and (N,)
        Features, without the intercept, and target as the model takes them.
    theta : array, shape (d,) or (d + 1,)
        The fit; an intercept comes last.
    intercept, centred : bool
        Whether the model has an intercept, and whether means were subtracted from features and
        target.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    theta = np.asarray(theta, dtype=float)
    constant = constant_term(X, y)
    told = len(X) > X.shape[1] + 1
    if intercept and told and constant is None:
        return (
            "The model already has an intercept without `intercept = true`: multiples of the "
            "features sum to a constant."
        )
    if intercept:
        off = ", after the means were subtracted" if centred else ""
        return f"The model has an intercept; its estimate is {theta[-1]:.6g}{off}."
    if centred:
        return (
            "The model has no intercept, since the means were subtracted from features and target. "
            "The design then treats the mean of the target as known, and the variances have no "
            "constant part; if this is wrong, choose `intercept = true`."
        )
    if not told:
        return (
            "The model has no intercept, and there are too few rows to judge whether it needs one."
        )
    if constant is None:
        return (
            "The model needs no intercept: multiples of the features sum to a constant, which "
            "serves as one."
        )
    said = f"{constant.estimate:.4g} (standard error {constant.standard_error:.2g})"
    if not constant.wanted:
        return (
            f"The model has no intercept, and the means do not clearly need one: it would be "
            f"{said}, within {FAR:g} standard errors of zero."
        )
    misses = _residuals(X, y, theta)
    return (
        f"**The model has no intercept, but these data need one:** it would be {said}, more "
        f"than {FAR:g} standard errors from zero. Without it the rows lie on average {misses}, and "
        "the error of the means counts as noise: **do not trust the variances, the value and the "
        "design below, and choose `intercept = true`.**"
    )


def _residuals(X: NDArray[np.float64], y: NDArray[np.float64], theta: NDArray[np.float64]) -> str:
    rest = y - X @ theta
    side = "above" if rest.mean() >= 0 else "below"
    error = rest.std(ddof=1) / np.sqrt(len(rest))
    return f"{abs(rest.mean()):.3g} (standard error {error:.2g}) {side} the fit"
