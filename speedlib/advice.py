r"""Recommend a strategy from the numbers of actions, dimensions and rounds.

The answer comes from a table: on a family of random bandits, every strategy was compared with
running the target policy, at several sizes and budgets. The table is a file next to this module,
with the parameters and the seed that made it. The companion's page *What to use* describes how the
table was made, and makes it again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from speedlib._scalars import check_rounds
from speedlib.checks import check_choice, check_count
from speedlib.strategies import (
    SPEED,
    AdaptiveNeyman,
    BookedOptimism,
    OnPolicy,
    Oracle,
    PerArm,
)
from speedlib.trials import Strategy

__all__ = ["NOISE", "Advice", "Range", "Reason", "Size", "advise"]

#: What is known of the noise: nothing, or the variance of every action.
NOISE = ("unknown", "known")
#: Sizes up to which whole numbers are compared exactly, in any language.
MOST_ACTIONS, MOST_DIMENSIONS, MOST_ROUNDS = 10**6, 10**4, 10**12

#: How a strategy is built, by its name in the table.
BUILD: dict[str, Callable[[], Strategy]] = {
    "policy": lambda: OnPolicy(estimator="ols"),
    "neyman": AdaptiveNeyman,
    "practical": SPEED.practical,
    "booked": BookedOptimism,
    "per-arm": PerArm,
    "printed": SPEED,
    "weighted": lambda: OnPolicy(estimator="wls", label="weighted"),
    "oracle": Oracle,
}

#: Strategies that pull as the policy does, and the note that says why they are advised.
UNMOVED = {"policy": "nothing", "weighted": "weights"}


class Range(NamedTuple):
    """Three quantiles over the family of bandits: 5 % (low), 50 % (middle) and 95 % (high)."""

    low: float
    middle: float
    high: float


class Reason(NamedTuple):
    """A reason for the advice: its text, the companion's claims that support it, and their page."""

    text: str
    claims: tuple[str, ...]
    page: str


class Size(NamedTuple):
    """Numbers of actions, dimensions and rounds."""

    actions: int
    dimension: int
    rounds: int


@dataclass(frozen=True)
class Advice:
    """What to use, how much it saves on a family of bandits, and why.

    Attributes
    ----------
    key : str
        The strategy's name in the table, such as ``"practical"``.
    strategy : str
        Its name, in words.
    code : str
        The expression that builds it from names of `speedlib`.
    exploration, length : str
        Which actions the strategy explores, and for how many rounds.
    compared : str
        The name, in words, of the strategy to which the ranges below belong. It is the advised
        strategy or, if the advice is to run the policy, practical SPEED.
    saving : Range or None
        The strategy's mean squared error, divided by the error of running the policy for the same
        number of rounds and estimating the value by ordinary least squares. A ratio of 0.5 is worth
        as much as twice the rounds. None where the table has no such size.
    saving_average, saving_weighted : Range or None
        The same ratio against the plain average of the policy's rewards, and against weighted least
        squares with the true variances, the most precise use of the policy's rounds.
    measured : Size or None
        The numbers of actions, dimensions and rounds at which the ranges were measured.
    reasons : tuple of Reason
        The reasons, with the claims of the companion that support them.
    command : str
        Lines of Python that compute the exact figure for your features and policy.

    Examples
    --------
    >>> from speedlib import advise
    >>> advice = advise(20, 4, 5000)
    >>> advice.code
    'SPEED.practical()'
    >>> advice.build().name
    'SPEED, practical'
    """

    key: str
    strategy: str
    code: str
    exploration: str
    length: str
    compared: str
    saving: Range | None
    saving_average: Range | None
    saving_weighted: Range | None
    measured: Size | None
    reasons: tuple[Reason, ...]
    command: str

    def build(self) -> Strategy:
        """Return the strategy, ready to `begin`."""
        return BUILD[self.key]()

    def __str__(self) -> str:
        """Summarise the advice in a few lines."""
        lines = [
            f"Use: {self.code} ({self.strategy})",
            f"Explore: {self.exploration}",
            f"How long: {self.length}",
        ]
        if self.saving is not None:
            low, middle, high = self.saving
            lines.append(
                f"Mean squared error over that of running the policy ({self.compared}): "
                f"{low:.2f} to {high:.2f}, median {middle:.2f}"
            )
        lines += [f"- {reason.text}" for reason in self.reasons]
        lines.append(
            "For the ratio at your own features, run the lines that the attribute `command` holds."
        )
        return "\n".join(lines)


