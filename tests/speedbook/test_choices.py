"""Values of a sweep: what is written is read, ranges are exact, and every fault has its line."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from speedbook.notebook.choices import (
    MOST_POINTS,
    as_choices,
    grid,
    read_choices,
    read_points,
)
from speedbook.notebook.parameters import Parameter

INTEGER = Parameter("n", "int", 3, "number", low=1, high=9)
REAL = Parameter("v", "float", 1.0, "noise")
SWITCH = Parameter("on", "bool", True, "switch")
WORD = Parameter("w", "str", "a", "word")
LIST = Parameter("sizes", "list[int]", [1], "sizes")
WORDS = Parameter("names", "list[str]", ["a"], "names", or_empty=True)
ALL = [INTEGER, REAL, SWITCH, WORD, LIST, WORDS]

#: Texts in which every sign of the grammar occurs often; half characters are refused elsewhere.
texts = st.text(st.sampled_from('a,"[]: \\\n1') | st.characters(exclude_categories=("Cs",)))
#: For each type, a parameter without a rule, and values of it.
KINDS = [
    (Parameter("p", "int", 1, "p"), st.integers(-(10**20), 10**20)),
    (Parameter("p", "float", 1.0, "p"), st.floats(allow_nan=False, allow_infinity=False)),
    (Parameter("p", "bool", True, "p"), st.booleans()),
    (Parameter("p", "str", "", "p"), texts),
    (Parameter("p", "list[int]", [1], "p"), st.lists(st.integers(), min_size=1)),
    (Parameter("p", "list[str]", ["a"], "p", or_empty=True), st.lists(texts)),
]


@pytest.mark.parametrize(("parameter", "values"), KINDS, ids=lambda part: getattr(part, "type", ""))
@given(data=st.data())
def test_what_is_written_is_read(parameter, values, data):
    chosen = data.draw(st.lists(values, min_size=1, max_size=5))
    distinct = [v for i, v in enumerate(chosen) if v not in chosen[:i]]
    text = as_choices(distinct)
    read = read_choices([parameter], [("p", text)])["p"]
    assert read == distinct
    assert [type(value) for value in read] == [type(value) for value in distinct]


@given(texts, st.sampled_from(ALL))
def test_any_text_is_read_or_refused_with_the_name(text, parameter):
    try:
        read = read_choices([parameter], [(parameter.name, text)])[parameter.name]
    except ValueError as error:
        assert all(line.startswith(parameter.name) or line for line in str(error).splitlines())
    else:
        assert read and all(parameter.check(value) == value for value in read)


@given(
    st.floats(-1e6, 1e6, allow_subnormal=False),
    st.floats(-1e6, 1e6, allow_subnormal=False),
    st.integers(2, 40),
)
def test_a_range_is_evenly_spaced_with_exact_ends(first, last, number):
    if first == last:
        return
    free = Parameter("v", "float", 1.0, "noise")
    try:
        values = read_choices([free], [("v", f"{first!r}:{last!r}:{number}")])["v"]
    except ValueError as error:  # two neighbours closer than the type can tell apart
        assert "is given twice" in str(error)
        return
    assert (values[0], values[-1], len(values)) == (first, last, number)
    scale = max(abs(first), abs(last))
    assert np.allclose(values, np.linspace(first, last, number), rtol=0, atol=1e-12 * scale)


@given(st.integers(-999, 999), st.integers(1, 50), st.integers(2, 30))
def test_whole_steps_stay_whole(first, step, number):
    last = first + step * (number - 1)
    free = Parameter("n", "int", 1, "number")
    values = read_choices([free], [("n", f"{first}:{last}:{number}")])["n"]
    assert values == list(range(first, last + 1, step))
    assert all(type(value) is int for value in values)


@given(st.integers(0, 50), st.integers(51, 99), st.integers(2, 30))
def test_an_integer_has_no_broken_steps(first, last, number):
    free = Parameter("n", "int", 1, "number")
    whole = all((Fraction(last - first) * i / (number - 1)).denominator == 1 for i in range(number))
    try:
        read_choices([free], [("n", f"{first}:{last}:{number}")])
    except ValueError as error:
        assert not whole and "is a whole number" in str(error)
    else:
        assert whole


def test_decimals_are_those_that_are_written():
    assert read_choices([REAL], [("v", "0.1:1.0:4, 2e0 ,3")]) == {"v": [0.1, 0.4, 0.7, 1, 2, 3]}
    assert read_choices([INTEGER], [("n", "1e0,2:8:3")]) == {"n": [1, 2, 5, 8]}


def test_lists_are_whole_and_texts_may_hold_commas():
    given = [("sizes", "[1, 2],[3]"), ("w", ' "a,b" , c:d:e, "" ,[x'), ("names", '["a,]b"],[],[c]')]
    assert read_choices(ALL, given) == {
        "sizes": [[1, 2], [3]],
        "w": ["a,b", "c:d:e", "", "[x"],
        "names": [["a,]b"], [], ["c"]],
    }


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("m", "1", "m: the notebook has no such parameter"),
        ("n", "1,x", "n: must be of type int; got 'x'"),
        ("n", "1,10", "n: must be between 1 and 9; got 10"),
        ("n", "1,,2", "n: a value is missing next to a comma"),
        ("n", "", "n: a value is missing"),
        ("n", "1,2,", "n: a value is missing"),
        ("n", "1,2,1", "n: 1 is given twice"),
        ("n", "1:2:3", "n: is a whole number, but 1:2:3 gives 1.5"),
        ("n", "1:9", "n: a range is written first:last:number"),
        ("n", "1:x:2", "n: must be of type int; got 'x'"),
        ("n", "1:5:1", "n: number of values of 1:5:1: must be at least 2; got 1"),
        ("n", "5:5:2", "n: the ends of the range 5:5:2 must differ"),
        ("n", "1:20:20", "n: must be between 1 and 9; got 20"),
        ("v", f"0:1:{MOST_POINTS + 1}", "v: a range holds at most 10,000 values"),
        ("v", "0:inf:3", "v: must be finite; got inf"),
        ("v", "1,1.0", "v: 1.0 is given twice"),
        ("on", "true,yes", "on: must be of type bool; got 'yes'"),
        ("w", 'a,"b\\x"', "w: a text that begins with a quotation mark must be written as in JSON"),
        ("sizes", "1,2", "sizes: is a list, so write each value of a sweep as a whole list"),
        ("sizes", "[1],2", "sizes: is a list"),
        ("sizes", "[1,[2]]", "sizes: is a list"),
        ("sizes", "[1", "sizes: is a list"),
        ("sizes", "[1],", "sizes: '[1],' ends with a comma"),
        ("names", '[a"b]', "names: is a list"),
        ("sizes", "[]", "sizes: must hold at least one element"),
        ("sizes", "[1,x]", "sizes: must be of type list[int]; got 'x'"),
    ],
)
def test_every_fault_is_named(name, text, fault):
    with pytest.raises(ValueError) as caught:
        read_choices(ALL, [(name, text)])
    assert str(caught.value).splitlines()[0].startswith(fault)


def test_all_faults_are_named_at_once():
    with pytest.raises(ValueError) as caught:
        read_choices(ALL, [("n", "0,x,3"), ("w", "a,a"), ("z", "1")])
    assert len(str(caught.value).splitlines()) == 4


def test_a_long_text_that_is_wrong_at_its_end_is_refused_at_once():
    with pytest.raises(ValueError, match="names: is a list"):
        read_choices(ALL, [("names", "[" + ' "a" ,' * 5000)])


@given(st.lists(st.lists(st.integers(), min_size=1, max_size=4), min_size=1, max_size=4))
def test_a_grid_is_every_combination_once(values):
    choices = {f"p{i}": each for i, each in enumerate(values)}
    points = grid(choices)
    assert [tuple(point.values()) for point in points] == list(itertools.product(*values))


def test_a_grid_that_is_too_large_is_refused_before_it_is_made():
    choices = {f"p{i}": list(range(100)) for i in range(20)}
    with pytest.raises(ValueError, match=r"at most 10,000 points; got 10,000,000,0"):
        grid(choices)
    assert math.prod(map(len, choices.values())) > 10**30


class TestTable:
    def read(self, tmp_path, text, encoding="utf-8"):
        path = tmp_path / "points.csv"
        path.write_bytes(text.encode(encoding))
        return read_points(ALL, path)

    def test_rows_are_points(self, tmp_path):
        text = '\ufeffn, w ,sizes\r\n3,"a,b","1,2"\r\n\r\n4,,"[3]"\r\n'
        assert self.read(tmp_path, text) == [
            {"n": 3, "w": "a,b", "sizes": [1, 2]},
            {"n": 4, "w": "", "sizes": [3]},
        ]

    @pytest.mark.parametrize(
        ("text", "faults"),
        [
            ("", ["must hold a line of names and at least one point"]),
            ("n\n", ["must hold a line of names and at least one point"]),
            ("n,m\n1,2\n", ["m: the notebook has no such parameter; known: n, v, on, w"]),
            ("n,\n1,2\n", ["a column without a name"]),
            ("n,n\n1,2\n", ["n: a column must occur once"]),
            (
                "n,v\n1,2\n3\nx,y\n",
                ["line 3: must have 2 cells; got 1", "line 4: n:", "line 4: v:"],
            ),
            ("n,v\n1,1\n1,1.0\n", ["line 3: the same point as in line 2"]),
            ('n\n"1\n', ["line 2: unexpected end of data"]),
        ],
    )
    def test_every_fault_names_its_line(self, tmp_path, text, faults):
        with pytest.raises(ValueError) as caught:
            self.read(tmp_path, text)
        said = str(caught.value).splitlines()
        assert len(said) == len(faults)
        for line, fault in zip(said, faults, strict=True):
            assert line.startswith("--points: ") and fault in line

    def test_what_cannot_be_read_is_named(self, tmp_path):
        with pytest.raises(ValueError, match="is not UTF-8"):
            self.read(tmp_path, "n\n1\nä", "latin-1")
        with pytest.raises(ValueError, match="No such file"):
            read_points(ALL, tmp_path / "none.csv")

    def test_a_name_is_given_once(self):
        with pytest.raises(ValueError, match="n: is given with -p and in --points"):
            grid({"n": [1]}, [{"n": 2}])
