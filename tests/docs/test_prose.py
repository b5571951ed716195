"""Sentences about the invariants name their subject: few say "what", none opens with What, Who, That or Which.

Judged are `properties/`, its tests, and the pages about it, with names and strings as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("invariants.md", "judging-your-own-coordinator.md", "history-format.md", "mapping.md")
MOST_PER_THOUSAND = 2

VAGUE = re.compile(r"\b(?:what|(?:what|who)ever|that which)\b", re.IGNORECASE)
WORD = re.compile(r"[A-Za-z']+")
OPENING = re.compile(
    r"""(?:^|[.!?]["*)]*\s|\"\"\"|^\s*(?:#|[-|]|\d\.)\s)\s*(?:What|Who|That|Which)\b(?!.*\?)""", re.MULTILINE
)


def sources() -> Iterator[Path]:
    for folder in ("properties", "tests/properties"):
        yield from (path for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts)
    yield from (ROOT / "docs" / page for page in PAGES)


@pytest.mark.parametrize("folder", ["properties", "tests/properties", "docs"])
def test_few_words_are_vague(folder: str) -> None:
    text = " ".join(path.read_text(encoding="utf-8") for path in sources() if path.is_relative_to(ROOT / folder))
    words, vague = len(WORD.findall(text)), len(VAGUE.findall(text))
    assert 1000 * vague <= MOST_PER_THOUSAND * words, f"{vague} of {words} words"


def test_no_sentence_opens_with_a_pronoun() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {opening.group().strip()}"
        for path in sources()
        for opening in OPENING.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
