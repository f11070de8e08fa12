"""Pack an archive for students: hand-ins, the library, a small lock, and how to start."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nbformat import NotebookNode

from speedbook.notebook.files import code_cells, read_notebook, serialise
from speedbook.paths import write_atomically
from tools.course.folder import Course, CourseError
from tools.course.hand_ins import HandIn
from tools.course.plain import for_students, macros

HERE = Path(__file__).parent
#: The folder in the archive.
TOP = "speed-in-class"
LECTURES = "lecture-*.ipynb"
#: The archive has the modules of this package that its notebooks need, besides the library.
PACKAGE = "paper"
#: Modules by the names of packages that the small lock has.
INSTALLED = frozenset("IPython ipywidgets matplotlib numpy pandas scipy speedlib".split())
#: The same bytes from the same files.
DATE = (1980, 1, 1, 0, 0, 0)


def pack(hand_ins: Mapping[str, HandIn], folder: Path, root: Path, target: Path) -> list[str]:
    """Write the archive, and return the names of what is in it.

    Parameters
    ----------
    hand_ins : mapping of str to HandIn
        By name.
    folder : Path
        Where they, and lectures, are.
    root : Path
        The top folder of the project.
    target : Path
        The archive.

    Raises
    ------
    CourseError
        If a release would show a solution, or needs a module that students do not have.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".student-") as name:
        work = Path(name)
        files: dict[str, str | bytes] = {
            f"{each}.ipynb": text
            for each, text in Course(work / "course").release(hand_ins).items()
        }
        lacking(hand_ins, root)
        shown = lectures(folder, root)
        notebooks = [*(hand_in.notebook for hand_in in hand_ins.values()), *shown.values()]
        files |= {each: serialise(notebook) for each, notebook in shown.items()}
        files |= {each: path.read_bytes() for each, path in modules(notebooks, root)[0].items()}
        wheel = build_wheel(root, work / "wheel")
        files[wheel.name] = wheel.read_bytes()
        files["requirements.txt"] = (HERE / "requirements.txt").read_bytes()
        start = (HERE / "START.md").read_text(encoding="utf-8")
        files["START.md"] = start.replace("WHEEL", wheel.name)
        files["LICENSE"] = (root / "LICENSE").read_bytes()
        write_atomically(target, archive(files))
    return sorted(files)


def lacking(hand_ins: Mapping[str, HandIn], root: Path) -> None:
    """Raise a CourseError if a hand-in needs a module that students do not have."""
    for name, hand_in in hand_ins.items():
        _, missing = modules([hand_in.notebook], root)
        if missing:
            raise CourseError(f"{name}: students do not have: {', '.join(missing)}")


def lectures(folder: Path, root: Path) -> dict[str, NotebookNode]:
    """Return the lectures whose modules students have, without outputs."""
    found = {}
    for path in sorted(folder.glob(LECTURES)):
        notebook = for_students(read_notebook(path), macros(root))
        _, missing = modules([notebook], root)
        if not missing:
            for cell in code_cells(notebook):
                cell.outputs, cell.execution_count = [], None
            found[path.name] = notebook
    return found


def modules(notebooks: Iterable[NotebookNode], root: Path) -> tuple[dict[str, Path], list[str]]:
    """Return the files of `PACKAGE` that notebooks need, and the modules that students lack.

    The files are the modules that the notebooks import, directly or through other modules, by their
    path from the top folder. Students lack the modules that are neither in the small lock nor in
    `PACKAGE`.
    """
    sources = [cell.source for notebook in notebooks for cell in code_cells(notebook)]
    waiting = [name for source in sources for name in imported(source)]
    files: dict[str, Path] = {}
    missing = set[str]()
    while waiting:
        name = waiting.pop()
        top = name.split(".")[0]
        if top == PACKAGE:
            for path in _files_of(name, root):
                if (place := path.relative_to(root).as_posix()) not in files:
                    files[place] = path
                    waiting += imported(path.read_text(encoding="utf-8"))
        elif top not in INSTALLED | sys.stdlib_module_names:
            missing.add(name)
    return files, sorted(missing)


def imported(source: str) -> list[str]:
    r"""Return what some code imports; for "from a import b" this is both ``a`` and ``a.b``.

    Examples
    --------
    >>> imported("import os\nfrom paper import course\n%matplotlib inline")
    ['os', 'paper', 'paper.course']
    """
    plain = "\n".join(line for line in source.splitlines() if not _magic(line))
    found = []
    for node in ast.walk(ast.parse(plain)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def _files_of(name: str, root: Path) -> Iterator[Path]:
    """Yield the files that are read when a module is imported; none where there is no module."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:count])
        for path in (place / "__init__.py", place.with_suffix(".py")):
            if path.is_file():
                yield path


def _magic(line: str) -> bool:
    return line.lstrip().startswith(("%", "!"))


def build_wheel(root: Path, folder: Path) -> Path:
    """Build the library's wheel, and return it; nothing is downloaded."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder.resolve())],
        cwd=root,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise CourseError(f"the library cannot be packed: {done.stderr.strip()}")
    (wheel,) = folder.glob("*.whl")
    return wheel


def archive(files: Mapping[str, str | bytes]) -> bytes:
    """Return the bytes of an archive with these files in its one folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{TOP}/{name}", DATE)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, content)
    return buffer.getvalue()
