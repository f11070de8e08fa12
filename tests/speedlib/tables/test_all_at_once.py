"""All columns at fault are named in one message, so that a table is mended in one go."""

from __future__ import annotations

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
        ", line 2: column town holds 'Rome' and line 2: column street holds 'a', which is no "
        "number with a decimal point; write numbers as"
    )
    assert message.count("name it in leave_out; if it stands for a missing value") == 1
    assert ". Also line 4: column z holds '1,250.0', which is no number" in message
    assert ". Also line 2: column big holds '1e99'; numbers must lie between" in message
    assert ". Also column c is constant (7) and tells nothing" in message
    assert "column x" not in message and "column y" not in message
    # What the message advises is all that there is to do.
    mended = BAD.replace('"1,250.0"', "1250.0").replace("1e99", "1e9")
    assert "too few" in said("measurements", mended, leave_out=["town", "street", "c"])


def test_all_constant_columns_are_named(said) -> None:
    message = said("measurements", "a,b,c,y\n1,7,5,3\n2,7,5,4\n4,7,5,9\n3,7,5,1\n9,7,5,2\n")
    assert message.startswith(
        ": column b is constant (7) and tells nothing and column c is constant (5) and tells "
        "nothing; name it in leave_out, and where the model needs a constant, choose intercept"
    )


def test_a_column_that_stops_at_its_first_entry_is_not_called_constant(said) -> None:
    message = said("measurements", "a,b,y\n1,7,3\n1,x,4\nu,9,5\n")
    assert "column a holds 'u'" in message and "column b holds 'x'" in message
    assert "column b is constant" not in message


def test_actions_and_logs_name_all_columns_too(said) -> None:
    message = said("actions", "action,x,z,probability\nred,1,u,0.5\nblue,?,2,half\n")
    assert message.startswith(
        ", line 3: column x holds '?' and line 2: column z holds 'u' and line 3: column "
        "probability holds 'half', which is no number with a decimal point; write"
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
