"""The errata: an entry for every claim of the paper that fails, made from registry and ledger.

The directive is ``{errata} SEVERITY``, as in ``{errata} proof step``. An entry says what is
printed, or how we read it, what was found, the counterexample and the correction. The errata
contain none of our own claims, whatever the verdicts on them.

``{errata-summary}`` counts the errata by severity and lists the gravest, a line for each. It links
to the labels ``errata-conclusion``, ``errata-statement``, ``errata-proof-step`` and
``errata-slip``.
"""

from __future__ import annotations

from typing import Any, get_args

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from speedbook.claims.cards import rounded_record
from speedbook.claims.claim import Claim, Severity
from speedbook.claims.registry import REGISTRY
from speedbook.claims.relations import END_OF_NAME, Relations
from speedbook.claims.rules import Verdict
from speedbook.notebook.prose import loose_numbers
from speedbook.press.sphinx.claim_map import chips, page_relations
from speedbook.press.sphinx.formulas import formula_display
from speedbook.press.sphinx.statements import measured, says
from speedbook.press.sphinx.tables import anchor, badge, card_link, muted, page_ledger, reference

logger = logging.getLogger(__name__)

#: What the text of `Claim.counterexample` is for each verdict.
EXAMPLE = {
    Verdict.CONTRADICTED: "Counterexample",
    Verdict.VACUOUS: "Why it says nothing",
    Verdict.NOT_CONSISTENT: "Example",
}


def errata(relations: Relations, severity: str) -> list[Claim]:
    """Return the claims of the paper that fail, of one severity, in the order of the registry."""
    return [
        claim
        for name, claim in relations.claims.items()
        if relations.fails(name) and claim.origin != "ours" and claim.severity == severity
    ]


#: How much of the paper fails with a claim: words for one, and for several.
COUNTED = {
    "conclusion": ("reading of a conclusion fails", "readings of a conclusion fail"),
    "statement": ("statement is false or empty", "statements are false or empty"),
    "proof step": ("step of a proof fails", "steps of proofs fail"),
    "slip": ("slip", "slips"),
}
#: The summary has a line for each claim of these severities.
GRAVEST = ("conclusion", "statement")


class ErrataSummary(SphinxDirective):
    """Count the errata by severity, and name the gravest."""

    def run(self) -> list[nodes.Node]:
        """Return the counts and, for each of the gravest severities, a list of its claims."""
        relations = page_relations(self.env)
        counts = nodes.bullet_list("", classes=["errata-counts"])
        lists: list[nodes.Node] = []
        for severity in get_args(Severity):
            claims = errata(relations, severity)
            head = f"{len(claims)} {COUNTED[severity][len(claims) != 1]}"
            label = f"errata-{severity.replace(' ', '-')}"
            counts += nodes.list_item("", _line(reference(self.env, label, head)))
            if severity in GRAVEST and claims:
                items = [self._item(claim, relations) for claim in claims]
                lists.append(nodes.paragraph("", "", nodes.strong("", head)))
                lists.append(nodes.bullet_list("", *items, classes=["errata-gravest"]))
        return [counts, *lists]

    def _item(self, claim: Claim, relations: Relations) -> nodes.list_item:
        verdict = relations.verdicts[claim.id]
        sign = nodes.inline("", verdict.symbol, classes=["errata-sign", verdict.css_class])
        link = nodes.reference("", claim.title, refid=_anchor(claim.id), internal=True)
        name = END_OF_NAME.split(claim.place)[0].strip()
        outcome = "corrected" if claim.corrected_by else "not corrected"
        # As titles write it: "Theorem 1" of "Theorem 1 and Section 4.1".
        said = "" if " ".join(name.split()[:2]) in claim.title else f"{name}: "
        tail = muted(f"{verdict}, {outcome}")
        return nodes.list_item("", _line(sign, nodes.Text(f" {said}"), link, nodes.Text(" "), tail))


