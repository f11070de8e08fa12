r"""Exact probabilities of exploration's results in one dimension, by counting noise sequences.

The actions are 1 and -1, and exploration takes only one of them. The noise of a reward is drawn
from -1, 0, 0, 1 with probability 1/4 each, so :math:`\Sigma_* = 1/2`. If N of :math:`\Gamma` rounds
have a noise other than zero, and the sum of the noise is M, least squares finds
:math:`\hat\Sigma = N/\Gamma - M^2/\Gamma^2`. Of the :math:`4^\Gamma` equally likely sequences

.. math:: \binom\Gamma N\binom{N}{(N+M)/2}\,2^{\Gamma-N}

have these N and M.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from speedlib.checks import check_count


def _by_outcome(rounds: int) -> Iterator[tuple[int, int, int]]:
    """Yield all N and M, and the number of sequences with these values."""
    for N in range(rounds + 1):
        for M in range(-N, N + 1, 2):
            signs = math.comb(N, (N + M) // 2)
            yield N, M, math.comb(rounds, N) * signs * 2 ** (rounds - N)


def share_within(rounds: int, bound: Fraction | int) -> Fraction:
    r"""Return the probability of :math:`\Gamma\,|\hat\Sigma-\Sigma_*| < K`, Lemma 1's event.

    Parameters
    ----------
    rounds : int
        :math:`\Gamma`, at least 1.
    bound : Fraction or int
        :math:`K = 2C\sigma^2_{\max}\log(A/\delta)`, with d = 1.

    Raises
    ------
    TypeError, ValueError
        If `rounds` is not a whole number of at least 1.

    Examples
    --------
    >>> share_within(2, Fraction(1, 2)), share_within(4, 1)
    (Fraction(0, 1), Fraction(3, 8))
    """
    G = check_count("rounds", rounds, 1)
    # Both sides times 2 Γ are whole numbers, up to the bound.
    kept = sum(
        count
        for N, M, count in _by_outcome(G)
        if abs(2 * N * G - G * G - 2 * M * M) < 2 * G * bound
    )
    return Fraction(kept, 4**G)


def share_below_proxy(rounds: int, bound: Fraction | int) -> Fraction:
    r"""Return the probability of :math:`\Sigma_* \le (1+K/\Gamma)\,\hat\Sigma`.

    In this bandit, it is both equation (9) and the multiplicative corollary.

    Parameters
    ----------
    rounds : int
        :math:`\Gamma`, at least 1.
    bound : Fraction or int
        K, which is :math:`2Cd^2\log(A/\delta)/\sigma^2_{\min}` in equation (9).

    Raises
    ------
    TypeError, ValueError
        If `rounds` is not a whole number of at least 1.

    Examples
    --------
    >>> share_below_proxy(4, 1)
    Fraction(55, 128)
    """
    G = check_count("rounds", rounds, 1)
    kept = sum(count for N, M, count in _by_outcome(G) if G**3 <= 2 * (G + bound) * (N * G - M * M))
    return Fraction(kept, 4**G)
