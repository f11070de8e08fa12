"""The page of a sweep, in a single file that needs no network.

It links to the pages of the runs in the same folder.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from speedbook.claims.cards import badge_html, rounded_record
from speedbook.claims.registry import load_registry
from speedbook.claims.rules import Verdict
from speedbook.figures import CSS_DPI, png_of, use_style
from speedbook.notebook.captions import shown_figures
from speedbook.notebook.files import read_notebook, title
from speedbook.notebook.values import as_shown
from speedbook.paths import write_atomically
from speedbook.press.lead import tagged_cells
from speedbook.press.single_page import single_page
from speedbook.press.sweep_figures import (
    MOST_PICTURES,
    description,
    lead_pictures,
    record_figure,
    record_frame,
)
from speedbook.run.failures import cause
from speedbook.run.sweep import Point, SweepResults
from speedbook.text import counted, duration

FIGURES = "figures"
#: The names of the page and of the joined table in the folder of a sweep.
PAGE, TABLE = "sweep.html", "sweep.csv"


@dataclass(frozen=True)
class Line:
    """A line of the table of points."""

    point: Point
    values: list[str]
    page: str
    seconds: str
    failure: str
    cause: str = ""
    found: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def write_sweep_page(results: SweepResults) -> Path:
    """Write the page, and the pictures of the claims as PNG and SVG; return the page's path."""
    sweep, finished = results.sweep, results.finished
    titles = {claim.id: claim for claim in load_registry(sweep.base.root).claims}
    lead = _lead(results)
    pictures = lead_pictures(results, lead) if lead else []
    page = single_page(
        "sweep_page.html",
        title=title(sweep.base.notebook) or sweep.base.stem,
        facts=_facts(results),
        swept=sweep.plan.swept,
        fixed={
            p.name: as_shown(values)
            for p in sweep.base.parameters
            if (values := sweep.points[0].request.values[p.name]) != p.default
            and p.name not in sweep.plan.swept
        },
        lines=[_line(results, point) for point in sweep.points],
        claims={name: titles[name] for name in results.claims if name in titles},
        figures=_figures(results),
        pictures=[(each, b64encode(each.png).decode()) for each in pictures],
        left_out=max(0, len(finished) - MOST_PICTURES) if pictures else 0,
        table=TABLE,
        folder=sweep.base.stem,
    )
    write_atomically(sweep.folder / PAGE, page)
    return sweep.folder / PAGE


def _facts(results: SweepResults) -> list[str]:
    plan, finished = results.sweep.plan, results.finished
    seconds = sum(manifest.seconds for _, manifest in finished.values())
    return [
        f"A sweep of {plan.notebook} over {' and '.join(plan.swept) or 'one point'}.",
        f"{len(finished):,} of {counted(len(plan.points), 'point')} finished; "
        f"their runs took {duration(seconds)} together.",
    ]


def _line(results: SweepResults, point: Point) -> Line:
    sweep = results.sweep
    values = [as_shown(point.request.values[name]) for name in sweep.plan.swept]
    if point.number not in results.finished:
        failure = results.failures.get(point.number, "not run")
        lines = [line for line in failure.splitlines() if "unfinished run: " not in line]
        return Line(point, values, "", "", failure, cause("\n".join(lines)))
    folder, manifest = results.finished[point.number]
    found = {
        name: (badge_html(Verdict(record["verdict"])), " ".join(rounded_record(record)).strip())
        for name, record in manifest.results.records.items()
    }
    page = (folder / f"{sweep.base.stem}.html").relative_to(sweep.folder).as_posix()
    return Line(point, values, page, duration(manifest.seconds), "", found=found)


def _figures(results: SweepResults) -> list[tuple[str, str, int, str]]:
    """Return claim, PNG, width and description of each claim's picture; write PNG and SVG."""
    sweep, frame = results.sweep, record_frame(results)
    if frame.empty or not sweep.plan.swept:
        return []
    rules = {claim.id: claim.rule for claim in load_registry(sweep.base.root).claims}
    drawn: list[tuple[str, str, int, str]] = []
    with plt.rc_context():
        use_style()
        for name in results.claims:
            rule: Any = rules.get(name)
            limits = rule.limits if rule else (float("nan"),) * 2
            fig = record_figure(frame, name, limits, sweep.plan.swept)
            width = round(fig.get_figwidth() * CSS_DPI)
            png = png_of(fig)
            plt.close(fig)
            write_atomically(sweep.folder / FIGURES / f"{name}.png", png)
            drawn.append((name, b64encode(png).decode(), width, description(frame, name, sweep)))
    return drawn


def _lead(results: SweepResults) -> str:
    """Return the name of the notebook's lead picture, or of its first one; empty if it has none."""
    for folder, manifest in results.finished.values():
        executed = read_notebook(folder / f"{results.sweep.base.stem}.ipynb")
        for cell in tagged_cells(executed):
            for output in shown_figures(cell):
                return str(output.metadata["speedbook"]["figure"]["name"])
        return next(iter(manifest.results.figures), "")
    return ""
