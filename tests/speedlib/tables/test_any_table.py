"""Any table is read back as it was written, or refused with its place."""

from __future__ import annotations

import csv
import io
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from speedlib.live import read_actions, read_log
from speedlib.measurements import read_measurements

NAMES = st.text(
    st.characters(exclude_categories=("Cc", "Cs"), include_characters="\n"), min_size=1, max_size=8
).filter(lambda name: name.strip())


def taken(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip()


DIALECTS = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from(",;\t"),
        "lineterminator": st.sampled_from(["\n", "\r\n", "\r"]),
        "quoting": st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    }
)


@pytest.mark.slow
@given(
    names=st.lists(NAMES, min_size=1, max_size=4, unique_by=taken),
    columns=st.lists(NAMES, min_size=1, max_size=3, unique_by=taken),
    dialect=DIALECTS,
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    digits=st.integers(0, 5),
    point=st.sampled_from(["point", "comma"]),
    declared=st.booleans(),
    trailing=st.booleans(),
    told=st.booleans(),
    seed=st.integers(0, 1000),
)
@example(
    names=['";', ' "a" ,"'],
    columns=['"; "'],
    dialect={"delimiter": ",", "lineterminator": "\n", "quoting": csv.QUOTE_MINIMAL},
    encoding="utf-8",
    digits=3,
    point="point",
    declared=False,
    trailing=False,
    told=True,
    seed=1,
)
def test_any_table_is_read_back_or_refused(
    tmp_path_factory,
    names,
    columns,
    dialect,
    encoding,
    digits,
    point,
    declared,
    trailing,
    told,
    seed,
) -> None:
    """Where separator and decimals are named, it is read; else it may be refused, never misread."""
    reserved = ("action", "probability", "phase", "reward")
    assume(
        not any(word in "".join(name.casefold().split()) for word in reserved for name in columns)
    )
    rng = np.random.default_rng(seed)
    features = np.round(rng.normal(size=(len(names), len(columns))) * 10 ** rng.integers(4), digits)
    policy = np.full(len(names), 1 / len(names))
    mark = {"point": ".", "comma": ","}[point]

    def written(number: float) -> str:
        return f"{number:.{digits}f}".replace(".", mark)

    def save(path: Path, rows: list[list[str]]) -> None:
        file = io.StringIO(newline="")
        if declared:
            file.write(f"sep={dialect['delimiter']}{dialect['lineterminator']}")
        csv.writer(file, **dialect).writerows([*row, ""] if trailing else row for row in rows)
        path.write_bytes(file.getvalue().encode(encoding))

    folder = tmp_path_factory.mktemp("any")
    table, log, measured = (folder / f"{name}.csv" for name in ("actions", "log", "measured"))
    shares = [repr(float(share)).replace(".", mark) for share in policy]
    rows = [
        [name, *map(written, row), share]
        for name, row, share in zip(names, features, shares, strict=True)
    ]
    save(table, [["action", *columns, "probability"], *rows])
    rewards = np.round(rng.normal(size=len(names)), 4)
    rounds = [
        ["1", name, repr(float(r)).replace(".", mark)]
        for name, r in zip(names, rewards, strict=True)
    ]
    save(log, [["phase", "action", "reward"], *rounds])
    X = np.round(rng.normal(size=(9, len(columns))) * 10 ** rng.integers(4), digits + 1)
    y = np.round(rng.normal(size=9), 6)
    numbers = [
        [repr(float(value)).replace(".", mark) for value in row] for row in np.column_stack([X, y])
    ]
    save(measured, [[*columns, "reward"], *numbers])
    separator = {",": "comma", ";": "semicolon", "\t": "tab"}[dialect["delimiter"]]
    choices = {"separator": "auto" if declared else separator, "decimal": point} if told else {}
    try:
        actions = read_actions(table, **choices)
        (phase,) = read_log(log, actions, **choices)
        measurements = read_measurements(measured, "reward", **choices)
    except ValueError as error:
        assert not told, error
        assert "line" in str(error) or "column" in str(error)
        return
    assert actions.names == tuple(map(taken, names))
    assert actions.columns == measurements.columns == tuple(map(taken, columns))
    assert actions.features.tolist() == features.tolist()
    assert actions.policy.tolist() == policy.tolist()
    assert phase.means.tolist() == rewards.tolist()
    assert measurements.features.tolist() == X.tolist()
    assert measurements.values.tolist() == y.tolist()
