"""A simulated bandit for rehearsing an experiment, in any units of the features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from speedlib import LinearBandit

#: A feature whose spread is this share of its size is constant up to rounding.
CONSTANT = 1e-9


def rehearsal_bandit(
    features: ArrayLike,
    *,
    effects: float = 1.0,
    noise: Sequence[float] = (),
    rng: np.random.Generator,
) -> LinearBandit:
    r"""Draw a linear bandit on the scale of its features.

    .. math:: \theta_j = e\,\frac{z_j}{s_j}, \qquad z_j \sim N(0, 1), \qquad
              \Sigma = \mathrm{diag}\Bigl(\frac{\tau_j^2}{m_j^2}\Bigr),

    where :math:`s_j` is the standard deviation of feature :math:`j` over the actions, :math:`m_j`
    the root of its mean square, and :math:`e` and :math:`\tau` are the effects and the noise. So
    the mean reward differs between actions by about :math:`e` for each feature, and a feature of
    usual size adds noise of standard deviation :math:`\tau_j`. A constant feature moves all actions
    equally; its :math:`s_j` is its size.

    Parameters
    ----------
    features : array, shape (A, d)
    effects : float
        In units of reward, at least 0.
    noise : sequence of float, length d
        In units of reward, each greater than 0; empty for 1 each.
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        If `noise` has another length, a noise is not greater than 0, or `effects` is negative.
    """
    X = np.asarray(features, dtype=float)
    d = X.shape[1]
    tau = np.asarray(noise if len(noise) else np.ones(d), dtype=float)
    if tau.shape != (d,) or not np.all(tau > 0):
        raise ValueError(
            f"noise: give {d} numbers greater than 0, one for each feature (an intercept comes "
            f"last), or none, which means 1 each; got {list(noise)}"
        )
    if not effects >= 0:
        raise ValueError(f"effects: must be at least 0; got {effects}")
    # Divide by the sizes first, since squares of small units vanish.
    size = np.abs(X).max(axis=0)
    size[size == 0] = 1.0
    scaled = X / size
    spread = scaled.std(axis=0)
    spread = np.where(spread > CONSTANT, spread, 1.0)
    root = np.sqrt(np.mean(scaled**2, axis=0))
    root[root == 0] = 1.0
    theta = effects * rng.normal(size=d) / spread / size
    return LinearBandit(X, theta, Sigma=np.diag((tau / root / size) ** 2))
