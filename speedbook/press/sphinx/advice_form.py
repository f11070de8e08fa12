"""A form that says which strategy to use: the directive ``{advice-form}``.

The answers are those of the library's function `advise`. The table and the words of `advise` are
JSON files of the library. The page contains these files, and ``advice.js`` looks answers up in the
same way as the function. The evidence for each strategy is a list on the page, whose links and
badges Sphinx checks; the script shows the part that belongs to an answer. Without scripts the page
shows the lists and a table of all measured sizes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from speedbook.claims.rules import Verdict
from speedbook.press.sphinx.tables import anchor, badge, entry, page_ledger, reference, table

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

#: The folder of the library with the files from which its function answers.
LIBRARY = Path(__file__).parents[3] / "speedlib"
#: The class by which the script and the styles find the form.
FORM = "sb-advice"
#: The budgets that the table shows; the styles name them on a phone.
SHOWN = (100, 1000, 10_000, 100_000)


class AdviceForm(SphinxDirective):
    """Answer which strategy to use; without scripts, show a table and the evidence."""

    def run(self) -> list[nodes.Node]:
        """Return the node with the data, and the content that is shown if scripts do not run."""
        answers, words = (self._read(name) for name in ("advice.json", "advice_words.json"))
        data = json.dumps({"table": answers, "words": words}, separators=(",", ":"))
        # The text of a script must not contain what ends the script.
        safe = data.replace("</", "<\\/")
        script = f'<script type="application/json">{safe}</script>'
        form = nodes.container(classes=[FORM])
        form += nodes.raw("", script, format="html")
        plain = nodes.container(classes=["advice-plain"])
        plain += sizes_table(answers, words)
        plain += [self._evidence(key, each) for key, each in words["strategies"].items()]
        form += plain
        return [form]

    def _read(self, name: str) -> Any:
        path = LIBRARY / name
        self.env.note_dependency(str(path))
        return json.loads(path.read_text(encoding="utf-8"))

    def _evidence(self, key: str, words: dict[str, Any]) -> nodes.Node:
        """Return the name of a strategy, how it is built and why it is advised."""
        name = nodes.strong("", capitalised(words["name"]))
        code = nodes.literal("", words["code"])
        box = nodes.container(classes=["advice-evidence", f"advice-for-{key}"])
        box += nodes.paragraph("", "", name, nodes.Text(": "), code)
        if words["reasons"]:
            box += nodes.bullet_list("", *(self._reason(each) for each in words["reasons"]))
        return box

    def _reason(self, words: dict[str, Any]) -> nodes.Node:
        """Return a sentence with the badges of its claims and a link to its page."""
        line = nodes.paragraph("", words["text"])
        for claim in words["claims"]:
            line += [nodes.Text(" "), claim_badge(self.env, claim)]
        link = reference(self.env, "/" + words["page"], words["page"], "doc")
        # The text of the link is the title of the page.
        link["refexplicit"] = False
        line += [nodes.Text(" "), link]
        return nodes.list_item("", line)


def capitalised(text: str) -> str:
    """Return a text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def claim_badge(env: BuildEnvironment, claim: str) -> nodes.inline:
    """Return the badge of a claim, linked to its row of the ledger.

    Raises
    ------
    KeyError
        If the ledger has no such claim.
    """
    verdict = Verdict(page_ledger(env)["claims"][claim]["verdict"])
    text = f"{verdict.symbol} {verdict}"
    return badge(verdict, reference(env, anchor(claim), text, warn=False))


def sizes_table(answers: dict[str, Any], words: dict[str, Any]) -> nodes.table:
    """Return a table of the advice: a row for each size, a column for some budgets."""
    budgets = [n for n in answers["rounds"] if n in SHOWN]
    heads = ("Actions and features", *(f"{n:,} rounds" for n in budgets))
    rows = []
    for d in answers["dimensions"]:
        for multiple in answers["multiples"]:
            name = nodes.Text(f"A = {d * multiple}, d = {d}")
            cells = [answer(answers["cells"][f"{d * multiple},{d},{n}"], words) for n in budgets]
            rows.append(nodes.row("", entry([name]), *(entry([nodes.Text(c)]) for c in cells)))
    return table(heads, rows, "advice-table")


def answer(cell: dict[str, Any], words: dict[str, Any]) -> str:
    """Return the advice of a cell of the table for unknown noise, and the range of its ratio.

    Examples
    --------
    >>> words = {"strategies": {"policy": {"name": "run it"}, "printed": {"name": "SPEED"}}}
    >>> answer({"order": ["printed"], "strategies": {"printed": [[0.2, 0.5, 0.9]]}}, words)
    'SPEED: 0.20 to 0.90'
    >>> answer({"order": []}, words)
    'run it'
    """
    if not cell["order"]:
        return str(words["strategies"]["policy"]["name"])
    key = cell["order"][0]
    low, _, high = cell["strategies"][key][0]
    return f"{words['strategies'][key]['name']}: {low:.2f} to {high:.2f}"
