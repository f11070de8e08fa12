"""One side of `speedbook compare`: a run, the runs in a folder, the book, or its long setting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from speedbook.notebook.captions import shown_figures
from speedbook.notebook.files import code_cells, read_notebook
from speedbook.notebook.parameters import Value, notebook_parameters
from speedbook.run.altered import contradictions, executed_notebook, missing_files
from speedbook.run.full_results import FULL_RESULTS, read_full_results
from speedbook.run.listing import run_folders
from speedbook.run.manifest import (
    MANIFEST,
    Environment,
    Manifest,
    code_digest,
    read_manifest,
)
from speedbook.run.results import NUMBERS, Results, read_results

#: The words for what is committed: at the defaults, and with the long setting.
BOOK, FULL = "book", "full"


@dataclass(frozen=True)
class Member:
    """One set of results.

    ``label`` is for people. ``environment`` is None if it is not known, and ``executed`` is None if
    no notebook with outputs is left. ``notes`` say which files are missing or were changed.
    """

    label: str
    notebook: str
    parameters: Mapping[str, Value]
    results: Results
    code: str
    environment: Environment | None = None
    executed: Path | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def _outputs(self) -> NotebookNode | None:
        return read_notebook(self.executed) if self.executed else None

    def pictures(self) -> dict[str, NotebookNode]:
        """Return the output with each figure by the figure's name."""
        cells = code_cells(self._outputs) if self._outputs else []
        shown = (output for cell in cells for output in shown_figures(cell))
        return {output.metadata["speedbook"]["figure"]["name"]: output for output in shown}

    def tables(self) -> dict[str, str]:
        """Return the CSV of each table, as shown, by the name of its file."""
        found = read_results(self._outputs)[1] if self._outputs else {}
        return {name: text for name, text in found.items() if not name.endswith(NUMBERS)}


@dataclass(frozen=True)
class Side:
    """One of the two sides; ``left_out`` says which runs of a folder did not finish."""

    name: str
    members: tuple[Member, ...]
    left_out: tuple[str, ...] = ()


def read_sides(root: Path, names: tuple[str, str]) -> tuple[Side, Side]:
    """Read both sides.

    Parameters
    ----------
    root : Path
        The top folder of the book.
    names : pair of str
        Each side is given as the folder of a run, a run's manifest, a folder of runs such as a
        sweep's folder, or one of the words `book` and `full`. To name a folder that is called
        ``book``, write ``./book``.

    Raises
    ------
    ValueError
        If a side cannot be read, has no finished run, or was changed after its run.
    """
    words = [name in (BOOK, FULL) for name in names]
    if names[0] == names[1]:
        raise ValueError(f"compare: {names[0]} was given twice")
    found = [None if word else _from_path(name) for name, word in zip(names, words, strict=True)]
    wanted = {member.notebook for side in found if side for member in side.members}
    wanted = wanted or set(read_full_results(root).notebooks)
    first, second = (
        side or _committed(root, name, sorted(wanted))
        for name, side in zip(names, found, strict=True)
    )
    return first, second


def _committed(root: Path, word: str, notebooks: Iterable[str]) -> Side:
    members = _of_book(root, notebooks) if word == BOOK else _of_full(root, notebooks)
    return Side(word, tuple(members))


def _of_book(root: Path, notebooks: Iterable[str]) -> Iterable[Member]:
    for name in notebooks:
        notebook = _read(root, name)
        yield Member(
            label=f"the book’s {Path(name).stem}",
            notebook=name,
            parameters={p.name: p.default for p in notebook_parameters(notebook)},
            results=read_results(notebook)[0],
            code=code_digest(notebook),
            executed=root / name,
        )


def _read(root: Path, name: str) -> NotebookNode:
    try:
        return read_notebook(root / name)
    except OSError:
        raise ValueError(
            f"{BOOK}: it has no notebook {name}, so the run has no counterpart"
        ) from None