def advise(actions: int, dimension: int, rounds: int, *, noise: str = "unknown") -> Advice:
    r"""Recommend a strategy, and say what it explores, for how long, and what it saves.

    Parameters
    ----------
    actions : int
        :math:`A`, from 2 to a million.
    dimension : int
        :math:`d`, the number of features, from 2 to ten thousand. A number above A counts as A.
    rounds : int
        :math:`n`, all rounds, from 1 to :math:`10^{12}`.
    noise : {"unknown", "known"}
        Whether the variances of the actions are known beforehand.

    Returns
    -------
    Advice

    Raises
    ------
    TypeError, ValueError
        If a number is not whole or is out of its range, or `noise` is neither choice.

    See Also
    --------
    speedlib.simulation.mse_curve : The exact figure, for your features and policy.
    speedlib.savings.estimate_saving : What an experiment has saved, from its rewards.

    Notes
    -----
    The table covers 2 to 10 dimensions, up to 20 actions per dimension, and 100 to 100,000 rounds.
    The advice uses the nearest dimension, then the nearest number of actions per dimension (both by
    ratio), and the largest budget that is not above n. A strategy is worthwhile if in the median
    over the family it saves a tenth of the error. The advice is the worthwhile strategy with the
    smallest median error, or a simpler one whose median error is at most a tenth larger. If no
    strategy is worthwhile, the advice is to run the policy.

    The table knows no costs and no bounds on shares. With costs, give as `rounds` the number of
    tries that the money pays for. Strategies that run the policy take neither: use
    `SPEED.practical()`.

    The family is random, so its figures are no promise for your table of actions. `Advice.command`
    computes the figure for that table.

    Examples
    --------
    >>> found = advise(12, 6, 3000)
    >>> found.measured
    Size(actions=12, dimension=6, rounds=3000)
    >>> found.saving.low < found.saving.middle < found.saving.high
    True
    >>> advise(12, 6, 60).code
    'OnPolicy(estimator="ols")'
    """
    size = Size(
        check_count("actions", actions, 2, MOST_ACTIONS),
        # With one feature all actions inform equally, once rewards are divided by it.
        check_count("dimension", dimension, 2, MOST_DIMENSIONS),
        check_rounds(rounds, 1, MOST_ROUNDS),
    )
    check_choice("noise", noise, NOISE)
    table, words = load("advice.json"), load("advice_words.json")
    place = find_cell(size, table)
    cell = table["cells"][",".join(map(str, place))]
    d = min(size.dimension, size.actions)
    few = size.rounds < table["rounds"][0]
    beyond = d > table["dimensions"][-1] or size.actions > table["multiples"][-1] * d
    if noise == "known":
        key = cell["known"][0]
        compared = key
    else:
        fit = [key for key in cell["order"] if applies(key, size)]
        key = fit[0] if fit and not few else "policy"
        compared = key if key != "policy" else "practical"
    measured = None if few or beyond else place
    ranges: Sequence[Range | None] = (None, None, None)
    if measured:
        ranges = [Range(*three) for three in cell["strategies"][compared]]
    return Advice(
        key=key,
        strategy=words["strategies"][key]["name"],
        code=words["strategies"][key]["code"],
        exploration=_filled(words["strategies"][key]["exploration"], size),
        length=_length(key, size, cell if measured else None, words),
        compared=words["strategies"][compared]["name"],
        saving=ranges[0],
        saving_average=ranges[1],
        saving_weighted=ranges[2],
        measured=measured,
        reasons=_reasons(key, size, measured, ranges[0], table, words),
        command=_command(words, words["strategies"][compared]["code"], size.rounds),
    )


@cache
def load(name: str) -> Any:
    """Return the content of a JSON file next to this module."""
    return json.loads(files("speedlib").joinpath(name).read_text(encoding="utf-8"))


