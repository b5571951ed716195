"""What the numbers of a model's state are called: a state keeps small numbers, and people read names."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from rebalance_check.model.classic import state as classic
from rebalance_check.model.classic.model import MODEL as CLASSIC
from rebalance_check.model.connect.config import state as config
from rebalance_check.model.connect.config.model import MODEL as CONFIG
from rebalance_check.model.connect.exactly_once import state as exactly_once
from rebalance_check.model.connect.exactly_once.model import MODEL as EXACTLY_ONCE
from rebalance_check.model.connect.status import state as status
from rebalance_check.model.connect.status.model import MODEL as STATUS
from rebalance_check.model.connect.workers import state as workers
from rebalance_check.model.connect.workers.model import MODEL as WORKERS
from rebalance_check.model.vocabulary.errors import Error

Words = Mapping[str, type[IntEnum]]
"""The names of a field's values, by layout and field: ``Member.status``."""

WORDS: Final[Mapping[str, Words]] = {
    CLASSIC.name: {
        "State.status": classic.GroupStatus,
        "State.phase": classic.Phase,
        "Member.status": classic.MemberStatus,
        "Message.kind": classic.MessageKind,
        "Message.error": Error,
        "Duplicate.kind": classic.MessageKind,
        "Memory.status": classic.GroupStatus,
    },
    WORKERS.name: {
        "State.phase": workers.Phase,
        "Worker.step": workers.Step,
        "Memory.schedule": workers.Schedule,
    },
    STATUS.name: {"Record.status": status.Status, "Send.status": status.Status},
    CONFIG.name: {"Record.kind": config.Kind},
    EXACTLY_ONCE.name: {"Worker.phase": exactly_once.Phase, "State.fencing": exactly_once.Fencing},
}
"""The words of each model, by its name."""

BITS: Final[Mapping[str, frozenset[str]]] = {
    CLASSIC.name: frozenset(
        {
            "Message.partitions",
            "Message.parts",
            "Duplicate.partitions",
            "Duplicate.parts",
            "Member.owned",
            "Member.owned_partitions",
            "Member.assignment",
            "Record.owned_partitions",
            "Record.assignment",
            "Memory.owned_partitions",
            "Memory.assignment",
        }
    ),
    WORKERS.name: frozenset(
        {
            "State.configs",
            "Worker.claim",
            "Worker.running",
            "Worker.given",
            "Worker.taken",
            "Memory.previous",
            "Memory.revoked",
            "Memory.revoking",
        }
    ),
}
"""The fields that hold sets of partitions or items as bits, by model."""
