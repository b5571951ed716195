"""S2 and P7: every store reads the log in order and whole, and stores that read the same believe the same."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    RunEnded,
    StatusAppended,
    StatusIgnored,
    StatusRead,
)
from rebalance_check.properties.between import between
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.status.stores import DESTROYED, Item, Seen, described, is_removal, item_of
from rebalance_check.properties.status.violations import ReadersDiverged, ReadsOutOfOrder
from rebalance_check.properties.verdict import STEP, Because, Held, Undecided, Verdict
from rebalance_check.properties.views.simulated import SimulatedFold

Place = tuple[int, int]
"""Partition and offset."""


class _InOrder(SimulatedFold):
    """Skipped offsets are judged when the run ends: only then is it known what stood there and what came later.

    Where the run is recorded in one order, that is known when the offset is skipped.
    """

    bookkeeping = frozenset({StatusAppended, RunEnded})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            StatusRead: self._read,
            StatusIgnored: self._read,
            StatusAppended: self._appended,
            RunEnded: self._run_ended,
        }
        super().__init__(invariant, handlers)
        self._last: dict[tuple[str, int], Seen] = {}
        self._keys: defaultdict[int, dict[int, str]] = defaultdict(dict)
        self._newest: dict[tuple[int, str], int] = {}
        self._skipped: list[tuple[int, int, Seen]] = []

    def _appended(self, event: StatusAppended) -> None:
        self._known(event.partition, event.offset, event.key)

    def _known(self, partition: int, offset: int, key: str) -> None:
        self._keys[partition][offset] = key
        self._newest[partition, key] = max(offset, self._newest.get((partition, key), -1))

    def _read(self, event: Seen) -> None:
        self._known(event.partition, event.offset, event.key)
        last = self._last.get((event.worker, event.partition))
        position = -1 if last is None else last.offset
        if last is not None and event.offset <= position:
            self.violated(
                f"{event.worker} read {event.partition}/{event.offset} after {last.partition}/{last.offset}",
                [
                    Because(f"{event.worker} read offset {last.offset} of partition {last.partition} at {STEP}.", last),
                    Because(f"it read offset {event.offset} at {STEP}: contradiction.", event),
                ],
                [last, event],
            )
            return
        self._last[event.worker, event.partition] = event
        if event.offset > position + 1:
            self._skipped.append((position + 1, event.offset, event))
            if self.run.is_recorded:
                self._judge_skipped()

    def _run_ended(self, _event: RunEnded) -> None:
        """All that was appended is known."""
        self._judge_skipped()

    def _judge_skipped(self) -> None:
        """What was skipped and not compacted away is a violation."""
        skipped, self._skipped = self._skipped, []
        for first, end, event in skipped:
            lost = self._first_lost(first, end, event)
            if lost is not None:
                self._report(lost, event)

    def verdict(self) -> Verdict:
        """A record that was skipped may yet turn out to be compacted away, until the run ends."""
        verdict = super().verdict()
        for first, end, event in self._skipped if isinstance(verdict, Held) else ():
            lost = self._first_lost(first, end, event)
            if lost is not None:
                return Undecided(
                    f"{event.worker} skipped offset {lost} of partition {event.partition}, and without RunEnded a "
                    f"later record of its key may be missing: judge the complete history"
                )
        return verdict

    def _first_lost(self, first: int, end: int, event: Seen) -> int | None:
        """The first of the skipped offsets whose record was not compacted away, None where there is none."""
        known = self._keys[event.partition]
        return next((offset for offset in between(known, first, end) if self._is_lost(event.partition, offset)), None)

    def _is_lost(self, partition: int, offset: int) -> bool:
        """Whether no later record of its key replaced the one that stood there."""
        return self._newest[partition, self._keys[partition][offset]] <= offset

    def _report(self, offset: int, event: Seen) -> None:
        key = self._keys[event.partition][offset]
        self.violated(
            f"{event.worker} skipped the record of {key} at {event.partition}/{offset}",
            [
                Because(
                    f"the record of {key} at offset {offset} is the last of its key, so it was not compacted away."
                ),
                Because(f"{event.worker} went on to offset {event.offset} at {STEP}: contradiction.", event),
            ],
            [event],
        )


class _Converge(Fold):
    """Keeps what each store *reports* to have taken, and compares it record by record and at the end cache by cache."""

    bookkeeping = frozenset({RunEnded})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            StatusRead: self._read,
            StatusIgnored: self._read,
            RunEnded: self._run_ended,
        }
        super().__init__(invariant, handlers)
        self._records: dict[Place, Seen] = {}
        self._caches: dict[str, dict[Item, Seen]] = defaultdict(dict)
        self._read_by: dict[str, dict[int, int]] = defaultdict(dict)
        self._gaps: set[str] = set()
        self._cascades: set[str] = set()

    def _read(self, event: Seen) -> None:
        first = self._records.setdefault((event.partition, event.offset), event)
        if self._content(first) != self._content(event):
            self._disagree(first, event)
        positions = self._read_by[event.worker]
        if event.offset != positions.get(event.partition, -1) + 1:
            self._gaps.add(event.worker)
        positions[event.partition] = event.offset
        item = item_of(event.key)
        if item is not None and isinstance(event, StatusRead):
            self._take(self._caches[event.worker], item, event)

    @staticmethod
    def _content(event: Seen) -> tuple[str, str, str, int]:
        status = event.status or (DESTROYED if isinstance(event, StatusRead) else "")
        return event.key, status, event.status_worker, event.generation

    def _take(self, cache: dict[Item, Seen], item: Item, event: StatusRead) -> None:
        if not is_removal(event):
            cache[item] = event
            return
        cache.pop(item, None)
        if item[0] == "connector":
            self._cascades.add(item[1])

    def _disagree(self, first: Seen, event: Seen) -> None:
        place = f"{event.partition}/{event.offset}"
        self.violated(
            f"{first.worker} and {event.worker} read different records at {place}",
            [
                Because(f"{first.worker} read {described(first)} for {first.key} at {STEP}.", first),
                Because(f"{event.worker} read {described(event)} for {event.key} at {STEP}: contradiction.", event),
            ],
            [first, event],
        )

    def _run_ended(self, _event: RunEnded) -> None:
        """Compare the caches of stores that read the same records, all of them."""
        groups: dict[tuple[Place, ...], list[str]] = defaultdict(list)
        for worker in sorted(set(self._read_by) - self._gaps):
            groups[tuple(sorted(self._read_by[worker].items()))].append(worker)
        for workers in groups.values():
            for other in workers[1:]:
                self._compare(workers[0], other)

    def _compare(self, one: str, other: str) -> None:
        """Tasks of a connector that was ever removed are left out: the removal stands in another partition."""
        mine, theirs = self._caches[one], self._caches[other]
        for item in sorted(mine.keys() | theirs.keys()):
            here, there = mine.get(item), theirs.get(item)
            cascaded = item[0] == "task" and item[1] in self._cascades
            same = (here and here.offset) == (there and there.offset)
            if same or cascaded:
                continue
            seen: list[Event] = [event for event in (here, there) if event is not None]
            self.violated(
                f"{one} and {other} read the same records and hold different statuses",
                [
                    Because(f"of {' '.join(item)}, {one} holds {described(here)} ({STEP}).", here),
                    Because(f"{other} holds {described(there)} ({STEP}): contradiction.", there),
                ],
                seen,
            )


ReadsInOrder: Final = Invariant(
    name="safe_status_writes.reads_in_order",
    family="safe_status_writes",
    claim="a store reads each partition in the order of offsets, each record once, and skips only what was compacted",
    source="KafkaBasedLog; cleanup.policy=compact",
    premises=("a tombstone is still in the log, or a later record of its key is (delete.retention.ms has not passed)",),
    exempted_by=(
        StatusIgnored,
        StatusRead,
    ),
    violation=ReadsOutOfOrder,
    fold=_InOrder,
)
"""S2. The smallest history that breaks it::

    StatusRead(worker="w0", key="status-connector-c", partition=0, offset=1, ...)
    StatusRead(worker="w0", key="status-connector-c", partition=0, offset=0, ...)
"""

ReadersConverge: Final = Invariant(
    name="safe_status_writes.readers_converge",
    family="safe_status_writes",
    claim="stores that read the same records hold the same statuses",
    source="KafkaStatusBackingStore.read",
    premises=(
        "the run ended in an orderly way: what stores hold is compared then, what each read of one record at once",
        "compared are stores that read every offset: the stale rule makes the fold depend on what compaction removed",
        "tasks of a connector whose tombstone was read are left out: it stands in another partition, in no fixed order",
    ),
    violation=ReadersDiverged,
    fold=_Converge,
    needs_end=True,
)
"""P7. The smallest history that breaks it::

    StatusRead(worker="w0", key="status-connector-c", partition=0, offset=0, status="RUNNING", ...)
    StatusIgnored(worker="w1", key="status-connector-c", partition=0, offset=0, reason="stale unassigned", ...)
"""
