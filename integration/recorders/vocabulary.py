"""Members of a coordinator that is not Kafka's, in the vocabulary of events."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from rebalance_check.impl.runtime.recorder import Recorder, SharedRecorder
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.integration.recorders.history_file import HistoryFile
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from rebalance_check.model.vocabulary.ids import Partition, partition
from rebalance_check.properties.features import Feature

ONE_GENERATION: Final = 1
"""The generation of all events where nothing is numbered."""


class Numbering(StrEnum):
    """A coordinator numbers nothing, each round of the group, or each grant of a resource (fencing tokens)."""

    NOTHING = "nothing"
    GROUP = "group"
    RESOURCE = "resource"


class Vocabulary:
    """One member's actions as events: each method records one and returns the events, in order. One thread calls it.

    Resources are of any hashable type: a text stands for itself, an integer is a partition of a topic that is called
    after the group, a pair of text and integer a partition of that topic, and anything else is named by its text.

    ``listener`` receives each event at once; a `HistoryFile` puts it on disk. ``clock`` gives milliseconds, by default
    those of this machine. ``numbering`` is the coordinator's kind of numbers: the number is the ``generation`` of
    `assigned` and `lease`, and with `Numbering.RESOURCE` each resource is a group of its own. ``crashes_are_recorded``
    says that `crashed` is called for each process that dies.

    Raises: RebalanceCheckError for two resources of one name, and for a generation that is missing or too much.
    """

    def __init__(
        self,
        group: str,
        member: str,
        listener: Callable[[Event], None] | None = None,
        *,
        clock: Callable[[], int] = now_ms,
        numbering: Numbering = Numbering.NOTHING,
        crashes_are_recorded: bool = True,
    ) -> None:
        self.group = group
        self.member = member
        self._listener = listener
        self._clock = clock
        self._numbering = Numbering(numbering)
        self._crashes_are_recorded = crashes_are_recorded
        self._resources: dict[Partition, Hashable] = {}
        self._generations: dict[str, int] = {}
        self._leases: dict[Partition, int] = {}
        self._recorders: dict[str, Recorder] = {}
        self._events: list[Event] = []
        self._at_ms: int | None = None

    @property
    def without(self) -> tuple[str, ...]:
        """The argument ``without`` of `rebalance_check.judge`, so that only claims that are sound here are judged."""
        lacking: list[str] = [Feature.LEADER, Feature.SYNC_GROUP]
        if self._numbering is Numbering.NOTHING:
            lacking.append(Feature.GENERATIONS)
            lacking += [] if self._crashes_are_recorded else [MemberCrashed.__name__]
        return tuple(map(str, lacking))

    def started(self) -> list[Event]:
        """The process started and holds nothing."""
        self._leases.clear()
        return self._of_the_process(lambda: MemberStarted(member=self.member))

    def left(self) -> list[Event]:
        """The process ended in an orderly way, and holds nothing any more."""
        return self._of_the_process(lambda: MemberLeft(member=self.member), is_last=True)

    def crashed(self, member: str = "") -> list[Event]:
        """The process of this member, or of another ``member``, was seen to be dead."""
        return self._of_the_process(lambda: MemberCrashed(member=member or self.member), is_last=not member)

    def assigned(self, resources: Iterable[Hashable], generation: int | None = None) -> list[Event]:
        """The member holds these, too; with ``generation``, all that it holds in the group is of that one now."""
        with self._recording() as events:
            self._grant(self._named(resources), generation)
        return events

    def revoked(self, resources: Iterable[Hashable]) -> list[Event]:
        """The member gave these up while they were its own."""
        with self._recording() as events:
            self._give_up(PartitionsRevoked, self._named(resources))
        return events

    def lost(self, resources: Iterable[Hashable]) -> list[Event]:
        """These were gone already when the member learned of it."""
        with self._recording() as events:
            self._give_up(PartitionsLost, self._named(resources))
        return events

    def lease(self, resources: Iterable[Hashable], duration_ms: int, generation: int | None = None) -> list[Event]:
        """The member holds these for so long from now, or for so much longer than now.

        They are lost when the time is over by its clock, as the next call records, with the time when it was over.
        """
        names = self._named(resources)
        with self._recording() as events:
            held = [name for name in names if name in self._leases]
            renumbered = [name for name in held if generation not in (None, self._generation(self._group_of(name)))]
            self._give_up(PartitionsRevoked, renumbered)
            granted = [name for name in names if name not in held or name in renumbered]
            if granted:
                self._grant(granted, generation)
            self._leases |= dict.fromkeys(names, self._clock() + duration_ms)
        return events

    def look(self) -> list[Event]:
        """Record the leases that are over by now."""
        with self._recording() as events:
            pass
        return events

    def committed(self, resource: Hashable, offset: int, error: str | None = "NONE") -> list[Event]:
        """The progress of a resource was stored, or refused with ``error``; None where no answer says so."""
        (name,) = self._named([resource])
        with self._recording() as events:
            group = self._group_of(name)
            self._recorder(group).emit(
                OffsetCommitted(
                    member=self.member, generation=self._generation(group), member_id=self.member, partition=name,
                    offset=offset, error=error,
                )
            )  # fmt: skip
        return events

    # ------------------------------------------------------------------------------------------------ recording

    @contextmanager
    def _recording(self) -> Iterator[list[Event]]:
        """Collects the events recorded inside; grants that are over are recorded first."""
        events: list[Event] = []
        self._events = events
        self._expire()
        yield events

    def _expire(self) -> None:
        now = self._clock()
        over = sorted({until for until in self._leases.values() if until <= now})
        for until in over:
            self._at_ms = until
            self._give_up(PartitionsLost, sorted(name for name, end in self._leases.items() if end == until))
        self._at_ms = None

    def _grant(self, names: list[Partition], generation: int | None) -> None:
        if (generation is None) is not (self._numbering is Numbering.NOTHING):
            raise RebalanceCheckError(
                f"{self.member} is granted {', '.join(names) or 'nothing'} in generation {generation}, and the "
                f"coordinator numbers {self._numbering}: give the number of the grant, or say what is numbered "
                "(Vocabulary(..., numbering=...))"
            )
        for group, members in self._by_group(names).items() if names else [(self.group, names)]:
            self._generations[group] = ONE_GENERATION if generation is None else generation
            self._emit(PartitionsAssigned, group, members)

    def _give_up(self, kind: type[PartitionsRevoked | PartitionsLost], names: list[Partition]) -> None:
        for group, members in self._by_group(names).items():
            self._emit(kind, group, members)
        for name in names:
            self._leases.pop(name, None)

    def _emit(
        self, kind: type[PartitionsAssigned | PartitionsRevoked | PartitionsLost], group: str, names: list[Partition]
    ) -> None:
        generation = self._generation(group)
        self._recorder(group).emit(
            kind(member=self.member, generation=generation, member_id=self.member, partitions=tuple(names))
        )

    def _of_the_process(self, make: Callable[[], MemberEvent], *, is_last: bool = False) -> list[Event]:
        with self._recording() as events:
            self._recorder(self.group)
            for recorder in list(self._recorders.values()):
                recorder.emit(make())
        if is_last:
            self._leases.clear()
        return events

    def _recorder(self, group: str) -> Recorder:
        found = self._recorders.get(group)
        if found is None:
            first = self._listener.next_number(group, self.member) if isinstance(self._listener, HistoryFile) else 0
            found = self._recorders[group] = SharedRecorder(group, self.member, self._now, self._note, first)
            if group != self.group:
                found.emit(MemberStarted(member=self.member))
        return found

    def _note(self, event: Event) -> None:
        self._events.append(event)
        if self._listener is not None:
            self._listener(event)

    def _now(self) -> int:
        return self._clock() if self._at_ms is None else self._at_ms

    # ------------------------------------------------------------------------------------------------ names

    def _named(self, resources: Iterable[Hashable]) -> list[Partition]:
        return sorted({self._name(resource) for resource in resources})

    def _name(self, resource: Hashable) -> Partition:
        match resource:
            case str():
                name = Partition(resource)
            case int():
                name = partition(self.group, resource)
            case (str(topic), int(index)):
                name = partition(topic, index)
            case _:
                name = Partition(str(resource))
        known = self._resources.setdefault(name, resource)
        if known != resource:
            raise RebalanceCheckError(
                f"the resources {known!r} and {resource!r} are both called {name!r}: give them as texts that differ"
            )
        return name

    def _group_of(self, name: Partition) -> str:
        return f"{self.group}/{name}" if self._numbering is Numbering.RESOURCE else self.group

    def _by_group(self, names: list[Partition]) -> dict[str, list[Partition]]:
        groups: dict[str, list[Partition]] = {}
        for name in names:
            groups.setdefault(self._group_of(name), []).append(name)
        return groups

    def _generation(self, group: str) -> int:
        return self._generations.get(group, ONE_GENERATION)
