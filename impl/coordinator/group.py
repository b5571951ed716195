"""The state of one classic group and its pure questions and updates (``ClassicGroup``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from rebalance_check.impl.coordinator.hash_order import Choices
from rebalance_check.impl.coordinator.member import GroupMember, ParkedJoin, rebalance_timeout_ms
from rebalance_check.impl.coordinator.offset_ledger import OffsetLedger
from rebalance_check.impl.coordinator.status import assert_legal
from rebalance_check.impl.protocol.consumer_protocol import PROTOCOL_TYPE, read_topics
from rebalance_check.impl.protocol.java_order import hash_map_order
from rebalance_check.impl.protocol.messages import JoinedMember, JoinGroupRequest, JoinProtocol
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus


@dataclass(slots=True, kw_only=True)
class Group:
    """Everything the coordinator knows of a group; ``members`` stand in order of admission.

    ``pending_join`` holds the ids handed out with MEMBER_ID_REQUIRED and not used yet, ``pending_sync`` the members
    that owe a SyncGroup for this generation. ``new_member_added`` prolongs the initial rebalance delay.
    ``is_created`` is False until the group's first record is committed. ``subscribed_topics`` are those of the present
    generation, None where the coordinator cannot read them.
    """

    group_id: str
    incarnation: int
    status: GroupStatus = GroupStatus.EMPTY
    previous_status: GroupStatus = GroupStatus.DEAD
    status_since_ms: int = 0
    generation: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str | None = None
    members: dict[str, GroupMember] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    pending_join: set[str] = field(default_factory=set)
    pending_sync: set[str] = field(default_factory=set)
    awaiting_join_count: int = 0
    supported: dict[str, int] = field(default_factory=dict)
    new_member_added: bool = False
    is_created: bool = True
    subscribed_topics: frozenset[str] | None = None
    offsets: OffsetLedger = field(default_factory=OffsetLedger)

    # ---------------------------------------------------------------------------------------------- questions

    def validate_member(self, member_id: str, group_instance_id: str | None) -> Error:
        """Whether a request may name a member: NONE, UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID (``validateMember``)."""
        if group_instance_id is not None:
            holder = self.static_members.get(group_instance_id)
            if holder is None:
                return Error.UNKNOWN_MEMBER_ID
            if holder != member_id:
                return Error.FENCED_INSTANCE_ID
        return Error.NONE if member_id in self.members else Error.UNKNOWN_MEMBER_ID

    def can_rebalance(self) -> bool:
        """Whether a rebalance may start from here: any status but PreparingRebalance and Dead."""
        return self.status in {GroupStatus.EMPTY, GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE}

    def has_all_members_joined(self) -> bool:
        """Whether every member waits in JoinGroup and no id is pending: pending ids hold the join phase open."""
        return len(self.members) == self.awaiting_join_count and not self.pending_join

    def is_consumer_group(self) -> bool:
        """Whether the members speak the protocol of consumers, which the coordinator reads a little of."""
        return self.protocol_type == PROTOCOL_TYPE

    def is_subscribed(self, topic: str) -> bool:
        """Whether a member may consume ``topic`` (``isSubscribedToTopic``): yes while subscriptions cannot be read."""
        if not self.is_consumer_group():
            return False
        return self.subscribed_topics is None or topic in self.subscribed_topics

    def read_subscriptions(self) -> frozenset[str] | None:
        """The topics of all members (``computeSubscribedTopics``); None where they cannot be read."""
        if not self.is_consumer_group() or (self.members and self.protocol_name is None):
            return None
        try:
            return frozenset(
                topic for member in self.members.values() for topic in read_topics(member.metadata(self.protocol_name))
            )
        except MalformedBytes:
            return None

    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the present members, in ms; at least 0, also without members."""
        return max((0, *(member.rebalance_timeout_ms for member in self.members.values())))

    def supports_protocols(self, protocol_type: str, protocols: tuple[JoinProtocol, ...]) -> bool:
        """The protocol check: the same type, and one of the names listed by every member (``supportsProtocols``)."""
        if self.status is GroupStatus.EMPTY:
            return bool(protocol_type) and bool(protocols)
        return protocol_type == self.protocol_type and any(
            self.supported.get(protocol.name, 0) == len(self.members) for protocol in protocols
        )

    def select_protocol(self, choices: Choices) -> str:
        """The vote: each member votes for its first name that all list; most votes win (``selectProtocol``)."""
        votes = Counter(self._vote(member) for member in self.members.values())
        most = max(votes.values())
        tied = [name for name, count in votes.items() if count == most]
        return choices.protocol(self._in_order_of_votes(tied)) if len(tied) > 1 else tied[0]

    def _vote(self, member: GroupMember) -> str:
        """The first name that all list. One that a member lists twice counts twice, as in Kafka, and so is none of all;
        where a member is left without any, which Kafka does not survive, its first name."""
        names = member.protocol_names()
        return next((name for name in names if self.supported.get(name) == len(self.members)), names[0])

    def _in_order_of_votes(self, tied: Collection[str]) -> list[str]:
        """The names as Java iterates over its map of votes, which it fills in the order of its map of members."""
        votes = hash_map_order(self._vote(self.members[member_id]) for member_id in hash_map_order(self.members))
        return [name for name in votes if name in tied]

    def joined_members(self) -> tuple[JoinedMember, ...]:
        """All members with their metadata under the selected protocol: as the leader's JoinGroup reply lists them."""
        return tuple(
            JoinedMember(member.member_id, member.metadata(self.protocol_name), member.group_instance_id)
            for member in self.members.values()
        )

    # ---------------------------------------------------------------------------------------------- updates

    def move_to(self, target: GroupStatus, now_ms: int) -> None:
        """Change status. Raises `IllegalTransition` for a move that the protocol does not know."""
        assert_legal(self.group_id, self.status, target)
        self.previous_status, self.status, self.status_since_ms = self.status, target, now_ms

    def add(self, member: GroupMember) -> None:
        """Admit ``member``: the first one sets the protocol type, and leads a leaderless group."""
        if not self.members:
            self.protocol_type = member.protocol_type
        self.members[member.member_id] = member
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        if self.leader is None:
            self.leader = member.member_id
        self.pending_join.discard(member.member_id)
        self._count(member, +1)

    def remove(self, member_id: str, choices: Choices) -> GroupMember:
        """Drop a member; when it led, another one leads. Its parked requests go with it, unanswered."""
        member = self.members.pop(member_id)
        if member.group_instance_id is not None:
            self.static_members.pop(member.group_instance_id, None)
        self.unpark_join(member)
        self._count(member, -1)
        self.pending_join.discard(member_id)
        self.pending_sync.discard(member_id)
        if self.leader == member_id:
            self.leader = choices.leader(tuple(self.members)) if self.members else None
        return member

    def replace_id(self, old_id: str, new_id: str) -> GroupMember:
        """Give a static member the id ``new_id``; `pending_sync` keeps the old id, as Kafka's does."""
        member = self.members[old_id]
        self.members = {new_id if key == old_id else key: value for key, value in self.members.items()}
        member.member_id = new_id
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = new_id
        if self.leader == old_id:
            self.leader = new_id
        return member

    def update(self, member: GroupMember, request: JoinGroupRequest) -> None:
        """Take protocols and timeouts from a JoinGroup of a present member."""
        self.set_terms(member, request.protocols, rebalance_timeout_ms(request), request.session_timeout_ms)

    def set_terms(
        self, member: GroupMember, protocols: tuple[JoinProtocol, ...], rebalance_timeout: int, session_timeout: int
    ) -> None:
        """Set protocols, rebalance and session timeout (ms) of a present member."""
        self._count(member, -1)
        member.protocols = protocols
        member.rebalance_timeout_ms = rebalance_timeout
        member.session_timeout_ms = session_timeout
        self._count(member, +1)

    def park_join(self, member: GroupMember, parked: ParkedJoin) -> None:
        """Let a JoinGroup wait; one that already waits is overwritten and never answered."""
        if member.awaiting_join is None:
            self.awaiting_join_count += 1
        member.awaiting_join = parked

    def unpark_join(self, member: GroupMember) -> ParkedJoin | None:
        """Take out the waiting JoinGroup, if any."""
        parked, member.awaiting_join = member.awaiting_join, None
        if parked is not None:
            self.awaiting_join_count -= 1
        return parked

    def _count(self, member: GroupMember, step: int) -> None:
        for name in member.protocol_names():
            self.supported[name] = self.supported.get(name, 0) + step
