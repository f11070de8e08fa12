"""Parameters, and texts that a reader may type for them, sensible or not."""

from __future__ import annotations

import random

from speedbook.notebook.parameters import read_parameters

PARAMETERS, PROBLEMS = read_parameters(
    """n: int = 5  # a number [3 .. 50]
any_n: int = 0  # any integer
large: int = 20240501  # a seed [0 ..]
choice: int = 2  # one of some [1 | 2 | 4]
x: float = 0.35  # a variance [1e-6 .. 100]
any_x: float = -0.5  # any number
high: float = 1.0  # a number [.. 2.5]
yes: bool = True  # whether
noise: str = "gaussian"  # a law [gaussian | uniform]
name: str = "a b"  # any text
rounds: list[int] = [50, 100]  # budgets [4 .. 1e8]
floors: list[float] = [0.1, 1e-3]  # floors [0 ..]
some: list[float] = []  # numbers [or empty]
columns: list[str] = ["width, mm", "mass"]  # names
few: list[str] = ["a", "b"]  # names [or empty]
"""
)

#: What people write, and what they write by mistake.
TYPED = """
5 3 50 51 2 -1 +7 007 1_000 1__0 _1 1_ 2e1 2.0e1 2.5 1e400 1e-400 0x10 1e16 9007199254740993
½ ² ٣ 0.35 .5 5. . -0.0 0 -0 1e-6 1E-6 1e-7 100 100.0 100.0000001 1_0.5_0 1._5 1e1_0 inf
-Infinity nan NaN 1,5 1;5 1.5.2 True true TRUE false yes on 1 gaussian uniform Gaussian null
None [] [1] [1,2] [1, [1 1] [[1]] [true] [null] {"a":1} [NaN] [1e2] [1.0] [01] ["1"]
["a","b"] ['a'] 50,100 100,1000,10000 100,,1000 1e2,1e3 0.1,1e-3 a,b , "a" 'a' a'b''c $HOME
`ls` %PATH% a\\b a\\ C:\\dir\\ \\ \\" a"b "" ; | & > # ~ * ? ! ( ) @x -p --% ’ ‘x’ ‚ ‛ “ ” é
λ₁ 🙂 \u200b \xa05 \ufeff5 ["width, mm","mass"] ["a\\"b"] ["\\u00e9"] ["\\ud800"]
["\\ud83d\\ude42"] ["a\\\\"]""".split()
BLANKS = [
    "",
    " ",
    " 5",
    "5 ",
    "\t5",
    " [1, 2] ",
    "[ ]",
    "[1, 2]",
    '["a", "b"]',
    "a  b",
    " a",
    "1, 2",
    "1 2",
    "[1 2]",
]
ALPHABETS = (
    "0123456789",
    "0123456789.e-+_",
    "0123456789,.[] e-",
    "[]\",' ab1\\",
    "aβ '\"\\$%`’,=-",
)


def texts(count: int = 1500) -> list[str]:
    """Return the texts above, and others drawn at random."""
    rng = random.Random(20240501)
    drawn = ["".join(rng.choices(rng.choice(ALPHABETS), k=rng.randint(1, 8))) for _ in range(count)]
    return [*TYPED, *BLANKS, *drawn]
