"""A column of probabilities is the target policy, and no feature."""

from __future__ import annotations

from pathlib import Path

import pytest

from speedlib.measurements import read_measurements

ROWS = "x,usual,z,y\n1,0.5,2,3\n2.5,0.25,-1,4\n0,0.25,10,5.5\n4,0,1,2\n"


def read(tmp_path: Path, text: str = ROWS, policy: str = "usual", **choices):
    path = tmp_path / "my table.csv"
    path.write_text(text)
    return read_measurements(path, "y", policy=policy, **choices)


def test_it_is_read_beside_the_features(tmp_path: Path) -> None:
    table = read(tmp_path)
    assert table.columns == ("x", "z")
    assert table.features.tolist() == [[1, 2], [2.5, -1], [0, 10], [4, 1]]
    assert table.values.tolist() == [3, 4, 5.5, 2]
    assert table.policy is not None and table.policy.tolist() == [0.5, 0.25, 0.25, 0]
    assert read(tmp_path, policy=" usual ").policy is not None
    comma = ROWS.replace(",", ";").replace(".", ",")
    assert read(tmp_path, comma).policy.tolist() == [0.5, 0.25, 0.25, 0]


def test_without_a_name_all_columns_are_features(tmp_path: Path) -> None:
    table = read(tmp_path, policy="", intercept=False)
    assert table.columns == ("x", "usual", "z") and table.policy is None


def test_a_policy_may_be_constant(tmp_path: Path) -> None:
    even = ROWS.replace("0.5,2", "0.25,2").replace("4,0,", "4,0.25,")
    assert read(tmp_path, even).policy.tolist() == [0.25] * 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.5,2", "0.75,2", r"column usual: entries must sum to 1 .*got sum 1\.25.*how often the"),
        ("0.5,2", "-0.5,2", r", line 2: column usual holds -0\.5; .*at least 0.*takes each row$"),
        ("0.5,2", "half,2", r", line 2: column usual holds 'half', which is not a number"),
    ],
)
def test_what_are_no_probabilities_names_file_and_column(tmp_path, old, new, message) -> None:
    with pytest.raises(ValueError, match=r"my table\.csv.*" + message):
        read(tmp_path, ROWS.replace(old, new))


@pytest.mark.parametrize(
    ("entry", "cure"),
    [
        ("10%", "write 0.10, without the percent sign"),
        ("12.5 %", "write 0.125, without the percent sign"),
        ("1e-200", "write 0, or such a number"),
        ("1e99", "probabilities are 0 or lie between"),
        ("half", "if it holds no probabilities, policy must name another"),
        ("1e99999999999999999999%", "write numbers as"),
    ],
)
def test_each_cure_fits_a_column_of_probabilities(tmp_path: Path, entry: str, cure: str) -> None:
    with pytest.raises(ValueError, match="line 2: column usual holds") as refused:
        read(tmp_path, ROWS.replace("1,0.5,", f"1,{entry},"))
    message = str(refused.value)
    assert cure in message
    assert "leave_out" not in message and "another unit" not in message


def test_a_percentage_has_the_mark_of_the_table(tmp_path: Path) -> None:
    table = ROWS.replace("0.5,", "12.5%,").replace(",", ";").replace(".", ",")
    with pytest.raises(ValueError, match="write 0,125, without the percent sign"):
        read(tmp_path, table)


def test_a_target_of_text_is_not_to_be_left_out(tmp_path: Path) -> None:
    """Leaving out the target is refused."""
    with pytest.raises(ValueError, match=r"column y holds 'good'.* name another target") as refused:
        read(tmp_path, ROWS.replace("2,3\n", "2,good\n"))
    assert "leave_out" not in str(refused.value)


