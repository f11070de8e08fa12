r"""Bounds on how precisely exploration determines the variances, as printed and as corrected.

"Printed" functions return the bound in a statement of the paper, with hidden constants as
arguments. The other functions give what replaces the bound on the pages on Lemma 1 and its
consequences.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import Floats, check_designs, check_features, check_variances
from speedlib.quadratic import quadratic_features


def printed_radius(
    exploration_rounds: float,
    d: int,
    n_actions: int,
    largest_variance: float,
    delta: float,
    constant: float = 1.0,
) -> float:
    r"""Return Lemma 1's bound on the error of every variance.

    .. math:: \frac{2 C d^2\sigma^2_{\max}\log(A/\delta)}{\Gamma}

    Parameters
    ----------
    exploration_rounds : float
        :math:`\Gamma`, positive.
    d, n_actions : int
        Dimension of the features and number of actions.
    largest_variance : float
        :math:`\sigma^2_{\max}`.
    delta : float
        The lemma gives its event probability :math:`1 - 8\delta`.
    constant : float
        C, which the paper does not name.

    Notes
    -----
    Lemma 1 (file regret.tex) and its proof (file bandit_app1.tex).
    """
    scale = 2 * constant * d**2 * largest_variance * math.log(n_actions / delta)
    return scale / exploration_rounds


def printed_multiplicative_budget(
    d: int, n_actions: int, variance_ratio: float, delta: float, constant: float = 1.0
) -> float:
    r"""Return the least budget n for which the multiplicative corollary holds, as printed.

    .. math:: \frac{4C^2d^2\sigma^2_{\max}\log^2(A/\delta)}{\sigma^2_{\min}}

    The ratio of variances is :math:`\sigma^2_{\max}/\sigma^2_{\min}`, the rest as in
    `printed_radius`; file op_conc.tex.
    """
    return 4 * constant**2 * d**2 * variance_ratio * math.log(n_actions / delta) ** 2


def printed_additive_budget(
    d: int, n_actions: int, variance_ratio: float, delta: float, constant: float = 1.0
) -> float:
    r"""Return the least budget n for which the additive corollary holds, as printed.

    .. math:: \frac{16C^2d^4\sigma^4_{\max}\log^2(A/\delta)}{\sigma^4_{\min}}

    Arguments as in `printed_multiplicative_budget`; file theorem1.tex.
    """
    return 16 * constant**2 * d**4 * variance_ratio**2 * math.log(n_actions / delta) ** 2


def limit_covariance(
    features: ArrayLike, variances: ArrayLike, exploration: ArrayLike, kappa: float = 2.0
) -> Floats:
    r"""Return the covariance, in the limit, of the errors of all variances, shape (A, A).

    If exploration determines every variance,
    :math:`\sqrt\Gamma\,(\hat\sigma^2-\sigma^2)\to N(0, C)` with

    .. math:: C_{ab} = \varphi_a^\top H^{-1}\Bigl(\sum_m q_m\,\kappa\,\sigma_m^4\,
              \varphi_m\varphi_m^\top\Bigr)H^{-1}\varphi_b, \qquad
              H = \sum_m q_m\varphi_m\varphi_m^\top .

    Parameters
    ----------
    features : array, shape (A, d)
    variances : array, shape (A,)
    exploration : array, shape (A,)
        The exploration design q; it must determine the variance of every action.
    kappa : float
        :math:`\operatorname{Var}(\eta^2)/\sigma^4`.

    Raises
    ------
    ValueError
        If an argument breaks its rule or a variance is left open.
    """
    x = check_features(features)
    v = check_variances(variances, len(x))
    q = check_designs(exploration)
    phi = quadratic_features(x)
    H = (phi * q[:, None]).T @ phi
    inverse = np.linalg.pinv(H, rcond=1e-12, hermitian=True)
    if not np.allclose(phi @ inverse @ H, phi, atol=1e-6 * np.abs(phi).max()):
        raise ValueError("exploration: leaves the variance of an action open")
    influence = phi @ inverse @ phi.T * (np.sqrt(q * kappa) * v)
    return np.asarray(influence @ influence.T)


def limit_quantile(
    covariance: Floats, level: float, rng: np.random.Generator, draws: int = 400_000
) -> float:
    r"""Return a quantile of :math:`\max_a |Z_a|` for Z of law N(0, covariance), by simulation."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-12 * values.max()
    root = vectors[:, kept] * np.sqrt(values[kept])
    largest = np.abs(rng.standard_normal((draws, int(kept.sum()))) @ root.T).max(axis=1)
    return float(np.quantile(largest, level))


def operator_factor(features: ArrayLike) -> float:
    r"""Return :math:`\sqrt m/s_{\min}`, which turns errors of variances into an error of a matrix.

    The m = d(d+1)/2 vectors :math:`\varphi(a) = \operatorname{svec}(x(a)x(a)^\top)` must form a
    basis of the symmetric matrices. Let :math:`s_{\min}` be the smallest singular value of the
    matrix with rows :math:`\varphi(a)`, and let :math:`\Delta` be the error of the noise matrix. If
    every variance has an error :math:`|x(a)^\top\Delta x(a)|\le r`, then
    :math:`\lVert\Delta\rVert\le\lVert\Delta\rVert_F\le r\sqrt m/s_{\min}`.

    Parameters
    ----------
    features : array, shape (d(d+1)/2, d)

    Raises
    ------
    ValueError
        If the number of actions is not d(d+1)/2.
    """
    x = check_features(features)
    m = x.shape[1] * (x.shape[1] + 1) // 2
    if len(x) != m:
        raise ValueError(f"features: expected {m} actions in {x.shape[1]} dimensions; got {len(x)}")
    smallest = np.linalg.svd(quadratic_features(x), compute_uv=False)[-1]
    return float(math.sqrt(m) / smallest) if smallest > 0 else math.inf


def loss_change_bound(loss: float, variances: ArrayLike, estimated: ArrayLike) -> float:
    r"""Return a bound on the change of a fixed design's loss through wrong variances.

    .. math:: \bigl|n\mathcal L_n(b,\hat\sigma^2) - n\mathcal L_n(b,\sigma^2)\bigr|
              \le \max_a\Bigl|\frac{\hat\sigma^2(a)}{\sigma^2(a)}-1\Bigr|\;
              n\mathcal L_n(b,\sigma^2) .

    Parameters
    ----------
    loss : float
        n times the loss with the true variances.
    variances, estimated : array, shape (A,)
        Both positive.
    """
    true = np.asarray(variances, dtype=np.float64)
    return float(loss * np.max(np.abs(np.asarray(estimated) / true - 1)))
