"""What a trial commits to: its last pulls, and how their rewards become an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from speedlib.checks import Counts, Flags, Floats, check_counts, check_finite, frozen
from speedlib.estimators import distinct_rows

__all__ = ["Commitment"]


@dataclass(frozen=True, eq=False)
class Commitment:
    r"""The last pulls of a trial, and how their mean rewards become an estimate.

    .. math:: \hat v = \text{offset} + \sum_a \ell_a\, \bar r(a)

    is linear in the mean rewards of these pulls. So its mean squared error, given all earlier
    rewards, is known in closed form: see `speedlib.simulation.conditional_moments`.

    Attributes
    ----------
    counts : ndarray of int, shape (..., A)
        The pulls.
    coefficients : ndarray, shape (..., A), or None
        :math:`\ell`, zero for actions that are not pulled. None if the coefficients depend on the
        rewards that they combine, as for a strategy whose `Strategy.conditional` is false.
    offset : ndarray, shape (...,)
        What earlier rewards contribute, in units of reward.
    estimable : ndarray of bool, shape (...,)
        Whether these pulls, together with earlier pulls whose rewards are kept, determine the
        value.

    Raises
    ------
    TypeError, ValueError
        If counts are no whole numbers of at least 0, a number is not finite, `estimable` holds no
        truth values, or a shape does not fit.

    Notes
    -----
    The arrays are read-only, also after `copy.deepcopy` and pickling, and never views of the arrays
    that were passed in. If all replications share one allocation, counts and coefficients are
    stored as a single row that is broadcast to the full shape, and computations use this row once.

    Examples
    --------
    >>> from speedlib import Oracle, motivating_example
    >>> example = motivating_example(3)
    >>> trial = Oracle().begin(
    ...     example.bandit.features, example.policy, 100, rng=1, variances=example.bandit.variances
    ... )
    >>> trial.commitment.counts.tolist()
    [78, 0, 22]
    >>> trial.commitment.coefficients.round(3).tolist()
    [0.85, 0.0, 0.121]
    """

    counts: Counts
    coefficients: Floats | None
    offset: Floats
    estimable: Flags

    def __post_init__(self) -> None:
        counts = _kept("counts", self.counts)
        object.__setattr__(self, "counts", counts)
        shapes = {"coefficients": counts.shape, "offset": counts.shape[:-1]}
        shapes["estimable"] = shapes["offset"]
        for name, shape in shapes.items():
            given = getattr(self, name)
            if name == "coefficients" and given is None:
                continue
            part = _kept(name, given)
            if part.shape != shape:
                raise ValueError(
                    f"{name}: expected shape {shape}, to go with counts of shape {counts.shape}; "
                    f"got shape {part.shape}"
                )
            object.__setattr__(self, name, part)

    def __deepcopy__(self, memo: object) -> Commitment:
        """Return the commitment itself, which nothing can change."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild it from its parts, so that they are read-only again, and shared rows shared."""
        parts = (self.counts, self.coefficients, self.offset, self.estimable)
        return _rebuilt, tuple(
            None if part is None else (distinct_rows(part), part.shape) for part in parts
        )


def _kept(name: str, part: ArrayLike) -> NDArray[Any]:
    """Return a part as a read-only array that nobody else writes to.

    A row that all replications share stays one row, and is checked once.
    """
    given = part if isinstance(part, np.ndarray) else _checked(name, part)
    rows = distinct_rows(given)
    checked = _checked(name, rows)
    if rows.shape != given.shape:
        return np.broadcast_to(frozen(checked), given.shape)
    unchanged = given.base is None and not given.flags.writeable and given.dtype == checked.dtype
    return given if unchanged else frozen(checked)


def _checked(name: str, part: ArrayLike) -> NDArray[Any]:
    if name == "counts":
        shape = np.shape(part)
        return check_counts(part, shape[-1] if shape else 1)
    if name == "estimable":
        flags = np.asarray(part)
        if flags.dtype != np.bool_:
            raise TypeError(f"estimable: expected truth values; got dtype {flags.dtype}")
        return flags
    numbers = check_finite(name, part)
    return numbers.reshape(np.shape(part))  # a single number has no axis


def _rebuilt(*parts: tuple[NDArray[Any], tuple[int, ...]] | None) -> Commitment:
    """Return the commitment that was pickled as distinct rows and shapes."""
    arrays = [None if part is None else np.broadcast_to(*part) for part in parts]
    return Commitment(*arrays)  # type: ignore[arg-type]
