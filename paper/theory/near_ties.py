r"""Six actions in three dimensions with two supports that cost nearly the same.

The actions are :math:`(\pm1,0,1)`, :math:`(0,\pm1,1)`, :math:`(1,0,0)` and :math:`(1,1,0)`, and
:math:`\Sigma_* = \operatorname{diag}(1, 1+g, 1)`. At g = 0 the first four have the variance 2, and
their two couples are equally good supports; g makes the first couple the better one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from speedlib import LinearBandit

Floats = NDArray[np.float64]

#: The features, shape (6, 3), and the target policy.
POINTS: Floats = np.array([[1.0, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1], [1, 0, 0], [1, 1, 0]])
POLICY: Floats = np.array([0.28, 0.18, 0.28, 0.18, 0.04, 0.04])
POINTS.setflags(write=False)
POLICY.setflags(write=False)


def near_tie(gap: float, noise: str = "gaussian") -> LinearBandit:
    r"""Return the bandit with :math:`\Sigma_* = \operatorname{diag}(1, 1+g, 1)`.

    Parameters
    ----------
    gap : float
        g, above -1.
    noise : str
        The law of the noise, one of the laws that `LinearBandit` accepts.

    Examples
    --------
    >>> near_tie(0.5).variances.round(6).tolist()
    [2.0, 2.0, 2.5, 2.5, 1.0, 2.5]
    """
    if not (math.isfinite(gap) and gap > -1):
        raise ValueError(f"gap: must be a finite number above -1; got {gap}")
    Sigma = np.diag([1.0, 1.0 + gap, 1.0])
    return LinearBandit(POINTS, np.array([1.0, 0.0, 0.0]), Sigma=Sigma, noise=noise)
