"""All columns at fault are named in one message, so that a table is mended in one go."""

from __future__ import annotations

import re

import pytest

BAD = """\
x,town,z,c,y,street,big
1.5,Rome,1,7,3,a,1e99
2.5,Oslo,2,7,4,b,2
3,Oslo,"1,250.0",7,4,b,2
"""


def test_every_column_that_is_no_column_of_numbers_is_named(said) -> None:
    message = said("measurements", BAD)
    assert message.startswith(
        ", line 2: column town holds 'Rome' and line 2: column street holds 'a', which is not "
        "a number with a decimal point; write numbers as"
    )
    assert message.count("name it in leave_out; if it stands for a missing value") == 1
    assert ". Also line 4: column z holds '1,250.0', which is not a number" in message
    assert ". Also line 2: column big holds '1e99'; numbers must lie between" in message
    assert ". Also column c is constant (7); a constant feature carries no information" in message
    assert "column x" not in message and "column y" not in message
    # What the message advises is all that there is to do.
    mended = BAD.replace('"1,250.0"', "1250.0").replace("1e99", "1e9")
    assert "too few" in said("measurements", mended, leave_out=["town", "street", "c"])


def test_all_constant_columns_are_named(said) -> None:
    message = said("measurements", "a,b,c,y\n1,7,5,3\n2,7,5,4\n4,7,5,9\n3,7,5,1\n9,7,5,2\n")
    assert message.startswith(
        ": column b is constant (7) and column c is constant (5); a constant feature carries no "
        "information: name it in leave_out, and if the model needs a constant, choose intercept"
    )


def test_a_column_that_stops_at_its_first_entry_is_not_called_constant(said) -> None:
    message = said("measurements", "a,b,y\n1,7,3\n1,x,4\nu,9,5\n")
    assert "column a holds 'u'" in message and "column b holds 'x'" in message
    assert "column b is constant" not in message


@pytest.mark.parametrize("bad", ["x", "1e99", "1'000"])
def test_a_column_with_another_fault_is_not_called_constant(said, bad: str) -> None:
    column = ["2"] * 5 + [bad, "6", "7", "8"]
    rows = "".join(f"{a},7,{k * k}\n" for k, a in enumerate(column))
    message = said("measurements", f"a,b,y\n{rows}")
    assert "line 7: column a holds" in message and "column a is constant" not in message
    assert "column b is constant (7)" in message


def test_lines_are_in_ascending_order(said) -> None:
    rows = ["1,2,3,4,5"] * 9
    rows[6], rows[5], rows[1] = "u,2,3,4,5", "1,v,3,4,5", "1,2,1e99,4,5"
    rows[2], rows[7] = "1,2,3,1e88,5", "1,2,3,4,w"
    message = said("measurements", "a,b,c,d,y\n" + "\n".join(rows) + "\n", decimal="point")
    groups = [
        [int(line) for line in re.findall(r"line (\d+):", part)]
        for part in message.split(". Also ")
    ]
    assert groups == [[3, 4], [7, 8], [9]]
    two_ways = said("measurements", "a;y\n1;2\n1,5;3\n2;4.5\n")
    assert "'1,5' in column a (line 3) and '4.5' in column y (line 4)" in two_ways


WIDE = [f"c{k}" for k in range(300)]
#: What a message is never longer than, whatever the table holds.
LONGEST = 2000


@pytest.mark.parametrize(
    ("entry", "begin"), [("5", ": column c0 is"), ("u", ", line 2: column c0")]
)
def test_of_many_faults_ten_are_named_and_the_others_counted(said, entry: str, begin: str) -> None:
    rows = "".join(",".join([entry] * 300) + f",{k * k}\n" for k in range(305))
    message = said("measurements", ",".join([*WIDE, "y"]) + "\n" + rows)
    assert message.startswith(begin) and len(message) < LONGEST
    assert message.count("column c") == 10 and " and 290 more columns" in message


