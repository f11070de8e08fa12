"""The program of ``make prose``: check spelling, style, and words that this project avoids."""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from speedbook.paths import find_root
from tools.prose.texts import Text, met_by_users, sentences, texts

#: How the names of files end that proselint reads.
PAGE = ".md"
#: How a line of a report begins; the message may take several.
PLACE = re.compile(r"\S+:\d+")
HERE = Path(__file__).parent
MISSED = 1


def main() -> int:
    """Check all prose, or draw sentences of it."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.prose",
        description="Check the prose of pages, notebooks, docstrings, help and errors: codespell, "
        "proselint, and the words of words.yml.",
        epilog="Exit codes: 0 nothing found, 1 something found, 2 wrong usage.",
    )
    parser.add_argument(
        "--draw",
        type=int,
        metavar="N",
        help="instead of checking, print N sentences, each from another file",
    )
    parser.add_argument(
        "--seed", help="a text that decides which sentences are drawn (default: the commit's hash)"
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="how the names of places begin")
    asked = parser.parse_args()
    root = find_root(Path.cwd())
    found = [
        text for text in texts(root) if not asked.parts or text.place.startswith(tuple(asked.parts))
    ]
    if asked.draw:
        print("\n".join(draw(found, asked.draw, asked.seed or commit(root))))
        return 0
    faults = sorted({*unwanted(found), *by_programs(found)})
    print("\n".join(faults))
    print(f"prose: {len(faults)} to repair in {len(found)} texts")
    return MISSED if faults else 0


def commit(root: Path) -> str:
    """Return the hash of the commit."""
    asked = ["git", "rev-parse", "HEAD"]
    return subprocess.run(asked, cwd=root, capture_output=True, text=True, check=True).stdout


def draw(found: list[Text], number: int, seed: str) -> list[str]:
    """Return sentences that users read, each from another file and with its place."""
    rng = random.Random(seed.strip())
    by_file: dict[str, list[str]] = {}
    for text in found:
        name = re.sub(r"/(cell|caption)-.*", "", text.place)
        by_file.setdefault(name, []).extend(sentences(met_by_users(text)))
    names = sorted(name for name in by_file if by_file[name])
    chosen = rng.sample(names, min(number, len(names)))
    return [f"{name}: {rng.choice(by_file[name])}" for name in chosen]


def unwanted(found: list[Text]) -> Iterator[str]:
    """Yield each place of a word that this project avoids, with the word to use instead."""
    for words, instead in yaml.safe_load((HERE / "words.yml").read_text("utf-8")).items():
        pattern = re.compile(rf"\b(?:{words})\b", re.I)
        for text in found:
            for each in pattern.finditer(text.read):
                line = text.read.count("\n", 0, each.start()) + 1
                said = " ".join(each[0].split())
                yield f"{text.place}:{line}: '{said}': use {instead}"


def by_programs(found: list[Text]) -> Iterator[str]:
    """Yield what codespell and proselint find."""
    with tempfile.TemporaryDirectory() as folder:
        for text in found:
            path = Path(folder, text.place + PAGE * (not text.place.endswith(PAGE)))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.read, encoding="utf-8")
        config = ["--config", str(HERE / "proselint.json")]
        for command in (
            ["codespell_lib", "--ignore-words", str(HERE / "spelling.txt"), "."],
            ["proselint", "check", *config, "."],
        ):
            run = subprocess.run(
                [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True
            )
            if run.returncode not in (0, 1, 65) or run.stderr.strip():
                raise RuntimeError(
                    f"{command[0]} ended with {run.returncode}: {run.stderr.strip()}"
                )
            yield from (
                placed(line, folder) for line in run.stdout.splitlines() if PLACE.match(line)
            )


def placed(line: str, folder: str) -> str:
    """Return a line of a report, with the place as a path from the project's root."""
    return re.sub(rf"^(?:{re.escape(folder)}|\.)/", "", line).replace(f".py{PAGE}:", ".py:")


if __name__ == "__main__":
    sys.exit(main())
