"""The input and the output of a Connect assignor: one round of one group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from rebalance_check.impl.protocol.connect_protocol import (
    CONFIG_MISMATCH,
    ConnectAssignment,
    ConnectorTask,
    WorkerState,
)
from rebalance_check.impl.protocol.java_order import utf16_key

Item = ConnectorTask
"""One piece of work: a task, or, with the number `ITSELF`, the connector instance."""

ITSELF: Final = -1
"""The task number of a connector instance, as on the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The knowledge of the leader when it assigns.

    ``members`` are the states of the workers by member id, in the coordinator's order, the leader's among them;
    ``task_counts`` the configured connectors and how many tasks each has; ``config_offset`` the offset up to which
    those were read. ``generation`` is the one that begins, ``last_completed_generation`` the last one that the
    leader itself completed (-1: none). ``now_ms`` is the leader's clock, ``version`` the one of the protocol (0 to 2).
    """

    leader: str
    members: Mapping[str, WorkerState]
    task_counts: Mapping[str, int]
    config_offset: int
    generation: int
    last_completed_generation: int
    now_ms: int
    version: int = 1

    @property
    def configured(self) -> frozenset[Item]:
        """Every configured connector and task."""
        tasks = (Item(name, number) for name, count in self.task_counts.items() for number in range(count))
        return frozenset(tasks) | {Item(name, ITSELF) for name in self.task_counts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """The leader's answer: the members' assignments, and each item's owner after it (the leader's routing table)."""

    assignments: Mapping[str, ConnectAssignment]
    connector_owners: Mapping[str, str]
    task_owners: Mapping[ConnectorTask, str]


class ConnectAssignor(Protocol):
    """An assignor of one worker (``ConnectAssignor``); its memory lasts as long as the object."""

    def assign(self, current: Round) -> Assigned:
        """Compute one round as the leader."""
        ...


class Configs(Protocol):
    """The configs that a leader read of the config topic, as far as `leader_configs` looks at them."""

    @property
    def offset(self) -> int:
        """The next offset to read."""
        ...


C = TypeVar("C", bound=Configs)


def leader_configs(known: C, read_again: Callable[[], C], members: Mapping[str, WorkerState]) -> tuple[C, int] | None:
    """The configs to assign by and the offset to write into the assignment; None when some worker has read further.

    ``known`` are the configs that the leader had read when it joined; only when they are not enough it looks again.
    """
    needed = furthest(members)
    if known.offset >= needed:
        return known, needed
    latest = read_again()
    return (latest, latest.offset) if latest.offset >= needed else None


def config_mismatch(leader: str, members: Mapping[str, WorkerState], version: int) -> dict[str, ConnectAssignment]:
    """Nothing is assigned: some worker has read further than the leader could. The assignment says how far."""
    failed = ConnectAssignment(
        version=version,
        error=CONFIG_MISMATCH,
        leader=leader,
        leader_url=members[leader].url,
        config_offset=furthest(members),
    )
    return dict.fromkeys(members, failed)


def furthest(members: Mapping[str, WorkerState]) -> int:
    """The highest config offset that any worker reports."""
    return max(state.config_offset for state in members.values())


def is_connector(item: Item) -> bool:
    """Whether it is a connector instance."""
    return item.task == ITSELF


def is_task(item: Item) -> bool:
    """Whether it is a task."""
    return item.task != ITSELF


KINDS: Final = (is_connector, is_task)
"""The two kinds of work, in the order in which they are assigned; each is balanced for itself."""


def in_order(items: Iterable[Item]) -> list[Item]:
    """Sorted as Java sorts them: by connector, by UTF-16 code units, then by number."""
    return sorted(items, key=lambda item: (utf16_key(item.connector), item.task))


def connectors_of(items: Iterable[Item]) -> tuple[str, ...]:
    """The names of the connector instances among some items, in their order."""
    return tuple(item.connector for item in items if is_connector(item))


def tasks_of(items: Iterable[Item]) -> tuple[ConnectorTask, ...]:
    """The tasks among some items, in their order."""
    return tuple(item for item in items if is_task(item))


def owners(work: Mapping[str, Sequence[Item]]) -> tuple[dict[str, str], dict[ConnectorTask, str]]:
    """The owner of each connector and of each task; of two owners the one that comes last."""
    connectors = {name: member for member, items in work.items() for name in connectors_of(items)}
    tasks = {task: member for member, items in work.items() for task in tasks_of(items)}
    return connectors, tasks
