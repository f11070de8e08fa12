"""What of a run folder is no longer as its run left it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from speedbook.notebook.files import read_notebook
from speedbook.run.listing import NAME, RESULTS
from speedbook.run.manifest import MANIFEST, Manifest
from speedbook.run.provenance import digest, file_sha256
from speedbook.run.results import read_results


def short_digest(code: str, values: Mapping[str, Any]) -> str:
    """Return the digest of code and parameters that the name of a run folder ends with."""
    return digest({"code": code, "values": json.dumps(values)})[:8]


def contradictions(folder: Path, manifest: Manifest) -> list[str]:
    """Return a sentence for each result or parameter of a manifest that its run did not have.

    The results are read again from the executed notebook, and the records from their file, if these
    are there. Parameters are compared with the digest in the folder's name, unless the folder was
    renamed.
    """
    found = []
    name = NAME.fullmatch(folder.resolve().name)
    if name and name["digest"] != short_digest(manifest.code, manifest.parameters):
        found.append(f"{MANIFEST} has other parameters than the run, by the folder's name")
    notebook = executed_notebook(folder, manifest)
    if notebook.is_file():
        results = read_results(read_notebook(notebook))[0]
        found += [
            f"{MANIFEST} and {notebook.name}: {difference}"
            for difference in manifest.results.differences(
                results,
                f"is {{}} in {MANIFEST}, {{}} in {notebook.name}",
                (f"is not in {notebook.name}", f"is not in {MANIFEST}"),
            )
        ]
    records = folder / RESULTS / "records.json"
    if records.is_file():
        try:
            same = json.loads(records.read_bytes()) == manifest.results.records
        except ValueError:
            same = False
        if not same:
            found.append(f"{MANIFEST} and {RESULTS}/{records.name} hold different records")
    return found


def missing_files(folder: Path, manifest: Manifest) -> list[str]:
    """Return a sentence for each file that is missing or changed: the notebook, the numbers."""
    notebook = executed_notebook(folder, manifest)
    found = [] if notebook.is_file() else [f"{notebook.name} is missing"]
    tables = {f"{RESULTS}/{name}": sha for name, sha in manifest.results.tables.items()}
    for name, sha in {**tables, **manifest.numbers}.items():
        if not (folder / name).is_file():
            found.append(f"{name} is missing")
        elif file_sha256(folder / name) != sha:
            found.append(f"{name} was changed after the run")
    return found


def executed_notebook(folder: Path, manifest: Manifest) -> Path:
    """Return where the executed notebook of a run is."""
    return folder / f"{Path(manifest.notebook).stem}.ipynb"
