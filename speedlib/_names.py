"""Names of actions or strategies as an argument: any collection of distinct texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from speedlib._arrays import shown

__all__ = ["check_names"]


def check_names(argument: str, names: object, *, ordered: bool = False) -> tuple[str, ...]:
    """Return distinct names from any iterable: a list, an array, an index, a generator.

    Parameters
    ----------
    argument : str
        The argument's name, for messages.
    names : iterable of str
    ordered : bool
        Whether the place of a name matters, so that a set is refused.

    Raises
    ------
    TypeError
        If `names` is a text, is no iterable with one axis, holds anything but texts, or is a set
        although places matter.
    ValueError
        If a name repeats.
    """
    # A single text would be taken for its letters, a table for the names of its columns.
    single = isinstance(names, str | bytes) or getattr(names, "ndim", 1) != 1
    if single or not isinstance(names, Iterable):
        raise TypeError(f"{argument}: must be a list of names; got {shown(names)}")
    if ordered and isinstance(names, set | frozenset):
        raise TypeError(f"{argument}: must be a list, since the order matters; got {shown(names)}")
    found = tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{argument}: every name must be a text; got {shown(name)}")
    twice = [name for name, times in Counter(found).items() if times > 1]
    if twice:
        raise ValueError(f"{argument}: names must differ; got {shown(str(twice[0]))} twice")
    return tuple(map(str, found))
