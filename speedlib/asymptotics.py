r"""The exact asymptotics of explore-then-commit: what estimating the variances costs.

Fix one bandit whose PE-optimal design p is unique. Let the explored actions determine the variances
of all actions. It is not enough to know the variances on the support of p: if the estimates for
other actions have wrong limits, another support may look cheaper. Let exploration find
:math:`\hat\sigma(a) = \sigma(a)(1 + e_a)`. If these estimates are near the truth, the optimal
vertex is the same. Its support is linearly independent, so weighted least squares interpolates and
the weights do not matter: only the allocation :math:`\hat b_a\propto p_a(1+e_a)` is wrong. Given
exploration, the mean squared error is

.. math:: \frac{S^2}{n-\Gamma}\Bigl(\sum_a \frac{p_a}{1+e_a}\Bigr)\Bigl(\sum_a p_a(1+e_a)\Bigr)
          = \frac{S^2}{n-\Gamma}\bigl(1 + \operatorname{Var}_p(e) + O(e^3)\bigr),

where :math:`S^2 = nL_n^*`: first-order errors cancel. With
:math:`e_a \approx (\hat\sigma_a^2-\sigma_a^2)/2\sigma_a^2` and least squares on
:math:`\varphi_a = \operatorname{svec}(x_ax_a^\top)`, :math:`\mathbb E\operatorname{Var}_p(e)` is
:math:`\psi/\Gamma` to first order, hence

.. math:: R_n \approx S^2\Bigl(\frac{\Gamma}{n^2} + \frac{\psi}{n\,\Gamma}\Bigr) .

The bias of squared residuals is of order :math:`1/\Gamma`; it enters squared and is negligible. If
two vertices cost nearly the same, n must be large before exploration finds the right one, so the
formula holds for one bandit at a time. It also assumes that the variance floor has no effect in the
limit. A floor above the true variance of a support point would change the design permanently, and
the excess error would not vanish.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import real_array
from speedlib._labels import check_order
from speedlib._tolerances import QUADRATIC_RANK_TOLERANCE, QUADRATIC_SPAN_TOLERANCE
from speedlib.checks import (
    LARGEST,
    Counts,
    Floats,
    check_designs,
    check_features,
    check_number,
    check_replications,
    check_rounds,
    check_variances,
)
from speedlib.estimators import pulled_actions
from speedlib.identification import coordinates

__all__ = ["best_exploration_length", "estimation_cost"]


def estimation_cost(
    features: ArrayLike,
    variances: ArrayLike,
    design: ArrayLike,
    exploration: ArrayLike,
    kappa: float = 2.0,
) -> Floats:
    r"""Return :math:`\psi`, the cost of estimating the variances, in closed form.

    .. math:: \psi = \tfrac14\Bigl(\sum_a p_a C_{aa} - \sum_{a,b} p_a p_b C_{ab}\Bigr), \qquad
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
        :math:`\psi`, without a unit; infinite if exploration does not determine the variance of
        some support point.

    Raises
    ------
    ValueError
        If an argument breaks its rule.

    Notes
    -----
    The formula is for unweighted least squares, plain or over the positive semidefinite matrices if
    the truth is positive definite. The cost is O(k r^2) for each value of :math:`\psi`, with k
    explored actions and r at most d(d+1)/2.

    Examples
    --------
    On d one-hot actions, explored equally, :math:`\psi` is :math:`\kappa d\sum_a p_a(1-p_a)/4`:

    >>> round(float(estimation_cost(np.eye(2), [1.0, 1.0], [0.5, 0.5], [0.5, 0.5])), 6)
    0.5
    """
    shared = {"variances": variances, "design": design, "exploration": exploration}
    check_order(features, shared)
    x = check_features(features)
    v = check_variances(variances, len(x), features=x, batch=True)
    p = check_designs(design, len(x), "design")
    q = check_designs(exploration, len(x), "exploration")
    check_replications("design", p, "variances", v)
    check_replications("exploration", q, "variances", v)
    check_replications("exploration", q, "design", p)
    kappa = check_number("kappa", kappa, least=0, below=LARGEST)
    v = v / v.max(axis=-1, keepdims=True)  # only their ratios matter
    phi = coordinates(x)
    explored, support = pulled_actions(q), pulled_actions(p)
    rows, needed = phi[explored] * np.sqrt(_take(q, explored))[..., None], phi[support]
    left, values, right = np.linalg.svd(rows, full_matrices=False)
    kept = values > QUADRATIC_RANK_TOLERANCE * values[..., :1]
    right, inverse = right * kept[..., None], kept / np.where(kept, values, 1.0)
    # Relative errors of the support's variances, in terms of the errors of the explored squares.
    part = needed @ np.swapaxes(right, -1, -2)
    error = part * inverse[..., None, :] / _take(v, support)[..., None]
    share = _take(p, support)[..., None]
    error = error - np.sum(share * error, axis=-2, keepdims=True)
    squares = _take(v, explored)[..., None] ** 2
    spread = kappa * np.swapaxes(left, -1, -2) @ (left * squares)
    cost = np.sum(share * (error @ spread) * error, axis=(-2, -1)) / 4.0
    missed = np.linalg.norm(part @ right - needed, axis=-1)
    outside = missed > QUADRATIC_SPAN_TOLERANCE * np.linalg.norm(needed, axis=-1)
    lost = (_take(p, support) > 0) & outside
    return np.where(lost.any(axis=-1), np.inf, cost)


def _take(values: Floats, index: Counts) -> Floats:
    """Return the values at the indices along the last axis; leading axes are broadcast."""
    leading = np.broadcast_shapes(values.shape[:-1], index.shape[:-1])
    values = np.broadcast_to(values, (*leading, values.shape[-1]))
    index = np.broadcast_to(index, (*leading, index.shape[-1]))
    return np.asarray(np.take_along_axis(values, index, axis=-1))


def best_exploration_length(cost: ArrayLike, rounds: int) -> Floats:
    r"""Return :math:`\Gamma^* = \sqrt{\psi\,n}`, which minimises the regret to first order.

    The regret is then about :math:`2 S^2\sqrt\psi\, n^{-3/2}`; for :math:`\Gamma = \sqrt n` it is
    :math:`S^2(1+\psi)\, n^{-3/2}`.

    Parameters
    ----------
    cost : array, shape (...,)
        :math:`\psi`, at least 0: see `estimation_cost`.
    rounds : int
        The budget n.

    Returns
    -------
    array, shape (...,)
        A length that is neither rounded nor limited by the budget.

    Examples
    --------
    >>> float(best_exploration_length(4.0, rounds=10_000))
    200.0
    """
    v = np.asarray(real_array("cost", cost), dtype=np.float64)
    if not np.all(v >= 0):
        wrong = v[~(v >= 0)].ravel()[0]
        raise ValueError(f"cost: must be at least 0; got {wrong:g}")
    return np.asarray(np.sqrt(v * check_rounds(rounds)))
