"""The form of parameters says what the command line says, and its commands mean what it shows."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import speedbook.commands.rerun
from speedbook.commands.app import app
from speedbook.commands.exit_codes import ExitCode
from speedbook.notebook.parameters import Value
from speedbook.notebook.values import read_assignments, read_values
from speedbook.press.parameter_form import form_html, schema

from .live_values import PARAMETERS, PROBLEMS, texts

LIVE = Path(__file__).resolve().parents[2] / "book" / "_static" / "live"
BLOCKS = "".join(
    f'<div class="highlight-{shell}"><pre></pre></div>' for shell in ("bash", "powershell")
)
PAGE = f"""<html lang="en"><title>A form</title><main><div class="sb-foot">{BLOCKS}
<p class="sb-live-note">note</p><details open><summary>s</summary>{{}}</details></div></main>"""
#: Digits of other scripts, which Python reads and the form refuses.
FOREIGN = re.compile(r"(?![0-9])\d")
READ = """([schema, name, texts]) => texts.map((text) => {
  const { read, digest, commands } = SpeedLive.values;
  const { value, fault } = read(schema, text);
  const written = fault === undefined ? digest(value) : null;
  return [fault ?? null, written, commands("page", [[name, text]])];
})"""


@pytest.fixture(scope="module")
def form(engine: Any) -> Iterator[Any]:
    """A page with the form of all kinds of parameters, from no server."""
    assert PROBLEMS == []
    page = engine.new_page()
    page.set_content(PAGE.format(form_html(PARAMETERS, "notebooks/a/page.ipynb")))
    for script in ("values.js", "form.js"):
        # As a file it has an address, which the script needs.
        text = (LIVE / script).read_text(encoding="utf-8")
        text = text.replace("document.currentScript.src", "'live/form.js'")
        page.add_script_tag(content=text)
    page.evaluate("() => document.dispatchEvent(new Event('DOMContentLoaded'))")
    page.evaluate("() => SpeedLive.page.update()")
    yield page
    page.close()


def by_command_line(parameter: Any, text: str) -> tuple[str, Value | None]:
    try:
        return "", read_values([parameter], [(parameter.name, text)])[parameter.name]
    except ValueError as error:
        return str(error), None


def digest(value: Any) -> str:
    """The value as the script writes it: integers as text, since they may be long."""
    if isinstance(value, list):
        return f"[{','.join(map(digest, value))}]"
    if isinstance(value, int) and not isinstance(value, bool):
        return f'"{value}"'
    return json.dumps(value, ensure_ascii=False)


def same(written: str, value: Any) -> bool:
    """Whether the script's text is that value; the two write 1e-07 differently."""
    return json.loads(written) == json.loads(digest(value))


def powershell_words(command: str) -> list[str]:
    """What PowerShell (5 or 7) gives to a program.

    After ``--%`` the rest is left alone, and the program splits it as Windows does.
    """
    head, stopped, rest = command.partition(" --% ")
    quotes = "'\u2018\u2019\u201a\u201b"
    words = []
    for found in re.finditer(
        rf"[{quotes}]((?:[^{quotes}]|[{quotes}]{{2}})*)[{quotes}]|(\S+)", head
    ):
        plain = found[2]
        if plain is None:
            word = re.sub(rf"([{quotes}])[{quotes}]", r"\1", found[1])
            assert '"' not in word and not word.endswith("\\"), "PowerShell 5 would break it"
        else:
            assert re.fullmatch(r"[\w.:+\\/=-]+", plain, re.ASCII), plain
            word = plain
        words.append(word)
    return words + (windows_words(rest) if stopped else [])


