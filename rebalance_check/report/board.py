"""The coordinator and each member as of now, read off events alone: the cells of tables and lanes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    ConnectorStarted,
    CoordinatorEvent,
    Event,
    GroupStatusChanged,
    IncarnationStarted,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MembershipLost,
    MemberStarted,
    StatusEvent,
)
from rebalance_check.properties.kinds import Memories, listeners
from rebalance_check.properties.views.holdings import Holdings
from rebalance_check.properties.views.worker import Worker
from rebalance_check.properties.views.workers import Workers
from rebalance_check.report.wire_cells import WireCells

COORDINATOR: Final = "coordinator"
NOTHING: Final = "-"
SHORT: Final = {"PreparingRebalance": "Preparing", "CompletingRebalance": "Completing"}
CONDITIONS: Final[dict[type[Event], str]] = {
    MemberCrashed: "crashed",
    MemberLeft: "left",
    MemberPaused: "paused",
    MembershipLost: "no member",
    MemberStarted: "",
    MemberResumed: "",
    MemberJoined: "",
}
"""The meaning of an event for the process of a member; the others say nothing about it."""


def column_of(event: Event) -> str:
    """The member, worker or client process that an event is about; empty where it is about none."""
    return getattr(event, "member", "") or getattr(event, "worker", "") or getattr(event, "process", "")


def members_of(events: Iterable[Event]) -> tuple[str, ...]:
    """The member processes, status workers and client processes that a history speaks of, sorted."""
    return tuple(sorted({name for event in events if (name := column_of(event))}))


class Board:
    """The cells as of now; `observe` moves them on. It has the columns `COORDINATOR` and those of `members_of`.

    ``things`` are the partitions, connectors, tasks and keys that cells show; empty for all.
    """

    def __init__(self, things: Collection[str] = ()) -> None:
        self._things = things
        memories: Memories = {}
        self.holdings, self._workers = Holdings.among(memories), Workers.among(memories)
        self._handlers = listeners(memories.values())
        self._wire = WireCells()
        self._coordinator: dict[str, str] = {}
        self._condition: dict[str, str] = {}
        self._assigned: dict[str, frozenset[str]] = {}
        self._status: dict[str, dict[str, str]] = {}

    def observe(self, event: Event) -> None:
        """Take the next event."""
        for handler in self._handlers.get(type(event), ()):
            handler(event)
        self._wire.observe(event)
        if isinstance(event, CoordinatorEvent):
            self._observe_coordinator(event)
        elif isinstance(event, AssignmentComputed):
            self._assigned = {member: frozenset(things) for member, things in event.assignments}
        elif isinstance(event, MemberEvent):
            if type(event) in CONDITIONS:
                self._condition[event.member] = CONDITIONS[type(event)]
        elif isinstance(event, StatusEvent) and (written := getattr(event, "status", "")):
            entry = f"{written} {event.key.removeprefix('status-')}"
            self._status.setdefault(event.worker, {})[event.key] = entry

    def touched(self, event: Event) -> Collection[str]:
        """The columns that an event may have changed: an assignment changes every member's revocations."""
        if isinstance(event, AssignmentComputed):
            return tuple(self.holdings.members)
        return (COORDINATOR, column) if (column := column_of(event)) else (COORDINATOR,)

    def holds(self, column: str) -> Collection[str]:
        """The partitions, connectors and tasks that a member holds."""
        holder, worker = self.holdings.members.get(column), self._workers.workers.get(column)
        held = [*(holder.holds if holder is not None else ()), *(_named(worker) if worker is not None else ())]
        return held or self._wire.holds(column)

    def cell(self, column: str) -> str:
        """The text in a column."""
        if column == COORDINATOR:
            return self._coordinator_cell() or self._wire.coordinator or NOTHING
        holder = self.holdings.members.get(column)
        things: list[str] = []
        if holder is not None:
            assigned = self._assigned.get(holder.member_id) if holder.round else None
            things = [
                f"({t})" if assigned is not None and t not in assigned else t
                for t in sorted(holder.holds)
                if self._shows(t)
            ]
        worker = self._workers.workers.get(column)
        things += [name for name in _named(worker) if self._shows(name)] if worker is not None else []
        condition = self._condition.get(column, "")
        statuses = [entry for key, entry in self._status.get(column, {}).items() if self._shows_status(key, worker)]
        parts = [*things, *statuses, self._wire.cell(column), condition]
        return "  ".join(part for part in parts if part) or NOTHING

    def _shows(self, thing: str) -> bool:
        return not self._things or thing in self._things

    def _shows_status(self, key: str, worker: Worker | None) -> bool:
        """A worker's store knows as many statuses as there is work: its column shows those that are named."""
        return key in self._things if worker is not None else self._shows(key)

    def _coordinator_cell(self) -> str:
        status, generation = self._coordinator.get("status", ""), self._coordinator.get("generation", "")
        return f"{status:<10} {generation}".strip()

    def _observe_coordinator(self, event: CoordinatorEvent) -> None:
        self._coordinator["generation"] = f"g{event.generation}"
        status = ""
        if isinstance(event, GroupStatusChanged):
            status = event.to_status
        elif isinstance(event, IncarnationStarted):
            status = event.status
        if status:
            self._coordinator["status"] = SHORT.get(status, status)


def _named(worker: Worker) -> list[str]:
    """The connectors and tasks that a worker runs: ``connector c``, ``task c-0``."""
    kinds = {work: "connector" if isinstance(by, ConnectorStarted) else "task" for work, by in worker.running.items()}
    return sorted(f"{kind} {work}" for work, kind in kinds.items())
