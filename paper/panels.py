"""Ratios for claims on a panel of a figure: to its worst baseline, or with its best floor.

If the intervals of all single ratios hold, the intervals of these two ratios hold, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from speedlib.comparison import Ratio


def worst_baseline(ratios: Sequence[Ratio]) -> Ratio:
    r"""Return the largest ratio :math:`\max_b r_b` over baselines.

    Parameters
    ----------
    ratios : sequence of Ratio
        A strategy's ratio to each baseline, at least one.

    Returns
    -------
    Ratio
        Its ends are :math:`\max_b l_b` and :math:`\max_b u_b`: if every :math:`[l_b, u_b]` holds
        its ratio, this interval holds the largest ratio. The reference is the baseline with the
        largest estimate. Below 1, the strategy has a smaller error than every baseline.

    Raises
    ------
    ValueError
        If there is no ratio.

    Examples
    --------
    >>> worst_baseline([Ratio(0.5, 0.4, 0.9, "A"), Ratio(0.7, 0.6, 0.8, "B")])
    Ratio(estimate=0.7, low=0.6, high=0.9, reference='B')
    """
    if not ratios:
        raise ValueError("ratios: need at least one; got none")
    worst = max(ratios, key=lambda ratio: ratio.estimate)
    low, high = (max(ends) for ends in zip(*(ratio[1:3] for ratio in ratios), strict=True))
    return Ratio(worst.estimate, low, high, worst.reference)


def best_floor(by_floor: Mapping[float, Ratio]) -> tuple[float, Ratio]:
    r"""Return the smallest ratio :math:`\min_f r_f` over floors, and its floor.

    Parameters
    ----------
    by_floor : mapping of float to Ratio
        A strategy's ratio with each floor, at least one.

    Returns
    -------
    floor : float
        The floor with the smallest estimate, or the first such floor if several have it.
    ratio : Ratio
        The smallest estimate; its interval runs from the smallest lower end to the smallest upper
        end. If every interval holds its ratio, this interval holds the smallest ratio.

    Raises
    ------
    ValueError
        If there is no floor.

    Examples
    --------
    >>> best_floor({0.1: Ratio(0.5, 0.4, 0.9, "A"), 0.3: Ratio(0.7, 0.3, 0.8, "B")})
    (0.1, Ratio(estimate=0.5, low=0.3, high=0.8, reference='A'))
    """
    if not by_floor:
        raise ValueError("by_floor: needs at least one floor; got none")
    floor = min(by_floor, key=lambda each: by_floor[each].estimate)
    ratios = by_floor.values()
    low, high = (min(ends) for ends in zip(*(ratio[1:3] for ratio in ratios), strict=True))
    return floor, Ratio(by_floor[floor].estimate, low, high, by_floor[floor].reference)
