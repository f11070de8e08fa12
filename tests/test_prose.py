"""The check of the prose reads what people read, and no code; what it looks for, it finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.prose.__main__ import by_programs, draw, unwanted
from tools.prose.texts import HOLE, Text, met_by_users, of_markdown, of_python, sentences, texts

ROOT = Path(__file__).parents[1]
PAGE = """\
(a-label)=
```{admonition} Proof
:class: dropdown

The {term}`design` is *short*.
```

```python
center = 1
```

```{math}
:label: color
center
```

The [linked](color.md) word, `center`, $center$ and {ledger}`center.estimate`.

````{solution-start} center
:class: dropdown
````

$$
center
$$
"""


def read(text: str) -> str:
    return re.sub(rf"[{HOLE}\s]+", " ", text).strip()


def test_markdown_is_read_without_code_formulas_and_targets() -> None:
    assert read(of_markdown(PAGE)) == "The design is *short*. The linked word, , and ."


def test_holes_keep_every_line_and_column() -> None:
    for text in texts(ROOT):
        assert [*map(len, text.read.split("\n"))] == [*map(len, text.written.split("\n"))]


def test_programs_are_read_for_their_remarks_docstrings_and_sentences() -> None:
    source = '''\
def center(color: str = "center of color") -> None:
    """Say what ``center`` is.

    Parameters
    ----------
    color : str
        Its name.

    >>> center()
    """
    raise ValueError(f"color must be a name, not {color!r}")  # noqa: TRY003
'''
    assert "center" not in of_python(source).replace("center of color", "")
    assert "Its name." in of_python(source)
    assert "must be a name, not" in of_python(source)


def test_code_and_lists_of_words_in_strings_are_no_prose() -> None:
    source = '''\
"""Say what it is."""

SETTINGS = """\\
import os and so on
# This remark is in another file.
"""
DRAG = """
() => { move(); return these three words }
"""
NAMES = "alpha beta gamma delta".split()
ABOUT = """
These words are shown to users.
"""


def one() -> str:
    """``name`` is what the function returns."""
    return "the last of all the words here is this"
'''
    said = "Say what it is. These words are shown to users. is what the function returns."
    assert read(of_python(source)) == f"{said} the last of all the words here is this"
    assert list(sentences(Text("paper/one.py", source, of_python(source)))) == [
        "the last of all the words here is this"
    ]


def test_what_only_those_meet_who_change_a_program_is_not_drawn() -> None:
    source = '''\
"""The first sentence of all."""
# A remark on the code.


def _hidden() -> None:
    """Do what nobody sees."""
    raise ValueError("An error message is read by all.")


class Seen:
    """A class that people use."""

    def _hidden(self) -> None:
        """Do another thing."""

    def seen(self) -> str:
        """Return a word of code."""
        return "() => { all of it is code(); }"
'''
    text = Text("speedlib/seen.py", source, of_python(source))
    assert list(sentences(met_by_users(text))) == ["An error message is read by all."]
    kept = read(met_by_users(text).read)
    assert kept == (
        "The first sentence of all. An error message is read by all. "
        "A class that people use. Return a word of code."
    )
    hidden = met_by_users(Text("speedlib/_hidden.py", source, text.read))
    assert read(hidden.read) == "An error message is read by all."


@pytest.mark.parametrize("word", ["it it", "telling", "Asked", "films", "beside", "color"])
def test_a_word_of_the_list_is_found_with_its_place(word: str) -> None:
    said = f"First.\n\nThis is {word}."
    found = list(unwanted([Text("page.md", said, of_markdown(said))]))
    assert len(found) == 1
    assert found[0].startswith(f"page.md:3: '{word}': use ")


@pytest.mark.parametrize("name", ["page.md", "page.ipynb/cell-01.md", "module.py"])
@pytest.mark.parametrize("wrong", ["This is teh end.", "It lasts for ever."])
def test_spelling_and_style_are_found_with_their_place(name: str, wrong: str) -> None:
    found = list(by_programs([Text(name, f"One.\n{wrong}", f"One.\n{wrong}")]))
    assert len(found) == 1
    assert found[0].startswith(f"{name}:2:")


def test_good_prose_passes() -> None:
    good = Text("page.md", "The design is short.", "The design is short.")
    assert list(unwanted([good])) == list(by_programs([good])) == []


def test_sentences_are_drawn_from_different_files_by_the_seed() -> None:
    said = "Here is a sentence that has enough words. Here is another one with as good a right."
    found = [Text(f"notebooks/{k}.ipynb/cell-{k:02d}.md", said, said) for k in range(9)]
    drawn = draw(found, 5, "a commit")
    assert drawn == draw(found, 5, "a commit\n")
    assert drawn != draw(found, 5, "another")
    assert len({line.split(": ")[0] for line in drawn}) == 5
    assert set(sentences(found[0])) == {f"{part}." for part in said[:-1].split(". ")}
