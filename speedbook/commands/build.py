"""``speedbook build``: run the notebooks that changed, derive the ledger, build the pages.

All of this happens below ``_build``. Only a refresh writes committed notebooks and
``book/ledger.json``, and it writes a file only if the evidence in it changed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from nbformat import NotebookNode

from speedbook.claims.agreement import ledger_agreements
from speedbook.claims.ledger import LEDGER, built_ledger, derive_ledger, ledger_text, shelf_problems
from speedbook.claims.registry import Registry, load_registry
from speedbook.commands.exit_codes import failure
from speedbook.commands.reporter import Reporter
from speedbook.notebook.contract import (
    output_problems,
    seed_problems,
    source_problems,
    usage_problems,
)
from speedbook.notebook.files import (
    evidence,
    normalise,
    read_notebook,
    serialise,
    with_outputs,
    with_run_time,
    write_notebook,
)
from speedbook.notebook.prose import prose_problems
from speedbook.paths import mirror, write_if_changed
from speedbook.press.downloads import page_downloads
from speedbook.press.jupyter_book import PressError, press, stage
from speedbook.press.pictures import pictures
from speedbook.press.template import page_problems, published
from speedbook.run.cache import Cache, Run, page_key, run_key, shared_key
from speedbook.run.execution import (
    FIGURES_FORMATS,
    Finished,
    Job,
    execute_all,
    kernel_environment,
)
from speedbook.run.failures import ENOUGH, Failures, cause
from speedbook.run.full_results import ledger_full
from speedbook.run.lock import only_one
from speedbook.run.provenance import build_facts
from speedbook.text import counted

Notebooks = dict[str, NotebookNode]
#: The formats of figures that pages offer, besides the PNG of the notebook.
FIGURES = "svg csv"


def build_book(root: Path, *, refresh: bool, workers: int, reporter: Reporter) -> Path:
    """Build the book and return its first page.

    A refresh also rewrites the committed notebooks and the ledger if their evidence changed. A
    CommandError says in one line for each notebook, registry entry or page what is wrong with it.
    An OSError means that a file cannot be written, and Busy that another command is at work in the
    folder.
    """
    with only_one(root, f"speedbook build{' --refresh' * refresh}", reporter.say):
        return _build(root, refresh, workers, reporter)


def _build(root: Path, refresh: bool, workers: int, reporter: Reporter) -> Path:
    build = root / "_build"
    try:
        registry = load_registry(root)
        sources = _read_sources(root, registry)
        runs = _execute(root, sources, registry, workers, reporter)
        executed = {name: run.notebook for name, run in runs.items()}
        seconds = {name: run.seconds for name, run in runs.items()}
        derived = derive_ledger(registry, executed)
        agreements = ledger_agreements(root, derived["claims"])
        full = ledger_full(root, registry, executed)
        derived = built_ledger(derived, seconds, build_facts(root), agreements, full)
        write_if_changed(build / "ledger.json", ledger := ledger_text(derived))
        stale = [name for name in executed if evidence(executed[name]) != evidence(sources[name])]
        if refresh:
            committed = sources | {name: executed[name] for name in stale}
            _refresh(root, committed, registry, reporter)
        elif stale:
            reporter.say(
                "Committed outputs differ from this run; `make refresh` renews them: "
                + ", ".join(stale)
            )
        pages = {name: published(notebook) for name, notebook in executed.items()}
        texts = {name: with_run_time(page, seconds[name]) for name, page in pages.items()}
        downloads = {
            path: content
            for name, page in pages.items()
            for path, content in page_downloads(name, page, runs[name].files or {}).items()
        }
        derived_files = texts | downloads | pictures(root, executed) | {LEDGER: ledger}
        stage(root, build / "stage", derived_files)
        with reporter.busy("Building the pages"):
            environment = kernel_environment(root, build / "figures")
            return press(root, build / "stage", build, environment)
    except (ValueError, PressError) as error:
        raise failure(error) from error


def notebooks_of_book(root: Path) -> list[str]:
    """Return the notebooks of ``_toc.yml`` in order, as paths from the root.

    Raises a ValueError if the table of contents is not YAML or names a page that does not exist.
    """
    try:
        toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"_toc.yml is not YAML: {error}") from None
    found = []
    for page in _pages(toc):
        name = page if page.endswith((".md", ".ipynb")) else f"{page}.ipynb"
        if name.endswith(".ipynb") and (root / name).is_file():
            found.append(name)
        elif not any((root / f"{page}{ending}").is_file() for ending in ("", ".md", ".rst")):
            raise ValueError(f"_toc.yml names {page}, but there is no such page")
    return found


def _pages(toc: Any) -> Iterator[str]:
    if isinstance(toc, Mapping):
        for key, value in toc.items():
            if key in ("root", "file"):
                yield str(value)
            else:
                yield from _pages(value)
    elif isinstance(toc, list):
        for item in toc:
            yield from _pages(item)


def _read_sources(root: Path, registry: Registry) -> Notebooks:
    sources = {name: read_notebook(root / name) for name in notebooks_of_book(root)}
    faults = [
        f"{name}: {problem}"
        for name, notebook in sources.items()
        for problem in source_problems(notebook) or _page_faults(name, notebook, registry)
    ]
    if problems := shelf_problems(registry, sources) + faults:
        raise ValueError("\n".join(problems))
    return sources


def _page_faults(name: str, notebook: NotebookNode, registry: Registry) -> list[str]:
    """Say why a notebook, although it can be run, cannot be a page of the book."""
    faults = page_problems(notebook) + prose_problems(name, notebook) + usage_problems(notebook)
    return faults + (seed_problems(notebook) if registry.of_notebook(name) else [])


def _execute(
    root: Path, sources: Notebooks, registry: Registry, workers: int, reporter: Reporter
) -> dict[str, Run]:
    """Return all notebooks executed; those whose dependencies are unchanged come from the cache."""
    build = root / "_build"
    cache, shared = Cache(build / "cache"), shared_key(root)
    keys = {
        name: run_key(notebook, registry.of_notebook(name), page_key(root, name, shared))
        for name, notebook in sources.items()
    }
    runs = {
        name: run
        for name, key in keys.items()
        # Without its figures, as an older version kept it, a run is of no use to the pages.
        if (run := cache.get(name, key)) and run.files is not None
    }
    cached = set(runs)
    failures, known, repeated = list[str](), Failures(), ""
    waiting = [name for name in sources if name not in cached]
    with closing(_run_all(root, waiting, workers, reporter)) as ends:
        for end in ends:
            name = end.job.name
            if failure := end.failure or lint(root, end.job):
                failures.append(name)
                reporter.fail(keep_partial(build, end.job, failure))
                if known.enough(failure):
                    repeated = cause(failure)
                    break
            else:
                executed_here = normalise(read_notebook(end.job.output))
                runs[name] = Run(executed_here, end.seconds, files=_figure_files(end.job))
                cache.put(name, keys[name], runs[name])
                end.job.output.unlink()
    _write_status(build, sources, runs, cached, failures)
    if failures:
        skipped = len(sources) - len(runs) - len(failures)
        why = _why_it_stopped(repeated, skipped) if skipped else ""
        count = f"{len(failures)} of {len(sources)} notebooks failed"
        raise ValueError(f"{count}: {', '.join(failures)}{why}")
    executed = {name: with_outputs(sources[name], runs[name].notebook) for name in sources}
    mirror({name: serialise(notebook) for name, notebook in executed.items()}, build / "executed")
    reporter.say(
        f"Notebooks: {len(sources) - len(cached)} executed, "
        f"{len(cached)} unchanged since an earlier run."
    )
    return {name: replace(runs[name], notebook=notebook) for name, notebook in executed.items()}


def _figure_files(job: Job) -> dict[str, str]:
    """Return the files of the figures that a run drew, by name."""
    found = sorted(job.figures.iterdir()) if job.figures and job.figures.is_dir() else []
    return {path.name: path.read_text(encoding="utf-8") for path in found}


def _why_it_stopped(repeated: str, skipped: int) -> str:
    return (
        f"\nstopped after the same failure in {ENOUGH} notebooks: {repeated}\n"
        f"    Not run: {counted(skipped, 'notebook')}. Check what all notebooks share: the "
        "library, the packages in .venv,\n    environment variables and settings, memory and disk "
        "space; then build again."
    )


def _run_all(root: Path, names: list[str], workers: int, reporter: Reporter) -> Generator[Finished]:
    if not names:
        return
    running = root / "_build" / "running"
    jobs = [
        # Figures of two pages may have the same name.
        Job(name, root / name, running / name, figures=running / "figures" / name)
        for name in names
    ]
    environment = kernel_environment(root, running / "figures")
    environment[FIGURES_FORMATS] = FIGURES
    try:
        with (
            reporter.bar("Executing notebooks", len(jobs)) as advance,
            closing(execute_all(jobs, workers, environment)) as ends,
        ):
            for end in ends:
                advance(f"{end.job.name}: {end.seconds:.1f} s")
                yield end
    finally:
        shutil.rmtree(running, ignore_errors=True)


def lint(root: Path, job: Job) -> str:
    """Return why the outputs of a run cannot be kept, or an empty text."""
    problems = output_problems(normalise(read_notebook(job.output)), str(root))
    return "\n    ".join(problems)


def keep_partial(build: Path, job: Job, failure: str) -> str:
    """Keep the unfinished notebook below `build`, and return the message of the failure."""
    text = f"{job.name}: {failure}"
    if job.output.is_file():
        kept = build / "failed" / job.name
        kept.parent.mkdir(parents=True, exist_ok=True)
        job.output.replace(kept)
        text += f"\n    unfinished notebook: {kept.relative_to(build.parent)}"
    return text


def _write_status(
    build: Path,
    names: Notebooks,
    runs: dict[str, Run],
    cached: set[str],
    failures: Collection[str],
) -> None:
    def state(name: str) -> str:
        if name in runs:
            return "cached" if name in cached else "executed"
        return "failed" if name in failures else "not run"

    status = [
        {
            "notebook": name,
            "state": state(name),
            "seconds": runs[name].seconds if name in runs else None,
        }
        for name in names
    ]
    write_if_changed(build / "status.json", json.dumps({"notebooks": status}, indent=1) + "\n")


def _refresh(root: Path, committed: Notebooks, registry: Registry, reporter: Reporter) -> None:
    """Write the normalised notebooks and the files derived from them, if they have changed."""
    written = [
        name for name, notebook in committed.items() if write_notebook(root / name, notebook)
    ]
    derived = pictures(root, committed)
    derived[LEDGER] = ledger_text(derive_ledger(registry, committed)).encode()
    written += [name for name, data in derived.items() if write_if_changed(root / name, data)]
    reporter.say(f"Refreshed: {', '.join(written) or 'nothing, everything was up to date'}.")
