r"""Search for the worst case of a statement about all bandits.

Random draws are weak evidence for such a statement, since a counterexample may lie in a corner that
they never visit. An adversary keeps the worst case so far and changes it a little, in smaller and
smaller steps, and sometimes starts again elsewhere. A counterexample that it finds refutes the
statement; if it finds none, one may still exist. So the pages state how many cases were tried, and
show the worst.

`search` works on anything that can be drawn and changed. `Bandits` is a family of bandits to be
searched: directions and lengths of features, the number of copies of each, the matrix of variances
with free eigenvalues and axes, and the policy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Instance = TypeVar("Instance")

#: Length of the first steps from a new start, in units of the range of each move.
FIRST_SCALE = 0.5
#: Factor of the step after a success, and after a failure: one success in five keeps it.
LONGER, SHORTER = 1.5, 0.9
#: If the steps are shorter than this, the search starts again.
LEAST_SCALE = 1e-6
#: Share of the evaluations of each start that go to independent draws.
DRAWN = 0.25


@dataclass(frozen=True, eq=False)
class Worst(Generic[Instance]):
    """The result of a search.

    Parameters
    ----------
    instance : Instance
        The worst case.
    value : float
        The objective at the worst case.
    evaluations : int
        The number of evaluations of the objective, at most the budget.
    trace : array, shape (evaluations,)
        After each evaluation, the largest value so far.
    """

    instance: Instance
    value: float
    evaluations: int
    trace: Floats


def search(
    objective: Callable[[Instance], float],
    sample: Callable[[np.random.Generator], Instance],
    perturb: Callable[[Instance, float, np.random.Generator], Instance],
    budget: int,
    rng: np.random.Generator,
    *,
    starts: int = 4,
    enough: float = math.inf,
) -> Worst[Instance]:
    """Look for the instance with the largest objective.

    The budget is divided among the starts. Each start spends a quarter of its share on independent
    draws. Then it makes random changes to the best draw, and keeps a change if the objective does
    not decrease. Changes grow after a success and shrink after a failure. Once the changes are
    tiny, the start begins with a new draw.

    Parameters
    ----------
    objective : callable
        A function of an instance; larger is worse for the statement. If a statement claims that one
        number is smaller than another, the objective can be the first number divided by the second.
        An instance that violates the statement's conditions gets minus infinity, or NaN, which
        counts as minus infinity.
    sample : callable
        Draws an instance with the generator.
    perturb : callable
        Returns another instance near the given one, drawn with the generator. The second argument,
        usually between 0 and 1, sets how far from the given instance it is.
    budget : int
        The largest number of evaluations of the objective, at least 1.
    rng : numpy.random.Generator
        The only source of randomness.
    starts : int
        Number of independent starts, at least 1.
    enough : float
        Stop as soon as the objective is larger than this.

    Raises
    ------
    ValueError
        If the budget or the number of starts is below 1, or if no instance that was tried meets
        the conditions.

    Examples
    --------
    >>> found = search(
    ...     objective=lambda x: -((x - 2) ** 2),
    ...     sample=lambda rng: rng.uniform(-9, 9),
    ...     perturb=lambda x, scale, rng: x + scale * rng.standard_normal(),
    ...     budget=400,
    ...     rng=np.random.default_rng(1),
    ... )
    >>> round(found.instance, 3), found.evaluations
    (2.0, 400)
    """
    for name, number in (("budget", budget), ("starts", starts)):
        if number < 1:
            raise ValueError(f"{name}: must be at least 1; got {number}")
    trace: list[float] = []
    worst: tuple[float, Instance] | None = None

    def tried(instance: Instance) -> float:
        nonlocal worst
        value = float(objective(instance))
        value = -math.inf if math.isnan(value) else value
        if worst is None or value > worst[0]:
            worst = value, instance
        trace.append(worst[0])
        return value

    def over(end: int) -> bool:
        return len(trace) >= end or (worst is not None and worst[0] > enough)

    for start in range(starts):
        end = budget * (start + 1) // starts
        while not over(end):
            draws = max(1, math.ceil(DRAWN * (end - len(trace))))
            here, height, scale = sample(rng), -math.inf, FIRST_SCALE
            height = tried(here)
            for _ in range(draws - 1):
                if over(end):
                    break
                other = sample(rng)
                if (value := tried(other)) > height:
                    here, height = other, value
            while not over(end) and scale > LEAST_SCALE and height > -math.inf:
                other = perturb(here, scale, rng)
                value = tried(other)
                scale = min(FIRST_SCALE, scale * LONGER) if value > height else scale * SHORTER
                if value >= height:
                    here, height = other, value
    if worst is None or worst[0] == -math.inf:
        raise ValueError(f"sample: none of {len(trace)} instances meets the conditions")
    return Worst(worst[1], worst[0], len(trace), np.array(trace))


@dataclass(frozen=True, eq=False)
class Bandit:
    r"""A bandit in the coordinates in which it is searched.

    Copies of a direction are kept together, since only their number and the policy's shares matter.

    Parameters
    ----------
    directions : array, shape (k, d)
        Features, of length one at most.
    copies : array of int, shape (k,)
        How many actions have these features, at least 1.
    log_eigenvalues : array, shape (d,)
        Logarithms of the eigenvalues of :math:`\Sigma_*`, the largest 0.
    axes : array, shape (d, d)
        Its eigenvectors, as columns.
    log_policy : array, shape (k,)
        Logarithms of the directions' shares of the policy, up to a constant.
    spread : array, shape (k,)
        The fraction, from 0 to 1, of a direction's share that is spread evenly over its copies; the
        first copy gets the rest.
    """

    directions: Floats
    copies: NDArray[np.int64]
    log_eigenvalues: Floats
    axes: Floats
    log_policy: Floats
    spread: Floats

    @property
    def Sigma(self) -> Floats:
        """The variance matrix, shape (d, d)."""
        return np.asarray((self.axes * np.exp(self.log_eigenvalues)) @ self.axes.T)

    @property
    def variances(self) -> Floats:
        """Variances of the directions, shape (k,)."""
        return np.asarray(((self.directions @ self.axes) ** 2) @ np.exp(self.log_eigenvalues))

    @property
    def shares(self) -> Floats:
        """The policy's shares of the directions, shape (k,), positive, of sum 1."""
        shares = np.exp(self.log_policy - self.log_policy.max())
        return np.asarray(shares / shares.sum())

    @property
    def ratio(self) -> float:
        """The largest variance of an action, divided by the smallest."""
        return float(self.variances.max() / self.variances.min())

    def actions(self) -> tuple[Floats, Floats, Floats]:
        """Return features, variances and policy of all actions, shapes (A, d), (A,), (A,)."""
        policy = [
            np.full(m, s * part / m) + s * (1 - part) * (np.arange(m) == 0)
            for m, s, part in zip(self.copies, self.shares, self.spread, strict=True)
        ]
        return (
            np.repeat(self.directions, self.copies, axis=0),
            np.repeat(self.variances, self.copies),
            np.concatenate(policy),
        )


