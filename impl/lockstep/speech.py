"""The requests of the model's members as real ones: what the model leaves out of a message is remembered here."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.codecs.consumer_protocol import (
    PROTOCOL_TYPE,
    Assignment,
    Subscription,
    write_assignment,
    write_subscription,
)
from rebalance_check.impl.lockstep.answers import TOPIC, member_of
from rebalance_check.impl.messages import (
    GroupReply,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncAssignment,
    SyncGroupRequest,
)
from rebalance_check.impl.topic_partition import TopicPartition
from rebalance_check.model.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.classic_state import Message, MessageKind, has
from rebalance_check.model.errors import Error
from rebalance_check.model.ids import NO_GENERATION

GROUP_ID: Final = "group"
SESSION_TIMEOUT_MS: Final = 1_800_000
REBALANCE_TIMEOUT_MS: Final = 1_800_000

ASSIGNORS: Final = {RebalanceProtocol.EAGER: "range", RebalanceProtocol.COOPERATIVE: "cooperative-sticky"}

JOIN_VERSION_WITH_ID: Final = 9
"""JoinGroup with MEMBER_ID_REQUIRED (KIP-394)."""
JOIN_VERSION_WITHOUT_ID: Final = 3
"""The last JoinGroup that admits a new member at once."""
EAGER_SUBSCRIPTION_VERSION: Final = 0
OWNED_SUBSCRIPTION_VERSION: Final = 2


class Speech:
    """What each member knows beyond the model's state: its member id, and the ids in the last JoinGroup reply."""

    __slots__ = ("_bounds", "_group", "_ids", "_leaving", "_told")

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._ids = [""] * bounds.members
        self._told = [""] * bounds.members
        self._leaving = [""] * bounds.members
        self._group: list[tuple[str, ...]] = [()] * bounds.members

    def copy(self) -> Speech:
        """An independent copy."""
        twin = Speech(self._bounds)
        twin._ids, twin._told = [*self._ids], [*self._told]
        twin._leaving, twin._group = [*self._leaving], [*self._group]
        return twin

    def request(self, m: int, message: Message) -> GroupRequest:
        """The request that lies in the slot of ``m``."""
        match message.kind:
            case MessageKind.JOIN_REQUEST:
                return self._join(m, message)
            case MessageKind.SYNC_REQUEST:
                return self._sync(m, message)
            case MessageKind.HEARTBEAT_REQUEST:
                generation, own = message.generation, self._ids[m]
                return HeartbeatRequest(group_id=GROUP_ID, version=4, generation_id=generation, member_id=own)
        leaver = (MemberIdentity(self._leaving[m]),)
        return LeaveGroupRequest(group_id=GROUP_ID, version=5, client_id=f"m{m}", members=leaver)

    def hear(self, m: int, reply: GroupReply) -> None:
        """Keep what a JoinGroup reply tells; the member learns it when it receives the reply."""
        if isinstance(reply, JoinGroupReply) and reply.error in {Error.NONE, Error.MEMBER_ID_REQUIRED}:
            self._told[m] = reply.member_id
            self._group[m] = tuple(member.member_id for member in reply.members)

    def learn(self, m: int, *, has_id: bool) -> None:
        """After a step of ``m`` itself: it holds the id that it was told last, or none."""
        if has_id:
            self._ids[m] = self._told[m]
        elif self._ids[m]:
            self._leaving[m], self._ids[m] = self._ids[m], ""

    def told(self, m: int) -> str:
        """The id that ``m`` was told last, whether it has received it or not."""
        return self._told[m]

    def _join(self, m: int, message: Message) -> JoinGroupRequest:
        required = self._bounds.member_id_required
        return JoinGroupRequest(
            group_id=GROUP_ID,
            version=JOIN_VERSION_WITH_ID if required else JOIN_VERSION_WITHOUT_ID,
            client_id=f"m{m}",
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self._ids[m] if message.flag else "",
            protocol_type=PROTOCOL_TYPE,
            protocols=(JoinProtocol(self.assignor, self._metadata(message)),),
        )

    def _metadata(self, message: Message) -> bytes:
        """As Kafka's clients write it: constant under EAGER, with claims and their generation under COOPERATIVE."""
        if self._bounds.protocol is RebalanceProtocol.EAGER:
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
            member_id=self._ids[m],
            protocol_type=PROTOCOL_TYPE,
            protocol_name=self.assignor,
            assignments=self._assignments(m, message) if message.flag else (),
        )

    def _assignments(self, m: int, message: Message) -> tuple[SyncAssignment, ...]:
        """What the leader decided, for the member ids that it was told of."""
        shares = [(member_id, self._owned(message.parts[slot_of(member_id)])) for member_id in self._group[m]]
        return tuple(SyncAssignment(who, write_assignment(Assignment(partitions=share))) for who, share in shares)

    @property
    def assignor(self) -> str:
        """The protocol name that all members offer."""
        return ASSIGNORS[self._bounds.protocol]


def slot_of(member_id: str) -> int:
    """The number of the member that holds an id: 0 of ``m0-4711``."""
    return int(member_of(member_id)[1:])
