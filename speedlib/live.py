"""A live experiment from two tables: the actions with their target policy, and a log of rewards.

The log grows while the experiment runs. Since a strategy asks for the same pulls whenever it is
started with the same seed, nothing but the log has to be kept: `advance` tells a fresh trial all
that was observed, phase by phase, and stops where rewards are still to come.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from speedlib import Rewards, Trial, ValueEstimate
from speedlib.checks import check_policy

if TYPE_CHECKING:
    import pandas as pd

#: Columns with a meaning; all others of the table of actions are features.
ACTION, PROBABILITY = "action", "probability"
LOG = ("phase", ACTION, "reward")
#: More phases than any strategy has.
PHASES = 1000


@dataclass(frozen=True)
class Actions:
    """A table of actions.

    Attributes
    ----------
    names : tuple of str
        Names of the A actions, all different.
    features : ndarray, shape (A, d)
        One row per action.
    policy : ndarray, shape (A,)
        The target policy.
    columns : tuple of str
        Names of the d features.
    """

    names: tuple[str, ...]
    features: NDArray[np.float64]
    policy: NDArray[np.float64]
    columns: tuple[str, ...]


def read_actions(path: Path) -> Actions:
    """Read the actions of an experiment.

    Parameters
    ----------
    path : Path
        A CSV file with a column ``action`` of names, a column ``probability`` with the target
        policy, and a column of numbers for each feature.

    Returns
    -------
    Actions

    Raises
    ------
    ValueError
        If the file is missing, a column is, names repeat, an entry is no number, or the
        probabilities do not sum to one; the text names the file, the column and the row.
    """
    table = _read_csv(path, (ACTION, PROBABILITY))
    names = tuple(table[ACTION].str.strip())
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{path}: each action needs a name of its own; twice: {', '.join(twice)}")
    columns = tuple(name for name in table.columns if name not in (ACTION, PROBABILITY))
    if not columns or not names:
        raise ValueError(f"{path}: needs at least one action and one column with a feature")
    features = np.column_stack([_numbers(path, table, name) for name in columns])
    try:
        policy = check_policy(_numbers(path, table, PROBABILITY), len(names), PROBABILITY)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return Actions(names, features, policy, columns)


def read_log(path: Path, actions: Actions) -> list[Rewards]:
    """Read the log of rewards.

    Parameters
    ----------
    path : Path
        A CSV file with the columns ``phase`` (1, 2, ...), ``action`` (a name) and ``reward``, one
        row a round in any order. A file that does not exist is an empty log.
    actions : Actions
        The actions of the experiment.

    Returns
    -------
    list of Rewards
        The rewards of each phase, from the first to the last in the log.

    Raises
    ------
    ValueError
        If a column is missing, an action unknown, a phase no positive whole number, or a reward no
        number.
    """
    if not path.exists():
        return []
    table = _read_csv(path, LOG)
    phases = _numbers(path, table, "phase")
    if (wrong := phases[(phases != np.rint(phases)) | (phases < 1) | (phases > PHASES)]).size:
        raise ValueError(f"{path}: phases are numbered 1, 2, ..., {PHASES}; got {wrong[0]:g}")
    index = [_number_of(path, name.strip(), actions.names) for name in table[ACTION]]
    rewards, chosen = _numbers(path, table, "reward"), np.array(index, dtype=int)
    last = int(phases.max(initial=0))
    return [
        Rewards.from_log(chosen[phases == k], rewards[phases == k], len(actions.names))
        for k in range(1, last + 1)
    ]


@dataclass(frozen=True)
class Progress:
    """How far an experiment is.

    Attributes
    ----------
    phase : int
        The phase whose pulls were asked for last, 1 or more.
    asked, seen : ndarray of int, shape (A,)
        Pulls of this phase asked for, and in the log.
    estimate : ValueEstimate or None
        The value, once all pulls are in the log.
    """

    phase: int
    asked: NDArray[np.int64]
    seen: NDArray[np.int64]
    estimate: ValueEstimate | None


def advance(trial: Trial, log: Sequence[Rewards], names: Sequence[str]) -> Progress:
    """Tell a fresh trial what the log holds, phase by phase, as far as it goes.

    Parameters
    ----------
    trial : Trial
        As `speedlib.Strategy.begin` returns it.
    log : sequence of Rewards
        The rewards of each phase.
    names : sequence of str
        Names of the actions.

    Returns
    -------
    Progress
        Where the experiment stands.

    Raises
    ------
    ValueError
        If the log holds pulls that were not asked for.
    """
    asked, phase = trial.first_counts(), 1
    while True:
        seen = log[phase - 1] if phase <= len(log) else Rewards.none(asked.shape)
        if np.any(seen.counts > asked):
            action = int(np.argmax(seen.counts - asked))
            raise ValueError(
                f"log: phase {phase} asks for {asked[action]} rounds of {names[action]!r} and the "
                f"log holds {seen.counts[action]}; are table, budget, choices and seed as before?"
            )
        if np.any(seen.counts < asked):
            if len(log) > phase:
                raise ValueError(
                    f"log: holds rewards of phase {phase + 1} before phase {phase} is complete"
                )
            return Progress(phase, asked, seen.counts, None)
        if trial.committed:
            if len(log) > phase:
                raise ValueError(f"log: the experiment ends with phase {phase}; got more phases")
            return Progress(phase, asked, seen.counts, trial.estimate(seen))
        asked, phase = trial.next_counts(seen), phase + 1


def _read_csv(path: Path, needed: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    try:
        with warnings.catch_warnings():
            # Otherwise rows that are too long are cut, or lose their first entry.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                path,
                dtype=str,
                index_col=False,
                keep_default_na=False,
                skipinitialspace=True,
            )
    except pd.errors.ParserWarning:
        raise ValueError(
            f"{path}: rows have more entries than the first line names; "
            "a name with a comma must stand in quotation marks"
        ) from None
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: is not a CSV file in UTF-8 ({error})") from None
    table.columns = table.columns.str.strip()
    if missing := [name for name in needed if name not in table.columns]:
        raise ValueError(
            f"{path}: needs the columns {', '.join(needed)} separated by commas; "
            f"{', '.join(missing)} not among {', '.join(table.columns)}"
        )
    return table


def _numbers(path: Path, table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    numbers = np.empty(len(table))
    for i, text in enumerate(table[column]):
        try:
            numbers[i] = float(text)
        except ValueError:
            numbers[i] = np.nan
        if not np.isfinite(numbers[i]):
            raise ValueError(f"{path}: column {column}, row {i + 1}: {text!r} is not a number")
    return numbers


def _number_of(path: Path, name: str, names: Sequence[str]) -> int:
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"{path}: no action is called {name!r}{hint}")
    return names.index(name)
