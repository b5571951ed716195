"""Edits that were drawn, change a history and break nothing: each with the reason, so that nobody looks twice.

An entry is known by its function and its texts, and so stays known when lines move. ``docs/random-mutants.md`` lists
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rebalance_check.impl.mutants.edit import Edit

Why: TypeAlias = Literal["equivalent", "out of reach"]


@dataclass(frozen=True, slots=True)
class HarmlessEdit:
    """An edit that no claim should or can catch.

    *Equivalent*: what it does is as right as what stood there. *Out of reach*: it is wrong where no seed of ours gets.
    ``reason`` is one sentence.
    """

    edit: Edit
    why: Why
    reason: str


HARMLESS_EDITS: Final[tuple[HarmlessEdit, ...]] = ()


def harmless(edit: Edit) -> HarmlessEdit | None:
    """The entry of an edit, None where it has none."""
    return next((one for one in HARMLESS_EDITS if one.edit == edit), None)
