"""A live experiment from two tables: the actions with their target policy, and a log of rewards.

The log grows while the experiment runs. A strategy that is started with the same table, budget,
choices and seed always requests the same pulls, so only the log has to be kept. `advance` passes
the logged rewards to a new trial, phase by phase, and stops where rewards are missing. Use one
version of the packages and one kind of processor throughout an experiment. Where two designs are
equally good, as with parallel actions, the last bits of a float may decide between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from speedlib._arrays import shown
from speedlib._columns import SHARES, Cures, Faults, find_negative
from speedlib._names import check_names
from speedlib._numerals import DECIMALS
from speedlib._sheet import AnyPath, Sheet, did_you_mean, no_such_file, read_sheet
from speedlib._table_text import cut
from speedlib.checks import Counts, Floats, check_choice, check_count, check_policy
from speedlib.estimators import ValueEstimate
from speedlib.limits import Limits
from speedlib.rewards import Rewards, check_rewards
from speedlib.trials import Trial

__all__ = ["Actions", "Progress", "advance", "read_actions", "read_log"]

#: Columns with a meaning; all others of the table of actions are features.
ACTION, PROBABILITY = "action", "probability"
LOG = ("phase", ACTION, "reward")
#: What to look at first where a log does not fit.
_SAME = (
    "check that table, budget, choices and seed are as at the start, and that no reward of an "
    "earlier phase has changed"
)
#: Largest phase allowed in a log of any length. In a longer log it is the number of rows, since a
#: trial makes at least one pull in each phase: a larger number is a typing error.
PHASES = 1000
#: Cures for numbers that cannot be read, in the two columns without a unit.
_POLICY = Cures(size=SHARES, shares=True)
_PHASE = Cures(size="phases are 1, 2, 3, ...")


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
    lines : tuple of int
        Line number of each action in the file, from 1. Empty if the actions come from no file.
    costs, least, most : ndarray, shape (A,), or None
        Costs of the actions, and bounds on their shares of the rounds; None where no column holds
        them.
    policies : ndarray, shape (K, A), or None
        The target policies, if several columns hold them; `policy` is then their average. None for
        a single policy.
    """

    names: tuple[str, ...]
    features: Floats
    policy: Floats
    columns: tuple[str, ...]
    lines: tuple[int, ...] = ()
    costs: Floats | None = None
    least: Floats | None = None
    most: Floats | None = None
    policies: Floats | None = None


def read_actions(
    path: AnyPath,
    *,
    separator: str = "auto",
    decimal: str = "auto",
    policy: str | Sequence[str] = PROBABILITY,
    cost: str = "",
    least: str = "",
    most: str = "",
) -> Actions:
    """Read the actions of an experiment.

    Parameters
    ----------
    path : path
        A CSV file with a column ``action`` of names, a column ``probability`` with the target
        policy, and a column of numbers for each feature.
    separator, decimal
        Separator of the entries and decimal mark: see `read_measurements`.
    policy : str or sequence of str
        Name of the column with the target policy. For several target policies, the name of each
        one's column.
    cost, least, most : str
        Columns that hold the costs and the bounds on shares of `speedlib.limits.Limits`; empty if
        there are none. A column that is named here is not a feature.

    Returns
    -------
    Actions

    Raises
    ------
    ValueError
        If the file or a column is missing; a column has no name, looks like a second ``action``
        or ``probability``, or is called like `cost`, `least` or `most` while that argument is
        empty; names repeat; an entry is not a number; or the probabilities do not sum
        to one. The message names the file, the line and the column.
    """
    check_choice("decimal", decimal, ("auto", *DECIMALS))
    try:
        sheet = read_sheet(path, separator)
    except FileNotFoundError:
        raise no_such_file(path) from None
    shares = _policy_columns(policy)
    bounds = {"cost": cost, "least": least, "most": most}
    for argument, name in bounds.items():
        if not isinstance(name, str):
            raise TypeError(f"{argument}: must be the name of a column; got {shown(name)}")
    named = {argument: name for argument, name in bounds.items() if name}
    meant = (ACTION, *shares, *named.values())
    if len(set(meant)) < len(meant):
        raise ValueError(f"policy, cost, least, most: must name different columns; got {meant}")
    said = "a table of actions has the columns action, probability and its features"
    sheet.require((ACTION, *shares), said, fixed=True)
    sheet.require(tuple(named.values()), "cost, least and most name columns of the table")
    sheet.refuse_strays(meant, any_case=True)
    for argument, name in bounds.items():
        if not name:
            _refuse_forgotten(sheet, argument, meant)
    names = tuple(sheet.column(ACTION))
    _check_names(sheet, names)
    columns = tuple(name for name in sheet.header if name not in meant)
    if not columns or not names:
        raise ValueError(
            f"{path}: needs at least one action and one column with a feature; write a row for "
            "each action below the names of the columns"
        )
    faults = Faults(sheet.path)
    point = sheet.decimal((*columns, *meant[1:]), decimal)
    features = sheet.numbers(columns, point, faults)
    policies = [
        _policy(sheet, name, sheet.numbers((name,), point, faults, cures=_POLICY)[0], faults)
        for name in shares
    ]
    limits = dict(zip(named, sheet.numbers(named.values(), point, faults), strict=True))
    for argument, values in limits.items():
        _check_limits(sheet, argument, named[argument], values, faults)
    faults.refuse()
    if limits:
        given = {"costs" if key == "cost" else key: limits[key] for key in limits}
        try:
            Limits.of(len(names), **given)
        except ValueError as error:
            raise ValueError(f"{path}: {error}; correct its column") from None
    return Actions(
        names,
        np.column_stack(features),
        policies[0] if len(policies) == 1 else np.mean(policies, axis=0),
        columns,
        tuple(sheet.lines),
        limits.get("cost"),
        limits.get("least"),
        limits.get("most"),
        np.stack(policies) if len(policies) > 1 else None,
    )


