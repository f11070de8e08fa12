"""The program of ``make zip`` and ``make pdf``: write the built book as a single file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import speedlib
from speedbook.paths import file_fault, find_root
from speedbook.run.provenance import commit_text, git_state
from tools.publish.archive import make_zip

FAILED, INTERRUPTED = 3, 130
NAME = "speed-companion-book"


def main() -> int:
    """Write the file, and report where it is."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.publish",
        description="Make one file of the built book, which you can pass on: an archive of pages "
        "that need no network, or a PDF.",
        epilog="Exit codes: 0 done, 2 wrong usage, 3 no book, no browser or no space, 130 "
        "interrupted. The PDF takes some minutes.",
    )
    parser.add_argument("kind", choices=["zip", "pdf"])
    parser.add_argument("--html", type=Path, metavar="FOLDER", help="the book (_build/html)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file, in _build/publish")
    asked = parser.parse_args()
    root = find_root(Path.cwd())
    html = asked.html or root / "_build" / "html"
    name = f"{NAME}-{speedlib.__version__}.{asked.kind}"
    out = (asked.out or root / "_build" / "publish" / name).resolve()
    try:
        if asked.kind == "zip":
            print(f"{out}: {make_zip(html, out)} files, {out.stat().st_size / 1e6:.1f} MB")
        else:
            print(f"{out}: {pdf(root, html, out)} pages, {out.stat().st_size / 1e6:.1f} MB")
    except RuntimeError as error:
        print(f"publish: {error}", file=sys.stderr)
        return FAILED
    except OSError as error:
        print(f"publish: {file_fault(error, out)}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("Interrupted. Nothing was written.", file=sys.stderr)
        return INTERRUPTED
    return 0


def pdf(root: Path, html: Path, out: Path) -> int:
    """Write the PDF with progress on a terminal; return its number of pages."""
    from tools.publish.pdf import make_pdf

    about = f"Version {speedlib.__version__}, commit {commit_text(**git_state(root))}"
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("Pages")
        return make_pdf(
            html,
            out,
            about,
            lambda done, of, title: bar.update(task, completed=done, total=of, description=title),
        )


if __name__ == "__main__":
    sys.exit(main())
