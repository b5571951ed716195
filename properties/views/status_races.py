"""Which race explains that a safe write replaced a newer status, or that one was suppressed by an old one.

The naive rule "a safe write never lowers the generation of another worker's status" does not hold, because check and
append are not atomic. Each breach of it is put down to the race that let it happen; one that fits none is a bug of the
store. Suppressions that only an earlier incarnation of the group explains are flagged, too.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter

from rebalance_check.model.vocabulary.events import (
    Event,
    GroupDeleted,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusRead,
    StatusSent,
    StatusSuppressed,
)
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.status_stores import (
    DESTROYED,
    Item,
    SendId,
    is_removal,
    is_stale,
    item_of,
    send_of,
)


class Race(StrEnum):
    """How a newer status came to be replaced, by the number of the race in TRACK_RECORD and in the scenarios."""

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
    """A safe write that replaced a newer status, and the race that let it.

    ``newer`` and ``by`` are the calls, ``replaced`` and ``record`` their records in the log.
    """

    race: Race
    newer: StatusAttempted
    replaced: StatusAppended
    by: StatusAttempted
    record: StatusAppended


@dataclass(slots=True)
class Overwrites:
    """Finds overwrites while it observes a history; the place of an event is how many came before it.

    Calls, sends, answers and reads must be recorded when they happen, and appends before the writer is answered: those
    of several writers may come in another order than the log's. That order and the stale rule decide; a
    tombstone ends the records before it.
    """

    now: int = 0
    attempts: dict[tuple[str, int], tuple[int, StatusAttempted]] = field(default_factory=dict)
    sends: dict[SendId, int] = field(default_factory=dict)
    answers: dict[SendId, int] = field(default_factory=dict)
    appends: dict[SendId, int] = field(default_factory=dict)
    reads: dict[tuple[str, int, int], int] = field(default_factory=dict)
    removals: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    logs: dict[str, list[StatusAppended]] = field(default_factory=dict)
    unreported: dict[str, set[int]] = field(default_factory=dict)
    """Offsets, by key, of records that a store has read and whose append is not reported yet."""

    def observe(self, event: Event) -> Overwrite | None:
        """Take the next event; the overwrite that it is, if it is one."""
        self.now += 1
        match event:
            case StatusAttempted():
                self.attempts[event.worker, event.attempt] = self.now, event
            case StatusSent():
                self.sends[send_of(event)] = self.now
            case StatusAnswered():
                self.answers[send_of(event)] = self.now
            case StatusRead():
                self._read(event)
            case StatusAppended():
                self.appends[send_of(event)] = self.now
                return self._appended(event)
        return None

    def _read(self, event: StatusRead) -> None:
        item = item_of(event.key)
        if item is None:
            return
        self.reads[event.worker, event.partition, event.offset] = self.now
        log = self.logs.get(event.key)
        if not log or log[-1].offset < event.offset:
            self.unreported.setdefault(event.key, set()).add(event.offset)
        if is_removal(event) and item[0] == "connector":
            self.removals.setdefault((event.worker, item[1]), []).append(self.now)

    def _appended(self, event: StatusAppended) -> Overwrite | None:
        """The record that this one replaces; one that is reported behind a later record of its key is not looked at."""
        item = item_of(event.key)
        if item is None:
            return None
        log = self.logs.setdefault(event.key, [])
        self.unreported.get(event.key, set()).discard(event.offset)
        if log and log[-1].offset > event.offset:
            insort(log, event, key=attrgetter("offset"))
            return None
        found = self._overwrite(self._in_force(log, event.offset, item), event, item)
        log.append(event)
        return found

    def _overwrite(self, newer: StatusAppended | None, event: StatusAppended, item: Item) -> Overwrite | None:
        """The overwrite of ``newer``, the record in force, by this one."""
        before, written = self._written(newer), self._written(event)
        if newer is None or before is None or written is None or is_stale(before, written, item):
            return None
        if not written.safe or not is_naively_wrong(before, written):
            return None
        race = self._race_of(newer, event)
        return None if race is None else Overwrite(race, before, newer, written, event)

    def _in_force(self, log: Sequence[StatusAppended], until: int, item: Item) -> StatusAppended | None:
        """The record whose status holds at the end of the log; None where there is none, or it is not known which.

        It is not known where a writer's call is not in the history, or where a store has read a record in between,
        below offset ``until``, that its writer has not reported.
        """
        tail = self._tail(log)
        if not tail or any(tail[0].offset < read < until for read in self.unreported.get(tail[0].key, ())):
            return None
        held, status = None, None
        for record in tail:
            written = self._written(record)
            if written is None:
                return None
            if not is_stale(status, written, item):
                held, status = record, written
        return None if status is None or status.status == DESTROYED else held

    def _tail(self, log: Sequence[StatusAppended]) -> Sequence[StatusAppended]:
        """The end of the log from the last record that replaces any other: all but an UNASSIGNED."""
        begin = len(log) - 1
        while begin > 0 and (written := self._written(log[begin])) is not None and written.status == "UNASSIGNED":
            begin -= 1
        return log[max(begin, 0) :]

    def _written(self, record: StatusAppended | None) -> StatusAttempted | None:
        """The call that a record comes from; None where the history does not hold it."""
        if record is None:
            return None
        _, written = self.attempts.get((record.worker, record.attempt), (0, None))
        return written

    def _check(self, event: StatusAppended) -> int | None:
        """When the check took place that let this send through: at the call, or at the failed answer before."""
        if event.send == 1:
            return self.attempts[event.worker, event.attempt][0]
        return self.answers.get((event.worker, event.attempt, event.send - 1))

    def _race_of(self, newer: StatusAppended, by: StatusAppended) -> Race | None:
        """The race that let ``by`` replace ``newer``; None where the history does not hold the check."""
        check = self._check(by)
        if check is None:
            return None
        read = self.reads.get((by.worker, newer.partition, newer.offset))
        if read is not None and read < check:
            return Race.CASCADE if self._forgot(by, since=read, until=check) else Race.NONE
        if self._was_appended_before(by):
            return Race.COPY
        if read is not None and by.send > 1 and read < self.sends.get(send_of(by), read):
            return Race.LATE_RETRY
        if self.appends[send_of(newer)] < check:
            return Race.UNREAD
        return Race.IN_FLIGHT if self.sends.get(send_of(newer), check) < check else Race.OVERTOOK

    def _was_appended_before(self, by: StatusAppended) -> bool:
        """Whether an earlier send of the same attempt was appended, too."""
        if by.send <= len(self.appends):
            return any((by.worker, by.attempt, send) in self.appends for send in range(1, by.send))
        earlier = (send for worker, attempt, send in self.appends if (worker, attempt) == (by.worker, by.attempt))
        return any(1 <= send < by.send for send in earlier)

    def _forgot(self, by: StatusAppended, since: int, until: int) -> bool:
        """Whether the writer read a tombstone of the connector between the two, and so forgot its task's status."""
        item = item_of(by.key)
        if item is None or item[0] != "task":
            return False
        return any(since < removal < until for removal in self.removals.get((by.worker, item[1]), ()))


