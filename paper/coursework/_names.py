"""Numbers from a student's name: the same name gives the same numbers, on every machine."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable
from typing import TypeVar

import numpy as np

Drawn = TypeVar("Drawn")

#: Draws after which a rule that no draw keeps is taken for a mistake in the rule.
MOST_DRAWS = 20_000


def normalised(student: str) -> str:
    """Return a name in the form that decides the numbers.

    Upper and lower case, blanks around and between the parts, and the way in which accents are
    coded make no difference.

    Raises
    ------
    TypeError, ValueError
        If the name is not a text, or holds neither letter nor digit.

    Examples
    --------
    >>> normalised("  Ada   LOVELACE ")
    'ada lovelace'
    """
    if not isinstance(student, str):
        raise TypeError(f"student: must be a text in quotation marks; got {student!r}")
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", student).casefold())
    plain = " ".join(plain.split())
    if not any(character.isalnum() for character in plain):
        raise ValueError(f"student: must hold your name; got {student!r}")
    return plain


def numbers(student: str, task: str) -> np.random.Generator:
    """Return the source of a student's numbers for one task.

    Its seed is the SHA-256 of the normalised name and the task.

    Parameters
    ----------
    student : str
        The name, which `normalised` brings into one form.
    task : str
        A word for the task.

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    >>> first, second = numbers("Zoë", "c"), numbers(" ZOË", "c")
    >>> bool(first.integers(1000) == second.integers(1000))
    True
    """
    digest = hashlib.sha256(f"{normalised(student)}\n{task}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def first_that(
    rng: np.random.Generator,
    draw: Callable[[np.random.Generator], Drawn],
    accept: Callable[[Drawn], bool],
) -> Drawn:
    """Return the first draw that is accepted: one in which no wrong way gives the right answer.

    The bounds in `accept` are no round numbers: entries are whole, so an exact tie with a round
    one could be decided by rounding, and two machines would draw different numbers.
    """
    for _ in range(MOST_DRAWS):
        drawn = draw(rng)
        if accept(drawn):
            return drawn
    raise RuntimeError(f"no draw of {MOST_DRAWS} was accepted: the rule is too strict")


def frozen(values: object) -> np.ndarray:
    """Return numbers as an array that cannot be changed by accident."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def shares_of(rng: np.random.Generator, parts: int, pieces: int = 20) -> np.ndarray:
    """Return positive shares, multiples of one over `pieces`, that sum to one."""
    cuts = np.sort(rng.choice(np.arange(1, pieces), parts - 1, replace=False))
    return frozen(np.diff([0, *cuts, pieces]) / pieces)


def arrows(rng: np.random.Generator, actions: int, d: int, largest: int = 3) -> np.ndarray:
    """Return arrows with whole entries, none of them zero and no two parallel."""
    while True:
        x = rng.integers(-largest, largest + 1, (actions, d))
        lengths = np.linalg.norm(x, axis=1)
        if lengths.min() == 0:
            continue
        cosines = abs((x / lengths[:, None]) @ (x / lengths[:, None]).T)
        if cosines[np.triu_indices(actions, 1)].max() < 0.9813 and np.linalg.matrix_rank(x) == d:
            return frozen(x)
