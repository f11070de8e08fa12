"""Confidence intervals of a proportion."""

from __future__ import annotations

from scipy.special import betaincinv

from speedlib.checks import check_count, check_share


def proportion_interval(count: int, size: int, level: float = 0.95) -> tuple[float, float]:
    r"""Return the interval of Clopper and Pearson for a probability.

    If the probability is the lower end, `count` or more successes happen with probability
    :math:`(1-\text{level})/2`; if it is the upper end, `count` or fewer do. Both ends are quantiles
    of beta distributions.

    Parameters
    ----------
    count : int
        Number of successes, 0 to `size`.
    size : int
        Number of independent trials, at least 1.
    level : float
        The least probability with which the interval covers, between 0 and 1.

    Returns
    -------
    low, high : float

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule.

    Examples
    --------
    >>> low, high = proportion_interval(9, 10)
    >>> round(low, 4), round(high, 4)
    (0.555, 0.9975)
    """
    size = check_count("size", size, 1)
    count = check_count("count", count, 0)
    if count > size:
        raise ValueError(f"count: must be at most size = {size}; got {count}")
    tail = (1 - check_share("level", level)) / 2
    low = float(betaincinv(count, size - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, size - count, 1 - tail)) if count < size else 1.0
    return low, high
