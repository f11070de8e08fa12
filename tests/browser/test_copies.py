"""What a reader copies from a page is what it shows."""

from __future__ import annotations

from typing import Any

import pytest

#: The texts that copying the numbers with a power of ten would give.
COPIED = """() => [...document.querySelectorAll("article .sb-ten")].map((ten) => {
  const number = ten.closest(".sb-whole") ?? ten.closest("td")
  getSelection().selectAllChildren(number)
  return getSelection().toString()
})"""


@pytest.mark.parametrize("page", ["book/errata", "notebooks/beyond/performance"])
def test_a_copied_power_of_ten_is_that_number(page: str, visit: Any) -> None:
    copied = visit().open(f"{page}.html").evaluate(COPIED)
    assert len(copied) > 5
    for text in copied:
        # The page has the sign of mathematics for minus.
        number = float(text.replace("\N{MINUS SIGN}", "-"))
        assert 0 < abs(number) < 1e-3 or abs(number) > 1e3, text