@dataclass(frozen=True)
class Bandits:
    r"""A family of bandits to be searched, with the limits of its coordinates.

    Parameters
    ----------
    dimension : int
        d, at least 1.
    directions : int
        k, at least d.
    most_copies : int
        The largest number of copies of one direction.
    log_ratio : float
        Largest logarithm of the ratio of two eigenvalues of :math:`\Sigma_*`, at least 0.
    log_policy : float
        Largest logarithm of the ratio of two shares of the policy, at least 0.
    log_length : float
        Largest logarithm of the ratio of two features' lengths, at least 0; at 0 all have length
        one. Lengths of features matter, since unweighted least squares gives more weight to long
        features.
    """

    dimension: int
    directions: int
    most_copies: int = 1
    log_ratio: float = math.log(100.0)
    log_policy: float = math.log(1e4)
    log_length: float = 0.0

    def __post_init__(self) -> None:
        if not self.directions >= self.dimension >= 1 or self.most_copies < 1:
            raise ValueError(
                "directions: must be at least the dimension, and dimension and copies at least 1; "
                f"got {self.directions}, {self.dimension}, {self.most_copies}"
            )

    def sample(self, rng: np.random.Generator) -> Bandit:
        """Draw a bandit: directions and axes at random, all logarithms uniform."""
        d, k = self.dimension, self.directions
        lengths = np.exp(_topped(rng.uniform(-self.log_length, 0, k), self.log_length))
        return Bandit(
            directions=_unit(rng.standard_normal((k, d))) * lengths[:, None],
            copies=self._copies(rng.uniform(0, math.log(self.most_copies), k)),
            log_eigenvalues=_topped(rng.uniform(-self.log_ratio, 0, d), self.log_ratio),
            axes=_orthogonal(rng.standard_normal((d, d))),
            log_policy=_topped(rng.uniform(-self.log_policy, 0, k), self.log_policy),
            spread=rng.uniform(0, 1, k),
        )

    def perturb(self, bandit: Bandit, scale: float, rng: np.random.Generator) -> Bandit:
        """Change one or more parts of a bandit by random steps; the scale sets their size."""
        d, k = self.dimension, self.directions

        def step(size: int, reach: float) -> Floats:
            # Half of the time only one entry moves, so finished parts stay unchanged.
            move = scale * reach * rng.standard_normal(size)
            return np.asarray(move * (np.arange(size) == rng.integers(size)) if one else move)

        one = rng.random() < 0.5
        movable = 7 if self.log_length > 0 else 6
        parts = rng.random(movable) < 0.4
        parts[rng.integers(movable)] = True
        changed = bandit
        lengths = np.linalg.norm(bandit.directions, axis=1)
        directions = bandit.directions / lengths[:, None]
        if parts[0]:
            move = step(k, 1.0)[:, None] * rng.standard_normal((k, d))
            directions = _unit(directions + move)
        if movable == 7 and parts[6]:
            logs = np.log(lengths) + step(k, self.log_length)
            lengths = np.exp(_topped(logs, self.log_length))
        changed = replace(changed, directions=directions * lengths[:, None])
        if parts[1]:
            logs = np.log(bandit.copies) + step(k, math.log(self.most_copies))
            changed = replace(changed, copies=self._copies(logs))
        if parts[2]:
            logs = bandit.log_eigenvalues + step(d, self.log_ratio)
            changed = replace(changed, log_eigenvalues=_topped(logs, self.log_ratio))
        if parts[3]:
            turned = bandit.axes + scale * rng.standard_normal((d, d))
            changed = replace(changed, axes=_orthogonal(turned))
        if parts[4]:
            logs = bandit.log_policy + step(k, self.log_policy)
            changed = replace(changed, log_policy=_topped(logs, self.log_policy))
        if parts[5]:
            changed = replace(changed, spread=np.clip(bandit.spread + step(k, 1.0), 0, 1))
        return changed

    def _copies(self, logs: Floats) -> NDArray[np.int64]:
        return np.clip(np.rint(np.exp(logs)), 1, self.most_copies).astype(np.int64)


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _orthogonal(square: Floats) -> Floats:
    return np.asarray(np.linalg.qr(square)[0])


def _topped(logs: Floats, reach: float) -> Floats:
    """Return logarithms with 0 as the largest and none below minus the reach."""
    return np.asarray(np.clip(logs - logs.max(), -reach, 0))
