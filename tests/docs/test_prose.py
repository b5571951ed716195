"""Sentences name their subject: few say "what", none opens with What, Who, That or Which; and the documents stay short.

Judged are all sources, and every document without its code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "bench" / "README.md"])
FOLDERS = ("model", "impl", "properties", "integration", "pipeline", "rebalance_check", "bench", "tests")
MOST_PER_THOUSAND = 2
MOST_WORDS = 50_000
MOST_LINES = {"README.md": 150, "ARCHITECTURE.md": 150}

VAGUE = re.compile(r"\b(?:what|(?:what|who)ever|that which)\b", re.IGNORECASE)
GENERATED = re.compile(r"<!-- (?:scoreboard, generated|source of|verbs of) .*?<!-- (?:scoreboard: )?end -->", re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
WORD = re.compile(r"[A-Za-z']+")
OPENING = re.compile(
    r"""(?:^|[.!?]["*)]*\s|\"\"\"|^\s*(?:#|[-|]|\d\.)\s)\s*(?:What|Who|That|Which)\b(?!.*\?)""", re.MULTILINE
)


def sources() -> Iterator[tuple[Path, str]]:
    for folder in FOLDERS:  # a link to another folder is not followed
        paths = (path for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts)
        yield from ((path, path.read_text(encoding="utf-8")) for path in paths)
    yield from ((page, FENCED.sub("", page.read_text(encoding="utf-8"))) for page in PAGES)


def part_of(path: Path) -> str:
    """The folder of a source; one name for all documents."""
    return "documents" if path.suffix == ".md" else path.relative_to(ROOT).parts[0]


@pytest.mark.parametrize("part", [*FOLDERS, "documents"])
def test_few_words_are_vague(part: str) -> None:
    text = " ".join(text for path, text in sources() if part_of(path) == part)
    words, vague = len(WORD.findall(text)), len(VAGUE.findall(text))
    assert 1000 * vague <= MOST_PER_THOUSAND * words, f"{vague} of {words} words"


def test_no_sentence_opens_with_a_pronoun() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {opening.group().strip()}"
        for path, text in sources()
        for opening in OPENING.finditer(text)
    ]
    assert found == []


def test_the_documents_are_short() -> None:
    """Generated parts and the changelog do not count."""
    texts = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}
    del texts["CHANGELOG.md"]
    assert sum(len(GENERATED.sub("", text).split()) for text in texts.values()) <= MOST_WORDS
    assert {name for name, most in MOST_LINES.items() if texts[name].count("\n") > most} == set()
