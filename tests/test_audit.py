"""`make audit`: which pages it takes, what it says of them, and what it cannot do."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tools.audit import __main__ as audit
from tools.audit.measure import Form, Report, Violation, built_pages, weight

GOOD = Report("a.html", Form(0.4, (), (), (68.0, 72.0)), 400_000)
BAD = Report(
    "b.html",
    Form(2.5, ("two arrows",), ('table "loss"', 'pre "x = 1"'), (70.0, 96.3)),
    1_230_000,
    [Violation("dark", "color-contrast", "serious", ("p > a", ".note"))],
)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    for name in ("index.html", "book/map.html", "notebooks/claims/prop-1.html", "_static/x.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("<h1>Page</h1>")
    return tmp_path


def test_pages_are_those_of_the_book(book: Path) -> None:
    assert built_pages(book) == ["book/map.html", "notebooks/claims/prop-1.html"]
    assert audit.chosen(book, []) == built_pages(book)
    assert audit.chosen(book, ["claims", "prop"]) == ["notebooks/claims/prop-1.html"]


def test_without_a_book_or_such_a_page_it_says_so_in_a_line(
    book: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.main(["--html", str(tmp_path / "nothing")]) == audit.FAILED
    assert audit.main(["--html", str(book), "map", "prop-9"]) == audit.FAILED
    none, unknown = capsys.readouterr().err.splitlines()
    assert none == f"audit: there is no book in {tmp_path / 'nothing'}: run `make book` first"
    assert unknown == f"audit: PAGE: no page of {book} has 'prop-9' in its path"


def test_without_a_browser_it_says_so_in_a_line(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("playwright.sync_api")
    monkeypatch.setenv("PATH", str(book))
    assert audit.main(["--html", str(book)]) == audit.FAILED
    assert capsys.readouterr().err.startswith("audit: there is no Chromium on the path")


def test_wrong_usage_ends_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        audit.main(["--loudly"])
    assert ended.value.code == 2
    assert "unrecognized arguments: --loudly" in capsys.readouterr().err


def test_a_page_as_wanted_is_fine_and_another_says_why(
    capsys: pytest.CaptureFixture[str],
) -> None:
    audit.tell(GOOD)
    audit.tell(BAD)
    assert capsys.readouterr().out.splitlines() == [
        "a.html: fine",
        "b.html:",
        "  dark: color-contrast (serious) at p > a and 1 more",
        "  1.23 MB gzipped; target: at most 1.00",
        "  first picture 2.5 screens down",
        "  picture without caption: two arrows",
        '  cut: table "loss"',
        '  cut: pre "x = 1"',
        "  70 to 96 characters a line; target: 65 to 75",
    ]


def test_sums_count_what_is_not_as_wanted() -> None:
    assert list(audit.totals([GOOD, BAD, BAD])) == [
        "3 pages, 2 of them with something to repair",
        "violations of axe-core: 4 (color-contrast 4)",
        "heaviest first view: 1.23 MB gzipped (b.html)",
        "first picture below the first screen: 2 pages",
        "pictures without caption: 2",
        "tables and code cut: 4",
        "lines too short or too long: 2",
    ]


@pytest.mark.parametrize(
    ("found", "status"), [([GOOD], 0), ([GOOD, BAD], audit.MISSED)], ids=["as wanted", "not"]
)
def test_strictly_what_is_not_as_wanted_fails(
    found: list[Report], status: int, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import nullcontext

    reports = iter(found * 2)
    monkeypatch.setattr(audit, "a_browser", nullcontext)
    monkeypatch.setattr(audit, "chosen", lambda html, parts: [each.name for each in found])
    monkeypatch.setattr(audit, "report", lambda browser, html, name: next(reports))
    assert audit.main(["--html", str(book)]) == 0
    assert audit.main(["--html", str(book), "--strict"]) == status


def test_a_file_counts_once_and_packed(tmp_path: Path) -> None:
    file = tmp_path / "ä file.css"
    file.write_bytes(b"a { color: red }" * 500)
    packed = len(gzip.compress(file.read_bytes(), 6))
    address = file.as_uri()
    assert weight([address, address, "data:,x", (tmp_path / "gone.js").as_uri()]) == packed
