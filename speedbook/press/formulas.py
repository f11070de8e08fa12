r"""The formulas of the claims: ``book/formulas.yml``, read and checked.

The registry states a claim in words, which notebooks, ledger and search show. This file adds the
statement as one displayed formula, for the pages. The file is separate from the registry, because
no verdict, notebook, agreement or stored fault depends on the formulas.

``formulas``
    For each claim, its statement as TeX, without dollar signs and with the macros of
    ``_config.yml``. Hypotheses stay in the words.
``letters``
    For each claim, the TeX of the letters that mean something else in its words than in
    `speedbook.press.symbols`. A letter that is a name has an empty text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

FORMULAS = "book/formulas.yml"
#: Commands of TeX that a formula may use, in addition to the macros of the book.
COMMANDS = frozenset(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta iota kappa lambda mu nu xi pi "
    "rho sigma tau phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega "
    "ell frac tfrac dfrac sqrt binom sum prod int max min sup inf lim log exp det dim Pr deg "
    "to infty dots ldots cdots vdots cdot times pm le ge ll gg ne approx sim asymp propto "
    "equiv in notin subset subseteq setminus cup cap mid colon lvert rvert lVert rVert langle "
    "rangle lceil rceil lfloor rfloor left right big bigl bigr bigm Big Bigl Bigr top perp "
    "prime succeq preceq succ prec nabla partial forall exists iff implies Rightarrow "
    "Longrightarrow Leftrightarrow quad qquad text textstyle displaystyle operatorname mathbf "
    "mathbb mathcal mathrm boldsymbol widehat widetilde hat tilde bar overline underline "
    "underbrace overbrace begin end limsup liminf substack".split()
)
#: The word with which the measurement begins, after the statement of a claim.
MEASURED = "Measured"
#: Commands of one character: spaces, ends of lines, braces and percent.
SIGNS = r"\,;:!{}%|"
ENVIRONMENTS = frozenset({"aligned", "cases", "pmatrix", "gathered"})
_COMMAND = re.compile(r"\\([A-Za-z]+|.)", re.S)
_BLOCK = re.compile(r"\\(begin|end)\{([a-z*]*)\}")


def split_statement(statement: str) -> tuple[str, str]:
    """Return the statement of a claim, and the sentence on what was measured.

    Examples
    --------
    >>> split_statement("One is two. Measured, by counting: one.")
    ('One is two.', 'Measured, by counting: one.')
    >>> split_statement("One is two.")
    ('One is two.', '')
    """
    says, _, measured = statement.partition(f" {MEASURED}")
    return says, f"{MEASURED}{measured}" if measured else ""


class Formulas(BaseModel):
    """The content of the file of formulas; a book without this file has no formulas."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    formulas: dict[str, str] = {}
    letters: dict[str, dict[str, str]] = {}


def formula_problems(tex: str, macros: Collection[str]) -> list[str]:
    r"""Return the faults of a formula, in a phrase for each.

    Examples
    --------
    >>> formula_problems(r"\frac{\bc}{n}", {"bc"})
    []
    >>> formula_problems(r"\frac{\bc}{n", {"bc"})
    ['a brace is not closed']
    >>> formula_problems(r"$\kern x$", ())
    ['a dollar', 'unknown: \\kern']
    """
    if not tex.strip():
        return ["empty"]
    problems = ["a dollar"] if "$" in tex else []
    known = COMMANDS | set(macros) | set(SIGNS) | {" ", "\n"}
    problems += [
        f"unknown: \\{name}" for name in dict.fromkeys(_COMMAND.findall(tex)) if name not in known
    ]
    depth, least = 0, 0
    for brace in re.findall(r"(?<!\\)[{}]", tex.replace(r"\\", "")):
        depth += 1 if brace == "{" else -1
        least = min(least, depth)
    if depth > 0 <= least:
        problems.append("a brace is not closed")
    elif depth or least:
        problems.append("a brace is not opened")
    blocks: list[str] = []
    for edge, name in _BLOCK.findall(tex):
        if name not in ENVIRONMENTS or (edge == "end" and (not blocks or blocks.pop() != name)):
            problems.append(f"\\{edge}{{{name}}}")
        if edge == "begin":
            blocks.append(name)
    problems += [f"{name} is not ended" for name in blocks]
    if len(re.findall(r"\\left\b", tex)) != len(re.findall(r"\\right\b", tex)):
        problems.append("as many \\left as \\right")
    return problems


def formula_parts(tex: str) -> list[str]:
    r"""Split a formula at wide spaces, so a narrow page can stack the parts.

    Examples
    --------
    >>> formula_parts(r"a<b,\qquad c\qquad\begin{cases}d\qquad e\end{cases}")
    ['a<b,', 'c', '\\begin{cases}d\\qquad e\\end{cases}']
    """
    parts, depth = [""], 0
    for piece in re.split(r"(\\qquad\b|\\(?:begin|end)\b|(?<!\\)[{}])", " ".join(tex.split())):
        if piece == r"\qquad" and depth == 0:
            parts.append("")
            continue
        depth += (piece in ("{", r"\begin")) - (piece in ("}", r"\end"))
        parts[-1] += piece
    return [part.strip() for part in parts if part.strip()]


def load_formulas(root: Path) -> Formulas:
    """Read the file; raises a ValueError if it is not YAML or violates the schema."""
    path = root / FORMULAS
    return _formulas(path.read_text(encoding="utf-8")) if path.is_file() else Formulas()


@lru_cache(maxsize=1)
def _formulas(text: str) -> Formulas:
    try:
        return Formulas.model_validate(yaml.safe_load(text))
    except (yaml.YAMLError, ValidationError) as error:
        raise ValueError(f"{FORMULAS}: {error}") from None


def file_problems(formulas: Formulas, claims: Iterable[str], macros: Collection[str]) -> list[str]:
    """Return the faults of the file: unknown claims, and formulas that cannot be displayed."""
    known = set(claims)
    strange = [name for name in (*formulas.formulas, *formulas.letters) if name not in known]
    problems = [f"{FORMULAS}: the registry has no claim {name!r}" for name in strange]
    for name, tex in formulas.formulas.items():
        if found := formula_problems(tex, macros):
            problems.append(f"{FORMULAS}: {name}: {', '.join(found)}")
    for name, letters in formulas.letters.items():
        for letter, tex in letters.items():
            if tex and (found := formula_problems(tex, macros)):
                problems.append(f"{FORMULAS}: {name}: {letter}: {', '.join(found)}")
    return problems
