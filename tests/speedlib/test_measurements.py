"""A user's own table: what is read, what is said, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from speedbook.notebook.files import code_cells, read_notebook
from speedlib.measurements import read_measurements

ROOT = Path(__file__).resolve().parents[2]
GOOD = "a,b,y\n1,2,3\n2.5,-1,4\n0,1e1,.5\n"
EXPECTED = [[1, 2], [2.5, -1], [0, 10]]


def read(tmp_path: Path, text: str | bytes, target: str = "y", **choices):
    path = tmp_path / "my table.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_measurements(path, target, **choices)


def test_a_plain_table(tmp_path: Path) -> None:
    table = read(tmp_path, GOOD)
    assert table.columns == ("a", "b")
    assert table.target == "y"
    assert table.features.tolist() == EXPECTED
    assert table.values.tolist() == [3, 4, 0.5]
    assert table.lines == (2, 3, 4)
    assert table.notes[0] == "Entries are separated by a comma, decimals by a point."


@pytest.mark.parametrize(
    "text",
    [
        "a;b;y\n1;2;3\n2,5;-1;4\n0;1e1;,5\n",
        "a\tb\ty\n1\t2\t3\n2,5\t-1\t4\n0\t1e1\t0,5\n",
        "a;b;y\n1;2;3\n2.5;-1;4\n0;1e1;.5\n",
        'a,b,y\n1,2,3\n"2,5",-1,4\n0,1e1,"0,5"\n',
        b"\xef\xbb\xbfa;b;y;;\r\n 1 ; 2;3;;\r\n;;;;\r\n2,5;-1;4;;\r\n0;1e1;,5;;\r\n;;;;\r\n",
        'y,"b",a\n3,2,1\n4,-1,2.5\n.5,1e1,0\n',
    ],
    ids=["semicolons", "tabs", "semicolons and points", "quoted", "spreadsheet", "other order"],
)
def test_the_same_table_in_other_clothes(tmp_path: Path, text: str | bytes) -> None:
    table = read(tmp_path, text)
    order = [table.columns.index(name) for name in ("a", "b")]
    assert table.features[:, order].tolist() == EXPECTED
    assert table.values.tolist() == [3, 4, 0.5]


def test_separator_and_decimals_can_be_said(tmp_path: Path) -> None:
    text = "a;b,c;y\n1;2;3\n2;-1;4\n0;1;5\n"
    table = read(tmp_path, text, separator="semicolon", decimal="comma")
    assert table.columns == ("a", "b,c")
    assert read(tmp_path, GOOD, separator="comma", decimal="point").features.tolist() == EXPECTED


def test_a_semicolon_in_the_first_line_is_no_comma_of_a_name(tmp_path: Path) -> None:
    table = read(tmp_path, "a;b, c and d, e;y\n1;2;3\n2;-1;4\n0;1;5\n")
    assert table.columns == ("a", "b, c and d, e")


def test_quotes_count_after_a_blank(tmp_path: Path) -> None:
    table = read(tmp_path, 'a, "b, c", y\n1, "2", 3\n2, -1, 4\n0, 1, 5\n')
    assert table.columns == ("a", "b, c")


def test_a_column_with_a_name_and_no_entries_is_not_skipped(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"by column: b \(3\)"):
        read(tmp_path, "a;b;y\n1;;3\n2;;4\n0;;5\n")


def test_words_for_nothing_are_those_that_were_said_whatever_their_case(tmp_path: Path) -> None:
    text = GOOD + "n.d.,1,1\nLOST,2,2\n"
    table = read(tmp_path, text, missing="drop", missing_values=["N.D.", " lost "])
    assert table.features.tolist() == EXPECTED


def test_a_rounding_error_is_no_variation(tmp_path: Path) -> None:
    text = "a;b;y\n0.1;1;1\n0.1;2;2\n0.10000000000000001;3;3\n0.10000000000000002;4;7\n"
    with pytest.raises(ValueError, match=r"column a is constant \(0\.1\)"):
        read(tmp_path, text)


def test_units_of_the_columns_do_not_decide_their_rank(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(40, 2)) * [1e-9, 1e9]
    text = "a,b,y\n" + "".join(f"{a!r},{b!r},{a * b!r}\n" for a, b in rows.tolist())
    assert not any("span" in note for note in read(tmp_path, text).notes)


@pytest.mark.parametrize("gap", ["-200", "-2e2", "-200,0", "-200,00"])
def test_a_number_that_stands_for_a_gap_does_so_however_it_is_written(
    tmp_path: Path, gap: str
) -> None:
    text = "a;b;y\n1;2;3\n2,5;-1;4\n0;1e1;,5\n" + f"-200;1;1\n-200,0;2;2\n{gap};3;3\n"
    table = read(tmp_path, text, missing="drop", decimal="comma", missing_values=["-200"])
    assert table.features.tolist() == EXPECTED
    other = GOOD + "-200,1,1\n-200.00,2,2\n"
    for said in ("-200", gap if "," not in gap else "-200"):
        table = read(tmp_path, other, missing="drop", missing_values=[said])
        assert table.features.tolist() == EXPECTED


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_that_says_the_separator_is_no_row(tmp_path: Path, end: str) -> None:
    text = "sep=;" + end + "a;b;y\n1;2;3\n2,5;-1;4\n0;1e1;,5\n"
    table = read(tmp_path, text)
    assert table.features.tolist() == EXPECTED
    assert table.lines == (3, 4, 5)
    with pytest.raises(ValueError, match=r"line 6: has 2 entries"):
        read(tmp_path, text + "1;2\n")


def test_an_intercept_counts_among_the_unknowns(tmp_path: Path) -> None:
    text = "a,b,y\n" + "".join(f"{k},{k * k},{k**3 + k % 2}\n" for k in range(1, 16))
    assert not any("few" in note for note in read(tmp_path, text).notes)
    told = read(tmp_path, text, intercept=True)
    assert any("15 rows are few for the 6 unknowns" in note for note in told.notes)
    assert not any("span" in note for note in told.notes)


def test_noise_far_below_the_values_is_noise(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = [(a, 1e6 + a + 1e-3 * rng.normal()) for a in rng.normal(size=30).tolist()]
    text = "a,y\n" + "".join(f"{a!r},{y!r}\n" for a, y in rows)
    assert len(read(tmp_path, text).values) == 30


def test_incomplete_rows_are_dropped_when_asked(tmp_path: Path) -> None:
    text = GOOD + "NA,1,1\n2,-200,2\n3,3,\n"
    table = read(tmp_path, text, missing="drop", missing_values=["-200"])
    assert table.features.tolist() == EXPECTED
    assert "3 of 6 rows were dropped; missing: a (1), b (1), y (1)." in table.notes


def test_gaps_in_columns_that_are_left_out_do_not_matter(tmp_path: Path) -> None:
    text = "a,town,b,y\n1,Rome,2,3\n2.5,,-1,4\n0,Oslo,1e1,.5\n"
    assert read(tmp_path, text, leave_out=["town"]).features.tolist() == EXPECTED


def test_dependent_features_and_few_rows_are_told(tmp_path: Path) -> None:
    rows = [(x, x**2, x + 3 * x**2, 1.0 + x**4) for x in np.linspace(1, 2, 7)]
    text = "a,b,c,y\n" + "".join(",".join(f"{value:.6f}" for value in row) + "\n" for row in rows)
    notes = " ".join(read(tmp_path, text.replace("\n", "\n")).notes)
    assert "7 rows are few for the 6 unknowns" in notes
    exact = "a,b,c,y\n" + "".join(f"{k},{k * k},{k + 3 * k * k},{k**3}\n" for k in range(1, 8))
    assert "span only 2 dimensions" in " ".join(read(tmp_path, exact).notes)


@pytest.mark.parametrize(
    ("text", "choices", "message"),
    [
        ("", {}, r"my table\.csv: is empty"),
        ("\n \n", {}, r"my table\.csv: is empty"),
        (GOOD + "1,1e308,3\n", {}, r"line 5: column b holds '1e308'; .* 1e\+60 in size.*unit"),
        (GOOD + "1,-2e-200,3\n", {}, r"line 5: column b holds '-2e-200'; .*between 1e-60"),
        (GOOD + "1,2,1e200\n", {}, r"line 5: column y holds '1e200'"),
        ("a,b,y\n1,2,7\n2,-1,7\n0,1,7\n", {}, r"column y, the target, is constant \(7\)"),
        ("a,y\n1,5\n2,7\n4,11\n7,17\n", {}, r"column y, the target, .* up to rounding"),
        (
            "a,b,y\n1,,7\n2,,8\n0,,9\n",
            {"missing": "drop"},
            r"no row is complete; missing by column: b \(3\); .*leave_out",
        ),
        ("a,b,y\n", {}, r"my table\.csv: has no rows below the header"),
        ("a,b,y\n\n , ,\n", {}, r"has no rows below the header"),
        ("a,b,y\n1,2,3\n", {}, r"1 complete row is too few for 2 features; more"),
        ("a,y\n1,5\n", {}, r"1 complete row is too few for 1 feature; more"),
        (GOOD + "1\n", {}, r"line 5: has 1 entry, but the first line names 3"),
        (
            GOOD,
            {"separator": "semicolon"},
            r"the first line has no semicolon; did you mean 'comma' as separator",
        ),
        (
            "a;b;y\n1,5;2,5;1\n",
            {"separator": "comma"},
            r"the first line has no comma; did you mean 'semicolon' as separator",
        ),
        (
            GOOD.replace(",", "\t"),
            {"separator": "comma"},
            r"the first line has no comma; did you mean 'tab' as separator",
        ),
        (
            "a,b;c,y\n1,2;3,4\n",
            {},
            r"has no column 'y'; there are a,b, c,y; did you mean 'comma' as separator",
        ),
        ("a\n1\n", {"target": "a"}, r"two columns or more"),
        ("a,b\n1,2\n2,3\n", {}, r"has no column 'y'; there are a, b"),
        (GOOD, {"target": "yy"}, r"has no column 'yy'; did you mean 'y'\?"),
        (GOOD, {"leave_out": ["bb"]}, r"has no column 'bb'; did you mean 'b'\?"),
        (GOOD, {"leave_out": ["a", "b"]}, r"no column is left as a feature besides y"),
        ("a,a,y\n1,2,3\n", {}, r"two columns have the name 'a'"),
        ("a,,y\n1,2,3\n", {}, r"column 2 has entries but no name"),
        (GOOD + "1,2\n", {}, r"line 5: has 2 entries, but the first line names 3"),
        (GOOD + "1,2,3,4\n", {}, r"line 5: has 4 entries.*quotation marks"),
        (GOOD + "big,2,3\n", {}, r"line 5: column a holds 'big', which is not a number.*leave_out"),
        (GOOD + "1,inf,3\n", {}, r"line 5: column b holds 'inf'"),
        (GOOD + "1,1e400,3\n", {}, r"line 5: column b holds '1e400'"),
        (
            "a;b;y\n1,5;1.000;2\n",
            {"decimal": "comma"},
            r"line 2: column b holds '1\.000', which is not a number with a decimal comma",
        ),
        (GOOD + "1,1_000,3\n", {}, r"line 5: column b holds '1_000'"),
        ("a;y\n1.000,5;2\n2,5;3\n1,5;4\n", {}, r"line 2: column a holds '1.000,5'.*decimal comma"),
        (
            "a;b;y\n1,5;2.5;1\n",
            {},
            r"two ways, '2.5' in column b .*2. and '1,5' in column a .*;.*decimal",
        ),
        (
            GOOD + "1,,3\n,,1\n",
            {},
            r"2 of 5 rows lack an entry, the first in line 5; .*a \(1\), b \(2",
        ),
        (GOOD + "1,,3\n", {}, r"set missing to 'drop'"),
        (GOOD.replace("2,3", ",3"), {"missing": "drop"}, r"2 complete rows are too few for 2"),
        ("a,b,y\n1,7,3\n2,7,4\n3,7,5\n", {}, r"column b is constant \(7\).*leave_out"),
        ("a,b,y\n1,7,3\n2,7,4\n3,7,5\n", {}, r"column b .*a constant, choose intercept = true"),
        (GOOD, {"intercept": True}, r"3 complete rows are too few for 2 features and an intercept"),
        (b"a,b,y\n1,2,\xe4\n", {}, r"is not in UTF-8 \(byte 11\); save it as CSV UTF-8"),
        (GOOD, {"separator": "space"}, r"separator"),
        (GOOD, {"decimal": "dot"}, r"decimal"),
        (GOOD, {"missing": "ignore"}, r"missing"),
    ],
)
def test_what_is_doubtful_is_refused(
    tmp_path: Path, text: str | bytes, choices: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text, **choices)


def test_one_of_a_kind_is_told_in_the_singular(tmp_path: Path) -> None:
    one = read(tmp_path, "a,y,\n1,2,\n\n2,,\n3,5,\n4,1,\n", missing="drop")
    assert one.notes[1:4] == (
        "1 blank line was skipped.",
        "1 column without name and entries was skipped.",
        "1 of 4 rows was dropped; missing: y (1).",
    )


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nowhere\.csv: there is no such file"):
        read_measurements(tmp_path / "nowhere.csv", "y")


def test_the_example_that_comes_along() -> None:
    path = ROOT / "data" / "example-measurements.csv"
    choices = {"leave_out": ["barista", "machine"], "missing": "drop"}
    table = read_measurements(path, "yield", **choices)
    lines = path.read_text().splitlines()
    assert table.features.shape == (290, 4)
    for place, line in enumerate(table.lines):
        _, *numbers, _, target = lines[line - 1].replace(",", ".").split(";")
        assert table.features[place].tolist() == [float(number) for number in numbers]
        assert table.values[place] == float(target)


# The page that reads them


def page(
    monkeypatch: pytest.MonkeyPatch, *, until: str = "", **changes: object
) -> tuple[dict[str, Any], list[str]]:
    """Run the page with other parameters, up to a cell; return its names and what it says."""
    said: list[str] = []
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(
        "IPython.display.display", lambda shown, **_: said.append(getattr(shown, "data", ""))
    )
    parameters, *cells = code_cells(read_notebook(ROOT / "notebooks/beyond/your-own-data.ipynb"))
    names: dict[str, Any] = {}
    exec(parameters.source, names)
    names |= {"rounds": [100, 300], "replications": 10} | changes
    with mpl.rc_context():
        for cell in cells:
            if cell.id == until:
                break
            exec(cell.source, names)
    return names, said


@pytest.mark.slow
def test_of_many_rows_the_page_simulates_some_and_says_so(monkeypatch) -> None:
    names, said = page(monkeypatch, simulated_rows=120)
    assert names["simulated"].bandit.n_actions == 120
    assert names["bandit"].n_actions == len(names["X"]) == 290
    assert any("simulation takes 120 of the 290 rows" in text for text in said)
    assert names["curves"].oracle_loss[0] != pytest.approx(names["design"].value / 100, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("covariance", "intercept"), [("lstsq", False), ("ridge", True)])
def test_the_page_simulates_all_of_few_rows_with_any_estimate(
    monkeypatch, covariance, intercept
) -> None:
    names, said = page(monkeypatch, covariance=covariance, intercept=intercept)
    assert names["bandit"].features.shape == (290, 4 + intercept)
    assert names["simulated"] is names["whole"]
    assert not any("simulation takes" in text for text in said)
    assert names["speed"].covariance == covariance
    assert names["speed"].name in names["curves"].strategies
    assert names["curves"].oracle_loss[0] == pytest.approx(names["design"].value / 100, rel=1e-9)


@pytest.fixture
def shifted(tmp_path: Path) -> dict[int, Path]:
    """Tables that differ by a constant in the target only."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(120, 2))
    y = 1 + X @ [2, -1] + (0.5 + 0.3 * X[:, 0]) * rng.normal(size=120)
    paths = {shift: tmp_path / f"by {shift}.csv" for shift in (0, 50)}
    for shift, path in paths.items():
        rows = np.column_stack([X, y + shift]).tolist()
        path.write_text("a,b,y\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows))
    return paths


@pytest.mark.slow
@pytest.mark.parametrize("preprocessing", ["raw", "scale", "centre"])
def test_with_an_intercept_a_constant_moves_the_value_and_nothing_else(
    monkeypatch, shifted, preprocessing
) -> None:
    choices = {"target": "y", "leave_out": [], "preprocessing": preprocessing, "intercept": True}
    (names, _), (moved, said) = (
        page(monkeypatch, until="curves", table_file=str(shifted[shift]), **choices)
        for shift in (0, 50)
    )
    by = [0, 0, 0 if preprocessing == "centre" else 50]
    np.testing.assert_allclose(moved["fit"].theta, names["fit"].theta + by, atol=1e-4)
    np.testing.assert_allclose(moved["fit"].variances, names["fit"].variances, rtol=1e-3)
    assert moved["value"] == pytest.approx(names["value"] + 50, abs=1e-4)
    assert moved["design"].support.tolist() == names["design"].support.tolist()
    assert moved["saving"] == pytest.approx(names["saving"], rel=1e-3)
    assert "The model has an intercept" in moved["note"]
    (told,) = re.findall("value of the policy is ([^;]+)", "\n".join(said))
    # The digits suit the spread of the target, and not its size.
    assert float(told) == pytest.approx(moved["value"], abs=np.std(moved["y"]) / 15)
    assert not any("not to be trusted" in text for text in said)


@pytest.mark.slow
def test_with_an_intercept_centring_changes_nothing(monkeypatch, shifted) -> None:
    choices = {"table_file": str(shifted[50]), "target": "y", "leave_out": [], "intercept": True}
    scaled, _ = page(monkeypatch, until="curves", preprocessing="scale", **choices)
    centred, _ = page(monkeypatch, until="curves", preprocessing="centre", **choices)
    assert centred["value"] == pytest.approx(scaled["value"], abs=1e-4)
    np.testing.assert_allclose(centred["fit"].variances, scaled["fit"].variances, rtol=1e-3)
    assert centred["saving"] == pytest.approx(scaled["saving"], rel=1e-3)


@pytest.mark.slow
def test_without_an_intercept_that_is_needed_the_page_warns(monkeypatch, shifted) -> None:
    choices = {"table_file": str(shifted[50]), "target": "y", "leave_out": []}
    names, said = page(monkeypatch, until="curves", **choices)
    assert names["fit"].variances.mean() > 100
    assert any("these data need one" in text for text in said)
    assert any("worth one of the design" in text and "not to be trusted" in text for text in said)
    assert any("**by 50.csv**: 120 rows with the target y and 2 features" in text for text in said)
    assert not any("espresso" in text for text in said)


@pytest.mark.slow
def test_the_example_asks_for_no_intercept(monkeypatch) -> None:
    names, _ = page(monkeypatch, until="curves")
    assert "do not clearly need one" in names["note"]


@pytest.mark.slow
def test_three_rows_have_one_group(monkeypatch, tmp_path: Path) -> None:
    path = tmp_path / "three.csv"
    path.write_text("a,y\n1,2\n2,3.5\n3,7\n")
    names, _ = page(monkeypatch, until="curves", table_file=str(path), target="y", leave_out=[])
    assert names["deciles"].rows.tolist() == [3]
