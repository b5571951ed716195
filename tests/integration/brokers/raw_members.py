"""Members without a client library on a cluster: every request is sent at will, and to any node.

They look at what a client hides: which generation a new coordinator knows, what an old one still answers. `converge` is
the least that a client must do after a fault; what the members come to belong to is recorded, with the incarnation of
the coordinator that said so.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.protocol.messages import (
    CommittedOffset,
    GroupReply,
    GroupRequest,
    HeartbeatReply,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    OffsetCommitReply,
    OffsetCommitRequest,
    SyncAssignment,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.brokers.nodes import Cluster, Coordinator
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.integration.wire.kafka_python import admin
from rebalance_check.integration.wire.raw_group import RawGroup
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    PartitionsAssigned,
    PartitionsRevoked,
    RunEnded,
    RunStarted,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION

TOPIC: Final = "t"
PARTITIONS: Final = 4
SESSION_TIMEOUT_MS: Final = 300_000
"""Longer than a node may take to be whole again: nobody sends heartbeats meanwhile, and nobody shall expire for it."""
REBALANCE_TIMEOUT_MS: Final = 60_000
ANSWER_TIMEOUT_S: Final = 30.0
PAUSE_S: Final = 0.1

DESCRIBE_VERSION: Final = 1
JOIN_VERSION, SYNC_VERSION, HEARTBEAT_VERSION, COMMIT_VERSION = 3, 2, 2, 6
"""Before KIP-394, so that one JoinGroup is enough; before static members and flexible versions."""

ELSEWHERE: Final = frozenset(
    {Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE, Error.COORDINATOR_LOAD_IN_PROGRESS}
)
"""Errors that say nothing of the member: ask again, perhaps another node."""

NOT_YET: Final = ELSEWHERE - {Error.NOT_COORDINATOR}
"""The errors of a coordinator that has just taken over, until its log is whole: writes may time out for a while."""


@dataclass(slots=True)
class RawMember:
    """One member's knowledge: its id, the last generation that it learned of, whether it leads it and has completed it.

    It may be waiting for an answer; ``beaten`` when a heartbeat was accepted since it was stable.
    """

    name: str
    member_id: str = ""
    generation: int = NO_GENERATION
    owned: tuple[str, ...] = ()
    stable: bool = False
    leads: bool = False
    waiting: bool = False
    beaten: bool = False
    joined: JoinGroupReply | None = None


class RawMembers:
    """``count`` members of ``group``, numbered from 0, who share the topic `TOPIC`; their history is in ``events``.
    `close` gives the connections back.
    """

    def __init__(self, cluster: Cluster, group: str, count: int) -> None:
        self.cluster = cluster
        self.group = group
        self.members = [RawMember(f"m{number}") for number in range(count)]
        self.events: list[Event] = []
        self._lanes: dict[int, RawGroup] = {}
        self._recorders = {
            name: Recorder(group, name, now_ms, self.events.append)
            for name in ("harness", *(member.name for member in self.members))
        }
        self._tell("harness", RunStarted(subject="raw members on a cluster"))
        for member in self.members:
            self._tell(member.name, MemberStarted(member=member.name, protocol="eager"))
        self.coordinator: Coordinator = cluster.coordinator(group)
        cluster.await_coordinates(group, self.coordinator.node)

    def close(self) -> None:
        """Close every connection, and end the history."""
        self._tell("harness", RunEnded())
        for lane in self._lanes.values():
            lane.close()

    @property
    def leader_first(self) -> list[int]:
        """The members' numbers, the leader's first: its JoinGroup begins a rebalance, another's need not."""
        return sorted(range(len(self.members)), key=lambda number: not self.members[number].leads)

    def find_coordinator(self) -> Coordinator:
        """Look who coordinates now, wait until it does, and talk to it from here on."""
        self.coordinator = self.cluster.coordinator(self.group)
        self.cluster.await_coordinates(self.group, self.coordinator.node)
        return self.coordinator

    def await_status(self, status: str) -> None:
        """Return when the coordinator shows the group in this status; `RebalanceCheckError` when it does not."""
        request = admin.DescribeGroupsRequest(groups=[self.group])

        def probe() -> NotYet | bool:
            answer = self.cluster.ask_coordinator(self.group, request, DESCRIBE_VERSION)
            shown = None if answer is None else answer.groups[0].group_state
            return True if shown == status else NotYet(f"it is {shown}")

        await_until(
            probe, timeout_s=ANSWER_TIMEOUT_S, pause_s=PAUSE_S, otherwise=f"the group {self.group} is not {status}"
        )

    # ---------------------------------------------------------------------------------------- single requests

    def send(self, number: int, request: GroupRequest, node: int | None = None) -> None:
        """Send a request to a node, by default the coordinator; nobody waits for the answer."""
        self._lane(node).request(number, request)

    def answers(self, at_least: int, node: int | None = None, timeout_s: float = ANSWER_TIMEOUT_S) -> list[GroupReply]:
        """The answers of a node, in the order of arrival."""
        return [reply for _number, reply in self._lane(node).replies(at_least=at_least, timeout_s=timeout_s)]

    def ask(self, number: int, request: GroupRequest, node: int | None = None) -> GroupReply:
        """Send a request and wait for its answer; no other may be in flight at that node.

        Raises `RebalanceCheckError` when no answer comes in time.
        """
        self.send(number, request, node)
        answered = self.answers(1, node)
        if not answered:
            raise RebalanceCheckError(f"a {type(request).__name__} was not answered in {ANSWER_TIMEOUT_S:g} s")
        return answered[0]

    def join(self, number: int) -> JoinGroupRequest:
        """The member's JoinGroup, under the id that it has."""
        return JoinGroupRequest(
            group_id=self.group, version=JOIN_VERSION, session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS, member_id=self.members[number].member_id,
            protocol_type="consumer", protocols=(JoinProtocol("range", b""),),
        )  # fmt: skip

    def sync(self, number: int) -> SyncGroupRequest:
        """The member's SyncGroup; the leader deals the partitions out to the members it was shown."""
        member = self.members[number]
        shown = member.joined.members if member.joined is not None else ()
        return SyncGroupRequest(
            group_id=self.group, version=SYNC_VERSION, generation_id=member.generation, member_id=member.member_id,
            assignments=tuple(
                SyncAssignment(each.member_id, ",".join(_deal(index, len(shown))).encode())
                for index, each in enumerate(shown)
            ),
        )  # fmt: skip

    def heartbeat(self, number: int, node: int | None = None) -> Error:
        """How the member's heartbeat is answered: by the coordinator, or by a node that is named."""
        return self._said(number, self._beat(number), node)

    def _beat(self, number: int) -> HeartbeatRequest:
        member = self.members[number]
        return HeartbeatRequest(
            group_id=self.group, version=HEARTBEAT_VERSION, generation_id=member.generation, member_id=member.member_id
        )

    def commit_request(self, number: int, offset: int) -> OffsetCommitRequest:
        """The member's OffsetCommit for the first partition."""
        member = self.members[number]
        return OffsetCommitRequest(
            group_id=self.group, version=COMMIT_VERSION, generation_id=member.generation, member_id=member.member_id,
            offsets=(CommittedOffset(TOPIC, 0, offset),),
        )  # fmt: skip

    def commit(self, number: int, offset: int) -> Error:
        """How the coordinator answers the commit."""
        return self._said(number, self.commit_request(number, offset))

    def _said(self, number: int, request: GroupRequest, node: int | None = None) -> Error:
        """The error that a named node replies at once, and that of the coordinator for the member in the end."""
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        while True:
            error = error_of(self.ask(number, request, node))
            if node is not None or error not in NOT_YET or time.monotonic() > deadline:
                return error
            time.sleep(PAUSE_S)

    # ---------------------------------------------------------------------------------------- a small client

    def converge(self, *, timeout_s: float = 60.0) -> int:
        """Join, sync and join again until all members are stable in one generation, which is returned.

        The members go by the errors alone: a refused id is given up, a refused generation is joined anew. In the end
        each one's heartbeat was accepted.

        Raises `RebalanceCheckError` when they have not converged in time.
        """
        deadline = time.monotonic() + timeout_s
        for member in self.members:
            member.beaten = False
        while not self._settled():
            if time.monotonic() > deadline:
                raise RebalanceCheckError(f"{self.members} have not converged after {timeout_s:g} s")
            try:
                self._speak()
                self._hear()
            except (OSError, RebalanceCheckError):
                self._elsewhere()  # the node is gone
        return self.members[0].generation

    def _settled(self) -> bool:
        generations = {member.generation for member in self.members}
        return len(generations) == 1 and all(member.beaten and not member.waiting for member in self.members)

    def _speak(self) -> None:
        """A member that waits for no answer sends its next request: one request at a time, as a client does."""
        for number, member in enumerate(self.members):
            if not member.waiting:
                self.send(number, self._next_request(number))
                member.waiting = True

    def _next_request(self, number: int) -> GroupRequest:
        member = self.members[number]
        if member.stable:
            return self._beat(number)
        return self.join(number) if member.joined is None else self.sync(number)

    def _hear(self) -> None:
        for number, reply in self._lane(None).replies(at_least=1, timeout_s=PAUSE_S):
            self.members[number].waiting = False
            self._answered(number, reply)

    def _answered(self, number: int, reply: GroupReply) -> None:
        member = self.members[number]
        if isinstance(reply, JoinGroupReply) and reply.error is Error.NONE:
            self._enter(member, reply)
        elif isinstance(reply, SyncGroupReply) and reply.error is Error.NONE:
            self._complete(member, reply)
        elif isinstance(reply, HeartbeatReply) and reply.error is Error.NONE:
            member.beaten = True
        else:
            self._heed(number, reply.error)

    def _enter(self, member: RawMember, reply: JoinGroupReply) -> None:
        self._give_up(member)
        member.joined, member.member_id, member.generation = reply, reply.member_id, reply.generation_id
        member.leads = reply.leader == reply.member_id
        self._tell(
            member.name,
            MemberJoined(
                member=member.name, generation=member.generation, member_id=member.member_id,
                incarnation=self.coordinator.epoch, leader=member.leads, protocol="range",
            ),
        )  # fmt: skip

    def _complete(self, member: RawMember, reply: SyncGroupReply) -> None:
        member.owned = tuple(sorted(filter(None, reply.assignment.decode().split(","))))
        member.stable, member.joined = True, None
        self._tell(
            member.name,
            PartitionsAssigned(
                member=member.name, generation=member.generation, member_id=member.member_id,
                incarnation=self.coordinator.epoch, partitions=member.owned,
            ),
        )  # fmt: skip
        self._tell(
            member.name,
            AssignmentCompleted(
                member=member.name, generation=member.generation, member_id=member.member_id,
                incarnation=self.coordinator.epoch, owned=member.owned,
            ),
        )  # fmt: skip

    def _heed(self, number: int, error: Error) -> None:
        """The client's reaction to an error: a member that must join again gives up its partitions first (EAGER)."""
        member = self.members[number]
        if error in ELSEWHERE:
            self._elsewhere()
        elif error is not Error.NONE:
            self._give_up(member)
            member.joined = None
            if error is Error.UNKNOWN_MEMBER_ID:
                self._tell(
                    member.name,
                    MembershipLost(
                        member=member.name, generation=member.generation, member_id=member.member_id, reason=error.name
                    ),
                )
                member.member_id, member.generation = "", NO_GENERATION

    def _give_up(self, member: RawMember) -> None:
        if member.owned:
            self._tell(
                member.name,
                PartitionsRevoked(
                    member=member.name, generation=member.generation, member_id=member.member_id,
                    incarnation=self.coordinator.epoch, partitions=member.owned,
                ),
            )  # fmt: skip
        member.owned, member.stable, member.beaten = (), False, False

    def _elsewhere(self) -> None:
        for lane in self._lanes.values():
            lane.close()
        self._lanes.clear()
        for member in self.members:
            member.joined, member.waiting = None, False
        time.sleep(PAUSE_S)
        self.find_coordinator()

    def _lane(self, node: int | None) -> RawGroup:
        number = self.coordinator.node if node is None else node
        if number not in self._lanes:
            self._lanes[number] = RawGroup(self.cluster.nodes[number].bootstrap, self.group)
        return self._lanes[number]

    def _tell(self, source: str, event: Event) -> None:
        self._recorders[source].emit(event)


def error_of(reply: GroupReply) -> Error:
    """The error of a reply; OffsetCommit says it partition by partition."""
    if isinstance(reply, OffsetCommitReply) and reply.partitions:
        return reply.partitions[0][2]
    return reply.error


def _deal(index: int, members: int) -> list[str]:
    return [f"{TOPIC}-{partition}" for partition in range(PARTITIONS) if partition % members == index]
