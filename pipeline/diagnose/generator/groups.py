"""One generated group: its members, its rebalances as the broker logs and records them, its commits.

The sentences are those of Kafka 3.x (``GroupCoordinator``, KIP-800).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Final
from uuid import UUID

from rebalance_check.impl.coordinator.records import GroupRecord, MemberRecord
from rebalance_check.impl.protocol.consumer_protocol import (
    Assignment,
    Subscription,
    write_assignment,
    write_subscription,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition

SESSION_MS: Final = 45_000
REBALANCE_MS: Final = 300_000
ASSIGNOR: Final = "cooperative-sticky"
CLOSED: Final = "the consumer is being closed"
POLL_TIMEOUT: Final = "consumer poll timeout has expired."


@dataclass(frozen=True, slots=True)
class Member:
    """A process in the group. ``instance`` is empty for a dynamic member."""

    id: str
    client: str
    host: str
    instance: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of the broker's log."""

    time_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class Stored:
    """A record of the group; from then on these partitions get commits."""

    time_ms: int
    record: GroupRecord
    commits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SetBack:
    """From then on the commits of a partition are lower."""

    time_ms: int
    partition: int
    by: int


@dataclass(slots=True)
class GroupScript:
    """The group's happenings in order. ``now`` is the time of the last one."""

    name: str
    topic: str
    partitions: int
    offsets_partition: int
    rng: Random
    now: int
    members: list[Member] = field(default_factory=list)
    generation: int = 0
    lines: list[Line] = field(default_factory=list)
    stored: list[Stored | SetBack] = field(default_factory=list)

    def say(self, text: str) -> None:
        """A line of the broker's log, now."""
        self.lines.append(Line(self.now, f"[GroupCoordinator 1]: {text} (kafka.coordinator.group.GroupCoordinator)"))

    def later(self, ms: int) -> None:
        """Let time pass."""
        self.now += ms

    def new_member(self, client: str, instance: str = "") -> Member:
        """A member with an id of its own."""
        uuid = UUID(int=self.rng.getrandbits(128), version=4)
        number = int(client.rpartition("-")[2])
        return Member(f"{instance or client}-{uuid}", client, f"/10.0.{number // 250}.{number % 250 + 1}", instance)

    # -------------------------------------------------------------------------------------------------- memberships

    def start(self, count: int, instance: str = "") -> None:
        """The first members join a group that is empty."""
        self.members = [
            self.new_member(f"{self.name}-{number}", f"{instance}-{number}" if instance else "")
            for number in range(count)
        ]
        first = self.members[0]
        self.prepare(f"Adding new member {first.id} with group instance id {_option(first)}; client reason: not "
                     "provided")  # fmt: skip
        self.complete(join_ms=3_000 + 200 * count)

    def join(self, client: str, join_ms: int = 900) -> Member:
        """A new member, and the rebalance of its join."""
        member = self.new_member(client)
        self.say(f"Dynamic member with unknown member id joins group {self.name} in Stable state. Created a new member "
                 f"id {member.id} and request the member to rejoin with this id.")  # fmt: skip
        self.later(4)
        self.prepare(f"Adding new member {member.id} with group instance id None; client reason: need to re-join with "
                     f"the given member-id: {member.id}")  # fmt: skip
        self.members.append(member)
        self.complete(join_ms)
        return member

    def leave(self, member: Member, reason: str = CLOSED, join_ms: int = 900) -> None:
        """A LeaveGroup, and its rebalance."""
        self.members.remove(member)
        self.prepare(f"Removing member {member.id} on LeaveGroup; client reason: {reason}")
        metadata = (f"memberId={member.id}, groupInstanceId={_option(member)}, clientId={member.client}, clientHost="
                    f"{member.host}, sessionTimeoutMs={SESSION_MS}, rebalanceTimeoutMs={REBALANCE_MS}, "
                    f"supportedProtocols=List({ASSIGNOR})")  # fmt: skip
        self.say(f"Member MemberMetadata({metadata}) has left group {self.name} through explicit `LeaveGroup`; client "
                 f"reason: {reason}")  # fmt: skip
        self.complete(join_ms)

    def replace(self, old: Member) -> Member:
        """Another process takes the instance id; the process before it goes on, and is fenced."""
        new = self.new_member(old.client, old.instance)
        self.members[self.members.index(old)] = new
        self.say(f"Static member with groupInstanceId={old.instance} and unknown member id joins group {self.name} in "
                 f"Stable state. Replacing previously mapped member {old.id} with this groupInstanceId.")  # fmt: skip
        self.later(5)
        self.store(self.assigned())
        self.later(2_900)
        self.say(f"Request memberId={old.id} for static member with groupInstanceId={old.instance} is fenced by "
                 f"current memberId={new.id} during operation heartbeat")  # fmt: skip
        return new

    # --------------------------------------------------------------------------------------------------- rebalances

    def prepare(self, reason: str) -> None:
        """The join phase begins."""
        self.say(f"Preparing to rebalance group {self.name} in state PreparingRebalance with old generation "
                 f"{self.generation} (__consumer_offsets-{self.offsets_partition}) (reason: {reason})")  # fmt: skip

    def complete(self, join_ms: int, assigned: dict[str, list[int]] | None = None) -> None:
        """The join phase ends, and the leader's assignment arrives."""
        self.later(join_ms)
        self.generation += 1
        where = f"(__consumer_offsets-{self.offsets_partition})"
        if not self.members:
            self.say(f"Group {self.name} with generation {self.generation} is now empty {where}")
            self.store({})
            return
        count = len(self.members)
        self.say(f"Stabilized group {self.name} generation {self.generation} {where} with {count} members")
        self.later(self.rng.randint(5, 60))
        static = sum(bool(one.instance) for one in self.members)
        self.say(f"Assignment received from leader {self.members[0].id} for group {self.name} for generation "
                 f"{self.generation}. The group has {count} members, {static} of which are static.")  # fmt: skip
        self.store(self.assigned() if assigned is None else assigned)

    def assigned(self) -> dict[str, list[int]]:
        """The partitions in equal parts, in the order of the members."""
        count = len(self.members)
        return {
            one.id: list(range(place * self.partitions // count, (place + 1) * self.partitions // count))
            for place, one in enumerate(self.members)
        }

    def store(self, assigned: dict[str, list[int]]) -> None:
        """The record of the generation."""
        subscription = write_subscription(Subscription(topics=(self.topic,), generation=self.generation), 3)
        members = tuple(
            MemberRecord(
                member_id=one.id, group_instance_id=one.instance or None, client_id=one.client, client_host=one.host,
                rebalance_timeout_ms=REBALANCE_MS, session_timeout_ms=SESSION_MS, subscription=subscription,
                assignment=write_assignment(Assignment(partitions=self._named(assigned[one.id])), 3),
            )
            for one in self.members
        )  # fmt: skip
        record = GroupRecord(
            group_id=self.name, generation=self.generation, protocol_type="consumer", timestamp_ms=self.now - 1,
            protocol_name=ASSIGNOR if members else None, leader=members[0].member_id if members else None,
            members=members,
        )  # fmt: skip
        owned = sorted({number for numbers in assigned.values() for number in numbers})
        self.stored.append(Stored(self.now, record, tuple(owned)))

    def set_back(self, partition: int, by: int) -> None:
        """From now on the commits of a partition are lower."""
        self.stored.append(SetBack(self.now, partition, by))

    def _named(self, numbers: Iterable[int]) -> tuple[TopicPartition, ...]:
        return tuple(TopicPartition(self.topic, number) for number in numbers)


def _option(member: Member) -> str:
    return f"Some({member.instance})" if member.instance else "None"
