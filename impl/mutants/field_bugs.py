"""The catalogue of the field's bugs: real defects of Kafka, its clients and systems like it, as facts and references.

Each is planted as a mutant (`Mutant.catalogue_id`), or ``not_planted`` says why it is not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class FieldBug:
    """One defect: its ``id`` here, the ``role`` of the code that had it, ``project`` and ``reference`` (a ticket or a
    commit there), and why it is ``not_planted`` (empty where a mutant repeats it)."""

    id: str
    role: str
    project: str
    reference: str
    not_planted: str = ""


@cache
def field_bugs() -> tuple[FieldBug, ...]:
    """All entries, in the order of the catalogue."""
    text = files("rebalance_check.impl.mutants").joinpath("field_bugs.json").read_text(encoding="utf-8")
    return tuple(FieldBug(**entry) for entry in json.loads(text))
