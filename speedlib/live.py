"""A live experiment from two tables: the actions with their target policy, and a log of rewards.

The log grows while the experiment runs. Since a strategy asks for the same pulls whenever it is
started with the same seed, nothing but the log has to be kept: `advance` tells a fresh trial all
that was observed, phase by phase, and stops where rewards are still to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from speedlib._sheet import AnyPath, Sheet, did_you_mean, read_sheet
from speedlib.checks import Counts, Floats, check_policy
from speedlib.estimators import ValueEstimate
from speedlib.rewards import Rewards
from speedlib.trials import Trial

__all__ = ["Actions", "Progress", "advance", "read_actions", "read_log"]

#: Columns with a meaning; all others of the table of actions are features.
ACTION, PROBABILITY = "action", "probability"
LOG = ("phase", ACTION, "reward")
#: More phases than any strategy has.
PHASES = 1000


@dataclass(frozen=True, eq=False)
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
    features: Floats
    policy: Floats
    columns: tuple[str, ...]


def read_actions(path: AnyPath) -> Actions:
    """Read the actions of an experiment.

    Parameters
    ----------
    path : path
        A CSV file with a column ``action`` of names, a column ``probability`` with the target
        policy, and a column of numbers for each feature, separated by commas, semicolons or tabs.
        Decimals follow a point, or a comma where entries are not separated by commas.

    Returns
    -------
    Actions

    Raises
    ------
    ValueError
        If the file is missing, a column is, names repeat, an entry is no number, or the
        probabilities do not sum to one; the text names the file, the line and the column.
    """
    sheet = read_sheet(path)
    sheet.require((ACTION, PROBABILITY))
    names = tuple(sheet.column(ACTION))
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{path}: each action needs a name of its own; twice: {', '.join(twice)}")
    columns = tuple(name for name in sheet.header if name not in (ACTION, PROBABILITY))
    if not columns or not names:
        raise ValueError(f"{path}: needs at least one action and one column with a feature")
    *features, policy = _numbers(sheet, (*columns, PROBABILITY))
    try:
        check_policy(policy, len(names), PROBABILITY)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return Actions(names, np.column_stack(features), policy, columns)


def read_log(path: AnyPath, actions: Actions) -> list[Rewards]:
    """Read the log of rewards.

    Parameters
    ----------
    path : path
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
    if not Path(path).exists():
        return []
    sheet = read_sheet(path)
    sheet.require(LOG)
    phases, rewards = _numbers(sheet, ("phase", "reward"))
    wrong = np.flatnonzero((phases != np.rint(phases)) | (phases < 1) | (phases > PHASES))
    if wrong.size:
        line, phase = sheet.lines[wrong[0]], phases[wrong[0]]
        raise ValueError(
            f"{path}, line {line}: column phase holds {phase:g}; phases are 1, 2, ..., {PHASES}"
        )
    chosen = np.array(_actions(sheet, actions.names), dtype=np.int64)
    last = int(phases.max(initial=0))
    return [
        Rewards.from_log(chosen[phases == k], rewards[phases == k], len(actions.names))
        for k in range(1, last + 1)
    ]


@dataclass(frozen=True, eq=False)
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
    asked: Counts
    seen: Counts
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


def _numbers(sheet: Sheet, names: Sequence[str]) -> list[Floats]:
    # Beside commas that separate, one in quotation marks may as well be a mark of thousands.
    point = "." if sheet.mark == "," else sheet.decimal(names)
    return [sheet.numbers(name, point) for name in names]


def _actions(sheet: Sheet, names: Sequence[str]) -> list[int]:
    """Return which of the actions each row of the log names."""
    number = {name: place for place, name in enumerate(names)}
    for line, name in zip(sheet.lines, sheet.column(ACTION), strict=True):
        if name not in number:
            hint = f"; {near}" if (near := did_you_mean(name, names)) else ""
            raise ValueError(
                f"{sheet.path}, line {line}: column {ACTION} holds {name!r}, which is none of the "
                f"actions{hint}"
            )
    return [number[name] for name in sheet.column(ACTION)]