def _policy_columns(policy: str | Sequence[str]) -> tuple[str, ...]:
    found = (policy,) if isinstance(policy, str) else check_names("policy", policy, ordered=True)
    if not found or not all(found):
        raise ValueError(f"policy: must name a column, or several; got {shown(policy)}")
    return found


def read_log(
    path: AnyPath, actions: Actions, *, separator: str = "auto", decimal: str = "auto"
) -> list[Rewards]:
    """Read the log of rewards.

    Parameters
    ----------
    path : path
        A CSV file with the columns ``phase`` (1, 2, ...), ``action`` (a name) and ``reward``, one
        row per round in any order. Other named columns are ignored. A file that does not exist
        counts as an empty log.
    actions : Actions
        The actions of the experiment.
    separator, decimal
        Separator of the entries and decimal mark: see `read_measurements`.

    Returns
    -------
    list of Rewards
        The rewards of each phase, from the first to the last in the log.

    Raises
    ------
    ValueError
        If one of the three columns is missing or occurs twice; a column has no name; an action is
        unknown; a phase is not a positive whole number; or a reward is not a number. The message
        names the file, the line and the column.
    """
    if not isinstance(actions, Actions):
        raise TypeError(f"actions: must be what read_actions returns; got {shown(actions)}")
    check_choice("decimal", decimal, ("auto", *DECIMALS))
    try:
        sheet = read_sheet(path, separator)
    except FileNotFoundError:
        return []
    sheet.require(LOG, "a log begins with the line phase,action,reward", fixed=True)
    sheet.refuse_strays(LOG, any_case=True)
    faults = Faults(sheet.path)
    point = sheet.decimal(("phase", "reward"), decimal)
    (phases,) = sheet.numbers(("phase",), point, faults, cures=_PHASE)
    (rewards,) = sheet.numbers(("reward",), point, faults)
    faults.refuse()
    most = max(PHASES, len(phases))
    wrong = np.flatnonzero((phases != np.rint(phases)) | (phases < 1) | (phases > most))
    if wrong.size:
        line, phase = sheet.lines[wrong[0]], phases[wrong[0]]
        raise ValueError(
            f"{path}, line {line}: column phase holds {phase:g}; phases are 1, 2, ..., {most}: "
            "write the phase in which the round was played"
        )
    chosen = np.array(_actions(sheet, actions.names), dtype=np.int64)
    order = phases.argsort(kind="stable")
    chosen, rewards = chosen[order], rewards[order]
    ends = phases[order].searchsorted(np.arange(phases.max(initial=0) + 1), side="right")
    return [
        Rewards.from_log(chosen[first:last], rewards[first:last], len(actions.names))
        for first, last in pairwise(ends.tolist())
    ]


@dataclass(frozen=True, eq=False)
class Progress:
    """How far an experiment has come.

    Attributes
    ----------
    phase : int
        The phase whose pulls were requested last, from 1.
    asked, seen : ndarray of int, shape (A,)
        Pulls of each action in this phase: `asked` were requested, `seen` are in the log.
    estimate : ValueEstimate or None
        The estimated value, once all pulls are in the log.
    """

    phase: int
    asked: Counts
    seen: Counts
    estimate: ValueEstimate | None