def find_cell(size: Size, table: Mapping[str, Any]) -> Size:
    """Return the size in a table that is used for a given size.

    Examples
    --------
    >>> find_cell(Size(14, 5, 4000), load("advice.json"))
    Size(actions=12, dimension=6, rounds=3000)
    """
    d = min(size.dimension, size.actions)
    dimension = _nearest(table["dimensions"], d, 1)
    multiple = _nearest(table["multiples"], size.actions, d)
    reached = [n for n in table["rounds"] if n <= size.rounds]
    return Size(dimension * multiple, dimension, (reached or table["rounds"])[-1 if reached else 0])


def _nearest(grid: Sequence[int], top: int, bottom: int) -> int:
    """Return the number of a rising grid nearest to top / bottom by ratio; of two, the larger."""
    chosen = 0
    for i in range(1, len(grid)):
        # In whole numbers, so that every language finds the same.
        if top * top >= grid[i - 1] * grid[i] * bottom * bottom:
            chosen = i
    return grid[chosen]


def applies(key: str, size: Size) -> bool:
    """Return whether a strategy can be run at a size, whatever the features are."""
    if key == "neyman":
        return size.dimension == 2 or size.actions <= size.dimension
    if key == "booked":
        return size.actions * BookedOptimism().first_count(size.rounds) < size.rounds
    return True


def _filled(text: str, size: Size, **more: Any) -> str:
    d = min(size.dimension, size.actions)
    values = {
        "actions": size.actions,
        "dimension": d,
        "rounds": size.rounds,
        "support": d,
        "explored": min(size.actions, d * (d + 1) // 2),
        "pilot": max(1, math.isqrt(size.rounds) // 2),
        "floor": math.isqrt(size.rounds),
        "root": math.isqrt(size.rounds - 1) + 1,
        "each": BookedOptimism().first_count(size.rounds),
    }
    for name, value in (values | more).items():
        text = text.replace(f"{{{name}}}", f"{value:,}")
    return text


def _length(key: str, size: Size, cell: Any, words: Mapping[str, Any]) -> str:
    """Return how long exploration is; where that was measured, how long in the family."""
    text = _filled(words["strategies"][key]["length"], size)
    if key != "practical" or cell is None:
        return text
    low, _, high = (_rounded(share * math.sqrt(size.rounds)) for share in cell["exploration"])
    most = size.rounds // 2
    note = _filled(words["notes"]["length"], size, low=min(low, most), high=min(high, most))
    return f"{text}. {note}"


def _rounded(value: float) -> int:
    """Return a positive number to two digits, the precision of a range over a family."""
    unit = 1
    while value >= 100 * unit:
        unit *= 10
    return unit * math.floor(value / unit + 0.5)


def _reasons(
    key: str,
    size: Size,
    measured: Size | None,
    saving: Range | None,
    table: Mapping[str, Any],
    words: Mapping[str, Any],
) -> tuple[Reason, ...]:
    notes, page, texts = words["notes"], words["page"], []
    if size.rounds < (least := table["rounds"][0]):
        texts.append(_filled(notes["few"], size, least=least))
    elif measured is None:
        end = {"dimension": table["dimensions"][-1], "multiple": table["multiples"][-1]}
        texts.append(_filled(notes["beyond"], size, **end))
    if measured is not None and saving is not None:
        if key in UNMOVED:
            texts.append(notes[UNMOVED[key]])
        texts.append(_filled(notes["measured"], measured))
        if saving.high > 1 and key not in UNMOVED:
            texts.append(notes["loses"])
    own = tuple(Reason(text, (), page) for text in texts)
    return own + tuple(
        Reason(each["text"], tuple(each["claims"]), each["page"])
        for each in words["strategies"][key]["reasons"]
    )


def _command(words: Mapping[str, Any], code: str, rounds: int) -> str:
    """Return lines of Python that compare a strategy with running the policy."""
    built = code.split("(")[0].split(".")[0]
    names = ", ".join(sorted({"LinearBandit", "OnPolicy", "mse_curve", built}, key=str.lower))
    text = "\n".join(words["command"])
    for name, value in {"names": names, "code": code, "rounds": str(rounds)}.items():
        text = text.replace(f"{{{name}}}", value)
    return text
