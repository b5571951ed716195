"""Planted defects as a table, a row each; mutants of a model, and mutants of the reference implementation, too.

A row of a ``.mutants`` file reads ::

    unknown-member-keeps-id = the-id-of-a-defect-of-the-field
    a member that the coordinator does not know joins again under the same member id
    rebalance_completes: fuzz 0:300 protocol=eager
    client.core:CoordinatorCore._reset
    -old.member_id if keep_member else ""
    +old.member_id

its name (with the defect of the field that it repeats, where there is one), what it does wrong, the claim that catches
it and the search that finds it, and its edits: a place, the text there, which occurs exactly once, and the text that
stands there instead. An empty line ends a row; lines that begin with ``#`` are comments.

A mutant of a model answers the question whether a claim could fail at all: a claim that no mutant breaks may be
vacuous. Its search is the address of bounds, so small that a test can explore every mutant, and the word ``liveness``
behind it where the claim is a liveness property. Its place is a module. `model.registry.MUTANTS` has them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds

_MODEL = "rebalance_check.model."


@dataclass(frozen=True, slots=True)
class Row:
    """A row, as the table has it; ``edits`` are place, old text and new text."""

    name: str
    catalogue: str
    what: str
    caught_by: str
    find: str
    edits: tuple[tuple[str, str, str], ...]


def rows_of(table: str) -> Iterator[Row]:
    """The rows of a table, in their order."""
    lines = [line for line in table.splitlines() if not line.startswith("#")]
    for filled, group in groupby(lines, key=bool):
        if filled:
            yield _row(list(group))


def _row(lines: list[str]) -> Row:
    title, what, claim, *edits = lines
    name, _, catalogue = title.partition(" = ")
    caught_by, _, find = claim.partition(": ")
    return Row(name, catalogue, what, caught_by, find, tuple(_edits(edits)))


def _edits(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    starts = [number for number, line in enumerate(lines) if line[0] not in "-+"]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        place, *texts = lines[start:end]
        yield place, _text("-", texts), _text("+", texts)


def _text(mark: str, lines: list[str]) -> str:
    return "\n".join(line[1:] for line in lines if line[0] == mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMutant:
    """A defect: what it does, the ``catalogue`` id of a real bug like it ("" if none), and the claim that catches it
    when ``bounds`` are explored; ``liveness`` where that is a liveness property."""

    name: str
    what: str
    edit: Edit
    caught_by: str
    bounds: Bounds
    catalogue: str = ""
    liveness: bool = False


def mutants_of(table: str) -> Iterator[ModelMutant]:
    """The mutants of a model's table."""
    for row in rows_of(table):
        ((module, old, new),) = row.edits
        address, _, liveness = row.find.partition(" ")
        yield ModelMutant(
            name=row.name,
            what=row.what,
            edit=Edit(_MODEL + module, old, new),
            caught_by=row.caught_by,
            bounds=Bounds.from_address(address),
            catalogue=row.catalogue,
            liveness=bool(liveness),
        )
