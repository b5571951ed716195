"""One round as every assignor is asked for it, ours and Kafka's: members as bytes, as the leader got them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from rebalance_check.properties.assignment.connect_rounds import MemoryView

EAGER_PROTOCOL: Final = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderConfigs:
    """A leader's view of the config topic: up to ``offset``, these connectors and numbers of tasks."""

    offset: int
    task_counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRequest:
    """A round of the group, for the assignor of one worker.

    ``worker`` names the process whose assignor it is: each has a memory of its own. ``known`` are the leader's
    configs when it joined, ``latest`` those when it looks again. ``members`` are member ids with metadata.
    """

    worker: str
    protocol: str
    leader: str
    now_ms: int
    generation: int
    last_completed_generation: int
    known: LeaderConfigs
    latest: LeaderConfigs
    members: tuple[tuple[str, bytes], ...]


class RoundAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes for each member, the leader's owners of connectors and tasks (by name), and its memory then.

    ``failure`` is the assignor's exception.
    """

    failure: str = ""
    assignments: dict[str, bytes] = msgspec.field(default_factory=dict)
    connector_owners: dict[str, str] = msgspec.field(default_factory=dict)
    task_owners: dict[str, str] = msgspec.field(default_factory=dict)
    memory: MemoryView = msgspec.field(default_factory=MemoryView)


class ConnectAssignors(Protocol):
    """The assignors of all workers of one group."""

    @property
    def name(self) -> str:
        """Whose assignors these are, as reports call them."""
        ...

    def begin(self, max_delay_ms: int) -> None:
        """A new group begins: no assignor remembers anything. The delay is ``scheduled.rebalance.max.delay.ms``."""
        ...

    def restart(self, worker: str) -> None:
        """A worker process starts anew: its assignor remembers nothing."""
        ...

    def ask(self, request: RoundRequest) -> RoundAnswer:
        """Compute a round."""
        ...
