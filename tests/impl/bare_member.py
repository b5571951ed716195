"""A member that does nothing but belong to a group, and how far a test brings it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rebalance_check.impl.client.config import ClientConfig, Contract
from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.protocol.messages import (
    JoinedMember,
    JoinGroupReply,
    MemberReply,
    MemberRequest,
    SyncGroupReply,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import Event
from tests.impl.found_coordinator import with_coordinator

MEMBERS = (JoinedMember("id", b"mine"), JoinedMember("other", b"its", "i"))
FOLLOWS = JoinGroupReply(generation_id=1, protocol_name="p", leader="other", member_id="id")
LEADS = JoinGroupReply(generation_id=1, protocol_name="p", leader="id", member_id="id", members=MEMBERS)
SYNCED = SyncGroupReply(assignment=b"work")

recorded: list[Event] = []
"""The events of the members of the present test."""


class Bare(Coordinator):
    """Notes the arguments of each call; ``raising`` names the methods that raise. ``during`` is run in each call."""

    def __init__(self, config: ClientConfig, recorder: Recorder, *, member: str) -> None:
        super().__init__(config, recorder, member=member)
        self.calls: list[tuple[Any, ...]] = []
        self.raising: set[str] = set()
        self.during: Callable[[], object] = list

    def note(self, *call: Any) -> None:
        self.calls.append(call)
        self.during()
        if call[0] in self.raising:
            raise ValueError(call[0])

    def protocol_type(self) -> str:
        return "bare"

    def metadata(self) -> list[tuple[str, bytes]]:
        return [("p", b"first"), ("q", b"second")]

    def on_join_prepare(self, generation_id: int, member_id: str) -> bool:
        self.note("prepare", generation_id, member_id)
        return True

    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[JoinedMember]) -> Mapping[str, bytes]:
        self.note("assign", leader_id, protocol, members)
        return {"id": b"work", "other": b"more"}

    def on_join_complete(self, generation_id: int, member_id: str, protocol: str, assignment: bytes) -> None:
        self.note("complete", generation_id, member_id, protocol, assignment)


def bare(**settings: Any) -> Bare:
    """A member that does not know its coordinator."""
    config = ClientConfig(group_id="g", **{"contract": Contract.KAFKA_PYTHON, **settings})
    return Bare(config, Recorder("g", "m0", lambda: 0, recorded.append), member="m0")


def sent(client: Bare) -> list[MemberRequest]:
    """The requests that the member sends now."""
    return [request for _, request in client.take_requests()]


def answer(client: Bare, reply: MemberReply | None, now_ms: int = 0) -> MemberRequest:
    """Reply to the one request that the member sends now, and let it poll; the request."""
    ((number, request),) = client.take_requests()
    client.receive(number, reply, now_ms)
    client.poll(now_ms)
    return request


def joining(**settings: Any) -> Bare:
    """A member that has a JoinGroup to send."""
    client = with_coordinator(bare(**settings))
    client.poll(0)
    return client


def syncing(reply: JoinGroupReply = FOLLOWS, **settings: Any) -> Bare:
    """A member that has a SyncGroup to send."""
    client = joining(**settings)
    answer(client, reply)
    return client


def stable(reply: JoinGroupReply = FOLLOWS, **settings: Any) -> Bare:
    """A member of generation 1."""
    client = syncing(reply, **settings)
    answer(client, SYNCED)
    assert client.state is MemberState.STABLE
    return client