def test_only_a_feature_with_gaps_is_to_be_left_out(tmp_path: Path) -> None:
    for table in (ROWS.replace("1,0.5,", "1,,"), ROWS.replace("2,3\n", "2,\n")):
        with pytest.raises(ValueError, match="set missing to 'drop'") as refused:
            read(tmp_path, table)
        assert "leave_out" not in str(refused.value)
    empty = "x,usual,y\n1,,2\n2,,3\n3,,5\n"
    with pytest.raises(ValueError, match=r"no row is complete.*usual \(3\); fill") as refused:
        read(tmp_path, empty, missing="drop")
    with pytest.raises(ValueError, match="or name a column that is mostly empty in leave_out"):
        read(tmp_path, ROWS.replace("1,0.5,", ",0.5,"))


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("-0.5", r", line 2: column usual holds -0\.5; .*Also line 3: column z holds 'u'"),
        ("0.75", r", line 3: column z holds 'u'.*Also column usual: .*got sum 1\.25"),
    ],
)
def test_its_faults_are_named_with_those_of_other_columns(tmp_path, entry, fault) -> None:
    table = ROWS.replace("-1,4", "u,4").replace("1,0.5,", f"1,{entry},")
    with pytest.raises(ValueError, match=r"my table\.csv" + fault):
        read(tmp_path, table)
    constant = (
        ROWS.replace("1,0.5,2", f"1,{entry},-1").replace("10,", "-1,").replace("0,1,2", "0,-1,2")
    )
    with pytest.raises(ValueError, match="column z is constant") as refused:
        read(tmp_path, constant)
    assert "column usual" in str(refused.value)


def test_no_sum_is_named_where_rows_may_be_dropped(tmp_path: Path) -> None:
    table = ROWS.replace("-1,4", "u,4").replace("4,0,1", "4,0.25,1")
    with pytest.raises(ValueError, match="column z holds 'u'") as refused:
        read(tmp_path, table, missing="drop")
    assert "must sum" not in str(refused.value)
    gap = ROWS.replace("-1,4", "u,4").replace("4,0,1", ",0.25,1")
    with pytest.raises(ValueError, match="column z holds 'u'") as refused:
        read(tmp_path, gap)
    assert "must sum" not in str(refused.value)
    assert read(tmp_path, table.replace("u,4", "?,4"), missing="drop").policy.sum() == 1


def test_an_entry_below_zero_by_rounding_is_none(tmp_path: Path) -> None:
    assert read(tmp_path, ROWS.replace("4,0,1", "4,-1e-20,1")).policy.tolist()[3] == 0


def test_faults_of_the_probabilities_of_actions_come_in_one_message(said) -> None:
    message = said("actions", "action,x,probability\nr,1,12%\ng,2,-0.01\nb,u,.5\n")
    assert message.startswith(", line 2: column probability holds '12%'")
    assert "write 0.12, without the percent sign" in message
    assert ". Also line 3: column probability holds -0.01; " in message
    assert ". Also line 4: column x holds 'u'" in message
    message = said("actions", "action,x,probability\nr,1,.5\ng,u,.6\n")
    assert "column x holds 'u'" in message and ". Also probability: entries must sum" in message
    message = said("actions", "action,x,probability\nr,1,1\ng,2,1e-200\n")
    assert "another unit" not in message


def test_a_dropped_row_may_not_take_probability_along(tmp_path: Path) -> None:
    gap = ROWS.replace("0,0.25,10", "0,0.25,")
    with pytest.raises(ValueError, match=r"sum to 0\.75, and 1 row was dropped .* line 4; fill"):
        read(tmp_path, gap, missing="drop")
    unknown = ROWS.replace("0,0.25,10", "0,,10")
    with pytest.raises(ValueError, match=r"sum to 0\.75, and 1 row was dropped for gaps"):
        read(tmp_path, unknown, missing="drop")
    free = ROWS.replace("4,0,1", "4,0,")
    assert read(tmp_path, free, missing="drop").policy.tolist() == [0.5, 0.25, 0.25]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"policy": "y"}, r"policy: must name another column than the target; got 'y'"),
        ({"leave_out": ["usual"]}, r"leave_out: holds 'usual', which is the policy; take it out"),
        ({"policy": " "}, r"policy: must name a column, or be '' for none; got ' '"),
        ({"policy": "usal"}, r"has no column 'usal'; did you mean 'usual'\?.* target policy"),
    ],
)
def test_names_that_clash_are_refused(tmp_path: Path, choices, message) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, **choices)
