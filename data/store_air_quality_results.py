"""Run the page on air quality with the real data, and store what it records.

The file must be found by `speedbook data list`; see `speedbook data fetch air-quality`. Then::

    python data/store_air_quality_results.py

writes ``air-quality-results.json``, which the page shows beside its surrogate, and renews its line
in ``SHA256SUMS``. Run it again when the page or what it computes with has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from paper.datasets import info, load
from paper.datasets.files import SUMS, expected_sha256
from paper.environments.air_quality import HOURS, RESULTS
from speedbook.notebook.files import claim_records, code_cells, read_notebook
from speedbook.notebook.parameters import notebook_parameters
from speedbook.run.execution import Job, execute, kernel_environment

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = "notebooks/figures/fig1d-air-quality.ipynb"


def results(hours: str = "spread") -> dict[str, Any]:
    """Run the page with the real data of some hours; return what it records, and of what."""
    load("air-quality")  # an error now says more than one in a notebook
    real = {"source": "real", "hours": hours}
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(kernel_environment(ROOT, Path(folder) / "figures"))
        job = Job(NOTEBOOK, ROOT / NOTEBOOK, Path(folder) / "run.ipynb", 600, real)
        finished = execute(job)
        if finished.failure:
            sys.exit(finished.failure)
        cells = code_cells(read_notebook(job.output))
    records = [entry for cell in cells for entry in claim_records(cell)]
    parameters = notebook_parameters(read_notebook(ROOT / NOTEBOOK))
    return {
        "about": f"What {NOTEBOOK} records for the real Air Quality data; see LICENCES.md",
        "sha256 of AirQualityUCI.csv": expected_sha256(info("air-quality")),
        "parameters": {each.name: each.default for each in parameters} | real,
        "records": {entry.pop("id"): entry for entry in records},
    }


def ratios(records: dict[str, Any]) -> dict[str, Any]:
    """Return of what the page records the numbers that the verdicts are about."""
    return {
        claim: {part: entry[part] for part in ("estimate", "interval")}
        for claim, entry in records.items()
    }


def main() -> None:
    """Write the results and their checksum."""
    found = results()
    others = [hours for hours in HOURS if hours != found["parameters"]["hours"]]
    found["other hours"] = {hours: ratios(results(hours)["records"]) for hours in others}
    text = json.dumps(found, indent=1) + "\n"
    (SUMS.parent / RESULTS).write_text(text, encoding="utf-8", newline="\n")
    lines = dict(reversed(line.split()) for line in SUMS.read_text(encoding="utf-8").splitlines())
    lines[RESULTS] = hashlib.sha256(text.encode()).hexdigest()
    listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(lines.items()))
    SUMS.write_text(listed, encoding="utf-8", newline="\n")
    print(f"{RESULTS}: {len(text):,} bytes, listed in {SUMS.name}")


if __name__ == "__main__":
    main()
