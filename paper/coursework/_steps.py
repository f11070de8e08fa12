"""Proofs of which one step is false: their parts, and how an answer is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from paper.coursework._feedback import passed, require, whole_number_of
from paper.coursework._names import numbers

#: A side of a step may be larger than the other by this share of it before the step is broken.
MARGIN = 1e-3

Sides = Callable[[Mapping[str, Any]], tuple[float, float]]


class Step(NamedTuple):
    """A step as printed: its words, whether it says that both sides are equal, and the sides."""

    words: str
    equal: bool
    sides: Sides


class Proof(NamedTuple):
    """A proof in steps, with what an instance must obey."""

    title: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        """Write the proof, one step below the other."""
        lines = [self.title, ""]
        for place, step in enumerate(self.steps, 1):
            first, *more = step.words.split("\n")
            lines += [f"({place}) {first}", *(f"    {line}" for line in more)]
        return "\n".join(lines)


def equal(words: str, sides: Sides) -> Step:
    """Return a step that says that both sides are equal."""
    return Step(words, True, sides)


def at_most(words: str, sides: Sides) -> Step:
    """Return a step that says that the left side is at most the right one."""
    return Step(words, False, sides)


def assemble(student: str, name: str, title: str, forms: list[tuple[Step, ...]]) -> Proof:
    """Choose which of the steps that have two forms is printed in its second one."""
    open_to_change = [place for place, step in enumerate(forms) if len(step) > 1]
    changed = int(numbers(student, name).choice(open_to_change))
    steps = [form[int(place == changed)] for place, form in enumerate(forms)]
    return Proof(title, tuple(steps))


def check_step(task: str, proof: Proof, step: Any, instance: Mapping[str, Any]) -> None:
    """Check that the instance breaks the named step."""
    place = whole_number_of("step", step)
    require(
        1 <= place <= len(proof.steps),
        f"step must be the number of a printed step, 1 to {len(proof.steps)}; got {place}.",
    )
    broken = [k for k, each in enumerate(proof.steps, 1) if is_broken(each, instance)]
    left, right = proof.steps[place - 1].sides(instance)
    relation = "equal to" if proof.steps[place - 1].equal else "at most"
    hint = (
        " Another step fails at your instance, though."
        if broken
        else " Nor does any other step fail there: try another instance."
    )
    require(
        place in broken,
        f"Step {place} holds at your instance: the left side, {left:.5g}, is {relation} the right "
        f"one, {right:.5g}.{hint}",
    )
    passed(task)


def is_broken(step: Step, instance: Mapping[str, Any]) -> bool:
    """Say whether a step fails at an instance by more than rounding."""
    left, right = step.sides(instance)
    allowed = MARGIN * max(abs(left), abs(right)) + 1e-9
    return bool(abs(left - right) > allowed if step.equal else left > right + allowed)
