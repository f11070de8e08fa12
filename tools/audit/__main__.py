"""The program of ``make audit``: measure every page of the built book, and list its faults."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.audit.measure import TARGETS, Report, built_pages, report, wrong_lines

MISSED, FAILED, INTERRUPTED = 1, 3, 130
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chosen pages; an error is reported in one line."""
    low, high = TARGETS.line
    parser = argparse.ArgumentParser(
        prog="python -m tools.audit",
        description="Measure the form of the built book. The targets for every page: axe-core "
        "finds no violation, in light and dark mode and on a phone; a first view of at most "
        f"{TARGETS.weight / 1e6:g} MB gzipped; the first picture within the first screen; a "
        "caption below every picture; no table and no code cut at 1440 pixels; "
        f"{low} to {high} characters a line.",
        epilog="Exit codes: 0 done, 1 a target is missed (only with --strict), 2 wrong usage, "
        "3 no book or no browser, 130 interrupted. Every page takes some seconds.",
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="part of a page's path")
    parser.add_argument("--html", type=Path, default=Path("_build/html"), help="the built book")
    parser.add_argument("--strict", action="store_true", help="fail if a target is missed")
    asked = parser.parse_args(arguments)
    try:
        names = chosen(asked.html, asked.pages)
        with a_browser() as browser:
            reports = [tell(report(browser, asked.html.resolve(), name)) for name in names]
    except RuntimeError as error:
        print(f"audit: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    print("\n".join(totals(reports)))
    return MISSED if asked.strict and any(list(each.missed()) for each in reports) else 0


def chosen(html: Path, parts: Sequence[str]) -> list[str]:
    """Return the pages whose paths contain one of these parts; without parts, all pages.

    Raises
    ------
    RuntimeError
        If there is no book, or a part is in the path of no page.
    """
    names = built_pages(html) if (html / "index.html").is_file() else []
    if not names:
        raise RuntimeError(f"there is no book in {html}: run `make book` first")
    for part in parts:
        if not any(part in name for name in names):
            raise RuntimeError(f"PAGE: no page of {html} has {part!r} in its path")
    return [name for name in names if not parts or any(part in name for part in parts)]


@contextmanager
def a_browser() -> Iterator[Any]:
    """Start Chromium, and close it at the end.

    Raises
    ------
    RuntimeError
        If there is none, or Playwright, which drives it, is not installed.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise RuntimeError("Playwright is not installed: `make` installs it in .venv") from None
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise RuntimeError("there is no Chromium on the path (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


def tell(found: Report) -> Report:
    """Print a line for each target that a page misses."""
    lines = list(found.missed()) or ["fine"]
    print(
        "\n  ".join([f"{found.name}:", *lines]) if len(lines) > 1 else f"{found.name}: {lines[0]}"
    )
    sys.stdout.flush()
    return found


def totals(reports: Sequence[Report]) -> Iterator[str]:
    """Yield the sums over all pages."""
    wanting = sum(bool(list(each.missed())) for each in reports)
    yield f"{len(reports)} pages, {wanting} of them with something to repair"
    rules = Counter[str]()
    for violation in (each for found in reports for each in found.violations):
        rules[violation.rule] += len(violation.places)
    named = ", ".join(f"{rule} {count}" for rule, count in rules.most_common())
    yield f"violations of axe-core: {rules.total()}{named and f' ({named})'}"
    heaviest = max(reports, key=lambda each: each.weight)
    yield f"heaviest first view: {heaviest.weight / 1e6:.2f} MB gzipped ({heaviest.name})"
    late = [each for each in reports if (each.form.screens or 0) > TARGETS.screens]
    yield f"first picture below the first screen: {len(late)} pages"
    yield f"pictures without caption: {sum(len(each.form.bare) for each in reports)}"
    yield f"tables and code cut: {sum(len(each.form.cut) for each in reports)}"
    yield f"lines too short or too long: {sum(bool(wrong_lines(each.form)) for each in reports)}"


if __name__ == "__main__":
    sys.exit(main())