def test_a_rare_fault_is_named_beside_many_of_another_kind(said) -> None:
    rows = [",".join(["u"] * 300) + f",{k * k}" for k in range(305)]
    rows[8] = ",".join(["u"] * 300) + ",1e99"
    message = said("measurements", ",".join([*WIDE, "y"]) + "\n" + "\n".join(rows) + "\n")
    assert " and 291 more columns, which is" in message
    assert ". Also line 10: column y holds '1e99'" in message


def test_of_many_kinds_of_faults_ten_are_named_too(said) -> None:
    rows = ",".join(f"1'{k:03}" for k in range(300)) + ",7\n"
    message = said("measurements", ",".join([*WIDE, "y"]) + "\n" + rows)
    assert message.endswith(". Also 290 more columns cannot be used as they are")
    assert len(message) < LONGEST and "line 2: column c9 holds" in message


def test_many_gaps_or_missing_columns_are_counted(said) -> None:
    head, empty = ",".join([*WIDE, "y"]) + "\n", "," * 300 + "7\n"
    gaps = said("measurements", head + empty * 3)
    assert "c9 (3) and 290 more; " in gaps and len(gaps) < LONGEST
    none = said("measurements", head + empty, leave_out=[f"#{k}#" for k in range(300)])
    assert "no column '#9#' and 290 more; there are c0" in none and len(none) < LONGEST
    assert "c9 and 291 more; " in none


@pytest.mark.parametrize("kind", ["measurements", "actions", "log"])
def test_long_entries_and_names_are_cut(said, kind: str) -> None:
    long = "b" + "x" * 5000 + "e"
    tables = {
        "measurements": [f"a,y\n{long},1\n2,3\n", f"{long},y\nu,1\n", f"{long},y\n5,1\n5,2\n5,3\n"],
        "actions": [f"action,a,probability\nred,{long},1\n", f"action,{long},probability\nr,u,1\n"],
        "log": [f"phase,action,reward\n1,red,{long}\n", f"phase,action,reward\n1,{long},2\n"],
    }
    for table in tables[kind]:
        message = said(kind, table)
        assert len(message) < 500 and "...x" in message
        assert "bxxx" in message and "xxxe" in message


def test_actions_and_logs_name_all_columns_too(said) -> None:
    message = said("actions", "action,x,z,probability\nred,1,u,0.5\nblue,?,2,half\n")
    assert message.startswith(
        ", line 2: column z holds 'u', line 3: column x holds '?' and line 3: column "
        "probability holds 'half', which is not a number with a decimal point; write"
    )
    message = said("log", "phase,action,reward\none,red,2.5\n1,red,much\n")
    assert "column phase holds 'one' and line 3: column reward holds 'much'" in message


@pytest.mark.parametrize(
    ("kind", "header", "lacking"),
    [
        ("actions", "size,colour\n1,2\n", "'action' and no column 'probability'"),
        ("log", "action,when\nred,2\n", "'phase' and no column 'reward'"),
    ],
)
def test_all_columns_that_lack_are_named(said, kind: str, header: str, lacking: str) -> None:
    assert said(kind, header).startswith(f": has no column {lacking}; ")


def test_all_names_in_leave_out_that_are_none_are_named(said) -> None:
    message = said("measurements", "town,x,y\n1,2,3\n", leave_out=["twon", "xx"])
    assert message.startswith(": has no column 'twon' and no column 'xx'; did you mean 'town'? ")


def test_all_columns_that_nobody_named_are(said) -> None:
    message = said("measurements", "Unnamed: 0,x,y,y.1,Unnamed: 3\n0,1,3,3,4\n1,2,4,4,5\n")
    for part in ("column 1, 'Unnamed: 0', and", "column 5, 'Unnamed: 3', has", "second 'y'"):
        assert part in message


@pytest.mark.parametrize(
    ("kind", "table", "renamed"),
    [
        ("log", "Phase,action,reward\n1,red,2\n", "'Phase' to 'phase'"),
        ("actions", "action,x,probabilities\nred,1,1\n", "'probabilities' to 'probability'"),
    ],
)
def test_where_names_are_fixed_the_column_is_to_be_renamed(said, kind, table, renamed) -> None:
    message = said(kind, table)
    assert f"; rename {renamed};" in message and "did you mean" not in message