def is_naively_wrong(before: StatusAttempted, written: StatusAttempted) -> bool:
    """Whether the write lowers the generation of another worker's status."""
    return before.status_worker != written.status_worker and before.generation > written.generation


def overwrites(history: Iterable[Event]) -> Iterator[Overwrite]:
    """Every safe write of a history that replaced another worker's newer status, in order, with its race."""
    following = Overwrites()
    for event in history:
        found = following.observe(event)
        if found is not None:
            yield found


def outdated_suppressions(history: Iterable[Event]) -> Iterator[StatusSuppressed]:
    """Suppressed FAILED and UNASSIGNED whose generation is as high as any that was appended since the group began anew.

    No status of the present group explains them: the suppressing entry is left from an earlier incarnation (R4, R11).
    A history without `GroupDeleted` has none.
    """
    attempts: dict[tuple[str, int], StatusAttempted] = {}
    highest: int | None = None
    for event in history:
        match event:
            case StatusAttempted():
                attempts[event.worker, event.attempt] = event
            case GroupDeleted():
                highest = -1
            case StatusAppended() if highest is not None and (event.worker, event.attempt) in attempts:
                highest = max(highest, attempts[event.worker, event.attempt].generation)
            case StatusSuppressed() if highest is not None and (event.worker, event.attempt) in attempts:
                attempted = attempts[event.worker, event.attempt]
                if attempted.status in {"FAILED", "UNASSIGNED"} and attempted.generation >= highest:
                    yield event


class Races(Memory):
    """The overwrites of a history; ``overwrite`` is the one that the event at hand is, None where it is none."""

    def __init__(self) -> None:
        followed = (StatusAttempted, StatusSent, StatusAnswered, StatusRead, StatusAppended)
        super().__init__(dict.fromkeys(followed, self._observe))
        self.overwrite: Overwrite | None = None
        self._following = Overwrites()

    def _observe(self, event: Event) -> None:
        self.overwrite = self._following.observe(event)
