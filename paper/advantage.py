"""By what factor a strategy is better than all others, the number behind claims on figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from speedlib.curves import MSECurves


class Advantage(NamedTuple):
    """The least factor by which a strategy is better than others, and where it is that small."""

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
        Whose advantage it is.
    own : MSECurves, optional
        Curves of this strategy at the same numbers of rounds, if they are not among the others'.
    from_rounds : int
        Fewer rounds do not count.
    level : float
        Confidence of the interval, which allows for the number of ratios compared (Bonferroni).

    Returns
    -------
    Advantage
        Above 1, the strategy has the smaller error than each of the others at every number of
        rounds that counts. The interval comes from the logarithms of the ratios.

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
            f"{from_rounds} rounds, where the most is {curves.rounds.max()}"
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
