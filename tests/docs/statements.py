"""The statements of the documents that the project implements, each with the test that fails without it.

    python -m tests.docs.statements FOLDER      a page for each document
    python -m tests.docs.statements             how many statements are tested, different or out of scope

They stand in tests/data/statements, a file for each document and a row for each statement: number | statement |
function | test, or number | statement | - the reason why no test shows it. Connect's rows name no functions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parents[1] / "data" / "statements"

DOCUMENTS: Final = {
    "connect": "Kafka Connect: WorkerCoordinator and herder, KafkaStatusBackingStore, KafkaConfigBackingStore",
    "kip-795": "KIP-795: a public Coordinator",
    "base-coordinator": "kafka-python: BaseCoordinator",
    "kip-429": "KIP-429: incremental cooperative rebalancing of consumers",
}
"""The title of each document, by the name of its file."""


class Statement(NamedTuple):
    """One statement: its number, its text, the functions that implement it, the test, or the reason why there is none.

    A function is ``module:name`` in the package, a test ``path::name`` or ``path::name[case]`` below ``tests/``.
    """

    number: str
    text: str
    functions: tuple[str, ...]
    test: str
    reason: str


class RowError(ValueError):
    """A row cannot be read."""


def read(text: str) -> dict[str, list[Statement]]:
    """The statements of a document by section, in their order.

    Raises: RowError for a row that has neither three cells nor four, or names a file that no line with @ defines.
    """
    files, sections = dict[str, str](), dict[str, list[Statement]]()
    for line in text.splitlines():
        if line.startswith("@"):
            short, _, path = line[1:].partition(" ")
            files[short] = path
        elif line.startswith("== "):
            sections[line[3:]] = []
        elif line and not line.startswith("#"):
            list(sections.values())[-1].append(_statement(line, files))
    return sections


def _statement(line: str, files: Mapping[str, str]) -> Statement:
    cells = [cell.strip() for cell in line.split(" | ")]
    if len(cells) not in {3, 4}:
        raise RowError(f"{line!r} has {len(cells)} cells: write number | statement | function | test")
    number, said, shown = cells[0], cells[1], cells[-1]
    if shown.startswith("- "):
        return Statement(number, said, (), "", shown[2:])
    short, _, name = shown.partition(":")
    if short not in files:
        raise RowError(f"{line!r} names the file {short!r}: define it in a line @{short} PATH")
    functions = tuple(cells[2].split(", ")) if len(cells) == 4 else ()
    return Statement(number, said, functions, f"{files[short]}::{name}", "")


def document(name: str) -> dict[str, list[Statement]]:
    """The statements of one of `DOCUMENTS`, by section."""
    return read((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))


def page(name: str) -> str:
    """The page of a document, in Markdown."""
    lines = [
        f"# {DOCUMENTS[name]}",
        "",
        "Each statement has the test that fails without it, or the reason why none does.",
    ]
    for section, statements in document(name).items():
        lines += ["", f"## {section}", "", "| | statement | where | test |", "|---|---|---|---|"]
        lines += [f"| {one.number} | {one.text} | {_where(one)} | {_shown(one)} |" for one in statements]
    return "\n".join([*lines, ""])


def _where(statement: Statement) -> str:
    return ", ".join(f"`{function}`" for function in statement.functions)


def _shown(statement: Statement) -> str:
    return f"`{statement.test}`" if statement.test else statement.reason


def counted() -> Iterator[str]:
    """A line for each document: how many statements, and how many of them a test shows."""
    for name in DOCUMENTS:
        rows = [statement for statements in document(name).values() for statement in statements]
        tested = sum(bool(row.test) for row in rows)
        yield f"{name}: {len(rows)} statements, {tested} with a test, {len(rows) - tested} with a reason"


def main(arguments: list[str]) -> None:
    """Write the pages, or print the counts."""
    for folder in map(Path, arguments):
        folder.mkdir(parents=True, exist_ok=True)
        for name in DOCUMENTS:
            (folder / f"{name}-statements.md").write_text(page(name), encoding="utf-8")
    print("\n".join(counted()))


if __name__ == "__main__":
    main(sys.argv[1:])
