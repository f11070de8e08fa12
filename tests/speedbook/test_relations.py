"""What claims rest on, what follows from it, and where their boxes stand."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedbook.claims.registry import Registry
from speedbook.claims.relations import Relations, relation_problems, statement_of
from speedbook.claims.rules import Verdict
from speedbook.press.sphinx.map_layout import lay_out

from .a_claim import claim

HOLDS, FAILS, EMPTY = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.VACUOUS


def claims(**rests_on):
    """Return claims by name with what each rests on; an underscore stands for a dash."""
    names = {name.replace("_", "-"): below for name, below in rests_on.items()}
    return [claim(id=name, rests_on=below.split()) for name, below in names.items()]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"rests_on": ["lemma-11"]}, "rests_on: no claim is called 'lemma-11'; nearest: lemma-1"),
        ({"rests_on": ["xyzzy"]}, "rests_on: no claim is called 'xyzzy'; known: prop-1, lemma-1"),
        (
            {"corrected_by": ["prop-2"]},
            "corrected_by: no claim is called 'prop-2'; nearest: prop-1",
        ),
        ({"corrected_by": ["prop-1"]}, "corrected_by: a claim cannot name itself"),
        ({"rests_on": ["lemma-1", "lemma-1"]}, "rests_on: names lemma-1 2 times"),
    ],
)
def test_a_relation_to_no_claim_is_named(changes, fault):
    registry = [claim(**changes), claim(id="lemma-1")]
    assert relation_problems(registry) == [f"claim prop-1: {fault}"]
    with pytest.raises(ValueError, match=re.escape(f"claim prop-1: {fault}")):
        Registry(claims=registry)


def test_a_circle_is_shown_in_the_direction_of_rests_on():
    (fault,) = relation_problems(claims(a="b", b="c", c="a", d="a"))
    assert fault.startswith("rests_on: must form no circle")
    circle = fault.split("; got ")[1].split(" → ")
    assert circle[0] == circle[-1] and len(circle) == 4
    assert set(pairwise(circle)) == {("a", "b"), ("b", "c"), ("c", "a")}


def test_claims_about_one_statement_count_as_one():
    (fault,) = relation_problems(claims(thm_1="lemma", thm_1_step="", lemma="thm-1-step"))
    assert set(fault.split("; got ")[1].split(" → ")) == {"thm-1", "lemma"}
    assert relation_problems(claims(thm_1="thm-1-step", thm_1_step="", thm_10="thm-1")) == []
    assert relation_problems(claims(thm_1="thm-1-step", thm_1_step="thm-1"))


def test_a_statement_is_called_by_the_shortest_id():
    known = ["thm-1-uniform-constant", "thm-1-uniform", "thm-1", "thm-10"]
    assert [statement_of(name, known) for name in known] == ["thm-1", "thm-1", "thm-1", "thm-10"]


@pytest.fixture
def relations():
    found = claims(thm="lemma prop", lemma="step", prop="", step="tool", tool="", other="tool")
    found[0] = claim(id="thm", rests_on=["lemma", "prop"], corrected_by=["thm-ours"])
    verdicts = {"thm": HOLDS, "lemma": FAILS, "prop": HOLDS, "step": EMPTY, "tool": HOLDS}
    verdicts |= {"other": HOLDS, "thm-ours": HOLDS}
    return Relations([*found, claim(id="thm-ours")], verdicts)


def test_what_is_broken_is_followed_all_the_way_down(relations):
    assert relations.below("thm") == ["lemma", "prop", "step", "tool"]
    assert relations.broken("thm") == ["lemma", "step"]
    assert relations.broken("other") == []
    assert relations.above("tool") == ["step", "other"]


def test_our_statements_stand_with_what_they_put_right(relations):
    statement = relations.statements()["thm"]
    assert (statement.label, statement.claims, statement.ours) == (
        "Section 1",
        ("thm",),
        ("thm-ours",),
    )
    assert relations.edges["lemma", "thm"] == ["lemma"]
    assert "thm-ours" not in relations.statements()


# Layout


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 9))
    heights = {f"n{k}": draw(st.sampled_from([20.0, 55.0, 140.0])) for k in range(size)}
    pairs = [(f"n{i}", f"n{j}") for j in range(size) for i in range(j)]
    return heights, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []


@pytest.mark.slow
@given(graphs())
def test_arrows_run_to_the_right_and_boxes_keep_their_distance(graph):
    heights, edges = graph
    layout = lay_out(heights, edges, gap=10.0)
    for (start, end), way in layout.ways.items():
        columns = [column for _, column in way]
        assert columns == list(range(layout.columns[start], layout.columns[end] + 1))
        assert (way[0][0], way[-1][0]) == (start, end)
    for column in set(layout.columns.values()):
        spans = sorted(
            (layout.centres[name, column] - height / 2, layout.centres[name, column] + height / 2)
            for name, height in heights.items()
            if layout.columns[name] == column
        )
        assert all(below[0] - above[1] > 10 - 1e-6 for above, below in pairwise(spans))
        assert spans[0][0] > -1e-6 and spans[-1][1] < layout.height + 1e-6


def test_a_chain_is_straight_and_a_box_stands_beside_its_only_neighbour():
    layout = lay_out({"a": 20.0, "b": 60.0, "c": 20.0}, [("a", "b"), ("b", "c"), ("a", "c")], 10.0)
    assert layout.columns == {"a": 0, "b": 1, "c": 2}
    layout = lay_out({"a": 20.0, "b": 60.0, "late": 20.0}, [("a", "b"), ("late", "b")], 10.0)
    assert layout.columns["late"] == 0
    middle = (layout.centres["a", 0] + layout.centres["late", 0]) / 2
    assert layout.centres["b", 1] == pytest.approx(middle, abs=1)


def test_no_boxes_make_no_picture():
    assert lay_out({}, [], 10.0).height == 0