def _of_full(root: Path, notebooks: Iterable[str]) -> Iterable[Member]:
    stored = read_full_results(root)
    if missing := [name for name in notebooks if name not in stored.notebooks]:
        raise ValueError(f"{FULL}: {FULL_RESULTS} holds no results of {', '.join(missing)}")
    if not stored.notebooks:
        raise ValueError(f"{FULL}: there is no {FULL_RESULTS}; `make full` makes it")
    for name in notebooks:
        run = stored.notebooks[name]
        defaults = {p.name: p.default for p in notebook_parameters(_read(root, name))}
        yield Member(
            label=f"the long setting of {Path(name).stem}",
            notebook=name,
            parameters={**defaults, **run.basis.parameters},
            results=run.results,
            code=run.code,
            environment=stored.environments[run.environment],
        )


def _from_path(name: str) -> Side:
    path = Path(name)
    folder = path.parent if path.name == MANIFEST else path
    if not folder.exists():
        raise ValueError(
            f"{name}: there is no such folder; give the folder of a run or a sweep, or `{BOOK}`; "
            "`speedbook runs` lists runs"
        )
    if (folder / MANIFEST).is_file():
        manifest = read_manifest(folder, "")
        if manifest.failure:
            raise ValueError(f"{name}: this run did not finish: {manifest.failure.splitlines()[0]}")
        return Side(name, (_member(name, folder, manifest),))
    members, left_out = _all_below(folder)
    if not members:
        raise ValueError(f"{name}: holds no finished run ({MANIFEST} is missing)")
    return Side(name, tuple(members), tuple(left_out))


def _all_below(folder: Path) -> tuple[list[Member], list[str]]:
    """Return the finished runs below a folder, the last one for each set of parameters."""
    found: dict[tuple[str, str], Member] = {}
    left_out = {}
    for run in reversed(run_folders(folder)):
        if run.state in ("failed", "interrupted"):
            place = run.path.relative_to(folder).as_posix()
            left_out[place] = f"{place} ({run.in_words})"
    for path in sorted((*folder.glob(f"*/{MANIFEST}"), *folder.glob(f"*/*/{MANIFEST}"))):
        place = path.parent.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        manifest = read_manifest(path, "")
        if manifest.failure:
            left_out.setdefault(place, place)
        else:
            member = _member(place, path.parent, manifest)
            found[member.notebook, key(member.parameters)] = member
    return list(found.values()), [*left_out.values()]


def _member(label: str, folder: Path, manifest: Manifest) -> Member:
    if found := contradictions(folder, manifest):
        raise ValueError(
            "\n".join(f"{label}: {sentence}" for sentence in found)
            + "\nThis folder was changed after its run: repeat the run"
        )
    executed = executed_notebook(folder, manifest)
    return Member(
        label=label,
        notebook=manifest.notebook,
        parameters=manifest.parameters,
        results=manifest.results,
        code=manifest.code,
        environment=manifest.environment,
        executed=executed if executed.is_file() else None,
        notes=tuple(missing_files(folder, manifest)),
    )


def key(parameters: Mapping[str, Any]) -> str:
    """Return a text that is the same for equal parameters."""
    return repr(sorted(parameters.items()))


def matched(one: Side, other: Side) -> tuple[list[tuple[Member, Member]], list[str], list[str]]:
    """Pair the runs of two sides; also return which runs of each side have no partner.

    If one side has a single run of a notebook, every run of that notebook on the other side is
    compared with this run. Otherwise two runs are compared if they agree in the parameters that
    vary within a side.
    """
    pairs: list[tuple[Member, Member]] = []
    left: list[str] = []
    right: list[str] = []
    for notebook in sorted({m.notebook for m in (*one.members, *other.members)}):
        mine, theirs = (
            [m for m in side.members if m.notebook == notebook] for side in (one, other)
        )
        if mine and theirs and 1 in (len(mine), len(theirs)):
            pairs += [(a, b) for a in mine for b in theirs]
            continue
        varying = _varying(mine) | _varying(theirs)
        places = {_restricted(m, varying): m for m in theirs}
        for member in mine:
            if partner := places.pop(_restricted(member, varying), None):
                pairs.append((member, partner))
            else:
                left.append(member.label)
        right.extend(member.label for member in places.values())
    return pairs, left, right


def _varying(members: Iterable[Member]) -> set[str]:
    seen: dict[str, set[str]] = {}
    for member in members:
        for name, value in member.parameters.items():
            seen.setdefault(name, set()).add(repr(value))
    return {name for name, values in seen.items() if len(values) > 1}


def _restricted(member: Member, names: set[str]) -> str:
    return key({n: v for n, v in member.parameters.items() if n in names})
