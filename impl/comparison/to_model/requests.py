"""The requests of the model's members as real ones: fields that the model's messages leave out are remembered here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rebalance_check.impl.comparison.to_model.answers import ASSIGNORS, TOPIC, member_of
from rebalance_check.impl.comparison.to_model.transport import SIDE_CONNECTION
from rebalance_check.impl.protocol.consumer_protocol import (
    PROTOCOL_TYPE,
    Assignment,
    Subscription,
    write_assignment,
    write_subscription,
)
from rebalance_check.impl.protocol.messages import (
    CommittedOffset,
    GroupReply,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    OffsetCommitRequest,
    SyncAssignment,
    SyncGroupRequest,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.classic.observer.protocol_names import list_of, protocol_of
from rebalance_check.model.classic.state import Message, MessageKind, State, has
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.ids import NO_GENERATION

GROUP_ID: Final = "group"
SESSION_TIMEOUT_MS: Final = 1_800_000
REBALANCE_TIMEOUT_MS: Final = 1_800_000

JOIN_VERSION_WITH_ID: Final = 9
"""JoinGroup with MEMBER_ID_REQUIRED (KIP-394), and with instance ids and skipAssignment (KIP-345, KIP-814)."""
JOIN_VERSION_WITHOUT_ID: Final = 3
"""The last JoinGroup that admits a new member at once."""
COMMIT_VERSION: Final = 8
OFFSET: Final = 1
"""The offset that is committed does not matter."""
EAGER_SUBSCRIPTION_VERSION: Final = 0
OWNED_SUBSCRIPTION_VERSION: Final = 2


class RequestWriter:
    """Writes the members' requests, with fields that the model omits: ids, and each one's newest JoinGroup reply."""

    __slots__ = ("_bounds", "_group", "_ids", "_leaving", "_newest_id", "_voted")

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._ids = [""] * bounds.members
        self._newest_id = [""] * bounds.members
        self._leaving = [""] * bounds.members
        self._voted = [""] * bounds.members
        self._group: list[tuple[tuple[str, int], ...]] = [()] * bounds.members

    def copy(self) -> RequestWriter:
        """An independent copy."""
        copied = RequestWriter(self._bounds)
        copied._ids, copied._newest_id = [*self._ids], [*self._newest_id]
        copied._leaving, copied._group, copied._voted = [*self._leaving], [*self._group], [*self._voted]
        return copied

    def request(self, m: int, state: State) -> GroupRequest:
        """The request that lies in the slot of ``m``."""
        message = state.member[m].net
        match message.kind:
            case MessageKind.JOIN_REQUEST:
                return self._join(m, message, state)
            case MessageKind.SYNC_REQUEST:
                return self._sync(m, message)
            case MessageKind.HEARTBEAT_REQUEST:
                return self.heartbeat(m, message.generation)
            case MessageKind.COMMIT_REQUEST:
                return self._commit(message.generation, m, message.partitions)
        return self._leave(m)

    def heartbeat(self, m: int, generation: int) -> GroupRequest:
        """A heartbeat of ``m``."""
        return HeartbeatRequest(
            group_id=GROUP_ID,
            version=4,
            generation_id=generation,
            member_id=self._ids[m],
            group_instance_id=self._bounds.instance(m),
        )

    def commit_during_join(self, m: int, generation: int) -> GroupRequest:
        """A commit of ``m`` on another connection."""
        return self._commit(generation, m, 1)

    def outside_commit(self) -> GroupRequest:
        """A commit of a client that is no member."""
        return self._commit(NO_GENERATION, SIDE_CONNECTION, 1)

    def _commit(self, generation: int, m: int, partitions: int) -> GroupRequest:
        offsets = tuple(CommittedOffset(owned.topic, owned.partition, OFFSET) for owned in self._owned(partitions))
        return OffsetCommitRequest(
            group_id=GROUP_ID, version=COMMIT_VERSION, client_id=f"m{m}", generation_id=generation, offsets=offsets,
            member_id="" if m == SIDE_CONNECTION else self._ids[m],
            group_instance_id=None if m == SIDE_CONNECTION else self._bounds.instance(m),
        )  # fmt: skip

    def note_reply(self, m: int, reply: GroupReply, slots: Mapping[str, int]) -> None:
        """Keep the content of a JoinGroup reply; the member learns it when it receives the reply.

        ``slots`` are those of the group's members, by the beginning of their ids.
        """
        if isinstance(reply, JoinGroupReply) and reply.error in {Error.NONE, Error.MEMBER_ID_REQUIRED}:
            self._newest_id[m] = reply.member_id
            self._voted[m] = reply.protocol_name or ""
            ids = (member.member_id for member in reply.members)
            self._group[m] = tuple((each, slots.get(member_of(each), m)) for each in ids)

    def learn(self, m: int, *, has_id: bool) -> None:
        """After a step of ``m`` itself: it holds the id of its newest JoinGroup reply, or none."""
        if has_id:
            self._ids[m] = self._newest_id[m]
        elif self._ids[m]:
            self._leaving[m], self._ids[m] = self._ids[m], ""

    def newest_id(self, m: int) -> str:
        """The id in the newest JoinGroup reply to ``m``, whether it has received it or not."""
        return self._newest_id[m]

    def _join(self, m: int, message: Message, state: State) -> JoinGroupRequest:
        instance = self._bounds.instance(m)
        newest = self._bounds.member_id_required or instance is not None
        return JoinGroupRequest(
            group_id=GROUP_ID,
            version=JOIN_VERSION_WITH_ID if newest else JOIN_VERSION_WITHOUT_ID,
            client_id=f"m{m}",
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self._ids[m] if message.flag else "",
            group_instance_id=instance,
            protocol_type=PROTOCOL_TYPE,
            protocols=self._protocols(m, message, state),
        )

    def _protocols(self, m: int, message: Message, state: State) -> tuple[JoinProtocol, ...]:
        """The protocols that the member lists, in its order of preference."""
        metadata = self._metadata(message, protocol_of(self._bounds, state, m))
        if not self._bounds.upgrade:
            return (JoinProtocol(ASSIGNORS[self._bounds.protocol], metadata),)
        listed = list_of(self._bounds, state, m)
        return tuple(JoinProtocol(assignor.name, metadata) for assignor in listed)

    def _metadata(self, message: Message, protocol: str) -> bytes:
        """As Kafka's clients write it: constant under EAGER, with claims and their generation under COOPERATIVE."""
        if protocol == RebalanceProtocol.EAGER:
            return write_subscription(Subscription(topics=(TOPIC,)), EAGER_SUBSCRIPTION_VERSION)
        generation = message.generation or NO_GENERATION
        subscription = Subscription(topics=(TOPIC,), owned=self._owned(message.partitions), generation=generation)
        return write_subscription(subscription, OWNED_SUBSCRIPTION_VERSION)

    def _owned(self, mask: int) -> tuple[TopicPartition, ...]:
        return tuple(TopicPartition(TOPIC, p) for p in range(self._bounds.partitions) if has(mask, p))

    def _sync(self, m: int, message: Message) -> SyncGroupRequest:
        return SyncGroupRequest(
            group_id=GROUP_ID,
            version=5,
            client_id=f"m{m}",
            generation_id=message.generation,
            member_id=self._ids[m] or self._leaving[m],  # it was sent before its sender lost the id
            group_instance_id=self._bounds.instance(m),
            protocol_type=PROTOCOL_TYPE,
            protocol_name=self._voted[m],
            assignments=self._assignments(m, message) if message.flag else (),
        )

    def _assignments(self, m: int, message: Message) -> tuple[SyncAssignment, ...]:
        """The shares that the leader decided, for the member ids that its reply named."""
        shares = [(member_id, self._owned(message.parts[slot])) for member_id, slot in self._group[m]]
        return tuple(SyncAssignment(who, write_assignment(Assignment(partitions=share))) for who, share in shares)

    def _leave(self, m: int) -> LeaveGroupRequest:
        """A dynamic member goes by its id; a static one by its instance id, as an administrator removes it."""
        instance = self._bounds.instance(m)
        leaver = MemberIdentity(self._leaving[m]) if instance is None else MemberIdentity("", instance)
        return LeaveGroupRequest(group_id=GROUP_ID, version=5, client_id=f"m{m}", members=(leaver,))
