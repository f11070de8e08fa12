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
        ("0.5,2", "0.75,2", r"column usual: entries must sum to 1 .*got sum 1\.25.*how often that"),
        ("0.5,2", "-0.5,2", r"column usual: .*at least 0.*write how often that takes each row$"),
        ("0.5,2", "half,2", r", line 2: column usual holds 'half', which is no number"),
    ],
)
def test_what_are_no_probabilities_names_file_and_column(tmp_path, old, new, message) -> None:
    with pytest.raises(ValueError, match=r"my table\.csv.*" + message):
        read(tmp_path, ROWS.replace(old, new))


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
        ({"policy": "usal"}, r"has no column 'usal'; did you mean 'usual'\?.* target policy"),
    ],
)
def test_names_that_clash_are_refused(tmp_path: Path, choices, message) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, **choices)
