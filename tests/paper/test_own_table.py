"""Names that stay apart, and rows without features."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paper.own_table import featureless_note, names_beside

NAMES = st.lists(st.sampled_from(["a", "b", "a (model)", "a (model) (model)", "c"]), unique=True)


@given(NAMES, NAMES)
def test_names_of_the_model_are_different_from_all_others(names, taken) -> None:
    found = names_beside(names, taken)
    assert len({*found, *taken}) == len(found) + len(taken)
    assert all(new.startswith(old) for new, old in zip(found, names, strict=True))
    assert all(new == old for new, old in zip(found, names, strict=True) if not taken)


def test_rows_without_features_are_named_by_their_lines() -> None:
    X = np.array([[0, 0], [1, 0], [0, 0], [0, -1.0]])
    assert featureless_note(X[1:2], [7]) == ""
    assert "**Lines 3, 8 of the file have only" in featureless_note(X, [3, 5, 8, 9])
    one = featureless_note(X[1:], [5, 8, 9])
    assert "**Line 8 of the file has only" in one and "choose `intercept = true`" in one
    many = featureless_note(np.zeros((20, 3)), range(2, 22))
    assert "Lines 2, 3, 4, 5, 6, 7, 8, 9 and 12 more of the file have" in many
