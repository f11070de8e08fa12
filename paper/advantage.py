"""The least factor by which a strategy is better than other strategies, for claims on figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

if TYPE_CHECKING:
    from speedlib.curves import MSECurves


class Advantage(NamedTuple):
    """The least factor by which a strategy is better than others, and where it occurs."""

    estimate: float
    interval: tuple[float, float]
    over: str
    rounds: int


def smallest_advantage(
    curves: MSECurves,
    over: Sequence[str],
    *,
    strategy: str = "SPEED",
    own: MSECurves | None = None,
    from_rounds: int = 0,
    level: float = 0.99,
) -> Advantage:
    r"""Return the least of MSE(other) / MSE(strategy) over others and numbers of rounds.

    Parameters
    ----------
    curves : MSECurves
        Curves of all these strategies.
    over : sequence of str
        The others.
    strategy : str
        The strategy whose advantage is measured.
    own : MSECurves, optional
        Curves of this strategy at the same numbers of rounds; give them if `curves` lacks the
        strategy.
    from_rounds : int
        Smaller numbers of rounds are ignored.
    level : float
        The confidence level of the interval, corrected for all compared ratios (Bonferroni).

    Returns
    -------
    Advantage
        If its estimate is above 1, the strategy has a smaller mean squared error than every other
        strategy at every number of rounds considered. The ends of the interval are computed for the
        logarithm of the ratio.

    Raises
    ------
    ValueError
        If there is nothing to compare.
    """
    if own is not None and not np.array_equal(own.rounds, curves.rounds):
        raise ValueError(f"own: needs the rounds of curves, {curves.rounds}; got {own.rounds}")
    counted = np.flatnonzero(curves.rounds >= from_rounds)
    if not counted.size or not over:
        raise ValueError(
            f"over, from_rounds: leave nothing to compare; got {list(over)} from "
            f"{from_rounds} rounds on, but the curves end at {curves.rounds.max()}"
        )
    mean, error = (part[counted] for part in (own or curves).of(strategy))
    others = np.stack([[part[counted] for part in curves.of(name)] for name in over])
    ratios = others[:, 0] / mean
    spread = np.hypot(others[:, 1] / others[:, 0], error / mean)
    width = -ndtri((1 - level) / 2 / ratios.size) * spread
    low, high = (ratios * np.exp(-width)).min(), (ratios * np.exp(width)).min()
    worst, at = np.unravel_index(ratios.argmin(), ratios.shape)
    rounds = int(curves.rounds[counted[at]])
    return Advantage(float(ratios.min()), (float(low), float(high)), over[int(worst)], rounds)


def expected_advantage(
    own: ArrayLike, other: ArrayLike, *, level: float
) -> tuple[float, float, float]:
    r"""Return the ratio of two expected errors, from runs in which both were measured.

    .. math:: \hat\rho = \frac{\sum_r e_r}{\sum_r s_r}, \qquad
              \operatorname{se}(\log\hat\rho) = \frac{1}{\sqrt R}
              \operatorname{sd}_r\Bigl(\frac{e_r}{\bar e} - \frac{s_r}{\bar s}\Bigr)

    Means over runs are unbiased, however few replications each run has. Counting the runs that a
    strategy wins would not be fair: if its error is mostly small and sometimes large, a few
    replications miss the large errors in most runs.

    Parameters
    ----------
    own, other : array, shape (R,)
        Errors s of the strategy and e of the other strategy, one for each run. Both errors of a run
        have the same unit. All are positive, and R is at least 2.
    level : float
        Level of the interval.

    Returns
    -------
    estimate, low, high : float
        If the estimate is above 1, the strategy has the smaller expected error. The ends of the
        interval are those of a t-interval for the logarithm of the ratio.

    Raises
    ------
    ValueError
        If the arrays differ in shape, an error is not positive and finite, there are fewer than two
        runs, or the level is not strictly between 0 and 1.
    """
    errors = np.stack([np.atleast_1d(np.asarray(each, dtype=float)) for each in (own, other)])
    if errors.ndim != 2 or errors.shape[1] < 2 or not np.all((errors > 0) & np.isfinite(errors)):
        raise ValueError(
            "own, other: need a positive finite error for each of two runs or more; "
            f"got shape {errors.shape[1:]}, smallest {errors.min(initial=np.inf):g}"
        )
    if not 0 < level < 1:
        raise ValueError(f"level: must lie strictly between 0 and 1; got {level}")
    runs, means = errors.shape[1], errors.mean(axis=1)
    influence = errors[1] / means[1] - errors[0] / means[0]
    half = stdtrit(runs - 1, (1 + level) / 2) * influence.std(ddof=1) / np.sqrt(runs)
    ratio = float(means[1] / means[0])
    return ratio, float(ratio * np.exp(-half)), float(ratio * np.exp(half))
