"""An edit that was drawn, changes a history, and breaks nothing, with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

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
