"""Curves of mean squared error, with regret, slopes and their intervals, and files."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from speedlib._arrays import shown
from speedlib._extras import needed_by
from speedlib.checks import Counts, Floats, check_number, check_rng, check_share
from speedlib.estimators import normal_interval
from speedlib.slopes import RESAMPLES, Slope, slope_weights

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MSECurves"]

#: Format of the files that `MSECurves.save` writes.
FORMAT = "speedlib curves 1"


@dataclass(frozen=True, eq=False)
class MSECurves:
    r"""Mean squared errors of some strategies over numbers of rounds.

    Parameters
    ----------
    strategies : tuple of str
        Names of the S strategies.
    methods : tuple of str
        How the error of each was measured: ``"exact"`` or ``"draws"``.
    rounds : array of int, shape (N,)
        Budgets n.
    replications : int
        Replications behind every point.
    mse : array, shape (S, N)
        Mean squared error of the value estimate, in units of reward squared.
    standard_error : array, shape (S, N)
        Monte Carlo standard error of `mse`.
    inestimable : array, shape (S, N)
        Share of replications whose pulls do not determine the value. In `mse`, these replications
        are estimated with a generalised inverse.
    oracle_loss : array, shape (N,)
        The exact oracle loss :math:`L_n^* = \min_b c^\top A(b)^- c / n` without rounding.
    group_means : array, shape (S, N, G)
        Mean squared errors of G groups of replications, for the bootstrap.
    group_sizes : array of int, shape (G,)
        Replications of each group.

    Examples
    --------
    >>> from speedlib import OnPolicy, Oracle, mse_curve, unit_ball
    >>> ball = unit_ball()
    >>> strategies = [Oracle(), OnPolicy()]
    >>> curves = mse_curve(ball.bandit, ball.policy, strategies, [200, 800], 100, seed=1)
    >>> curves
    MSECurves(Oracle, On-policy; rounds [200, 800], 100 replications)
    >>> bool((curves.mse[0] < curves.mse[1]).all())
    True
    """

    strategies: tuple[str, ...]
    methods: tuple[str, ...]
    rounds: Counts
    replications: int
    mse: Floats
    standard_error: Floats
    inestimable: Floats
    oracle_loss: Floats
    group_means: Floats
    group_sizes: Counts

    def __repr__(self) -> str:
        """Name the strategies, the budgets and the replications."""
        return (
            f"MSECurves({', '.join(self.strategies)}; rounds {self.rounds.tolist()}, "
            f"{self.replications:,} replications)"
        )

    @property
    def regret(self) -> Floats:
        """Excess of `mse` over the oracle loss, shape (S, N)."""
        return self.mse - self.oracle_loss

    def of(self, strategy: str) -> tuple[Floats, Floats]:
        """Return the mean squared errors of one strategy and their standard errors, (N,) each."""
        row = self._row(strategy)
        return self.mse[row], self.standard_error[row]

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of normal intervals for `mse`, shape (S, N) each."""
        low, high = normal_interval(self.mse, self.standard_error, level)
        return np.asarray(low), np.asarray(high)

    def slope(
        self,
        strategy: str,
        *,
        low: float = 0,
        high: float = np.inf,
        level: float = 0.95,
        rng: np.random.Generator | int = 0,
    ) -> Slope:
        r"""Return the slope of :math:`\log R_n` over :math:`\log n` by least squares.

        Parameters
        ----------
        strategy : str
            Name of the strategy.
        low, high : float
            Only budgets between these are used.
        level : float
            Level of the interval, between 0 and 1.
        rng : numpy.random.Generator or int
            Source of the bootstrap's resamples.

        Returns
        -------
        Slope
            The interval is a percentile bootstrap over groups of replications. Each budget is
            resampled separately, since budgets are simulated independently. A regret that is not
            positive has no logarithm, so resamples with such a regret are left out. If these are
            more than a tenth of all resamples, the interval is the whole line.

        Raises
        ------
        ValueError
            If fewer than two budgets lie in the range, or a regret there is not positive.
        """
        low, high = check_number("low", low), check_number("high", high)
        chosen = np.flatnonzero((self.rounds >= low) & (self.rounds <= high))
        if np.unique(self.rounds[chosen]).size < 2:
            raise ValueError(
                f"low, high: a slope needs two budgets; of {self.rounds.tolist()} "
                f"{chosen.size} lie between {low:g} and {high:g}"
            )
        return self._slopes(strategy, [chosen], level, rng)[0]

    def local_slopes(
        self, strategy: str, *, level: float = 0.95, rng: np.random.Generator | int = 0
    ) -> list[Slope]:
        """Return the N - 1 slopes between neighbouring budgets, each as `slope` returns it."""
        pairs = [np.array([i, i + 1]) for i in range(len(self.rounds) - 1)]
        return self._slopes(strategy, pairs, level, rng)

    def _slopes(
        self,
        strategy: str,
        choices: list[Counts],
        level: float,
        rng: np.random.Generator | int,
    ) -> list[Slope]:
        row = self._row(strategy)
        regret = self.regret[row]
        used = np.unique(np.concatenate(choices)) if choices else np.array([], dtype=int)
        if np.any(regret[used] <= 0):
            worst = used[np.argmin(regret[used])]
            raise ValueError(
                f"strategy: a slope needs positive regrets; that of {strategy} after "
                f"{self.rounds[worst]} rounds is {regret[worst]:.3g}"
            )
        resampled = self._resampled_regret(row, check_rng(rng))
        tail = (1 - check_share("level", level)) / 2
        slopes = []
        for chosen in choices:
            log_n = np.log(self.rounds[chosen])
            if np.ptp(log_n) == 0:
                raise ValueError(
                    "rounds: a slope needs two different budgets; "
                    f"got {self.rounds[chosen].tolist()}"
                )
            weights = slope_weights(log_n)
            sound = np.all(resampled[:, chosen] > 0, axis=1)
            ends = np.array([-np.inf, np.inf])
            if np.mean(sound) >= 0.9:
                found = np.log(resampled[sound][:, chosen]) @ weights
                ends = np.quantile(found, [tail, 1 - tail])
            slopes.append(
                Slope(float(np.log(regret[chosen]) @ weights), float(ends[0]), float(ends[1]))
            )
        return slopes

    def _resampled_regret(self, row: int, rng: np.random.Generator) -> Floats:
        """Resample groups, each budget by itself: shape (RESAMPLES, N)."""
        n_groups = self.group_sizes.size
        share = self.group_sizes / n_groups
        drawn = rng.multinomial(
            n_groups, np.full(n_groups, 1 / n_groups), (RESAMPLES, len(self.rounds))
        )
        weights = drawn * share
        means = np.einsum("bng,ng->bn", weights, self.group_means[row]) / weights.sum(axis=-1)
        # A resample of G groups varies by (G - 1) / G as much as G groups do.
        widened = self.mse[row] + (means - self.mse[row]) * np.sqrt(n_groups / max(n_groups - 1, 1))
        return np.asarray(widened - self.oracle_loss)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return a tidy table, one row per strategy and number of rounds (needs pandas)."""
        with needed_by("MSECurves.to_frame", "tables"):
            import pandas as pd

        low, high = self.interval(level)
        columns = {
            "strategy": np.repeat(self.strategies, len(self.rounds)),
            "method": np.repeat(self.methods, len(self.rounds)),
            "rounds": np.tile(self.rounds, len(self.strategies)),
            "mse": self.mse.ravel(),
            "standard_error": self.standard_error.ravel(),
            "low": low.ravel(),
            "high": high.ravel(),
            "regret": self.regret.ravel(),
            "inestimable": self.inestimable.ravel(),
        }
        return pd.DataFrame(columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to an ``.npz`` file; if writing fails, no partial file is left.

        Parameters
        ----------
        path : path
            The file, which is replaced if it exists. It holds plain arrays, no pickled objects.
        """
        target, content = Path(path), io.BytesIO()
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder", str(target.parent))
        parts = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}
        np.savez_compressed(content, allow_pickle=False, format=np.asarray(FORMAT), **parts)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                # Temporary files are private; this one gets the rights of any new file.
                os.chmod(name, 0o666 & ~_umask())
                file.write(content.getvalue())
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, target)
        except BaseException as error:
            Path(name).unlink(missing_ok=True)
            if isinstance(error, OSError) and error.filename is None:
                # A full disk names no file.
                error.filename = str(target)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MSECurves:
        """Read what `save` has written.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is damaged or holds something else.
        """
        try:
            with np.load(path, allow_pickle=False) as content:
                parts = {name: content[name] for name in content.files}
            if str(parts.pop("format", "unknown")) != FORMAT:
                raise ValueError(f"its format is not {FORMAT!r}")
            for name in ("strategies", "methods"):
                parts[name] = tuple(parts[name].tolist())
            parts["replications"] = int(parts["replications"])
            curves = cls(**parts)
        except FileNotFoundError:
            raise
        # A damaged file fails in zipfile, in zlib or in NumPy, each with its own errors.
        except Exception as error:
            reason = "it is no .npz archive" if "pickle" in str(error) else str(error)
            raise ValueError(f"path: {os.fspath(path)} is not a file of curves: {reason}") from None
        return curves

    def _row(self, strategy: str) -> int:
        if not isinstance(strategy, str) or strategy not in self.strategies:
            raise ValueError(f"strategy: must be one of {self.strategies}; got {shown(strategy)}")
        return self.strategies.index(strategy)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
