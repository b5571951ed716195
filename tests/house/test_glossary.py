"""The words of `docs/glossary.md` hold everywhere: a word that it replaces stands in no name, document or output."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
GLOSSARY = "docs/glossary.md"
SUFFIXES = {".py", ".md", ".scenario", ".txt", ".java", ".jinja", ".toml", ".ini", ".mutants"}
FOLDERS = (
    "model",
    "properties",
    "impl",
    "integration",
    "pipeline",
    "rebalance_check",
    "tests",
    "docs",
    "bench",
    "typing_tests",
)

ALLOWED: dict[tuple[str, str], str] = {
    (GLOSSARY, "*"): "the page that lists the words",
    ("tests/house/test_glossary.py", "*"): "shows that the test can fail",
    ("pyproject.toml", "audience"): "a classifier of the Python package index",
    ("pipeline/diagnose/logs/broker.py", "stage"): "a sentence of Kafka's coordinator",
    ("docs/upgrade-path.md", "bounces"): "KIP-429 says rolling bounce",
    ("impl/mutants/coordinator.mutants", "ghost"): "the id of a defect in the catalogue of the field",
}
"""Where a replaced word may stand, as (path pattern, word), with the reason."""

INDEFINITE = frozenset({"nobody", "somebody", "anybody", "whoever"})
"""Subjects that a sentence about Connect names instead: the leader, a worker, the coordinator."""
ABOUT_CONNECT = (
    "model/connect", "properties/laws/connect", "properties/laws/config", "properties/laws/status", "impl/connect",
    "impl/simulator/connect", "integration/connect", "docs/for-connect.md", "docs/connect-models.md",
)  # fmt: skip

PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
"""A word of prose, or one part of a name: ``SocketTransport`` and ``socket_transport`` both have two."""


def replaced_words() -> frozenset[str]:
    """The left column of the glossary's second table."""
    table = (ROOT / GLOSSARY).read_text(encoding="utf-8").split("## Words that are not used")[1]
    rows = re.findall(r"^\| ([a-z, ]+) \|", table, re.MULTILINE)[1:]
    return frozenset(word.strip() for row in rows for word in row.split(","))


def replaced(text: str, words: frozenset[str]) -> Iterator[tuple[int, str]]:
    """The line and the word of each replaced word in a text."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in PART.finditer(line):
            if match.group().lower() in words:
                yield number, match.group().lower()


def is_allowed(path: str, word: str) -> bool:
    """Whether the list of allowed places has this word at this path."""
    return any(fnmatch(path, pattern) and fnmatch(word, allowed) for pattern, allowed in ALLOWED)


def pages() -> list[Path]:
    """Every text of the project: code, documents, scenarios, golden outputs."""
    found = [path for path in ROOT.glob("*.*") if path.suffix in SUFFIXES]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file()]
    own = {
        path
        for path in found
        if not any(part.startswith(".") or part == "build" for part in path.relative_to(ROOT).parts)
    }
    return sorted(path for path in own if not any(parent.is_symlink() for parent in path.parents))


def test_no_replaced_word_stands_in_a_name_a_document_or_an_output() -> None:
    words = replaced_words()
    wrong = [
        f"{name}:{number}: {word}"
        for path in pages()
        for name in [path.relative_to(ROOT).as_posix()]
        for number, word in [
            *replaced(path.read_text(encoding="utf-8"), words),
            *((0, w) for _, w in replaced(name, words)),
        ]
        if not is_allowed(name, word)
    ]
    assert wrong == [], f"{len(wrong)} words that {GLOSSARY} replaces"


def test_the_scan_sees_names_and_prose() -> None:
    words = replaced_words()
    assert len(words) > 50
    text = "class StoryTeller: ...\ndef broken_promise(): '''Who is told.'''\nhistory = restored = 1\n"
    assert list(replaced(text, words)) == [(1, "story"), (2, "promise"), (2, "told")]


def test_every_allowed_place_still_needs_to_be_allowed() -> None:
    words = replaced_words()
    seen = {
        (path.relative_to(ROOT).as_posix(), word)
        for path in pages()
        for _, word in replaced(path.read_text(encoding="utf-8"), words)
    }
    idle = [
        place
        for place in ALLOWED
        if not any(fnmatch(path, place[0]) and fnmatch(word, place[1]) for path, word in seen)
    ]
    assert idle == []


def test_what_is_written_about_connect_names_its_subjects() -> None:
    about = [path for path in pages() if path.relative_to(ROOT).as_posix().startswith(ABOUT_CONNECT)]
    assert len(about) > 100
    found = [(path.name, *each) for path in about for each in replaced(path.read_text(encoding="utf-8"), INDEFINITE)]
    assert found == [], "name the subject"
