"""The hand-ins: right answers pass for every name, and wrong ones get the feedback they need."""

from __future__ import annotations

import ast
import copy
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

from paper import course, course_ranges
from paper.coursework import proofs
from paper.coursework._steps import is_broken
from speedbook.notebook.files import read_notebook
from speedbook.paths import find_root

from .hand_in_cells import FOLDER, before, cells, hidden, run, source_of, tasks, visible
from .wrong_answers import DESIGNS, FIRST_STEPS
from .wrong_answers_later import AUDIT, NOISE

#: Short, not ASCII, not Latin, long, with a hyphen and an apostrophe.
NAMES = [
    "Ada Lovelace",
    "Bo",
    "李",
    "Żółć Ñandú-Øre O'Neill",
    "Wolfeschlegelsteinhausenbergerdorff Hubert Blaine von der und zu Hohenfels",
]
WRONG = [*FIRST_STEPS, *DESIGNS, *NOISE, *AUDIT]
#: Tasks in which a false step or a counterexample is to be found.
AUDITS = "policy-proof valley-proof matrices-proof printed convexity believed".split()
#: Answers that may be rounded to three digits.
ROUNDED = {
    "direction": "c",
    "walk": "w",
    "shares": "shares",
    "slope": "y",
    "threshold": "threshold",
    "smallest": "Sigma",
    "fitted": "Sigma_hat",
}
ROOT = find_root()


@cache
def above(task: str, student: str) -> dict[str, Any]:
    return before(task, student)


def test_there_are_enough_tasks_and_wrong_answers():
    assert len(tasks()) >= 12
    assert set(AUDITS) < set(tasks())
    assert len(AUDITS) >= 5
    assert len(WRONG) >= 20
    assert len({(each.task, each.mistake) for each in WRONG}) == len(WRONG)
    assert {each.task for each in WRONG} == set(tasks())


@pytest.mark.parametrize("student", NAMES)
@pytest.mark.parametrize("hand_in", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_every_solution_passes(hand_in, student, capsys):
    namespace: dict[str, Any] = {"__name__": "hand_in"}
    for name, source in cells(hand_in):
        run(f"student = {student!r}" if name == "parameters" else source, namespace)
    said = capsys.readouterr().out.splitlines()
    mine = [task for task, number in tasks().items() if number == hand_in]
    assert sum(line.endswith(": passed.") for line in said) == len(mine)


@pytest.mark.parametrize("student", NAMES[:3])
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.task}-{wrong.mistake}")
def test_a_wrong_answer_gets_its_feedback(wrong, student):
    namespace = dict(above(wrong.task, student))
    run(wrong.source, namespace)
    with pytest.raises(AssertionError) as caught:
        run(visible(source_of("check", wrong.task)), namespace)
    said = str(caught.value)
    assert wrong.feedback in said
    assert said[0].isupper() or said.split()[0].rstrip(":") in said
    assert said.endswith(".")
    assert len(said) < 320


@pytest.mark.parametrize("student", NAMES)
@pytest.mark.parametrize("task", ROUNDED)
def test_three_digits_are_enough(task, student):
    namespace = dict(above(task, student))
    run(source_of("answer", task), namespace)
    exact = np.asarray(namespace[ROUNDED[task]], dtype=float)
    rounded = [float(f"{value:.3g}") for value in exact.ravel()]
    namespace[ROUNDED[task]] = np.reshape(rounded, exact.shape)
    run(source_of("check", task), namespace)


@pytest.mark.parametrize("task", ["direction", "walk", "rounds", "explored", "length"])
def test_another_students_answer_does_not_pass(task):
    name = "looks" if task == "explored" else task
    theirs, mine = (dict(above(name, student)) for student in NAMES[:2])
    run(source_of("answer", name), theirs)
    answer = {"direction": "c", "walk": "w", "rounds": "m"}.get(task, task)
    mine[answer] = theirs[answer]
    if task == "explored":  # of few possible answers; this one is wrong for sure
        mine[answer] = theirs[answer][:2]
    with pytest.raises(AssertionError):
        run(visible(source_of("check", name)), mine)


def test_hidden_tests_catch_what_a_tampered_check_lets_pass(monkeypatch):
    """They stand alone: without the visible check they refuse a good part of the answers."""
    refused = 0
    for wrong in [*FIRST_STEPS, *DESIGNS]:
        namespace = dict(above(wrong.task, "Ada Lovelace"))
        run(wrong.source, namespace)
        try:
            with np.errstate(all="ignore"):
                run(hidden(source_of("check", wrong.task)), namespace)
        except Exception:
            refused += 1
    assert refused >= 0.9 * len([*FIRST_STEPS, *DESIGNS])


def test_numbers_depend_on_the_name_alone():
    same = ["Zoë  O'Neill", " zoë o'NEILL ", "Zoe\u0308 O'Neill"]
    assert len({course.normalised(name) for name in same}) == 1
    draws = {course.numbers(name, "c").integers(10**9) for name in same}
    assert len(draws) == 1
    assert course.numbers(same[0], "d").integers(10**9) not in draws
    many = {tuple(course.first_problem(f"student {k}").features.ravel()) for k in range(50)}
    assert len(many) == 50


def test_numbers_stay_as_they_are():
    """A student may install another week than the teacher: the numbers must not move."""
    assert course.numbers("Ada Lovelace", "c").integers(10**6, size=3).tolist() == [
        584498,
        172531,
        357929,
    ]


