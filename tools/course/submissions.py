"""Find what students handed in: the student and the hand-in of each file."""

from __future__ import annotations

import io
import json
import re
import time
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from speedbook.notebook.files import to_notebook
from tools.course.hand_ins import HandIn, graded_ids, student_named

#: Bytes above which a file is no notebook of a student.
LARGEST = 50_000_000
#: What systems leave in folders and archives.
LITTER = re.compile(r"(?:^|/)(?:\.[^/]*|__MACOSX|__pycache__|Thumbs\.db|desktop\.ini)(?:/|$)")
#: What a second copy of a file has in its name.
COPY = re.compile(r"(?:[ _-]*\(\d+\)|[ _-]*copy ?\d*)+$", re.I)
#: What Moodle adds to the names of what it hands out.
MOODLE = re.compile(r"_\d+_assignsubmission_(?:file|onlinetext)_?")


@dataclass(frozen=True)
class File:
    """A notebook that was found: its path, the time of its last change, and its content."""

    place: str
    changed: float
    content: bytes


class Content(NamedTuple):
    """What a file of a student holds: a notebook, and the name in it."""

    notebook: NotebookNode
    #: The name from which the notebook's numbers come.
    named: str


@dataclass(frozen=True)
class Submission:
    """What a student handed in for one hand-in."""

    student: str
    hand_in: str
    file: File
    notebook: NotebookNode
    #: The name in the notebook, from which its numbers come.
    named: str


@dataclass(frozen=True)
class Fault:
    """A file that was not graded but perhaps should be: its student, its path, and the reason."""

    student: str
    place: str
    why: str


@dataclass
class Found:
    """All that is in a folder: submissions, and files that are not submissions."""

    submissions: list[Submission] = field(default_factory=list)
    unmatched: list[Fault] = field(default_factory=list)
    #: What a teacher may want to look at.
    notes: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    @property
    def faults(self) -> list[str]:
        """A line for each thing that was not matched."""
        return [f"{each.place}: {each.why}" for each in self.unmatched]

    @property
    def students(self) -> list[str]:
        """The students in the order of their names."""
        return sorted({each.student for each in self.submissions}, key=str.casefold)

    def note(self, each: Submission, text: str) -> None:
        """Store a remark on a submission."""
        self.notes.setdefault((each.student, each.hand_in), []).append(text)


def read_submissions(folder: Path, hand_ins: Mapping[str, HandIn]) -> Found:
    """Read a folder that holds a folder, a ``.zip`` or a ``.ipynb`` for each student.

    The name of a folder or an archive is the name of its student. The name of a single notebook
    gives the student and the hand-in, as in ``ada-lovelace_hand-in-1.ipynb``. If it gives only the
    hand-in, the student's name is read from the notebook. The cells of a notebook show which
    hand-in it is, so its file may have any name.
    """
    found = Found()
    for path in sorted(folder.iterdir()):
        if LITTER.search(path.name):
            continue
        if path.is_symlink() or not (path.is_dir() or path.suffix in (".zip", ".ipynb")):
            why = "is neither a folder nor a .zip nor a .ipynb"
            found.unmatched.append(Fault(_owner_of(path, hand_ins), path.name, why))
            continue
        try:
            files = list(_files(path))
        except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
            why = f"cannot be read ({error})"
            found.unmatched.append(Fault(_owner_of(path, hand_ins), path.name, why))
            continue
        _add(found, path, files, hand_ins)
    _keep_newest(found)
    _look_at_names(found, hand_ins)
    return found


def _files(path: Path) -> Iterator[File]:
    if path.is_dir():
        for each in sorted(path.rglob("*")):
            place = each.relative_to(path).as_posix()
            if each.is_file() and not each.is_symlink() and not LITTER.search(place):
                if each.suffix in (".zip", ".ipynb"):
                    yield from _one_file(f"{path.name}/{place}", each)
    else:
        yield from _one_file(path.name, path)


def _one_file(place: str, path: Path) -> Iterator[File]:
    if path.stat().st_size > LARGEST:
        raise OSError(f"{place} has more than {LARGEST:,} bytes")
    if path.suffix == ".ipynb":
        yield File(place, path.stat().st_mtime, path.read_bytes())
        return
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        for member in archive.infolist():
            if not member.filename.endswith(".ipynb") or LITTER.search(member.filename):
                continue
            if member.file_size > LARGEST:
                raise OSError(f"{place}/{member.filename} has more than {LARGEST:,} bytes")
            changed = time.mktime((*member.date_time, 0, 0, -1))
            yield File(f"{place}/{member.filename}", changed, archive.read(member))


