"""Tiny notebooks and tiny books, so that a test of the press takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
import yaml

from speedbook.notebook.files import KERNELSPEC, LANGUAGE, read_notebook, write_notebook
from speedbook.run.execution import Finished, Job

TITLE = "# A page\n\n*In short:* it is a number. *You need* nothing."
PARAMETERS = "x: int = 3  # a number [1 .. 9]"
CONFIG = {
    "title": "Tiny",
    "only_build_toc_files": True,
    "execute": {"execute_notebooks": "off"},
    "sphinx": {
        "extra_extensions": ["speedbook.press.sphinx.extension"],
        "config": {"html_static_path": ["book/_static"], "html_css_files": ["style.css"]},
    },
    "parse": {"myst_enable_extensions": ["attrs_block", "colon_fence", "deflist", "dollarmath"]},
}
CLAIM = {
    "id": "prop-1",
    "title": "The tiny claim",
    "place": "Section 1",
    "statement": "One is one.",
    "notebook": "notebooks/claims/prop-1.ipynb",
    "origin": "paper",
    "kind": "decidable",
    "evidence": "measured",
    "rule": {"kind": "equal", "value": 1, "tolerance": 0.1},
}
INDEX = "# Tiny\n\nIt is {ledger}`prop-1.estimate`: {claim-badge}`prop-1`.\n"
RECORD = (
    "from speedbook import record\nrecord('prop-1', 1.001, (0.99, 1.01), level=0.999, seed=seed)"
)
SEED = "seed: int = 3  # of the run [0 ..]"


def tiny_notebook(*cells: str, parameters: str | None = PARAMETERS) -> Any:
    """Return a notebook, unexecuted: a title, the parameters cell, and the code cells given."""
    built = [nbformat.v4.new_markdown_cell(TITLE)]
    if parameters is not None:
        built.append(nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}))
    built += [nbformat.v4.new_code_cell(source) for source in cells]
    for place, cell in enumerate(built):
        cell.id = f"cell-{place}"
    metadata = {"kernelspec": dict(KERNELSPEC), "language_info": dict(LANGUAGE)}
    return nbformat.v4.new_notebook(cells=built, metadata=metadata)


@pytest.fixture(name="tiny_notebook", scope="session")
def tiny_notebook_fixture() -> Callable[..., Any]:
    return tiny_notebook


class TinyBook(SimpleNamespace):
    """A book in a temporary folder."""

    root: Path

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def notebook(self, name: str, notebook: Any) -> Path:
        return self.write(name, nbformat.writes(notebook))

    def claims(self, claims: Sequence[Mapping[str, Any]]) -> None:
        self.write("book/claims.yml", yaml.safe_dump({"claims": list(claims)}))

    def toc(self, *pages: str) -> None:
        # Every notebook's page leads to the one on reruns.
        chapters = [{"file": page} for page in (*pages, "book/rerun")]
        toc = {"format": "jb-book", "root": "book/index", "chapters": chapters}
        self.write("_toc.yml", yaml.safe_dump(toc))

    def snapshot(self) -> dict[str, str]:
        """Return the content of every file outside ``_build``."""
        return {
            path.relative_to(self.root).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and "_build" not in path.relative_to(self.root).parts
        }


def make(folder: Path) -> TinyBook:
    """Make a book with a figure page and a claim page, in a path with spaces, without ``.git``."""
    book = TinyBook(root=folder / "my {tiny} book")
    book.write("_config.yml", yaml.safe_dump(CONFIG))
    book.toc("notebooks/figures/fig", "notebooks/claims/prop-1", "book/ledger")
    book.write("book/index.md", INDEX)
    book.write("book/ledger.md", "# Ledger\n\n```{ledger-table}\n```\n")
    book.write("book/rerun.md", "# Reruns\n\nHow.\n")
    book.write("book/_static/style.css", "p { color: black; }\n")
    book.write("speedlib/__init__.py", "ANSWER = 1\n")
    book.write("data/set.csv", "a,b\n1,2\n")
    book.claims([CLAIM])
    book.notebook("notebooks/figures/fig.ipynb", tiny_notebook("print(x + 1)"))
    book.notebook("notebooks/claims/prop-1.ipynb", tiny_notebook(RECORD, parameters=SEED))
    return book


@pytest.fixture(scope="session")
def make_tiny_book() -> Callable[[Path], TinyBook]:
    return make


@pytest.fixture
def tiny_book(tmp_path: Path) -> TinyBook:
    return make(tmp_path)


class NoKernels:
    """Stands in for the kernels of reruns: runs a notebook at once, as its attributes say."""

    #: What the run failed with, if it did.
    failure = ""
    #: Called with the job and the notebook that will be its output, to put outputs into it.
    fill: Callable[[Job, Any], None] | None = None

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def __call__(
        self, jobs: Sequence[Job], workers: int, environment: Mapping[str, str], tick: Any
    ) -> Iterator[Finished]:
        for job in jobs:
            self.jobs.append(job)
            notebook = read_notebook(job.source)
            if self.fill:
                self.fill(job, notebook)
            write_notebook(job.output, notebook)
            yield Finished(job, 0.1, self.failure)


@pytest.fixture
def no_kernels(monkeypatch: pytest.MonkeyPatch) -> NoKernels:
    kernels = NoKernels()
    monkeypatch.setattr("speedbook.run.folder.execute_all", kernels)
    return kernels


@pytest.fixture
def house_style(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The style of figures, shown and not written, and none of them left behind."""
    import matplotlib.pyplot as plt

    from speedbook import figures

    monkeypatch.delenv("SPEEDBOOK_FIGURES_DIR", raising=False)
    with plt.rc_context():
        figures.use_style()
        yield
        plt.close("all")


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was displayed, as pairs of data and metadata."""
    import IPython.display

    shown: list[Any] = []
    monkeypatch.setattr(
        IPython.display, "display", lambda data, raw, metadata: shown.append((data, metadata))
    )
    return shown
