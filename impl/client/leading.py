"""The leader's part of a consumer group: compute all members' assignments, and watch the inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from rebalance_check.impl.assignors.assignor import Assignments, Assignor, Racks, with_user_data
from rebalance_check.impl.client.committing import Committing
from rebalance_check.impl.protocol.consumer_protocol import (
    Subscription,
    read_assignment,
    read_claimed_generation,
    read_subscription,
    write_assignment,
)
from rebalance_check.impl.protocol.messages import JoinedMember
from rebalance_check.impl.protocol.sticky_user_data import StickyClaim, read_sticky
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import AssignmentComputed
from rebalance_check.model.vocabulary.ids import NO_GENERATION

_VALIDATES_ITSELF: Final = "cooperative-sticky"
_REMEMBERS: Final = "sticky"


Snapshot = Mapping[str, int | tuple[frozenset[str], ...]]
"""Of each topic of the group the number of partitions, or the racks of their replicas."""


class Leading(Committing):
    """``ConsumerCoordinator.onLeaderElected`` and the memory that leadership leaves behind."""

    protocol: RebalanceProtocol
    assignors: Mapping[str, Assignor]
    partitions_per_topic: Mapping[str, int]
    racks: Racks | None
    rack: str | None
    _assigned_from: Snapshot | None = None
    _group_topics: frozenset[str]

    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[JoinedMember]) -> Mapping[str, bytes]:
        """Run the selected assignor over the members' subscriptions.

        Raises: `MalformedBytes` for an unreadable subscription, `RebalanceCheckError` for an unknown assignor.
        """
        subscriptions = _subscriptions(members)
        self._watch(subscriptions)
        assignor = self.assignors.get(protocol)
        if assignor is None:
            raise RebalanceCheckError(f"the group selected {protocol!r}, which its leader {leader_id} does not have")
        given = with_user_data(assignor.assign(self.partitions_per_topic, subscriptions, self.racks))
        assigned = {member: one.partitions for member, one in given.items()}
        if self.protocol is RebalanceProtocol.COOPERATIVE and assignor.name != _VALIDATES_ITSELF:
            _validate_cooperative(subscriptions, assigned, assignor.name)
        self._emit_assignment(protocol, subscriptions, assigned)
        return {member: write_assignment(one) for member, one in given.items()}

    def on_assignment_skipped(self, members: Sequence[JoinedMember]) -> None:
        """Watch from now on; a change while the leader was away goes unnoticed."""
        self._watch(_subscriptions(members))

    def assigned_topics_changed(self) -> bool:
        """Whether the member leads and its assignment was computed from other partition counts than it knows now."""
        return self._assigned_from is not None and self._assigned_from != self._snapshot()

    def stop_leading(self) -> None:
        """Forget the last round; the leader of the next one watches."""
        self._assigned_from = None
        self._group_topics = frozenset()

    def describe_metadata(self, metadata: bytes) -> tuple[str, ...]:
        """The names of the claimed partitions."""
        try:
            return tuple(tp.name for tp in read_subscription(metadata).owned)
        except MalformedBytes:
            return ()

    def describe_claimed_generation(self, metadata: bytes) -> int | None:
        """The generation of the claimed partitions."""
        try:
            return read_claimed_generation(metadata)
        except MalformedBytes:
            return None

    def describe_assignment(self, assignment: bytes) -> tuple[str, ...]:
        """The names of the assigned partitions, sorted."""
        try:
            return _sorted_names(read_assignment(assignment).partitions)
        except MalformedBytes:
            return ()

    def _watch(self, subscriptions: Mapping[str, Subscription]) -> None:
        self._group_topics = frozenset(topic for one in subscriptions.values() for topic in one.topics)
        self._assigned_from = self._snapshot()

    def _snapshot(self) -> Snapshot:
        """The inputs of an assignment: where the replicas are counts only for a member that has a rack itself."""
        counts = {topic: n for topic, n in self.partitions_per_topic.items() if topic in self._group_topics}
        if self.rack is None or self.racks is None:
            return dict(counts)
        return {topic: tuple(frozenset(each) for each in self.racks.get(topic, ())) for topic in counts}

    def _emit_assignment(self, protocol: str, subscriptions: Mapping[str, Subscription], assigned: Assignments) -> None:
        generation = self.generation()
        said = _remembered(subscriptions) if protocol == _REMEMBERS else {}
        self.recorder.emit(
            AssignmentComputed(
                member=self.member,
                generation=generation.generation_id,
                member_id=generation.member_id,
                protocol=protocol,
                owned_partitions=tuple((member, _sorted_names(one.owned)) for member, one in subscriptions.items()),
                owned_generations=tuple(
                    (member, NO_GENERATION if one.generation is None else one.generation)
                    for member, one in subscriptions.items()
                ),
                assignments=tuple((member, _sorted_names(given)) for member, given in assigned.items()),
                remembered_partitions=tuple((member, _sorted_names(one.partitions)) for member, one in said.items()),
                remembered_generations=tuple(
                    (member, NO_GENERATION if one.generation is None else one.generation)
                    for member, one in said.items()
                ),
                wanted_topics=tuple((member, tuple(sorted(one.topics))) for member, one in subscriptions.items()),
            )
        )


def _subscriptions(members: Sequence[JoinedMember]) -> dict[str, Subscription]:
    return {
        member.member_id: replace(read_subscription(member.metadata), group_instance_id=member.group_instance_id)
        for member in sorted(members, key=lambda member: member.member_id)
    }


def _remembered(subscriptions: Mapping[str, Subscription]) -> dict[str, StickyClaim]:
    """Each member's own account of its last assignment; bytes that cannot be read give none."""
    said = {}
    for member, one in subscriptions.items():
        with suppress(MalformedBytes):
            said[member] = read_sticky(one.user_data)
    return said


def _validate_cooperative(subscriptions: Mapping[str, Subscription], assigned: Assignments, name: str) -> None:
    """Nothing may go to a new owner in the round in which its old owner still claims it."""
    claims = {member: set(one.owned) for member, one in subscriptions.items()}
    added = {tp for member, given in assigned.items() for tp in given if tp not in claims[member]}
    revoked = {tp for member, owned in claims.items() for tp in owned if tp not in assigned[member]}
    if moved := sorted(added & revoked):
        raise RebalanceCheckError(
            f"the assignor {name!r} moves {moved[0].name} straight from one COOPERATIVE owner to the next: "
            "it must withhold it for one round, or support EAGER only"
        )


def _sorted_names(partitions: Sequence[TopicPartition]) -> tuple[str, ...]:
    return tuple(tp.name for tp in sorted(partitions))
