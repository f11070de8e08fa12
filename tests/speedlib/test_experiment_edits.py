"""Text of an experiment that somebody edited: what does not fit is refused, and the entry named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from speedlib import SPEED, AdaptiveNeyman, BookedOptimism, Oracle, Rewards, Trial, Uniform
from speedlib.experiment import Experiment

from .living import KINDS, begin, days
from .small_experiment import experiment, pull
from .ten_days import FEATURES, POLICY

KIND = pytest.mark.parametrize("kind", KINDS)
Path = tuple[str | int, ...]


def lived(kind: str, steps: int, seed: int, rounds: int = 900) -> Experiment:
    mine = begin(kind, rounds, seed)
    for _ in zip(range(steps), days(mine, np.random.default_rng([seed, 7])), strict=False):
        pass
    return mine


def plain(text: str) -> dict[str, Any]:
    """Return the parts of a text without the checksum, so that rules alone may refuse it."""
    parts = json.loads(text)
    del parts["checksum"]
    return parts


def edited(parts: dict[str, Any], path: Path, value: object) -> str:
    parts = json.loads(json.dumps(parts))
    inner: Any = parts
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return json.dumps(parts)


def entries(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All entries of nested values, the nested ones too."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inner:
        yield (*path, key), part
        if isinstance(part, dict | list):
            yield from entries(part, (*path, key))


def others(value: Any) -> list[Any]:
    """Other values for an entry, and `...` for none."""
    found: list[Any] = [...]
    if isinstance(value, bool):
        found += [not value, 7]
    elif isinstance(value, int):
        found += [value + 1, -1 - value, 10**7, 0.5, "9"]
    elif isinstance(value, float):
        found += [value * 1.5 + 0.1, -1 - value, "9", None]
    elif isinstance(value, list):
        found += [[*value, *value[-1:]], value[:-1], 5]
    else:
        found += [3, "other", {}]
    return [each for each in found if each is ... or json.dumps(each) != json.dumps(value)]


# --- whatever the library writes is read ----------------------------------------------------------


@KIND
@pytest.mark.parametrize("rounds", [120, 900])
def test_whatever_happened_the_text_is_read(kind: str, rounds: int) -> None:
    """Forty random days and nights; without the checksum, so that each rule is tried."""
    if rounds < 900 and kind.startswith("booked"):
        rounds = 300
    mine = begin(kind, rounds, rounds)
    if kind == "booked":
        mine = begin(kind, 900, rounds)
    happened = days(mine, np.random.default_rng([rounds, 8]))
    for _, what in zip(range(40), happened, strict=False):
        text = mine.to_json()
        again = Experiment.from_json(json.dumps(plain(text)))
        assert again.to_json() == text, what
        books = again.books
        assert np.all(books.owed >= 0) and np.all(books.written_off >= 0)
        assert np.array_equal(
            books.came + books.owed + books.written_off, books.asked + books.extra
        )


@pytest.mark.parametrize("kind", ["tuned", "booked slowly", "neyman, ten", "random"])
def test_a_trial_by_the_book_is_read_in_each_phase(kind: str) -> None:
    """Also where a phase requests nothing, which an experiment skips."""
    strategy, _ = KINDS[kind]
    for seed in range(4):
        trial = strategy.begin(FEATURES, POLICY, 500, rng=seed)
        while not trial.committed:
            trial.next_counts(pull(trial.asked, seed))
            again = Trial.from_json(json.dumps(plain(trial.to_json())))
            assert again.to_json() == trial.to_json()


def test_how_a_text_is_laid_out_does_not_matter() -> None:
    mine = lived("tuned, money", 12, 1)
    parts = json.loads(mine.to_json())
    turned = json.dumps(dict(reversed(parts.items())), indent=4)
    assert Experiment.from_json(turned.replace(": 1.0", ": 1")).to_json() == mine.to_json()


# --- an edit is refused ---------------------------------------------------------------------------


@KIND
def test_each_single_edit_is_refused(kind: str) -> None:
    """Another number, another type, an entry too few or too many: whatever it is."""
    rng = np.random.default_rng(len(kind))
    for steps in (3, 25):
        parts = json.loads(lived(kind, steps, steps).to_json())
        every = list(entries(parts))
        for k in rng.permutation(len(every))[:12]:
            path, value = every[k]
            if path == ("checksum",):
                continue
            choices = others(value)
            text = edited(parts, path, choices[rng.integers(len(choices))])
            with pytest.raises((TypeError, ValueError), match=r"[a-z]+: "):
                Experiment.from_json(text)


#: Parts that follow from others, so that another number breaks a rule even without the checksum.
#: What nobody else tells is not among them, such as costs, strategies and seeds.
FOLLOWING = {"asked", "made in this phase", "written off", "came", "state"}
FOLLOWING |= {"came since the last decision"}


@pytest.mark.parametrize(
    "kind", ["tuned", "tuned, long history", "per arm", "booked", "neyman, ten"]
)
@pytest.mark.parametrize("steps", [2, 14, 40])
def test_what_follows_from_other_entries_is_compared(kind: str, steps: int) -> None:
    """Without the checksum: whole numbers exactly, the rest up to rounding."""
    mine = lived(kind, steps, steps)
    parts = plain(mine.to_json())
    rng = np.random.default_rng(steps)
    tried = [
        (path, value)
        for path, value in entries(parts)
        if path[0] in FOLLOWING
        and not isinstance(value, dict | list | str | None)
        and "first variances" not in path  # of rewards that were pooled with others since
    ]
    for k in rng.permutation(len(tried))[:25]:
        path, value = tried[k]
        new = (not value) if isinstance(value, bool) else value * 3 + 1000
        with pytest.raises(ValueError, match=r"^[a-z ]+: "):
            Experiment.from_json(edited(parts, path, new))


def committed(kind: str) -> Experiment:
    mine = begin(kind, 900, 2)
    while not mine.trial.committed:
        mine.tell(pull(mine.ask(), 1))
    if not mine.finished:
        mine.ask(300)
    return mine


@pytest.mark.parametrize(
    ("kind", "path", "value", "message"),
    [
        ("tuned", ("setting", "rounds"), 100, r"^rounds: must be at least 900, .* got 100;"),
        ("tuned", ("setting", "rounds"), 1000, r"^asked: must make, .* all 1000 of the budget"),
        ("tuned", ("state", "committed"), False, r"^committed: must be true, .* at most 450"),
        ("tuned", ("state", "piloting"), True, r"^piloting: must be False"),
        ("tuned", ("state", "variances", 2), 9.0, r"variances: must be those that the explored"),
        ("tuned", ("written off", 1), 10**5, r"^written off: must be at most 'tries without"),
        ("tuned", ("budget in money",), True, r"^budget in money: must be false where no costs"),
        ("tuned", ("setting", "revalued"), 5, r"^revalued: must be 0 where .* got 5"),
        ("tuned", ("setting", "variances"), [1.0] * 8, r"^variances: must be null, since SPEED"),
        ("tuned", ("zzz",), 1, r"^text: 'zzz' is none of its parts"),
        ("tuned", ("state", "zzz"), 1, r"state: 'zzz' is none of its parts"),
        ("tuned", ("setting", "zzz"), 1, r"^setting: 'zzz' is none of its parts"),
        ("tuned", ("state", "explored"), ..., r"state: has no part 'explored'"),
        ("tuned", ("version",), 0, r"^text: its version must be a whole number from 1; got 0"),
        ("tuned, money", ("budget in money",), False, r"^budget in money: must be true where a"),
        ("tuned, money", ("setting", "rounds"), 400, r"^rounds: must pay for .* got 400"),
        ("tuned, policies", ("setting", "targets", 0, 1), 9.0, r"targets: must have the direc"),
        ("neyman, ten", ("state", "coefficients", 0), 3.0, r"coefficients: must be what the dec"),
        ("neyman, ten", ("state", "coefficients"), None, r"coefficients: must be null while"),
        ("neyman, ten", ("state", "memory"), [7], r"memory: must be the last ones of \["),
        ("neyman, ten", ("state", "lost"), 3, r"asked: must make 900 pulls by now"),
        ("booked", ("state", "coefficients", 0), 3.0, r"coefficients: must be what the decisions"),
        ("booked", ("state", "memory", "sums", 0), 3.0, r"sums: must combine the features to"),
        ("booked", ("state", "memory", "excess", 0), 30.0, r"excess: must sum to 0; got"),
        ("booked", ("state", "memory", "rounds"), 10**6, r"rounds of the memory: must be at most"),
        ("uniform", ("state", "asked", 0), 300, r"^asked: must be 11[23] for action 0"),
        ("on policy", ("state", "asked", 0), 999, r"^asked: must be 900 tries, as the budget"),
        ("oracle", ("setting", "variances"), None, r"^variances: must be given, since Oracle"),
        ("uniform", ("setting", "limits"), {"costs": 1, "least": 0, "most": 1}, "^limits: must be"),
    ],
)  # fmt: skip
def test_the_entry_its_value_and_the_rule_are_named(
    kind: str, path: Path, value: object, message: str
) -> None:
    parts = plain(committed(kind).to_json())
    with pytest.raises(ValueError, match=message):
        Experiment.from_json(edited(parts, path, value))


def test_what_was_written_off_and_came_is_not_changed_unnoticed() -> None:
    mine = experiment(Uniform(estimator="ols", sampling="balanced"), rounds=160)
    mine.tell(pull(mine.ask(80) - 2, 1))
    mine.write_off()
    parts = plain(mine.to_json())
    with pytest.raises(
        ValueError, match=r"^written off: must be at most 'tries without a reward', 2"
    ):
        Experiment.from_json(edited(parts, ("written off", 3), 3))
    with pytest.raises(ValueError, match=r"^came: must be the rewards that decided so far"):
        Experiment.from_json(edited(parts, ("came", "means", 3), 30.0))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"revalued": 0.0', '"revalued": NaN', "text: every number must be finite; got NaN"),
        ('"revalued": 0.0', '"revalued": 1e999', "text: every number must be finite; got 1e999"),
        ('"revalued": 0.0', '"revalued": -Infinity', "must be finite; got -Infinity"),
        ('"version": 1', '"version": 1, "version": 1', "text: has two entries 'version'"),
        ('"piloting": ', '"piloting": true, "piloting": ', "text: has two entries 'piloting'"),
        ('"version": 1', '"version": 1' + "0" * 5000, "text: a number has 5001 digits"),
    ],
)
def test_what_json_itself_should_not_hold(old: str, new: str, message: str) -> None:
    text = experiment(SPEED.practical()).to_json()
    assert old in text
    with pytest.raises(ValueError, match=message):
        Experiment.from_json(text.replace(old, new))


def test_the_checksum_says_what_to_do_and_may_be_left_out() -> None:
    mine = experiment(SPEED.practical(), names=list("abcdefgh"))
    text = mine.to_json().replace('"a"', '"apple"')
    with pytest.raises(ValueError, match=r"^checksum: must be .* leave out the entry 'checksum'"):
        Experiment.from_json(text)
    assert Experiment.from_json(json.dumps(plain(text))).names[0] == "apple"
    rewards = pull(np.full(8, 3), 1).to_json()
    with pytest.raises(ValueError, match=r"^checksum: must be that of all other entries"):
        Rewards.from_json(rewards.replace('"counts": [3', '"counts": [4'))
    trial = SPEED().begin(FEATURES, POLICY, 100, rng=1).to_json()
    with pytest.raises(ValueError, match=r"^checksum: must be that of all other entries"):
        Trial.from_json(trial.replace('"ridge": 0.01', '"ridge": 0.02'))


@pytest.mark.parametrize(
    "strategy",
    [AdaptiveNeyman(), BookedOptimism(), Oracle()],
    ids=lambda strategy: strategy.name,
)
def test_a_value_that_is_known_to_be_0_goes_through_json(strategy: Any) -> None:
    """No action is needed, so nothing is remembered."""
    features, policy = [[1.0, 0], [-1.0, 0], [0, 1.0], [0, -1.0]], [0.25] * 4
    known = {"variances": np.ones(4)} if isinstance(strategy, Oracle) else {}
    mine = Experiment(strategy, features, policy, 50, seed=1, **known)
    mine.tell(Rewards.from_log([0], [1.0], 4) if mine.ask(1)[0] else Rewards.none((4,)))
    again = Experiment.from_json(json.dumps(plain(mine.to_json())))
    assert again.to_json() == mine.to_json()
