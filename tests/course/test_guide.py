"""The teacher's guide: timetables add up, numbers are the library's, hand-outs are complete."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from speedbook.notebook.captions import shown_figures
from speedbook.notebook.files import figure_name, read_notebook
from speedbook.press.lead import tagged_cells
from speedlib import (
    best_exploration_length,
    estimate_covariance,
    estimation_cost,
    optimal_design,
    pe_loss,
    target_direction,
    unit_ball,
)
from speedlib.rewards import Rewards
from tests.test_ideas import THREAD

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "book" / "class"
SESSIONS = ("session-1", "session-2", "session-3")
#: Minutes of each timetable, by page and heading.
MINUTES = {**dict.fromkeys(((name, "Timetable") for name in SESSIONS), 45)}
MINUTES[("guide", "Twenty minutes")] = 20

BALL = unit_ball()
#: The bandit of sessions 2 and 3.
X = np.array([[1, 0], [0, 1], [1, 1]])
SIGMA = np.array([3.0, 4.0, 2.0])
MATRIX = np.array([[9.0, -10.5], [-10.5, 16.0]])
POLICY = np.array([0.5, 0.25, 0.25])
C = target_direction(X, POLICY)
BEST = optimal_design(X, SIGMA**2, direction=C)


@cache
def text(name: str) -> str:
    """Return a page with all white space made one blank."""
    return " ".join((GUIDE / f"{name}.md").read_text(encoding="utf-8").split())


def section(name: str, heading: str) -> str:
    """Return what stands below a heading."""
    page = (GUIDE / f"{name}.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    return str(found)


def minutes(name: str, heading: str) -> list[int]:
    """Return the minutes in the first column of the table below a heading."""
    return [int(row) for row in re.findall(r"^\| (\d+) \|", section(name, heading), re.M)]


@pytest.mark.parametrize(("name", "heading"), MINUTES)
def test_a_timetable_adds_up(name, heading):
    assert sum(minutes(name, heading)) == MINUTES[name, heading]


@pytest.mark.parametrize("name", SESSIONS)
def test_each_part_of_a_session_takes_as_long_as_the_timetable_says(name):
    parts = re.findall(r"^### .*\((\d+) minutes\)$", section(name, "Minute by minute"), re.M)
    assert list(map(int, parts)) == minutes(name, "Timetable")


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_has_predictions_with_answers_and_what_wrong_ones_show(name):
    page = text(name)
    assert page.count("redict:**") == len(
        re.findall(r"\*\*Expected answers?:\*\*|\*\*Expected answer to", page)
    )
    assert page.count("redict:**") >= 3
    assert "| Wrong answer | What it shows | What to reply |" in page
    assert "| Misconception | Picture |" in page


@pytest.mark.parametrize(("place", "chapter"), list(enumerate(THREAD, 1)))
def test_a_hand_out_has_the_lead_picture_of_its_chapter_and_two_questions(place, chapter):
    page = text(f"hand-out-{place}")
    (cell,) = tagged_cells(read_notebook(ROOT / "notebooks" / "ideas" / f"{chapter}.ipynb"))
    assert len(shown_figures(cell)) == 1
    assert f"{{picture}} notebooks/ideas/{chapter}#{figure_name(cell)} :finding:" in page
    assert page.count("{div} sb-write") == 2
    assert ":::{div} sb-signature Name Date :::" in page
    assert re.findall(r"\*\*(\d)\.\*\*", page) == ["1", "2"]
    assert f"(hand-out-{place})" in text("hand-outs")
    assert re.search(rf"\| {place} \| .+? \| .+? \|", text("hand-outs"))


def points() -> dict[int, int]:
    """Return the points of each task, from the hand-ins."""
    found: dict[int, int] = {}
    for path in sorted((ROOT / "notebooks" / "class").glob("hand-in-*.ipynb")):
        task = 0
        for cell in read_notebook(path).cells:
            if heading := re.search(r"^## Task (\d+)", cell.source, re.M):
                task = int(heading[1])
            if cell.metadata.get("nbgrader", {}).get("grade"):
                found[task] = found.get(task, 0) + int(cell.metadata.nbgrader["points"])
    return found


def test_the_sessions_list_every_task_with_its_points():
    known, listed = points(), set[int]()
    for name in SESSIONS:
        rows = re.findall(r"\| (\d+)(?: to (\d+))?\. [^|]+\| (\d+) \|", text(name))
        for first, last, worth in rows:
            tasks = range(int(first), int(last or first) + 1)
            assert sum(known[task] for task in tasks) == int(worth), (name, first)
            listed.update(tasks)
    assert listed == set(known)
    words = {1: "eight", 2: "ten", 3: "ten", 4: "25"}
    sizes = {1: range(1, 5), 2: range(5, 10), 3: range(10, 14), 4: range(14, 22)}
    numerals = {"eight": 8, "ten": 10, "25": 25}
    for hand_in, word in words.items():
        assert sum(known[task] for task in sizes[hand_in]) == numerals[word]
        assert f"/hand-in-{hand_in}), {word} points" in text(f"session-{min(hand_in, 3)}")
    assert f"with {len(known)} tasks" in text("guide")


def on_policy(policy, x=BALL.bandit.features, variances=BALL.bandit.variances) -> int:
    """Return how many rounds of a policy are worth 100 of the best design."""
    best = optimal_design(x, variances, policy=policy)
    return round(100 * pe_loss(policy, x, variances, policy=policy) / best.value)


def test_the_numbers_of_the_first_session():
    page = text("session-1")
    x, variances = BALL.bandit.features, BALL.bandit.variances
    best = optimal_design(x, variances, policy=BALL.policy)
    assert list(best.support) == [0, 2]
    first, third = (round(100 * best.weights[a]) for a in best.support)
    assert f"the first in {first} tries and the third in {third}" in page
    assert f"needs {on_policy(BALL.policy)} rounds" in page
    assert round(variances[1] / variances[2]) == 5  # "a fifth of the variance"
    other = np.array([0.75, 0.25, 0, 0, 0])
    assert list(optimal_design(x, variances, policy=other).support) == [2, 3]
    assert f"worth {on_policy(other)} rounds" in page
    noisier = np.einsum("ai,ij,aj->a", x, np.diag([0.05, 3]), x)
    assert list(optimal_design(x, noisier, policy=BALL.policy).support) == [0, 2]

    def error(noisy: int, tries: int = 100) -> Fraction:
        return (Fraction(1, tries - noisy) + Fraction(9, noisy)) / 4

    assert min(range(1, 100), key=error) == 75
    assert [error(k) / error(75) for k in (50, 90)] == [Fraction(5, 4)] * 2
    assert [round(100 * (error(k) / error(75) - 1)) for k in (65, 70)] == [4, 1]
    assert [error(k, 20) for k in (10, 15, 5)] == [Fraction(1, 4), Fraction(1, 5), Fraction(7, 15)]
    # The mean of ten squares of a normal variable scatters by √(2/10) of its value.
    assert 0.4 < np.sqrt(2 / 10) < 0.5


def test_the_walks_of_the_second_session():
    assert np.allclose(C, [3 / 4, 1 / 2])
    walks = {7: [1 / 4, 0, 1 / 2], 10: [0, -1 / 4, 3 / 4], 12: POLICY, 17: [3 / 4, 1 / 2, 0]}
    for steps, weights in walks.items():
        assert np.allclose(weights @ X, C)
        assert np.isclose(4 * (np.abs(weights) * SIGMA).sum(), steps)
    assert np.isclose(BEST.value, 49 / 16) and np.allclose(BEST.weights, [3 / 7, 0, 4 / 7])
    assert np.allclose(np.einsum("ai,ij,aj->a", X, MATRIX, X), SIGMA**2)
    trip = np.array([3, 4, -2])
    assert np.allclose(trip / SIGMA @ X, 0)
    assert np.allclose(POLICY * SIGMA - trip / 4, [3 / 4, 0, 1])


@pytest.mark.parametrize(
    ("slope", "climbs"),
    [((3, -1), (1, -1 / 4, 1)), ((3, 4), (1, 1, 7 / 2)), ((6, -4), (2, -1, 1))],
)
def test_the_slopes_of_the_second_session(slope, climbs):
    assert np.allclose(X @ slope / SIGMA, climbs)
    assert np.isclose(4 * C @ slope, {(3, -1): 7, (3, 4): 17, (6, -4): 10}[slope])


def test_the_equivalence_theorem_of_the_second_session_by_hand():
    information = (X.T * (BEST.weights / SIGMA**2)) @ X
    assert np.allclose(21 * information, [[4, 3], [3, 3]])
    assert np.allclose(np.linalg.inv(information), [[21, -21], [-21, 28]])
    assert np.allclose(np.linalg.solve(information, C), [21 / 4, -7 / 4])
    assert np.allclose(np.linalg.solve(information, C) / np.sqrt(49 / 16), [3, -1])


def test_the_oracle_of_the_second_session():
    assert np.isclose(C @ MATRIX @ C, 19 / 16) and np.isclose((POLICY @ SIGMA) ** 2, 9)
    added = optimal_design(np.vstack([X, C]), [*SIGMA**2, C @ MATRIX @ C], direction=C)
    assert np.isclose(added.value, 19 / 16)
    assert np.isclose(pe_loss(POLICY, X, SIGMA**2, direction=C), 5)
    assert np.isclose(POLICY @ SIGMA**2, 9.5)
    assert [round(100 * loss / BEST.value) for loss in (5, 9.5)] == [163, 310]
    axes = np.array([0.5, 0.5, 0])
    single = optimal_design(X, SIGMA**2, policy=axes)
    assert list(single.support) == [2]
    assert np.isclose(pe_loss(axes, X, SIGMA**2, policy=axes) / single.value, 12.5)


def best_length(rounds: int) -> int:
    """Return the best length of exploration if all three actions are explored equally."""
    psi = estimation_cost(X, SIGMA**2, BEST.weights, np.full(3, 1 / 3))
    return round(float(best_exploration_length(psi, rounds)))


def test_the_numbers_of_the_third_session():
    p, q = BEST.weights[BEST.support]

    def cost(ratio: float) -> float:
        return float(p * q * (np.sqrt(ratio) - 1 / np.sqrt(ratio)) ** 2)

    # A fifth of one per cent; then 12 per cent, and 4.
    assert [round(100 * cost(r), d) for r, d in ((1.1, 1), (0.5, 0), (1.5, 0))] == [0.2, 12, 4]
    assert f"{best_length(1000)} are best here" in text("session-3")
    believed = optimal_design(X, [9, 16, 25], direction=C)
    wrong = pe_loss(believed.weights, X, SIGMA**2, direction=C) / BEST.value - 1
    assert f"needs {round(100 * wrong)} per cent more rounds" in text("session-3")


def test_two_looks_make_the_least_norm_fit_negative_and_a_semidefinite_one_right():
    """Means 0 and scatters as large as the variances: a look without error."""
    counts = np.array([10**8, 0, 10**8])
    seen = Rewards(counts=counts, means=np.zeros(3), scatters=counts * SIGMA**2)
    assert estimate_covariance(seen, X).variances[1] < 0
    found = estimate_covariance(seen, X, "psd").floored(0.01)
    kept = optimal_design(X, found, direction=C)
    assert pe_loss(kept.weights, X, SIGMA**2, direction=C) / BEST.value < 1.001


def test_the_answers_of_the_hand_outs():
    ball = BALL.bandit
    half = np.array([0.5, 0.5, 0, 0, 0])
    assert list(optimal_design(ball.features, ball.variances, policy=half).support) == [4]
    assert f"at {best_length(10_000)}" in text("hand-outs")