def advance(
    trial: Trial, log: Sequence[Rewards], names: Iterable[str], *, closed: int = 0
) -> Progress:
    """Pass the logged rewards to a new trial, phase by phase, until a reward is missing.

    Parameters
    ----------
    trial : Trial
        A single trial that `speedlib.Strategy.begin` has just returned; it receives the whole log.
        To read a longer log, begin another trial with the same seed.
    log : sequence of Rewards
        The rewards of each phase, as `read_log` returns them.
    names : iterable of str
        Names of the A actions in their order, all different: a list, an array or an index.
    closed : int
        Number of closed phases, counted from the first phase. Their missing rewards count as lost,
        and the experiment continues with the rewards that came. If a reward comes after its phase
        was closed, log it under the phase in which it comes; otherwise it would change earlier
        decisions. With 0, the experiment waits for every reward and accepts no surplus rewards.

    Returns
    -------
    Progress
        How far the experiment has come.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule, or the log holds pulls that the strategy did not request.
    """
    if not isinstance(trial, Trial):
        raise TypeError(f"trial: pass what strategy.begin(...) returns; got {shown(trial)}")
    n_actions = len(trial.setting.features)
    if trial.setting.replications is not None:
        raise ValueError(
            f"trial: must be a single trial; got {trial.setting.replications} replications"
        )
    if isinstance(log, Rewards) or not isinstance(log, Sequence):
        raise TypeError(f"log: must be a list of Rewards, one for each phase; got {shown(log)}")
    for rewards in log:
        if check_rewards(rewards, n_actions, "log").counts.ndim != 1:
            raise ValueError(
                "log: must hold the rewards of one trial; got those of several replications"
            )
    check_count("closed", closed, 0)
    given = check_names("names", names, ordered=True)
    if len(given) != n_actions:
        raise ValueError(
            f"names: must be a list of {n_actions} names, one per action; got {len(given)}: "
            f"{shown(given)}"
        )
    asked, phase = trial.first_counts(), 1
    while True:
        seen = log[phase - 1] if phase <= len(log) else Rewards.none(asked.shape)
        if phase <= closed or (closed and np.all(seen.counts >= asked)):
            if trial.committed:
                return Progress(phase, asked, seen.counts, trial.estimate_of(seen))
            asked, phase = trial.go_on(seen), phase + 1
            continue
        if not closed and np.any(seen.counts > asked):
            action = int(np.argmax(seen.counts - asked))
            raise ValueError(
                f"log: phase {phase} requires {asked[action]} rounds of {given[action]!r}, and the "
                f"log holds {seen.counts[action]}; {_SAME}, or correct the phase of the extra rows"
            )
        if np.any(seen.counts < asked):
            if len(log) > phase:
                raise ValueError(
                    f"log: holds rewards of phase {phase + 1} before phase {phase} is complete: "
                    f"{int((asked - seen.counts).sum())} are missing; add them, or {_SAME}"
                )
            return Progress(phase, asked, seen.counts, None)
        if trial.committed:
            if len(log) > phase:
                raise ValueError(
                    f"log: the experiment ends with phase {phase}; got a later phase; {_SAME}"
                )
            return Progress(phase, asked, seen.counts, trial.estimate(seen))
        asked, phase = trial.next_counts(seen), phase + 1


def _refuse_forgotten(sheet: Sheet, argument: str, meant: Sequence[str]) -> None:
    """Refuse a column that would be taken for a feature, though it has the name of an argument."""
    for place, name in enumerate(sheet.header, 1):
        if name not in meant and name.strip().lower() in (argument, f"{argument}s"):
            raise ValueError(
                f"{argument}: is empty, but {sheet.path} has column {place}, {name!r}; give "
                f"{argument}={name!r}, or rename the column if it is a feature"
            )


def _check_limits(sheet: Sheet, argument: str, column: str, values: Floats, faults: Faults) -> None:
    """Add the first cost that is not positive, or the first bound that is no share."""
    if argument == "cost":
        wrong, rule = values <= 0, "costs must be greater than 0"
    else:
        wrong, rule = (values < 0) | (values > 1), "shares must lie between 0 and 1"
    if wrong.any():
        place = int(np.argmax(wrong))
        found = f"column {cut(column)} holds {values[place]:g}"
        faults.add(column, found, f"; {rule}", int(sheet.lines[place]))


def _policy(sheet: Sheet, name: str, shares: Floats, faults: Faults) -> Floats:
    """Return the probabilities; what keeps them from being a policy is added to the faults."""
    readable = name not in faults.columns
    cure = "; write how often the target policy takes the action"
    negative = find_negative(name, sheet.lines, shares, faults, cure)
    if readable and not negative:
        try:
            return check_policy(shares, len(shares), name)
        except ValueError as error:
            lines = f"lines {sheet.lines[0]} to {sheet.lines[-1]}"
            faults.add(name, str(error), f"; correct column {name}, {lines}")
    return shares


def _check_names(sheet: Sheet, names: Sequence[str]) -> None:
    """Refuse actions without a name, and a name that two actions have."""
    first: dict[str, int] = {}
    for line, name in zip(sheet.lines, names, strict=True):
        if not name:
            raise ValueError(
                f"{sheet.path}, line {line}: column {ACTION} is empty; name the action"
            )
        if name in first:
            raise ValueError(
                f"{sheet.path}, line {line}: each action needs its own name; got {cut(name)} here "
                f"and in line {first[name]}, column {ACTION}; rename one"
            )
        first[name] = line


def _actions(sheet: Sheet, names: Sequence[str]) -> list[int]:
    """Return which of the actions each row of the log names."""
    number = {name: place for place, name in enumerate(names)}
    for line, name in zip(sheet.lines, sheet.column(ACTION), strict=True):
        if name not in number:
            near = did_you_mean(name, names) or "write the name as the table of actions does"
            raise ValueError(
                f"{sheet.path}, line {line}: column {ACTION} holds {cut(name)!r}, which is none "
                f"of the actions; {near}"
            )
    return [number[name] for name in sheet.column(ACTION)]
