"""Which race explains a safe write that lowered the generation of another worker's status.

The naive rule "a safe write never replaces a newer status" does not hold, because check and append are not atomic. Each
breach of it in a history is put down to the race that let it happen; one that fits none is a bug of the store, and
`explained_overwrite` will say so. A test counts the races that simulated runs meet: coverage of what can go wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from rebalance_check.model.vocabulary.events import (
    Event,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusRead,
    StatusSent,
)
from rebalance_check.properties.status.stores import DESTROYED, is_removal, item_of


class Race(StrEnum):
    """How a newer status came to be replaced, by its number in the catalogue of races."""

    UNREAD = "R1"
    """It was in the log when the write was checked, and its writer had not read it."""
    IN_FLIGHT = "R2"
    """It had been sent when the write was checked, and was appended before it."""
    OVERTOOK = "R3"
    """It was sent after the write had been checked, and appended before it."""
    COPY = "R5"
    """The write was appended twice, since its first acknowledgement was lost; this is the second record."""
    LATE_RETRY = "R6"
    """Its writer read it after a retry had been admitted and before it was sent."""
    CASCADE = "R14"
    """It had been read, and then its connector's tombstone made the writer forget it."""
    NONE = "none"
    """It had been read before the check: no race explains this."""


@dataclass(frozen=True, slots=True)
class Overwrite:
    """A safe write (``by``) that replaced the status written by ``newer``, and the race that let it."""

    race: Race
    newer: StatusAppended
    by: StatusAppended


SendId = tuple[str, int, int]


@dataclass(slots=True)
class _Times:
    """When (by its place in the history) each thing happened."""

    attempts: dict[tuple[str, int], tuple[int, StatusAttempted]] = field(default_factory=dict)
    sends: dict[SendId, int] = field(default_factory=dict)
    answers: dict[SendId, int] = field(default_factory=dict)
    appends: dict[SendId, int] = field(default_factory=dict)
    reads: dict[tuple[str, int, int], int] = field(default_factory=dict)
    removals: dict[tuple[str, str], int] = field(default_factory=dict)

    def observe(self, now: int, event: Event) -> None:
        """Note the place of an event."""
        match event:
            case StatusAttempted():
                self.attempts[event.worker, event.attempt] = now, event
            case StatusSent():
                self.sends[event.worker, event.attempt, event.send] = now
            case StatusAnswered():
                self.answers[event.worker, event.attempt, event.send] = now
            case StatusAppended():
                self.appends[send_of(event)] = now
            case StatusRead():
                self.reads[event.worker, event.partition, event.offset] = now
                item = item_of(event.key)
                if is_removal(event) and item is not None and item[0] == "connector":
                    self.removals[event.worker, item[1]] = now

    def check(self, event: StatusAppended) -> int:
        """When the check took place that let this send through: at the call, or at the failed answer before."""
        if event.send == 1:
            return self.attempts[event.worker, event.attempt][0]
        return self.answers[event.worker, event.attempt, event.send - 1]


def send_of(event: StatusAppended) -> SendId:
    """Which send became this record."""
    return event.worker, event.attempt, event.send


def overwrites(history: Iterable[Event]) -> list[Overwrite]:
    """Every safe write of a history that replaced another worker's newer status, in order, with its race.

    The history must record every call, send, answer and append, and appends when they happen. Followed is the log's
    own order, by the stale rule; tombstones end what came before.
    """
    times, found = _Times(), []
    counts: dict[str, StatusAppended | None] = {}
    for now, event in enumerate(history):
        times.observe(now, event)
        if not isinstance(event, StatusAppended) or (event.worker, event.attempt) not in times.attempts:
            continue
        written = times.attempts[event.worker, event.attempt][1]
        newer = counts.get(event.key)
        before = None if newer is None else times.attempts[newer.worker, newer.attempt][1]
        if before is not None and is_stale(before, written):
            continue
        if newer is not None and before is not None and written.safe and is_naively_wrong(before, written):
            found.append(Overwrite(race_of(times, newer, event), newer, event))
        counts[event.key] = None if written.status == DESTROYED else event
    return found


def is_stale(before: StatusAttempted, written: StatusAttempted) -> bool:
    """Whether readers leave the record out (tasks only)."""
    return (
        written.key.startswith("status-task-")
        and written.status == "UNASSIGNED"
        and before.status == "RUNNING"
        and before.generation >= written.generation
    )


def is_naively_wrong(before: StatusAttempted, written: StatusAttempted) -> bool:
    """Whether the write lowers the generation of another worker's status."""
    return before.status_worker != written.status_worker and before.generation > written.generation


def race_of(times: _Times, newer: StatusAppended, by: StatusAppended) -> Race:
    """The race that let ``by`` replace ``newer``."""
    check = times.check(by)
    read = times.reads.get((by.worker, newer.partition, newer.offset))
    if read is not None and read < check:
        item = item_of(by.key) or ("", "")
        forgotten = times.removals.get((by.worker, item[1]), -1)
        return Race.CASCADE if item[0] == "task" and read < forgotten < check else Race.NONE
    if any((by.worker, by.attempt, send) in times.appends for send in range(1, by.send)):
        return Race.COPY
    if read is not None and by.send > 1 and read < times.sends[send_of(by)]:
        return Race.LATE_RETRY
    if times.appends[send_of(newer)] < check:
        return Race.UNREAD
    return Race.IN_FLIGHT if times.sends[send_of(newer)] < check else Race.OVERTOOK
