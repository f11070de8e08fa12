"""The audit on small pages of which it is known what is wrong: it can fail, and it can pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = "A sentence that says little, but is long enough to be read in lines. " * 8
PICTURE = '<svg role="img" aria-label="two arrows" width="400" height="100"></svg>'
HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Small</title>'
GOOD = f"""{HEAD}<style>p {{ font: 16px monospace; width: 70ch }}</style>
<main><h1>Small</h1><figure>{PICTURE}<figcaption>Two arrows.</figcaption></figure><p>{TEXT}</p>
<div style="width: 700px"><table><tr><th>loss</th><td>1</td></tr></table></div></main>"""
BAD = f"""{HEAD}<style>@media (prefers-color-scheme: dark) {{ body {{ background: #222 }} }}
@media (max-width: 600px) {{ h1 {{ display: none }} }} body {{ color: #111 }}</style>
<main><h1>Small</h1><p>{TEXT}</p><div style="height: 1200px"></div>{PICTURE}
<div style="width: 100px; overflow: auto" tabindex="0"><pre>{"x = 1; " * 30}</pre></div></main>"""


@pytest.fixture(scope="module")
def audited(tmp_path_factory: Any) -> Any:
    """Audit small books of the pages given by name; Playwright, which runs here, starts there."""
    pytest.importorskip("playwright.sync_api")

    def audit(*options: str, **pages: str) -> subprocess.CompletedProcess[str]:
        folder = tmp_path_factory.mktemp("book")
        for name, text in {"index": "", **pages}.items():
            (folder / f"{name}.html").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "tools.audit", "--html", str(folder), *options]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if "there is no Chromium" in done.stderr:
            pytest.skip(done.stderr)
        return done

    return audit


def test_a_page_as_wanted_passes(audited: Any) -> None:
    done = audited("--strict", good=GOOD)
    assert done.stdout.splitlines()[0] == "good.html: fine"
    assert done.returncode == 0


def test_what_is_wrong_is_found_and_fails_if_that_is_asked(audited: Any) -> None:
    done = audited("--strict", good=GOOD, bad=BAD)
    assert done.returncode == 1
    said = done.stdout
    assert "dark: color-contrast (serious) at" in said
    assert "phone: page-has-heading-one (moderate) at" in said
    assert "light: " not in said
    assert "first picture 1." in said
    assert "picture without caption: two arrows" in said
    assert 'cut: pre "x = 1; x = 1;' in said
    assert "characters a line; target: 65 to 75" in said
    assert "good.html: fine" in said
    assert audited(bad=BAD).returncode == 0
