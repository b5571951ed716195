"""What a live member shows, as events: its callbacks, its membership between two polls, its commits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.live.clients.consumer import UNKNOWN_NODE, Committed, Membership
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    CoordinatorFound,
    Event,
    MembershipLost,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION

Partitions = Iterable[tuple[str, int]]
"""Topics and indexes, in any order."""


def names(partitions: Partitions) -> tuple[str, ...]:
    """Kafka's names of partitions (``t-0``), sorted."""
    return tuple(sorted(f"{topic}-{index}" for topic, index in partitions))


class Observer:
    """A client's adapter notifies it of what happens; ``membership`` is asked for the consumer's place in the group."""

    def __init__(self, member: str, recorder: Recorder) -> None:
        self.member = member
        self.membership: Callable[[], Membership] = Membership
        self._recorder = recorder
        self._noted = Membership()
        self._coordinator = UNKNOWN_NODE

    @property
    def recorder(self) -> Recorder:
        """Where its events go; a member of ours records what it does itself."""
        return self._recorder

    def emit(self, event: Event) -> None:
        """Record an event."""
        self._recorder.emit(event)

    def assigned(self, partitions: Partitions) -> None:
        """The client called back: these partitions are added to what it owns."""
        now = self._look()
        self.emit(
            PartitionsAssigned(
                member=self.member, generation=now.generation, member_id=now.member_id, partitions=names(partitions)
            )
        )

    def revoked(self, partitions: Partitions) -> None:
        """The client called back: these are given up. EAGER clients do so with nothing, which is no event."""
        now = self._look()
        if given_up := names(partitions):
            self.emit(
                PartitionsRevoked(
                    member=self.member, generation=now.generation, member_id=now.member_id, partitions=given_up
                )
            )

    def lost(self, partitions: Partitions) -> None:
        """The client called back: these are gone already, and with them the membership."""
        self._lose()
        now = self._see()
        self.emit(
            PartitionsLost(
                member=self.member, generation=now.generation, member_id=now.member_id, partitions=names(partitions)
            )
        )

    def computed(
        self,
        protocol: str,
        claims: Mapping[str, Partitions],
        assignments: Mapping[str, Partitions],
        generations: Mapping[str, int],
    ) -> None:
        """As the leader, it computed the assignment: what each member id claimed (in which generation, -1 for
        unknown), and what it gets."""
        now = self._see()
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
        if now.settled and now.generation != self._noted.generation:
            self._noted = now
            self.emit(
                AssignmentCompleted(
                    member=self.member, generation=now.generation, member_id=now.member_id, owned=owned()
                )
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

    def _look(self) -> Membership:
        """The same; that it is lost is an event, too."""
        now = self._see()
        if now.generation == NO_GENERATION:
            self._lose()
        return now

    def _lose(self) -> None:
        if self._noted.generation != NO_GENERATION:
            # The consumer does not tell why: its heartbeat thread got an answer, or its own poll timer ran out.
            self.emit(
                MembershipLost(
                    member=self.member,
                    generation=self._noted.generation,
                    member_id=self._noted.member_id,
                    reason="not notified",
                )
            )
            self._noted = Membership()
