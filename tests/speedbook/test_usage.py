"""Which parameters are read: cases by hand, and the program itself as the second opinion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedbook.notebook.contract import unread


@pytest.mark.parametrize(
    "source",
    [
        "print(n)",
        "f'{1.5:>{n}}'",
        "n = n + 1",
        "n += 1",
        "n: int = n",
        "k: n = 1",
        "def f():\n    return n",
        "def f(k=n):\n    return k",
        "@n\ndef f():\n    pass",
        "def f():\n    global n\n    n = n + 1",
        "lambda k: k + n",
        "[k for k in range(n)]",
        "[n for n in n]",
        "{k: 1 for k in a if k < n}",
        "class A:\n    size = n",
        "for n in range(n):\n    pass",
        "with open(n) as n:\n    pass",
        "if a:\n    n = 1\nprint(n)",
        "%timeit f(n)",
        "await f(n)",
        "n.x = 1",
        "n[0] = 1",
        "n: int\nprint(n)",
    ],
)
def test_a_read_parameter_is_seen(source):
    assert unread(["n"], ["a = range", source]) == []


@pytest.mark.parametrize(
    "source",
    [
        "",
        "print('n')  # n",
        "n = 5\nprint(n)",
        "n: int = 5\nprint(n)",
        "import n\nprint(n)",
        "import numpy as n\nprint(n)",
        "for n in range(3):\n    pass",
        "with open('f') as n:\n    pass",
        "def f(n):\n    return n",
        "def f():\n    n = 1\n    return n",
        "def f(*n, k):\n    return n",
        "lambda n: n",
        "[n for n in range(3)]",
        "{k: n for k, n in a}",
        "a.n = 1",
        "f(n=1)",
    ],
)
def test_an_unread_parameter_is_seen(source):
    assert unread(["n"], [source]) == ["n"]


def test_what_an_earlier_cell_replaces_a_later_one_cannot_read():
    assert unread(["n", "m"], ["n = 1; print(m)", "print(n)"]) == ["n"]
    assert unread(["n", "m"], ["print(n)", "n = 1; print(n)"]) == ["m"]


def test_what_may_be_replaced_may_be_read_later():
    assert unread(["n"], ["if a:\n    n = 1", "print(n)"]) == []
    assert unread(["n"], ["if a:\n    n = 1\nelse:\n    print(n)"]) == []


LINES = ["n = 1", "a = n", "a = [n for n in [1]]", "f = lambda n=n: n", "n *= 1", "n: 'a hint'"]


class Watched(dict):
    """A namespace that notes whether `n` was read while it was the parameter."""

    seen = False

    def __getitem__(self, name):
        value = super().__getitem__(name)
        self.seen |= name == "n" and value == "the parameter"
        return value


@pytest.mark.slow
@given(st.lists(st.sampled_from(LINES), max_size=5))
def test_straight_code_reads_what_the_program_reads(lines):
    space = Watched(n="the parameter")
    exec("\n".join(lines), {}, space)
    assert (unread(["n"], lines) == []) == space.seen