@pytest.mark.parametrize(("name", "error"), [("", ValueError), (" .-", ValueError), (7, TypeError)])
def test_a_name_that_is_none_is_refused(name, error):
    with pytest.raises(error, match="student: must"):
        course.normalised(name)


def test_what_a_student_gets_cannot_be_changed_by_accident():
    problem = course.first_problem("Ada Lovelace")
    with pytest.raises(ValueError, match="read-only"):
        problem.features[0, 0] = 7


def instances(rng, student):
    """Yield random instances of the three proofs that obey their hypotheses."""
    X = rng.integers(-3, 4, (3, 2)).astype(float)
    sigma, guess = np.exp(rng.normal(0, 0.8, (2, 3)))
    p = rng.uniform(0.05, 0.95)
    b = p + rng.uniform(-0.5, 0.5) * min(p, 1 - p)
    length = int(rng.integers(1, proofs.valley_rounds(student) // 2 + 1))
    yield proofs.valley_proof(student), proofs.valley_instance(student, p, b, length)
    if np.linalg.matrix_rank(X) == 2 and abs(proofs.policy_of_proofs(student) @ X).max() > 0.1:
        yield proofs.policy_proof(student), proofs.policy_instance(student, X, sigma)
        yield (
            proofs.matrices_proof(student),
            proofs.matrices_instance(student, X, sigma, guess),
        )


def test_each_proof_has_one_false_step():
    broken: dict[tuple[str, str], set[int]] = {}
    for k in range(16):
        rng = np.random.default_rng(k)
        for _ in range(40):
            for proof, instance in instances(rng, f"student {k}"):
                fails = [i for i, step in enumerate(proof.steps, 1) if is_broken(step, instance)]
                broken.setdefault((proof.title, str(k)), set()).update(fails)
    assert max(map(len, broken.values())) == 1
    found = {title: set() for title, _ in broken}
    for (title, _), steps in broken.items():
        found[title] |= steps
    assert min(map(len, found.values())) >= 3


@pytest.mark.parametrize("hand_in", range(1, 5))
def test_cells_are_marked_for_nbgrader(hand_in):
    notebook = read_notebook(FOLDER / f"hand-in-{hand_in}.ipynb")
    marked = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    about = [cell.metadata.nbgrader for cell in marked]
    assert len({each.grade_id for each in about}) == len(about)
    for cell in marked:
        kind = cell.metadata.nbgrader
        assert kind.locked is not kind.solution
        assert ("BEGIN SOLUTION" in cell.source) is kind.solution
        marked_by_hand = kind.grade and kind.solution
        assert marked_by_hand is (kind.grade_id == "answer-judgement")
        assert ("BEGIN HIDDEN TESTS" in cell.source) is (kind.grade and not kind.solution)
        assert ("remove-cell" in cell.metadata.get("tags", [])) is (kind.solution or kind.grade)
        assert (kind.get("points", 0) > 0) is kind.grade
    (parameters,) = [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]
    assert "nbgrader" not in parameters.metadata


@pytest.mark.parametrize("hand_in", range(1, 5))
def test_what_a_student_sees_has_no_answer(hand_in):
    """The book and the release show texts, numbers and checks; none of them computes an answer."""
    shown = [
        visible(cell.source)
        for cell in read_notebook(FOLDER / f"hand-in-{hand_in}.ipynb").cells
        if not cell.metadata.get("nbgrader", {}).get("solution")
    ]
    assert not any("SOLUTION" in text or "HIDDEN" in text for text in shown)
    for task, number in tasks().items():
        if number == hand_in:
            lines = source_of("answer", task).splitlines()
            secret = [line.strip() for line in lines if line.startswith(("    ", "w", "c ="))]
            long = [line for line in secret if len(line) > 30 and "def " not in line]
            assert not [line for line in long if any(line in text for text in shown)]


def test_students_need_no_other_modules():
    files = [ROOT / "paper" / "course.py", *(ROOT / "paper" / "coursework").glob("*.py")]
    allowed = {"numpy", "scipy", "speedlib"} | sys.stdlib_module_names
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                ours = name.startswith("paper.coursework")
                assert ours or name.split(".")[0] in allowed, f"{path.name} imports {name}"


def test_false_steps_are_those_of_the_solutions():
    for student in NAMES[:3]:
        found = []
        for number, task in enumerate(["policy-proof", "valley-proof", "matrices-proof"], 14):
            namespace = dict(above(task, student))
            run(source_of("answer", task), namespace)
            found.append(namespace[f"step_{number}"])
        assert tuple(found) == course_ranges.false_steps(student)


def test_ranges_hold_what_a_student_has():
    ranges = course_ranges.expected_ranges(["Ada Lovelace", "Bo"])
    assert {each.task for each in ranges} >= {f"Task {k}" for k in (1, 2, 5, 8, 9, 13, 21)}
    wider = course_ranges.expected_ranges(["Ada Lovelace", "Bo", "李"])
    for small, large in zip(ranges, wider, strict=True):
        assert large.least <= small.least <= small.median <= small.largest <= large.largest


def test_ranges_agree_with_the_solutions():
    namespace = copy.copy(above("threshold", "Bo"))
    run(source_of("answer", "threshold"), namespace)
    ranges = {each.what: each for each in course_ranges.expected_ranges(["Bo"])}
    steps = abs(namespace["w"]) @ namespace["sigma"]
    assert ranges["steps of the shortest walk"].least == pytest.approx(steps)
    assert ranges["rounds of the policy"].least == namespace["m"]
    assert ranges["threshold of the noise"].least == pytest.approx(namespace["threshold"])
