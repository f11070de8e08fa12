r"""The exact asymptotics of explore-then-commit: what estimating the variances costs.

Fix one bandit whose PE-optimal design p is unique, explore so that the variances of its support are
determined, and let exploration find :math:`\hat\sigma(a) = \sigma(a)(1 + e_a)`. Near the truth the
optimal vertex is the same. Its support is linearly independent, so that weighted least squares
interpolates and the weights do not matter: only the allocation :math:`\hat b_a\propto p_a(1+e_a)`
is wrong. Given exploration the mean squared error is

.. math:: \frac{S^2}{n-\Gamma}\Bigl(\sum_a \frac{p_a}{1+e_a}\Bigr)\Bigl(\sum_a p_a(1+e_a)\Bigr)
          = \frac{S^2}{n-\Gamma}\bigl(1 + \operatorname{Var}_p(e) + O(e^3)\bigr),

where :math:`S^2 = nL_n^*`: first-order errors cancel. With
:math:`e_a \approx (\hat\sigma_a^2-\sigma_a^2)/2\sigma_a^2` and least squares on
:math:`\varphi_a = \operatorname{svec}(x_ax_a^\top)`, :math:`\mathbb E\operatorname{Var}_p(e)` is
:math:`v/\Gamma` to first order, hence

.. math:: R_n \approx S^2\Bigl(\frac{\Gamma}{n^2} + \frac{v}{n\,\Gamma}\Bigr) .

The bias of squared residuals, of order :math:`1/\Gamma`, enters squared and does not count. Where
two vertices cost nearly the same, n must be large before the vertex is safe: the formula speaks of
one bandit at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import (
    Floats,
    check_designs,
    check_features,
    check_rounds,
    check_variances,
)
from speedlib.identification import SPAN_TOLERANCE, quadratic_coordinates

#: Eigenvalues of the exploration's information matrix below this share of the largest are zero.
RANK_TOLERANCE = 1e-12


def estimation_cost(
    features: ArrayLike,
    variances: ArrayLike,
    design: ArrayLike,
    exploration: ArrayLike,
    kappa: float = 2.0,
) -> Floats:
    r"""Return v, the price of estimating the variances, in closed form.

    .. math:: v = \tfrac14\Bigl(\sum_a p_a C_{aa} - \sum_{a,b} p_a p_b C_{ab}\Bigr), \qquad
              C_{ab} = \frac{\varphi_a^\top H^{-1} \bigl(\sum_m q_m\,\kappa\,\sigma_m^4\,
              \varphi_m\varphi_m^\top\bigr) H^{-1}\varphi_b}{\sigma_a^2\sigma_b^2}, \qquad
              H = \sum_m q_m\varphi_m\varphi_m^\top .

    Parameters
    ----------
    features : array, shape (A, d)
    variances : array, shape (..., A)
        The variances, positive.
    design : array, shape (..., A)
        The oracle design p for them.
    exploration : array, shape (A,) or (..., A)
        The exploration design q.
    kappa : float
        :math:`\operatorname{Var}(\eta^2)/\sigma^4`, at least 0: 2 for Gaussian noise, 0 for
        Rademacher noise. See `speedlib.bandit.LinearBandit.kappa`.

    Returns
    -------
    array, shape (...,)
        v, without a unit; infinite where exploration leaves the variance of a support point open.

    Raises
    ------
    ValueError
        If an argument breaks its rule.

    Notes
    -----
    For unweighted least squares, plain or over the positive semidefinite matrices if the truth is
    positive definite. Cost O(A r^2 + r^3) each, with r at most d(d+1)/2.

    Examples
    --------
    On d one-hot actions, explored alike, v is :math:`\kappa d\sum_a p_a(1-p_a)/4`:

    >>> float(estimation_cost(np.eye(2), [1.0, 1.0], [0.5, 0.5], [0.5, 0.5]))
    0.5
    """
    x = check_features(features)
    v = check_variances(variances, len(x), batch=True)
    p, q = check_designs(design), check_designs(exploration)
    if not 0 <= kappa < np.inf:
        raise ValueError(f"kappa: must be at least 0 and finite; got {kappa}")
    phi = quadratic_coordinates(x)
    information = _gram(phi, q)
    inverse = np.linalg.pinv(information, rcond=RANK_TOLERANCE, hermitian=True)
    influence = phi @ inverse
    spread = _gram(phi, q * v**2)
    root = influence / v[..., None]
    covariance = kappa * np.einsum("...ai,...ij,...bj->...ab", root, spread, root, optimize=True)
    diagonal = np.einsum("...aa->...a", covariance)
    mean = np.einsum("...a,...ab,...b->...", p, covariance, p, optimize=True)
    cost = (np.sum(p * diagonal, axis=-1) - mean) / 4.0
    missed = np.linalg.norm(influence @ information - phi, axis=-1)
    lost = (p > 0) & (missed > SPAN_TOLERANCE * np.linalg.norm(phi, axis=-1))
    return np.where(lost.any(axis=-1), np.inf, np.maximum(cost, 0.0))


def _gram(phi: Floats, weights: Floats) -> Floats:
    return np.asarray((phi.T * weights[..., None, :]) @ phi)


def best_exploration_length(cost: ArrayLike, rounds: int) -> Floats:
    r"""Return :math:`\Gamma_* = \sqrt{v\,n}`, which minimises the regret to first order.

    The regret is then about :math:`2 S^2\sqrt v\, n^{-3/2}`; for :math:`\Gamma = \sqrt n` it is
    :math:`S^2(1+v)\, n^{-3/2}`.

    Parameters
    ----------
    cost : array, shape (...,)
        v, at least 0: see `estimation_cost`.
    rounds : int
        The budget n.

    Returns
    -------
    array, shape (...,)
        A length that is neither rounded nor limited by the budget.
    """
    v = np.asarray(cost, dtype=np.float64)
    if not np.all(v >= 0):
        raise ValueError(f"cost: must be at least 0; got {v.min():g}")
    return np.asarray(np.sqrt(v * check_rounds(rounds)))
