"""Read a user's own table of measurements: a doubtful entry is reported, never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from speedlib._arrays import shown
from speedlib._columns import SHARES, Cures, Faults, find_negative
from speedlib._numerals import DECIMALS
from speedlib._sheet import AnyPath, Sheet, composed, no_such_file, read_sheet
from speedlib._table_text import SEPARATORS, counted, cut, listed, name_of, was
from speedlib._tolerances import CONSTANT_TOLERANCE, NOISELESS_TOLERANCE
from speedlib.checks import SMALLEST, Flags, Floats, check_choice, check_flag, check_policy

__all__ = ["Measurements", "read_measurements"]

#: What to do with a row in which something is missing.
MISSING = ("refuse", "drop")
#: Entries that mean a missing value, in lower case.
NOTHING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
#: Cures for an entry that is not a number, by the meaning of its column. A cure must not lead to
#: the next error, as leaving out the target would.
_GAP = "; if it stands for a missing value, name it in missing_values"
_FEATURE = Cures(f"; if it is a column of text, name it in leave_out{_GAP}")
_TARGET = Cures(f"; if it is a column of text, name another target{_GAP}")
_POLICY = Cures(f"; if it holds no probabilities, policy must name another{_GAP}", SHARES, True)
#: Cure for numbers that are not a policy.
_SHARES = "; the column is the target policy: write how often the policy takes each row"


@dataclass(frozen=True, eq=False)
class Measurements:
    """A table of numbers.

    Attributes
    ----------
    columns : tuple of str
        Names of the d features.
    target : str
        Name of the target.
    features : ndarray, shape (N, d)
        One row for each sample.
    values : ndarray, shape (N,)
        The target.
    lines : tuple of int
        Line number of each sample in the file, from 1.
    notes : tuple of str
        Sentences that say what was assumed and what was left out.
    policy : ndarray, shape (N,), or None
        The target policy: how often the policy takes each sample. None where no column holds it.
    """

    columns: tuple[str, ...]
    target: str
    features: Floats
    values: Floats
    lines: tuple[int, ...]
    notes: tuple[str, ...]
    policy: Floats | None = None


def read_measurements(
    path: AnyPath,
    target: str,
    *,
    leave_out: Sequence[str] = (),
    separator: str = "auto",
    decimal: str = "auto",
    missing: str = "refuse",
    missing_values: Sequence[str] = (),
    intercept: bool = False,
    policy: str = "",
) -> Measurements:
    """Read a table of features and a target.

    Parameters
    ----------
    path : path
        A CSV file whose first line names the columns, in UTF-8 or in UTF-16 with a byte-order mark.
    target : str
        Name of the column to be predicted.
    leave_out : sequence of str
        Columns that are not features.
    separator : {"auto", "comma", "semicolon", "tab"}
        What separates the entries. ``"auto"`` uses the mark that a first line ``sep=;`` names;
        without such a line it looks among the names of the columns for semicolons, then tabs, then
        commas.
    decimal : {"auto", "point", "comma"}
        The decimal mark. ``"auto"`` looks at the entries of all features and the target: a single
        entry that can be read in only one way, such as 1.5, decides for the whole table. A table
        with both marks is refused. A table in which every mark may separate thousands, as in 1.250
        or 12,000, is refused, too.
    missing : {"refuse", "drop"}
        With ``"refuse"``, a missing entry is an error. With ``"drop"``, a row with a missing
        entry is left out, and the notes give the number of such rows.
    missing_values : sequence of str
        Entries that mean a missing value, besides blanks, ``NA`` and similar ones. If -200 is such
        an entry, so is -200.0.
    intercept : bool
        Whether the model will have an intercept. It counts as one more feature when the number of
        rows is checked.
    policy : str
        Name of the column with the probabilities of a target policy, which is then not a feature;
        empty if there is none.

    Returns
    -------
    Measurements

    Raises
    ------
    ValueError
        If the file cannot be read; a column is unknown, has no name (such as the index that pandas
        saves), looks like a second target, or is constant; an entry is not a number, or is so large
        or small that its square is no ordinary float; the target has no noise; a probability is
        negative, or the probabilities of the kept rows do not sum to one; or too few rows remain.
        The message names the file, the cure, and about ten faulty columns in the order of their
        lines, each with the line of its first fault. If there are more, it gives the number of the
        other faulty columns.
    """
    check_choice("decimal", decimal, ("auto", *DECIMALS))
    check_choice("missing", missing, MISSING)
    check_flag("intercept", intercept)
    for argument, name in (("target", target), ("policy", policy)):
        if not isinstance(name, str):
            raise TypeError(f"{argument}: must be the name of a column; got {shown(name)}")
    if policy and not policy.strip():
        raise ValueError(f"policy: must name a column, or be '' for none; got {shown(policy)}")
    for argument, names in (("leave_out", leave_out), ("missing_values", missing_values)):
        if isinstance(names, str):
            raise ValueError(f"{argument}: must be a list, as [{shown(names)}]; got {shown(names)}")
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{argument}: must be a list of texts; got {shown(names)}")
    (target, policy), leave_out = composed((target, policy)), composed(leave_out)
    for name, part in ((target, "target"), (policy, "policy")):
        if name in leave_out and name:
            raise ValueError(f"leave_out: holds {cut(name)!r}, which is the {part}; take it out")
    if policy == target:
        raise ValueError(f"policy: must name another column than the target; got {cut(policy)!r}")
    try:
        sheet = read_sheet(path, separator)
    except FileNotFoundError:
        raise no_such_file(path) from None
    if not sheet.rows:
        raise ValueError(f"{path}: has no rows below the header; write one for each sample")
    sheet.require((target,), "target names the column that was measured")
    sheet.require(leave_out, "leave_out names it; pass [] to leave nothing out")
    meant = (target, policy) if policy else (target,)
    sheet.require(meant[1:], "policy names the column with the probabilities of the target policy")
    sheet.refuse_strays(meant, leave_out, ", or name it in leave_out", any_case=False)
    features = [name for name in sheet.header if name not in {*meant, *leave_out}]
    if not features:
        raise ValueError(
            f"{path}: no column is left as a feature besides {' and '.join(map(cut, meant))}; "
            "add one, or name fewer in leave_out"
        )
    used = (*features, *meant)
    nothing = NOTHING | {value.lower() for value in composed(missing_values)}
    point = sheet.decimal(used, decimal, nothing)
    faults = Faults(sheet.path)
    columns = sheet.numbers(features, point, faults, nothing, _FEATURE)
    columns += sheet.numbers((target,), point, faults, nothing, _TARGET)
    columns += sheet.numbers(meant[1:], point, faults, nothing, _POLICY)
    table = np.column_stack(columns)
    if faults:  # what else is wrong is said in the same message
        _find_constants(features, table.T[: len(features)], faults)
        sound = [name not in faults.columns for name in used]
        known = np.asarray(~np.isnan(table[:, sound]).any(axis=1))
        if policy:
            # Rows with gaps may be dropped, and nobody knows yet what the others sum to.
            final = sound[-1] and missing == "refuse" and bool(known.all())
            _find_no_policy(sheet, policy, table[:, -1], known, faults, sums=final)
    faults.refuse()
    mark = name_of(SEPARATORS, sheet.mark)
    notes = [
        f"Entries are separated by a {mark}, decimals by a {name_of(DECIMALS, point)}.",
        *sheet.notes,
    ]
    complete = _complete(sheet, used, len(features), table, missing, notes)
    X, y = table[complete, : len(features)], table[complete, len(features)]
    if policy:
        _find_no_policy(sheet, policy, table[:, -1], complete, faults)
    _check_features(sheet.path, features, X, notes, intercept, faults)
    _check_target(sheet.path, target, X, y)
    chances = check_policy(table[complete, -1], len(X), policy) if policy else None
    kept = tuple(np.array(sheet.lines)[complete].tolist())
    return Measurements(tuple(features), target, X, y, kept, tuple(notes), chances)


def _find_no_policy(
    sheet: Sheet, name: str, column: Floats, kept: Flags, faults: Faults, *, sums: bool = True
) -> None:
    """Add what keeps the rows that are kept from being a policy: an entry below 0, or their sum."""
    chances, lines = column[kept], np.array(sheet.lines)[kept]
    if find_negative(name, lines.tolist(), chances, faults, _SHARES) or not sums:
        return
    try:
        check_policy(chances, len(chances), cut(name))
    except ValueError as error:
        if kept.all():
            faults.add(name, f"column {error}", _SHARES)
            return
        gaps, line = int((~kept).sum()), sheet.lines[int(np.argmin(kept))]
        faults.add(
            name,
            f"column {cut(name)}: entries must sum to 1; those of the {len(chances)} complete rows "
            f"sum to {chances.sum():g}, and {counted(gaps, 'row')} {was(gaps)} dropped for gaps, "
            f"the first in line {line}",
            "; fill their gaps, or write how often the policy takes each remaining row",
        )


def _complete(
    sheet: Sheet,
    names: Sequence[str],
    n_features: int,
    table: Floats,
    missing: str,
    notes: list[str],
) -> Flags:
    gaps = np.isnan(table)
    complete = ~gaps.any(axis=1)
    # Neither the target nor the policy, which come last, can be left out.
    features = bool(gaps[:, :n_features].any())
    emptier = "name a column that is mostly empty in leave_out" if features else ""
    where = listed(
        f"{name} ({count})" for name, count in zip(names, gaps.sum(axis=0), strict=True) if count
    )
    if where and missing == "refuse":
        line = sheet.lines[int(np.argmin(complete))]
        raise ValueError(
            f"{sheet.path}: {np.sum(~complete)} of {len(table)} rows lack an entry, the first in "
            f"line {line}; by column: {where}; set missing to 'drop' to leave these rows out"
            f"{', or ' * bool(emptier)}{emptier}"
        )
    if not complete.any():
        raise ValueError(
            f"{sheet.path}: no row is complete; missing by column: {where or 'nothing'}; "
            f"{emptier or 'fill the gaps'}"
        )
    if where:
        dropped = int(np.sum(~complete))
        notes.append(f"{dropped} of {len(table)} rows {was(dropped)} dropped; missing: {where}.")
    return np.asarray(complete)


def _check_target(path: Path, name: str, X: Floats, y: Floats) -> None:
    if np.ptp(y) <= CONSTANT_TOLERANCE * np.abs(y).max():
        raise ValueError(
            f"{path}: column {cut(name)}, the target, is constant ({y[0]:g}): there is nothing "
            "to fit; name another target"
        )
    if len(X) <= X.shape[1] + 1:
        return
    scaled = X / np.maximum(np.abs(X).max(axis=0), SMALLEST)
    design = np.column_stack([np.ones(len(X)), scaled])
    rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    if np.std(rest) <= NOISELESS_TOLERANCE * np.std(y):
        raise ValueError(
            f"{path}: column {cut(name)}, the target, is a constant plus multiples of the "
            "features, up to rounding: it has no noise, so no design is better than another; if a "
            "feature is a copy of the target, name it in leave_out"
        )


def _check_features(
    path: Path, names: list[str], X: Floats, notes: list[str], intercept: bool, faults: Faults
) -> None:
    d = X.shape[1] + intercept
    if len(X) <= d:
        raise ValueError(
            f"{path}: {counted(len(X), 'complete row')} {'is' if len(X) == 1 else 'are'} too few "
            f"for {counted(X.shape[1], 'feature')}{' and an intercept' * intercept}; more rows "
            "than features are needed, and many more to fit variances"
        )
    _find_constants(names, X.T, faults)
    faults.refuse()
    scaled = X / np.sqrt(np.mean(X**2, axis=0))
    if (rank := int(np.linalg.matrix_rank(scaled))) < X.shape[1]:
        notes.append(
            f"The {X.shape[1]} features span only {counted(rank, 'dimension')}: some are sums of "
            "others, and leaving these out changes only the computing time."
        )
    if len(X) < 5 * d * (d + 1) // 2:
        notes.append(
            f"{len(X)} rows are few for the {d * (d + 1) // 2} unknowns of the variances: expect a "
            "rough fit."
        )


def _find_constants(names: Sequence[str], columns: Floats, faults: Faults) -> None:
    """Add the features that are constant; those with another fault are not judged."""
    for name, column in zip(names, columns, strict=True):
        if name in faults.columns:
            continue
        known = column[~np.isnan(column)]
        # A single number among gaps may be constant or not.
        if len(known) > 1 and np.ptp(known) <= CONSTANT_TOLERANCE * np.abs(known).max():
            faults.add(
                name,
                f"column {cut(name)} is constant ({known[0]:g})",
                "; a constant feature carries no information: name it in leave_out, and if the "
                "model needs a constant, choose intercept = true",
            )
