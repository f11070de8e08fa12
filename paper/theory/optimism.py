r"""The bound on the regret of booked optimism, and the inequalities of its proof.

The bound is not in the paper. Let :math:`\ell = \log n`, and let A be the number of actions that
occur in a vertex. Each of these is first pulled :math:`t_0 = \lceil 48\ell\rceil + 1` times, so
:math:`n_0 = At_0` rounds are used and :math:`N = n - n_0` are left. With T rewards, the confidence
width is :math:`z = \sqrt{3\ell/(T - 1)} \le \frac14`, and :math:`\tilde\sigma = \hat\sigma/(1 +
\sqrt2z)` is the optimistic deviation. On the good event, :math:`\hat\sigma = \sigma(1 + e)` with
:math:`-\frac43z \le e \le \sqrt2z`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2

from speedlib.checks import Floats

#: The constants in the theorem's bound.
BAD = 6.0
#: The constants in its proof.
WIDER, OPTIMISM, MOST, SQUARE = 4.13, 5.7, 1.05, 24.0
PRODUCT, SPREAD, COST = 9 / 4, 9.2, 1.84
#: By how much optimistic shares exceed those booked, and true shares exceed them.
LIGHTER, HEAVIER = 1.36, 2.04
#: What is left of a round's price if its vertex is not optimal, and of all rounds' together.
NEAR_ETA, NEAR_SQUARE, NEAR_SUM = 3.05, 38.7, 390.0
#: By how much a squared width is larger if it is computed only when a count has grown by half.
STALE = 1.51
#: The widest z, and the least number of squares in a scatter after the first stage.
WIDEST, LEAST_FREEDOM = 0.25, 53


@dataclass(frozen=True)
class Constants:
    """The constants of the bound: general, with a gap, and with one vertex.

    Parameters
    ----------
    root, logs : float
        Constants of the two last terms, for every bandit.
    near, near_logs : float
        Constants of the two terms with a gap.
    single : float
        Constant of the term with one vertex.
    """

    root: float
    logs: float
    near: float
    near_logs: float
    single: float


#: If the vertex is computed in every round, or only when a count has grown by half.
EVERY_ROUND = Constants(root=40, logs=190, near=1190, near_logs=117, single=28)
GROWN_BY_HALF = Constants(root=49, logs=285, near=1800, near_logs=176, single=42)


def first_pulls(rounds: float) -> int:
    r"""Return :math:`t_0 = \lceil 48\log n\rceil + 1`.

    Examples
    --------
    >>> first_pulls(10_000)
    444
    """
    return math.ceil(48 * math.log(rounds)) + 1


@dataclass(frozen=True)
class Budget:
    r"""The numbers that the bound needs: n, A, :math:`n_0` and N.

    Parameters
    ----------
    rounds : int
        n; more than the first stage takes.
    actions : int
        A, of those that occur in a vertex.
    constants : Constants
    """

    rounds: float
    actions: int
    constants: Constants = EVERY_ROUND

    def __post_init__(self) -> None:
        if self.later < 1:
            raise ValueError(
                f"rounds: must exceed the {self.first} rounds of the first stage; got {self.rounds}"
            )

    @property
    def first(self) -> int:
        r"""Return :math:`n_0`."""
        return self.actions * first_pulls(self.rounds)

    @property
    def later(self) -> float:
        """Return N."""
        return self.rounds - self.first

    @property
    def start(self) -> float:
        r"""Return :math:`(n_0 + 6A)/(nN)`, the first stage and the bad event."""
        return (self.first + BAD * self.actions) / (self.rounds * self.later)

    @property
    def spent(self) -> float:
        r"""Return :math:`A\log n\,(1 + \log N)/N^2`, which the three forms share."""
        logs = math.log(self.rounds) * (1 + math.log(self.later))
        return self.actions * logs / self.later**2

    def general(self) -> float:
        r"""Return the bound on :math:`R_n/S^2` for every bandit."""
        root = math.sqrt(self.actions * math.log(self.rounds) / self.later) / self.later
        return self.start + self.constants.root * root + self.constants.logs * self.spent

    def gap(self, relative: float) -> float:
        r"""Return the bound on :math:`R_n/S^2` if other vertices cost S (1 + relative) at least."""
        near = self.actions * math.log(self.rounds) / relative / self.later**2
        return self.start + self.constants.near * near + self.constants.near_logs * self.spent

    def single(self) -> float:
        r"""Return the bound on :math:`R_n/S^2` if there is one vertex."""
        return self.start + self.constants.single * self.spent


def tails(freedom: ArrayLike, ell: ArrayLike) -> tuple[Floats, Floats]:
    r"""Return the exact probabilities that a deviation errs by more than its bounds.

    :math:`P(e > \sqrt2z)` and :math:`P(e < -\frac43z)` for a scatter of m squares,
    :math:`z^2 = 3\ell/m`. The proof has :math:`e^{-3\ell}` for each where :math:`z \le \frac14`.
    """
    m, z = np.asarray(freedom, float), np.sqrt(3 * np.asarray(ell, float) / freedom)
    above = chi2.sf(m * (1 + math.sqrt(2) * z) ** 2, m)
    below = chi2.cdf(m * (1 - 4 / 3 * z) ** 2, m)
    return np.asarray(above), np.asarray(below)


def doob_moments(freedom: int) -> tuple[Fraction, Fraction]:
    r"""Return Doob's bounds on the fourth moments of two maxima, exactly.

    :math:`M_m = \chi^2_m/m`, taken along one sequence of squares, is a martingale as m decreases,
    so

    .. math:: E\max_{k\ge m}M_k^4 \le \bigl(\tfrac43\bigr)^4\,EM_m^4, \qquad
              E\max_{k\ge m}M_k^{-4} \le \bigl(\tfrac43\bigr)^4\,EM_m^{-4} .

    Parameters
    ----------
    freedom : int
        m, more than 8.

    Examples
    --------
    >>> [round(float(bound), 2) for bound in doob_moments(53)]
    [3.93, 4.72]
    """
    if freedom <= 8:
        raise ValueError(f"freedom: must be more than 8; got {freedom}")
    m = Fraction(freedom)
    doob = Fraction(4, 3) ** 4
    up = m * (m + 2) * (m + 4) * (m + 6) / m**4
    down = m**4 / ((m - 2) * (m - 4) * (m - 6) * (m - 8))
    return doob * up, doob * down


@dataclass(frozen=True, eq=False)
class Round:
    r"""One round of the proof on its good event, in the coordinates in which it is searched.

    Parameters
    ----------
    shares : array, shape (k,)
        :math:`p`, the shares of the chosen vertex by the true deviations.
    widths : array, shape (k,)
        :math:`z`, between 0 and a quarter.
    positions : array, shape (k,)
        Where the error lies between its bounds: 0 for :math:`-\frac43z`, 1 for :math:`\sqrt2z`.
    """

    shares: Floats
    widths: Floats
    positions: Floats

    @property
    def errors(self) -> Floats:
        r"""Return e, with :math:`\hat\sigma = \sigma(1 + e)`."""
        low, high = -4 / 3 * self.widths, math.sqrt(2) * self.widths
        return np.asarray(low + self.positions * (high - low))

    @property
    def booked(self) -> Floats:
        r"""Return :math:`q \propto p(1 + e)`."""
        size = self.shares * (1 + self.errors)
        return np.asarray(size / size.sum())

    @property
    def excess(self) -> float:
        r"""Return the largest possible :math:`\eta`, where the optimistic cost equals S."""
        optimistic = (1 + self.errors) / (1 + math.sqrt(2) * self.widths)
        return float(1 / (self.shares @ optimistic) - 1)

    @property
    def optimistic(self) -> Floats:
        r"""Return :math:`\tilde q`, the shares by optimistic deviations."""
        size = self.booked / (1 + math.sqrt(2) * self.widths)
        return np.asarray(size / size.sum())

    @property
    def product(self) -> float:
        r"""Return :math:`\bigl(\sum p(1+e)\bigr)\bigl(\sum p/(1+e)\bigr) - 1`."""
        p, e = self.shares, self.errors
        # Written as a sum of squares, so nothing cancels.
        ratio = (e[:, None] - e) ** 2 / ((1 + e[:, None]) * (1 + e))
        return float(p @ ratio @ p / 2)

    def slacks(self) -> dict[str, float]:
        """Return right over left side of every inequality of a round; infinite if the left is 0."""
        q, z, p, e = self.booked, self.widths, self.shares, self.errors
        linear, square, eta = float(q @ z), float(q @ z**2), self.excess
        wider = (1 + math.sqrt(2) * z) / (1 + e) - 1
        at = int(np.argmax(wider / np.maximum(z, 1e-12)))
        # Expanded, so nothing cancels.
        together = eta * (2 + eta) + (1 + eta) ** 2 * self.product
        logs = SQUARE + SPREAD * (1 + MOST) ** 2
        near = NEAR_SQUARE * square
        pairs = {
            "optimism": (OPTIMISM * linear, eta),
            "most": (MOST, eta),
            "square": (SQUARE * square, eta**2),
            "product": (PRODUCT * float(p @ e**2), self.product),
            "spread": (SPREAD * square, PRODUCT * float(p @ e**2)),
            "wider": (WIDER * float(z[at]), float(wider[at])),
            "together": (2 * eta + logs * square, together),
            "lighter": (LIGHTER, float(np.max(self.optimistic / q))),
            "heavier": (HEAVIER, float(np.max(p / q))),
            # The difference is convex in eta, so its ends are enough.
            "gap": (NEAR_ETA * eta + near, together),
            "no loss": (near, self.product),
        }
        return {
            name: right / left if left > 1e-12 else math.inf
            for name, (right, left) in pairs.items()
        }

    @staticmethod
    def sample(size: int, rng: np.random.Generator) -> Round:
        """Draw a round with `size` actions."""
        widths = WIDEST * rng.uniform(0, 1, size) ** rng.choice([0.2, 1.0, 3.0])
        places = np.asarray(rng.integers(0, 2, size), dtype=np.float64)
        return Round(rng.dirichlet(np.full(size, 0.5)), widths, places)

    def perturb(self, scale: float, rng: np.random.Generator) -> Round:
        """Return a round near this one."""
        size = len(self.shares)
        shares = self.shares * np.exp(4 * scale * rng.standard_normal(size))
        return Round(
            shares / shares.sum(),
            np.clip(self.widths + WIDEST * scale * rng.standard_normal(size), 0, WIDEST),
            np.clip(self.positions + scale * rng.standard_normal(size), 0, 1),
        )


def helmert(rewards: Floats) -> Floats:
    r"""Return what each further reward adds to the scatter, before it is squared, shape (T - 1,).

    The entries are :math:`Z_k = \sqrt{(k-1)/k}\,(r_k - \bar r_{k-1})` for k from 2. If the rewards
    are Gaussian, the :math:`Z_k` are independent, have mean 0 and the variance of the rewards, and
    are independent of all later means.

    Examples
    --------
    >>> helmert(np.array([1.0, 3.0, 2.0])).round(3).tolist()
    [1.414, 0.0]
    """
    k = np.arange(2, len(rewards) + 1)
    means = np.cumsum(rewards)[:-1] / (k - 1)
    return np.asarray(np.sqrt((k - 1) / k) * (rewards[1:] - means))


def bad_price(shares: Floats, ratios: Floats, widths: Floats) -> float:
    r"""Return right side over left side of the bound on a round's price that holds in every run.

    .. math:: S_t^2\Bigl(\sum p\,\rho\Bigr)\Bigl(\sum\frac p\rho\Bigr) \le 1.84\,\rho_+^2\rho_-^2S^2

    with :math:`\rho_+`, :math:`\rho_-` the largest of :math:`\rho` and of :math:`1/\rho`, and S as
    small as optimism allows.

    Parameters
    ----------
    shares, ratios, widths : array, shape (k,)
        :math:`p`, :math:`\rho = \hat\sigma/\sigma > 0`, and :math:`z` up to a quarter.
    """
    least = float(shares @ (ratios / (1 + math.sqrt(2) * widths)))
    product = float((shares @ ratios) * (shares @ (1 / ratios)))
    return float(COST * least**2 / ratios.min() ** 2 / product)


def split_excess(weights: Floats, booked: Floats) -> float:
    r"""Return right side over left side of the Cauchy-Schwarz step.

    .. math:: \sum_a\frac{(\sum_tw_{t,a})^2}{B_a} \le \sum_t\sum_a\frac{w_{t,a}^2}{q_t(a)}

    for deviations of 1, with :math:`B_a = \sum_tq_t(a)`.

    Parameters
    ----------
    weights, booked : array, shape (rounds, A)
    """
    left = float(np.sum(weights.sum(axis=0) ** 2 / booked.sum(axis=0)))
    return float(np.sum(weights**2 / booked)) / left


def booking_sums(booked: Floats, ell: float) -> tuple[float, float]:
    r"""Return right side over left side of the two sums over all rounds.

    :math:`\sum_t\sum_aq_tz_a \le 2\sqrt{3\ell AN}` and
    :math:`\sum_t\sum_aq_tz_a^2 \le 3\ell A(1 + \log N)`, with the widest z that the tracking
    allows, :math:`z_a^2 = 3\ell/(B_a(t-1) + 1)`.

    Parameters
    ----------
    booked : array, shape (N, A)
    ell : float
    """
    later, n_actions = booked.shape
    before = np.cumsum(booked, axis=0) - booked
    square = 3 * ell / (before + 1)
    linear = float(np.sum(booked * np.sqrt(square)))
    return (
        2 * math.sqrt(3 * ell * n_actions * later) / linear,
        3 * ell * n_actions * (1 + math.log(later)) / float(np.sum(booked * square)),
    )


def gap_sums(booked: Floats, chosen: NDArray[np.bool_], ell: float) -> tuple[float, float]:
    r"""Return right side over left side of the two steps with a gap.

    With :math:`\eta_t = 5.7\sum_aq_tz_a` in the m chosen rounds, as large as it may be there, and
    :math:`\delta` the least of them,

    .. math:: \sum\eta_t \le 11.4\sqrt{3\ell Am}, \qquad \sum\eta_t \le 390\,A\ell/\delta,

    where z counts the bookings of all rounds, :math:`z_a^2 = 3\ell/(B_a(t-1) + 1)`.

    Parameters
    ----------
    booked : array, shape (N, A)
    chosen : array of bool, shape (N,)
        The rounds booked to vertices that are not optimal, one at least.
    ell : float
    """
    n_actions, m = booked.shape[1], int(chosen.sum())
    before = np.cumsum(booked, axis=0) - booked
    eta = OPTIMISM * np.sum(booked * np.sqrt(3 * ell / (before + 1)), axis=1)[chosen]
    total = float(eta.sum())
    return (
        2 * OPTIMISM * math.sqrt(3 * ell * n_actions * m) / total,
        NEAR_SUM * n_actions * ell / float(eta.min()) / total,
    )


def stale_slack(pulls: ArrayLike) -> Floats:
    r"""Return right over left side of :math:`T(t) - 1 \le 1.51\,(T(s) - 1)` at T(t) = 3/2 T(s).

    Parameters
    ----------
    pulls : array_like
        :math:`T(s)`, when vertex and shares were computed.
    """
    then = np.asarray(pulls, float)
    return np.asarray(STALE * (then - 1) / (3 / 2 * then - 1))