def _add(found: Found, path: Path, files: list[File], hand_ins: Mapping[str, HandIn]) -> None:
    """Add what an entry of the folder holds; say why, if that is nothing."""
    matched, faults, others = False, list[tuple[str, str]](), list[str]()
    by_file = _known(found, _owner_of(path, hand_ins))
    for file in files:
        try:
            notebook, named = read_file(file)
        except ValueError as error:
            faults.append((file.place, f"is not a notebook ({error})"))
            continue
        name = matching(notebook, hand_ins)
        if name is None:
            others.append(file.place)
            continue
        matched = True
        student = by_file
        if path.suffix == ".ipynb" and not path.is_dir() and not owner(path.stem, hand_ins):
            student = _known(found, " ".join((named or path.stem).split()))
        found.submissions.append(Submission(student, name, file, notebook, named))
    if not matched and not faults:
        held = f"; it holds {', '.join(others)}" if others and path.suffix != ".ipynb" else ""
        faults = [(path.name, f"has no notebook with the cells of a hand-in{held}")]
    found.unmatched += [Fault(by_file, place, why) for place, why in faults]


def _owner_of(path: Path, hand_ins: Iterable[str]) -> str:
    """Return whose an entry of the folder is by its name alone."""
    if path.is_dir() and not path.is_symlink():
        return " ".join(MOODLE.sub("", path.name).split())
    return " ".join((owner(path.stem, hand_ins) or path.stem).split())


def read_file(file: File) -> Content:
    """Return what a file holds; a ValueError says why it is no notebook."""
    try:
        raw = json.loads(file.content.decode("utf-8-sig"))
        if raw["nbformat"] != 4:
            raise ValueError(f"its format is {raw['nbformat']}, not 4")
        notebook = to_notebook(raw)
        graded_ids(notebook)
        named = student_named(notebook)
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError(str(error) or type(error).__name__) from None
    return Content(notebook, named)


def matching(notebook: NotebookNode, hand_ins: Mapping[str, HandIn]) -> str | None:
    """Return the hand-in with the most cells in a notebook, or None if it has cells of none."""
    cells = set(graded_ids(notebook))
    shared = {name: len(cells & hand_in.cells) for name, hand_in in hand_ins.items()}
    best = max(shared, key=lambda name: shared[name])
    return best if shared[best] else None


def owner(stem: str, hand_ins: Iterable[str]) -> str:
    """Return the student's name from the name of a file, or an empty text.

    Examples
    --------
    >>> [owner(stem, ["hand-in-1"]) for stem in ("Ada Lovelace_hand-in-1 (2)", "Hand-in-1")]
    ['Ada Lovelace', '']
    >>> owner("Ada Lovelace_4711_assignsubmission_file_hand-in-1", ["hand-in-1"])
    'Ada Lovelace'
    """
    stem = COPY.sub("", MOODLE.sub("", stem))
    for name in sorted(hand_ins, key=len, reverse=True):
        stem = re.sub(re.escape(name), " ", stem, flags=re.I)
    return COPY.sub("", stem).strip(" _-.,")


def _known(found: Found, student: str) -> str:
    """Return a student's name as it is spelt already, where only its form differs."""
    spelt = {folded(each.student): each.student for each in found.submissions}
    return spelt.get(folded(student), student)


def folded(name: str) -> str:
    """Return a name in the form in which names are compared."""
    return re.sub(r"[\s_-]+", " ", unicodedata.normalize("NFC", name)).strip().casefold()


def _keep_newest(found: Found) -> None:
    kept: dict[tuple[str, str], Submission] = {}
    for each in found.submissions:
        key = each.student, each.hand_in
        if (other := kept.get(key)) is None:
            kept[key] = each
            continue
        newest, older = sorted((each, other), key=lambda one: one.file.changed, reverse=True)
        kept[key] = newest
        if newest.file.content != older.file.content:
            found.note(newest, f"graded {newest.file.place}, the newest, not {older.file.place}")
    found.submissions = [kept[key] for key in sorted(kept, key=lambda k: (folded(k[0]), k[1]))]


def _look_at_names(found: Found, hand_ins: Mapping[str, HandIn]) -> None:
    """Note whose numbers are not their own."""
    by_name: dict[tuple[str, str], set[str]] = {}
    for each in found.submissions:
        by_name.setdefault((folded(each.named), each.hand_in), set()).add(each.student)
    for each in found.submissions:
        default = hand_ins[each.hand_in].default
        if default and folded(each.named) == folded(default):
            found.note(each, f"the numbers are those of the example, {default}")
            continue
        others = by_name[folded(each.named), each.hand_in] - {each.student}
        if each.named and others:
            found.note(each, f"is for {each.named}, as is that of {', '.join(sorted(others))}")


def identifiers(students: list[str]) -> dict[str, str]:
    """Return a name for folders for each student, of letters, digits, dots and dashes.

    Examples
    --------
    >>> identifiers(["Ada [1]", "Ada (1)", "../x"])
    {'Ada [1]': 'Ada-1', 'Ada (1)': 'Ada-1-2', '../x': 'x'}
    """
    taken: dict[str, str] = {}
    for student in students:
        plain = re.sub(r"[^\w.]+", "-", unicodedata.normalize("NFC", student)).strip("-._")
        name = plain or "student"
        count = 2
        while name.casefold() in {each.casefold() for each in taken.values()}:
            name, count = f"{plain or 'student'}-{count}", count + 1
        taken[student] = name
    return taken
