"""A consumer as events: its callbacks, its membership between two polls, its commits, its end.

Every client library says the same through its adapter, in live runs and in applications. Facts hidden by a library
stay unknown. The events of a rebalance are recorded when the consumer shows it: a generation with its first callback
or after the poll in which it began, and before its SyncGroup where the requests are recorded, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import RLock
from typing import Final

from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.recorders.membership import UNKNOWN_NODE, Committed, Membership
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    CoordinatorFound,
    Event,
    MemberJoined,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    SubscriptionChanged,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.views.client import NOT_NOTIFIED

_ENDS_A_MEMBERSHIP: Final = frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID"})

Partitions = Iterable[tuple[str, int]]
"""Topics and indexes, in any order."""


def names(partitions: Partitions) -> tuple[str, ...]:
    """Kafka's names of partitions (``t-0``), sorted."""
    return tuple(sorted(f"{topic}-{index}" for topic, index in partitions))


class Observer:
    """A client's adapter notifies it of each event; ``membership`` is asked for the consumer's place in the group,
    ``topics`` for its subscription (None: unknown)."""

    def __init__(self, member: str, recorder: Recorder) -> None:
        self.member = member
        self.membership: Callable[[], Membership] = Membership
        self.topics: Callable[[], tuple[str, ...] | None] = lambda: None
        self._recorder = recorder
        self._joined = Membership()
        self._lost = Membership()
        self._completed = NO_GENERATION
        self._coordinator = UNKNOWN_NODE
        self._is_leaving = False
        self._topics: tuple[str, ...] | None = None
        self._held: set[str] = set()
        self._why = NOT_NOTIFIED
        self._looking = RLock()

    @property
    def recorder(self) -> Recorder:
        """Where its events go; a member of ours records its own actions."""
        return self._recorder

    def emit(self, event: Event) -> None:
        """Record an event."""
        self._recorder.emit(event)

    def started(self, event: MemberStarted) -> None:
        """The consumer is there, with these settings; from here on a change of its topics is an event."""
        self._topics = event.topics
        self.emit(event)

    def leaving(self) -> None:
        """The consumer begins to close. From here on it is no event that a join completes (it was under way before, and
        the consumer gives up its claims now), nor that the consumer shows no membership any more."""
        self._is_leaving = True

    def left(self) -> None:
        """The consumer is closed."""
        self.emit(MemberLeft(member=self.member))

    def assigned(self, partitions: Partitions) -> None:
        """The client called back: these partitions are added to the owned ones."""
        now = self._look()
        added = names(partitions)
        self._held.update(added)
        self.emit(
            PartitionsAssigned(member=self.member, generation=now.generation, member_id=now.member_id, partitions=added)
        )

    def revoked(self, partitions: Partitions) -> None:
        """The client called back: these are given up. EAGER clients do so with nothing, which is no event."""
        self._give_up(names(partitions))

    def unsubscribing(self) -> None:
        """The application unsubscribes, and the client will not call back for its partitions."""
        self._note_topics(())
        self._give_up(tuple(sorted(self._held)))

    def lost(self, partitions: Partitions) -> None:
        """The client called back: these are gone already, and with them the membership."""
        self._lose()
        now = self._see()
        gone = names(partitions)
        self._held.difference_update(gone)
        self.emit(
            PartitionsLost(member=self.member, generation=now.generation, member_id=now.member_id, partitions=gone)
        )

    def _give_up(self, given_up: tuple[str, ...]) -> None:
        now = self._look()
        self._held.difference_update(given_up)
        if given_up:
            self.emit(
                PartitionsRevoked(
                    member=self.member, generation=now.generation, member_id=now.member_id, partitions=given_up
                )
            )

    def computed(
        self,
        protocol: str,
        claims: Mapping[str, Partitions],
        assignments: Mapping[str, Partitions],
        generations: Mapping[str, int],
    ) -> None:
        """As the leader, it computed the assignment: the claims of each member id (in which generation, -1 for
        unknown), and its partitions."""
        now = self._look()
        self.emit(
            AssignmentComputed(
                member=self.member,
                generation=now.generation,
                member_id=now.member_id,
                protocol=protocol,
                owned_partitions=tuple((member_id, names(claims[member_id])) for member_id in sorted(claims)),
                owned_generations=tuple((member_id, generations[member_id]) for member_id in sorted(claims)),
                assignments=tuple((member_id, names(assignments[member_id])) for member_id in sorted(claims)),
            )
        )

    def after_poll(self, owned: Callable[[], tuple[str, ...]]) -> None:
        """Note a rebalance that completed, or a membership that was lost, since the last time."""
        now = self._look()
        if now.settled and now.generation not in (self._completed, NO_GENERATION):
            self._completed = now.generation
            held = owned()
            self._held = set(held)
            self.emit(
                AssignmentCompleted(member=self.member, generation=now.generation, member_id=now.member_id, owned=held)
            )

    def committed(self, outcomes: Iterable[Committed], sent: Membership) -> None:
        """A commit in the membership ``sent`` ended so."""
        for partition, offset, error in outcomes:
            self.emit(
                OffsetCommitted(
                    member=self.member,
                    generation=sent.generation,
                    member_id=sent.member_id,
                    partition=partition,
                    offset=offset,
                    error=error,
                )
            )

    def _see(self) -> Membership:
        """The membership now, before anything is said of it: another coordinator is an event of its own."""
        now = self.membership()
        if now.coordinator not in (UNKNOWN_NODE, self._coordinator):
            self._coordinator = now.coordinator
            self.emit(CoordinatorFound(member=self.member, node=now.coordinator))
        return now

    def refused(self, error: str) -> None:
        """A request of the client was answered with this error: those that end a membership are why it is lost next."""
        if error in _ENDS_A_MEMBERSHIP:
            self._why = error

    def joined(self) -> None:
        """The client has taken up a generation, maybe once more; it shows that by now, and has not synced yet."""
        with self._looking:
            before, now = self._joined, self._look_now()
            if _is_member(now) and _is_same(before, now):
                self.emit(MemberJoined(member=self.member, generation=now.generation, member_id=now.member_id))

    def _look(self) -> Membership:
        """The same; a new generation, the loss of the membership and other topics are events, too.

        One thread looks at a time: it sees nothing older than another has seen.
        """
        with self._looking:
            return self._look_now()

    def _look_now(self) -> Membership:
        now = self._see()
        if self._is_leaving:
            return now if _is_member(now) else self._joined
        self._look_at_topics()
        if now.generation == NO_GENERATION or _is_another_member(now, self._joined):
            self._lose()
        if _is_member(now) and not any(_is_same(now, known) for known in (self._joined, self._lost)):
            self._joined, self._lost, self._why = now, Membership(), NOT_NOTIFIED
            self.emit(MemberJoined(member=self.member, generation=now.generation, member_id=now.member_id))
        return now

    def _look_at_topics(self) -> None:
        if self._topics is not None:
            self._note_topics(self.topics())

    def _note_topics(self, topics: tuple[str, ...] | None) -> None:
        if topics is not None and topics != self._topics:
            self._topics = topics
            self.emit(SubscriptionChanged(member=self.member, topics=topics))

    def _lose(self) -> None:
        if self._joined.generation != NO_GENERATION:
            # The consumer does not tell why: a request was refused, which only some recorders see, or its own poll
            # timer ran out.
            self.emit(
                MembershipLost(
                    member=self.member,
                    generation=self._joined.generation,
                    member_id=self._joined.member_id,
                    reason=self._why,
                )
            )
            # Some libraries go on showing the membership that they lost until they have another one.
            self._joined, self._lost, self._completed = Membership(), self._joined, NO_GENERATION


def _is_member(now: Membership) -> bool:
    """Some libraries show a generation without a member id while they leave."""
    return now.generation != NO_GENERATION and bool(now.member_id)


def _is_same(one: Membership, other: Membership) -> bool:
    return (one.generation, one.member_id) == (other.generation, other.member_id)


def _is_another_member(now: Membership, before: Membership) -> bool:
    return bool(now.member_id and before.member_id) and now.member_id != before.member_id
