"""``speedbook rerun``: a notebook with other parameters, or a repetition of an earlier run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

from nbformat import NotebookNode

from speedbook.claims.cards import rounded_record
from speedbook.claims.ledger import read_ledger
from speedbook.commands.exit_codes import (
    CommandError,
    ExitCode,
    before_the_work,
    failure,
    interrupted_by,
)
from speedbook.commands.reporter import Reporter
from speedbook.notebook.find import find_notebook, notebook_names, shelf
from speedbook.notebook.values import (
    full_values,
    read_assignments,
    read_file,
    read_values,
)
from speedbook.paths import find_root
from speedbook.run.execution import CELL_TIMEOUT, FULL_TIMEOUT
from speedbook.run.folder import (
    RUNS,
    Request,
    RunFailed,
    RunInterrupted,
    at_defaults,
    facts,
    run,
)
from speedbook.run.manifest import Manifest, Setting, read_manifest
from speedbook.text import counted, nearest


@dataclass(frozen=True)
class Rerun:
    """The arguments and options of the command line."""

    notebook: str | None
    assignments: Sequence[str] = ()
    params: Path | None = None
    full: bool = False
    manifest: Path | None = None
    out: Path | None = None
    timeout: int | None = None


def rerun(options: Rerun, reporter: Reporter) -> ExitCode:
    """Check everything, run the notebook, report the results, and return the exit code."""
    with before_the_work():
        root = find_root(Path.cwd())
        earlier = read_manifest(options.manifest) if options.manifest else None
        read_ledger(root)  # results are compared with it at the end
        request = _repetition(root, options, earlier) if earlier else _request(root, options)
    # It takes a second or two, in which this process only waits for the notebook.
    Thread(target=_import_page, daemon=True).start()
    try:
        folder, manifest = run(request, options.out or root / RUNS, page_of_run, reporter.steps)
    except RunInterrupted as error:
        raise CommandError(interrupted_by(error.__cause__), f"Interrupted: {error}.") from None
    except (RunFailed, ValueError) as error:
        raise failure(error) from None
    reporter.say("\n".join(facts(request, manifest)))
    same = _compare(earlier, manifest, reporter) if earlier else _judge(root, manifest, reporter)
    page = folder.resolve() / f"{request.stem}.html"
    reporter.say(f"The results are in {folder}\nThe page: {page.as_uri()}")
    return ExitCode.WELL if same else ExitCode.DIFFERS


def page_of_run(request: Request, executed: NotebookNode, manifest: Manifest) -> str:
    """Write the page of a run."""
    # Not at the top: wrong values are refused before this long import.
    from speedbook.press.run_page import write_page

    return write_page(request, executed, manifest)


def _import_page() -> None:
    # If this fails, the import within `page_of_run` says why.
    with suppress(Exception):
        import speedbook.press.run_page  # noqa: F401


def _request(root: Path, options: Rerun) -> Request:
    """Check notebook, names and values."""
    if options.notebook is None:
        raise ValueError(
            "give a NOTEBOOK, or repeat a run with --from MANIFEST; " + shelf(notebook_names(root))
        )
    request = at_defaults(root, find_notebook(root, options.notebook))
    given = list(full_values(root, request.name).items()) if options.full else []
    given += read_file(options.params).items() if options.params else []
    given += read_assignments(options.assignments)
    values = read_values(request.parameters, given)
    timeout = options.timeout or (FULL_TIMEOUT if options.full else CELL_TIMEOUT)
    setting: Setting = "full" if options.full else "defaults"
    return replace(request, given=values, setting=setting, timeout=timeout)


def _repetition(root: Path, options: Rerun, earlier: Manifest) -> Request:
    """Check that the run of a manifest can still be repeated."""
    if options.assignments or options.params or options.full:
        raise ValueError(
            "--from repeats a run unchanged: it cannot be combined with -p, --params or --full"
        )
    name = find_notebook(root, earlier.notebook)
    if options.notebook is not None and find_notebook(root, options.notebook) != name:
        raise ValueError(f"--from: the manifest is for {name}, not for {options.notebook}")
    request = at_defaults(root, name)
    known = {parameter.name: parameter for parameter in request.parameters}
    if gone := [name for name in earlier.parameters if name not in known]:
        faults = (
            f"{n}: the notebook no longer has this parameter{nearest(n, known)}" for n in gone
        )
        raise ValueError("\n".join(faults))
    values = {name: known[name].check(value) for name, value in earlier.parameters.items()}
    timeout = options.timeout or earlier.cell_timeout
    return replace(request, given=values, setting=earlier.setting, timeout=timeout)


def _judge(root: Path, manifest: Manifest, reporter: Reporter) -> bool:
    """Report the verdicts; return whether they equal those of the committed ledger."""
    same = True
    rows = read_ledger(root)["claims"]
    for name, record in manifest.results.records.items():
        said, row = _said(record), rows.get(name, record)
        if row["verdict"] == record["verdict"]:
            reporter.say(f"Claim {name}: {said}.")
        else:
            reporter.differs(f"Claim {name}: {said}; the committed ledger says {_said(row)}.")
            same = False
    if not same:
        reporter.differs("A verdict is not the book's, so the exit code is 1; the run is complete.")
    return same


def _said(record: dict[str, Any]) -> str:
    return f"{record['verdict']}, {' '.join(filter(None, rounded_record(record)))}"


def _compare(earlier: Manifest, manifest: Manifest, reporter: Reporter) -> bool:
    """Report whether a repetition has the same results, and what differs in its circumstances."""
    differences = earlier.results.differences(manifest.results)
    found = manifest.results
    if differences:
        reporter.differs("\n  ".join(["The results differ:", *differences]))
    else:
        numbers = len(found.records), len(found.figures), len(found.tables)
        counts = ", ".join(map(counted, numbers, ("record", "figure", "table")))
        reporter.say(f"The results are identical: {counts}.")
    circumstances = earlier.circumstances(manifest)
    say = reporter.differs if differences else reporter.say
    if circumstances:
        say("\n  ".join(["The circumstances differ:", *circumstances]))
    else:
        say("The circumstances are the same.")
    return not differences
