"""The scoreboard: the number of claims by verdict and origin.

The directive ``{scoreboard}`` shows the whole table. The role ``{score}`` puts one count into the
prose, as in ``{score}`paper+reading fails conclusion```. See `speedbook.claims.scoreboard`.
"""

from __future__ import annotations

from typing import get_args

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from speedbook.claims.claim import Severity
from speedbook.claims.rules import Verdict
from speedbook.claims.scoreboard import score
from speedbook.press.sphinx.claim_map import page_relations
from speedbook.press.sphinx.tables import badge, entry, table

logger = logging.getLogger(__name__)

#: The heads of the columns, by origin. Side by side on a phone, no two of them read as one phrase.
COLUMNS = {"paper": "The paper’s words", "reading": "As we read it", "ours": "Ours"}
#: How much of the paper fails with a claim: the words in a line of the table.
LINES = {
    "conclusion": "a conclusion fails",
    "statement": "a statement is false or empty",
    "proof step": "a step of a proof fails",
    "slip": "a slip",
}


class Scoreboard(SphinxDirective):
    """Count the claims by verdict and origin, and the failing ones by severity."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        relations = page_relations(self.env)

        def counts(word: str, origins: tuple[str, ...] = tuple(COLUMNS)) -> list[list[nodes.Node]]:
            return [
                [nodes.Text(str(score(relations, f"{origin} {word}")))] if origin in origins else []
                for origin in COLUMNS
            ]

        rows = []
        for verdict in Verdict:
            word = verdict.replace(" ", "-")
            if score(relations, word):
                rows.append(nodes.row("", *map(entry, [[badge(verdict)], *counts(word)])))
        for severity in get_args(Severity):
            word = f"fails {severity.replace(' ', '-')}"
            line = [nodes.Text(f"of those that fail: {LINES[severity]}")]
            cells = [line, *counts(word, ("paper", "reading"))]
            rows.append(nodes.row("", *map(entry, cells)))
        rows.append(nodes.row("", *map(entry, [[nodes.Text("all")], *counts("")])))
        return [table(("Verdict", *COLUMNS.values()), rows, "scoreboard")]


class ScoreRole(SphinxRole):
    """Put a count into the prose."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the number; an unknown word is reported and shown unchanged."""
        try:
            return [nodes.Text(str(score(page_relations(self.env), self.text)))], []
        except ValueError as error:
            logger.error("%s", error, location=self.get_location())
            return [nodes.problematic("", self.text)], []