def windows_words(line: str) -> list[str]:
    """Split a line as programs on Windows do, by the rules of its C library."""
    words, word, quoted, slashes, begun = [], "", False, 0, False
    for letter in [*line, None]:
        if letter == "\\":
            slashes, begun = slashes + 1, True
            continue
        if letter == '"':
            word += "\\" * (slashes // 2)
            if slashes % 2:
                word += '"'
            else:
                quoted = not quoted
            slashes, begun = 0, True
            continue
        word += "\\" * slashes
        slashes = 0
        if letter is None or (letter in " \t" and not quoted):
            if begun:
                words.append(word)
            word, begun = "", False
        else:
            word, begun = word + letter, True
    return words


def assignments(words: list[str]) -> list[str]:
    assert words[1:3] == ["rerun", "page"]
    assert words[3::2] == ["-p"] * len(words[4::2])
    return words[4::2]


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_the_form_and_the_command_line_agree(parameter: Any, form: Any) -> None:
    typed = texts()
    answers = form.evaluate(READ, [schema(parameter), parameter.name, typed])
    accepted = 0
    for text, (fault, written, commands) in zip(typed, answers, strict=True):
        error, value = by_command_line(parameter, text)
        if fault is not None and FOREIGN.search(text) and "str" not in parameter.type:
            continue
        assert (fault is None) == (value is not None), (text, fault, error)
        if fault is not None:
            assert fault.partition("; got")[0] in error, (text, fault, error)
            continue
        assert value is not None and same(written, value), (text, written, value)
        accepted += 1
        for words in (shlex.split(commands["posix"]), powershell_words(commands["powershell"])):
            given = read_assignments(assignments(words))
            assert read_values(PARAMETERS, given) == {parameter.name: value}, (text, commands)
    assert accepted >= 2


def shown(page: Any) -> tuple[str, str]:
    blocks = page.locator(".sb-foot pre").all_inner_texts()
    return blocks[0], blocks[1]


def test_what_the_form_shows_is_what_the_program_is_asked(
    form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(
        speedbook.commands.rerun, "rerun", lambda given, _: asked.append(given) or ExitCode.WELL
    )
    filled = {
        "n": "10",
        "x": " 1e-3 ",
        "name": "it's $HOME, “so” \\",
        "rounds": "100, 1000",
        "columns": '["a, b", "c\\"d"]',
    }
    for name, text in filled.items():
        form.fill(f"#parameter-{name}", text)
    form.select_option("#parameter-noise", "uniform")
    form.select_option("#parameter-yes", "False")
    for words in (shlex.split(shown(form)[0]), powershell_words(shown(form)[1])):
        done = CliRunner().invoke(app, words[1:])
        assert done.exit_code == 0, done.output
        values = read_values(PARAMETERS, read_assignments(asked.pop().assignments))
        assert values == {
            "n": 10,
            "x": 0.001,
            "name": filled["name"],
            "rounds": [100, 1000],
            "columns": ["a, b", 'c"d'],
            "noise": "uniform",
            "yes": False,
        }
    form.get_by_role("button", name="Book's values").click()
    assert shown(form)[0] == ".venv/bin/speedbook rerun page"
    assert shown(form)[1] == ".venv\\Scripts\\speedbook rerun page"


def test_a_value_that_is_written_otherwise_is_no_change(form: Any) -> None:
    form.fill("#parameter-x", "0.350")
    form.fill("#parameter-rounds", "[50, 1e2]")
    assert shown(form)[0] == ".venv/bin/speedbook rerun page"
    form.evaluate("() => SpeedLive.page.clear()")


def test_a_fault_is_said_next_to_the_field_and_no_command_is_given(form: Any) -> None:
    field = form.locator("#parameter-n")
    field.fill("51")
    error = form.locator("#parameter-n-error")
    assert error.inner_text() == "must be between 3 and 50; got 51"
    assert field.get_attribute("aria-invalid") == "true"
    assert error.get_attribute("id") in field.get_attribute("aria-describedby").split()
    assert shown(form) == ("# first correct: n",) * 2
    field.fill("50")
    assert not error.is_visible()
    assert field.get_attribute("aria-invalid") is None
    form.evaluate("() => SpeedLive.page.clear()")


def test_every_field_has_a_label_and_its_meaning(form: Any) -> None:
    for parameter in PARAMETERS:
        field = form.get_by_label(parameter.name, exact=True)
        assert field.count() == 1
        about = form.locator(f"#{field.get_attribute('aria-describedby').split()[0]}").inner_text()
        assert parameter.help in about and parameter.rule in about


def test_without_a_live_book_there_is_nothing_to_start(form: Any) -> None:
    assert form.locator(".sb-live-note").is_visible()
    assert form.get_by_role("button", name="Start").count() == 0