class Errata(SphinxDirective):
    """List the claims of the paper that fail with one severity."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return a line of links to the entries, and the entries."""
        severity = " ".join(self.arguments[0].split())
        if severity not in get_args(Severity):
            known = ", ".join(get_args(Severity))
            raise self.error(f"errata: must be one of {known}; got {severity!r}")
        relations = page_relations(self.env)
        claims = errata(relations, severity)
        if not claims:
            return [nodes.paragraph("", "None.")]
        return [self._index(claims), *(self._entry(claim, relations) for claim in claims)]

    def _index(self, claims: list[Claim]) -> nodes.paragraph:
        line = nodes.paragraph("", classes=["errata-index"])
        for claim in claims:
            line += [nodes.Text(" · ")] if len(line) else []
            line += nodes.reference("", claim.id, refid=_anchor(claim.id), internal=True)
        return line

    def _entry(self, claim: Claim, relations: Relations) -> nodes.section:
        name = _anchor(claim.id)
        self.env.domains["std"].note_hyperlink_target(name, self.env.docname, name, claim.title)
        terms = nodes.definition_list("", classes=["erratum"])
        for term, content in self._terms(claim, relations):
            terms += nodes.definition_list_item(
                "", nodes.term("", term), nodes.definition("", *content)
            )
        title = nodes.title("", claim.title)
        return nodes.section("", title, terms, ids=[name], names=[name])

    def _terms(self, claim: Claim, relations: Relations) -> list[tuple[str, list[nodes.Node]]]:
        row, verdict = page_ledger(self.env)["claims"][claim.id], relations.verdicts[claim.id]
        link = reference(self.env, anchor(claim.id), f"{verdict.symbol} {verdict}")
        page = card_link(self.env, claim.id, row, "page of the claim")
        terms = [
            (_whose(claim), self._says(claim)),
            ("Verdict", [_line(badge(verdict, link), nodes.Text(" "), page)]),
            ("Found", [_line(*_found(claim, row))]),
        ]
        if claim.constants:
            terms.insert(1, ("How we read it", [_line(nodes.Text(_how_read(claim.constants)))]))
        if claim.counterexample:
            label = EXAMPLE.get(verdict, "Example")
            terms.append((label, self._parsed(claim.id, claim.counterexample)))
        if claim.corrected_by:
            terms.append(("Corrected", [self._corrections(claim, relations)]))
        if claim.uncorrected:
            terms.append(("Corrected", self._parsed(claim.id, claim.uncorrected)))
        if above := relations.above(claim.id):
            terms.append(("Used by", [_line(*chips(self.env, above, relations))]))
        return terms

    def _says(self, claim: Claim) -> list[nodes.Node]:
        """Return the words, the formula if there is one, and the place."""
        formula = formula_display(self.env, claim.id)
        if formula is None:
            return [_line(*says(claim), nodes.Text(" "), muted(_place(claim)))]
        return [_line(*says(claim)), formula, _line(muted(_place(claim)))]

    def _corrections(self, claim: Claim, relations: Relations) -> nodes.bullet_list:
        """Return the corrected statements; a page prints each of them once."""
        rows = page_ledger(self.env)["claims"]
        printed = self.env.temp_data.setdefault("speed_corrections", {})
        items = nodes.bullet_list()
        for name in claim.corrected_by:
            verdict = relations.verdicts[name]
            first = printed.setdefault(name, claim)
            if first is not claim:
                items += nodes.list_item("", self._printed_at(name, first, relations))
                continue
            line = _line(
                badge(verdict),
                nodes.Text(" "),
                card_link(self.env, name, rows[name], relations.claims[name].title),
                nodes.Text(". "),
                *says(relations.claims[name]),
                nodes.Text(" "),
            )
            formula = formula_display(self.env, name)
            if formula is None:
                line += muted(name)
                items += nodes.list_item("", line)
            else:
                items += nodes.list_item("", line, formula, _line(muted(name)))
        return items

    def _printed_at(self, name: str, first: Claim, relations: Relations) -> nodes.paragraph:
        """Return a line that names a correction and links to the entry that prints it."""
        row = page_ledger(self.env)["claims"][name]
        entry = nodes.reference("", first.title, refid=_anchor(first.id), internal=True)
        return _line(
            badge(relations.verdicts[name]),
            nodes.Text(" "),
            card_link(self.env, name, row, relations.claims[name].title),
            nodes.Text(", shown above under "),
            nodes.emphasis("", "", entry),
            nodes.Text(" "),
            muted(name),
        )

    def _parsed(self, claim: str, text: str) -> list[nodes.Node]:
        """Read a text of the registry, in which a decimal has to come from the ledger."""
        if loose := loose_numbers(text):
            logger.error(
                "%s: claim %s: %s: bind each number to the ledger",
                REGISTRY,
                claim,
                ", ".join(loose),
                location=self.get_location(),
            )
        holder = nodes.Element()
        lines = StringList(text.splitlines(), source=f"{REGISTRY}, claim {claim}")
        self.state.nested_parse(lines, 0, holder)
        return list(holder.children)


def _anchor(claim: str) -> str:
    """Return the name of a claim's entry, as links give it."""
    return f"erratum-{claim.lower()}"


def _whose(claim: Claim) -> str:
    """Say whether the claim is printed in the paper or is our reading."""
    return "Printed" if claim.origin == "paper" else "Our reading"


def _how_read(constants: str) -> str:
    """Return how hidden constants, or other open words of the claim, are read."""
    text = constants.removeprefix("Read: ")
    return text[:1].upper() + text[1:].removesuffix(".") + "."


def _place(claim: Claim) -> str:
    """Return the place of a claim, and how its constants are read where that matters."""
    return f"{claim.place} · read: {claim.reading}" if claim.reading else claim.place


def _line(*content: nodes.Node) -> nodes.paragraph:
    return nodes.paragraph("", "", *content)


def _found(claim: Claim, row: dict[str, Any]) -> list[nodes.Node]:
    """Return what was found, next to what the claim says; nothing if it cannot be tested."""
    if "estimate" not in row:
        return []
    effect = nodes.strong("", " ".join(rounded_record(row)).strip())
    word = "empty if" if claim.kind == "vacuous" else "the claim says"
    return [effect, nodes.Text(f"; {word} {row['rule']}. "), muted(measured(claim))]
