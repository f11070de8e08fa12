"""Decide whether a table needs an intercept, that is, a constant in the linear model.

If the table needs an intercept, a model without it counts the error of its means as noise. The
variances are then too large and the value is wrong. The design is wrong, too, since it relies on
them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

#: A constant this number of standard errors from zero is clearly not zero.
FAR = 3.0


@dataclass(frozen=True)
class Constant:
    """The constant that least squares would add to a linear model.

    Attributes
    ----------
    estimate : float
        The estimate of the constant, in units of the target.
    standard_error : float
        The standard error of the estimate, which is valid for any variances.
    """

    estimate: float
    standard_error: float

    @property
    def wanted(self) -> bool:
        """Whether the estimate is more than `FAR` standard errors from zero."""
        return abs(self.estimate) > FAR * self.standard_error


def constant_term(X: ArrayLike, y: ArrayLike) -> Constant | None:
    r"""Estimate the constant :math:`c` of :math:`y = x^\top\theta + c + \varepsilon`.

    The estimate is by least squares. Its standard error is HC3 of MacKinnon and White (1985,
    *Journal of Econometrics* 29), :math:`\bigl[\sum_i (p_i e_i / (1 - h_i))^2\bigr]^{1/2}`, where
    :math:`p` is the row of the pseudo-inverse that gives the constant, :math:`e` are the residuals
    and :math:`h` the leverages. The mean residual of the fit without a constant would be no test,
    since it is also small if a combination of the features is nearly constant.

    Parameters
    ----------
    X : array, shape (N, d)
        Features as the model takes them.
    y : array, shape (N,)
        The target.

    Returns
    -------
    Constant or None
        None if a combination of the features is constant, or there are too few rows.

    Examples
    --------
    >>> constant = constant_term([[-1], [0], [1], [2]], [9, 11, 11, 13])
    >>> round(constant.estimate, 1), constant.wanted
    (10.4, True)
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    scaled = X / np.sqrt(np.mean(X**2, axis=0))
    design = np.column_stack([scaled, np.ones(len(X))])
    rank = np.linalg.matrix_rank(design)
    if rank == np.linalg.matrix_rank(scaled) or rank >= len(X):
        return None
    inverse = np.linalg.pinv(design)
    estimates = inverse @ y
    leverage = np.einsum("nd,dn->n", design, inverse)
    # A row of leverage 1 is fitted exactly and has no information about the noise.
    left = (y - design @ estimates) / np.maximum(1 - leverage, 1e-6)
    return Constant(float(estimates[-1]), float(np.linalg.norm(inverse[-1] * left)))
