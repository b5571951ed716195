"""One client: its JoinGroups, the replies to them, its open requests, and the disturbances meanwhile.

A client is one member's place in a process: it goes on when its member id is lost and it joins anew, and it ends with
its process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    FINISHED,
    ApplicationBusy,
    AssignmentCompleted,
    CallbackEnded,
    ConnectionBroken,
    ConnectionClosed,
    Event,
    MemberEvent,
    MemberJoined,
    MembershipLost,
    ProcessSignalled,
    ProcessStarted,
    ReplyObserved,
    RequestObserved,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.views.errors import (
    COOPERATIVE,
    COORDINATOR_ERRORS,
    FENCED_INSTANCE_ID,
    ILLEGAL_GENERATION,
    LOSSES,
    MEMBER_ID_REQUIRED,
    NONE,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
    UNSEEN,
)
from rebalance_check.properties.views.recent import GENERATIONS, Recent
from rebalance_check.properties.views.rounds import Answered, Round, Since

SLOW_MS: Final = 1_000
"""A client that waited so long for a reply, other than that to its JoinGroup, could do nothing else meanwhile."""

NOT_NOTIFIED: Final = "not notified"
"""The reason where a client does not show why it lost its membership."""
GIVEN_UP_FREELY: Final = ("poll timeout", "unsubscribed", "taking too long", NOT_NOTIFIED)
"""How the reasons are recorded of a member that left by itself, or of which nothing says that it did not."""

CHAIN: Final = frozenset({Api.JOIN_GROUP, Api.SYNC_GROUP})
"""The two requests of a rebalance: a client sends the next one after it has the reply to the one before."""


@dataclass(slots=True, eq=False)
class Process:
    """A client's process, as the harness and its requests about the cluster show it; "" is the unknown process."""

    name: str
    started: ProcessStarted | None = None
    asked: ProcessSignalled | None = None
    paused: ProcessSignalled | None = None
    partitions: dict[str, frozenset[str]] = field(default_factory=dict)
    """The partitions of each topic that Metadata replies listed last."""
    lists_metadata: bool = True
    """Whether the record shows the metadata that it has: on the wire, and in a record that had some of it."""
    joined_before: RequestObserved | None = None
    """The last JoinGroup of the process's run before this one."""
    clients: list[Client] = field(default_factory=list)

    @property
    def has_metadata(self) -> bool:
        """Whether it is known what metadata it has."""
        return self.is_known and self.lists_metadata

    @property
    def is_known(self) -> bool:
        """Whether the recorder knows which connections are this process's."""
        return bool(self.name)


@dataclass(slots=True, eq=False)
class Client:
    """One client of the group, up to the event at hand; ``number`` counts the clients of the group."""

    number: int
    process: Process
    client_id: str
    is_own: bool = False
    """Whether it records itself, by a clock of its own."""
    connections: set[int] = field(default_factory=set)
    open: dict[int, RequestObserved] = field(default_factory=dict)
    """The group requests without a reply, by number."""
    look_up: RequestObserved | None = None
    """The FindCoordinator of its process without a reply: without a coordinator it sends no group requests."""
    join: RequestObserved | None = None
    """The last JoinGroup."""
    chain: Answered | None = None
    """The last JoinGroup or SyncGroup whose reply it received."""
    member_id: str = ""
    """The id that it was assigned and has neither lost nor left."""
    is_member: bool = False
    """Whether a JoinGroup under that id was accepted."""
    rounds: Recent[int, Round] = field(default_factory=lambda: Recent(GENERATIONS))
    """By generation."""
    round: Round | None = None
    """The last."""
    applied: Round | None = None
    """The last one with an assignment, unless it lost its membership since, or may not have received it."""
    lost: Answered | None = None
    """The reply by which it lost its membership, until it is accepted again."""
    fenced: Answered | None = None
    is_overtaken: bool = False
    """Whether it lost its membership between its last accepted JoinGroup and the reply, which it may throw away."""
    left: RequestObserved | None = None
    """Its LeaveGroup, until it joins again."""
    since: Since = field(default_factory=Since)
    used: dict[int, int] = field(default_factory=dict)
    """The last generation in a request on each connection."""
    used_partitions: set[str] = field(default_factory=set)
    """The partitions of its process's fetches and offsets since its last assignment."""
    spoke: RequestObserved | None = None
    """Its last request to the coordinator."""
    acted_ms: int = 0
    """When its application's thread last sent a request: any but Heartbeat and LeaveGroup."""
    recognised_ms: int = 0
    """When its coordinator last replied to it as to a member."""
    is_cut_off: bool = False
    """Whether its coordinator refused it, or its connection broke, and it was not recognised since."""
    resumed_ms: int = 0
    disturbed_ms: int = 0
    """Until then it may have been kept from what it had to do."""

    @property
    def name(self) -> str:
        """Its name in sentences."""
        if self.process.name:
            return self.process.name
        connection = self.spoke.connection if self.spoke else next(iter(self.connections), "?")
        return f"{self.client_id or 'the client'} on connection {connection}"

    @property
    def shows_bytes(self) -> bool:
        """Whether its requests are known as they were sent, all of them: their versions are."""
        return self.spoke is not None and self.spoke.version >= 0

    @property
    def session_ms(self) -> int:
        """The session timeout of its last JoinGroup."""
        return self.join.session_timeout_ms if self.join else 0

    @property
    def is_static(self) -> bool:
        """Whether it joined with an instance id."""
        return self.join is not None and bool(self.join.instance_id)

    @property
    def is_cooperative(self) -> bool:
        """Whether it joined as a consumer that revokes only what it must."""
        return self.join is not None and set(self.join.protocols) == {COOPERATIVE}

    @property
    def is_ending(self) -> bool:
        """Whether its process was asked to end."""
        return self.process.asked is not None

    @property
    def may_be_paused(self) -> bool:
        """Whether its process is paused, or unknown, so that nothing says when it is."""
        return self.process.paused is not None or not self.process.is_known

    @property
    def is_hindered(self) -> bool:
        """Whether it may be paused, is without a connection, or waits for another reply than that to a JoinGroup."""
        waits = any(request.api != Api.JOIN_GROUP for request in self.open.values())
        return self.may_be_paused or not self.connections or waits or self.look_up is not None

    def may_count_as_lost(self, time_ms: int) -> bool:
        """Whether it was not answered for a session timeout, so that its coordinator may have removed it."""
        return self.since.was_silent or time_ms - self.recognised_ms > self.session_ms

    @property
    def joining(self) -> RequestObserved | None:
        """Its last JoinGroup while that is open."""
        return self.open.get(self.join.request) if self.join else None

    def waits_for(self, *apis: str) -> RequestObserved | None:
        """The first open request of one of these apis."""
        return next((request for request in self.open.values() if request.api in apis), None)

    # ------------------------------------------------------------------------------------------------ effects

    def hinder(self, until_ms: int) -> None:
        """Until then it may be kept from what it has to do."""
        self.disturbed_ms = max(self.disturbed_ms, until_ms)

    def uses(self, request: RequestObserved) -> None:
        """It sent a request about partitions."""
        self.used_partitions.update(request.partitions, (partition for partition, _ in request.offsets))

    def sent(self, request: RequestObserved) -> None:
        """It sent a group request."""
        self.open[request.request] = request
        self.spoke = request
        if request.request_generation != NO_GENERATION:
            self.used[request.connection] = request.request_generation
        if request.api == Api.HEARTBEAT and self.joining is not None:
            self.since.heartbeats += 1
        if request.api == Api.JOIN_GROUP:
            self._begin_round(request)
        elif request.api == Api.LEAVE_GROUP:
            self._leave(request)
        if request.api not in {Api.HEARTBEAT, Api.LEAVE_GROUP}:
            self.acted_ms = request.time_ms

    def _begin_round(self, join: RequestObserved) -> None:
        unsure = self.since.closed is not None or self.since.unseen is not None
        if join.member_id != self.member_id or (unsure and self.applied and self.applied.join is self.join):
            self.applied = None
        if not join.member_id:
            self.member_id, self.is_member = "", False
        led = self.round is not None and self.round.joined.leader == self.round.joined.assigned_member_id
        self.join, self.left = join, None
        self.since = Since(learned=self.since.metadata if led else None)

    def _leave(self, request: RequestObserved | MembershipLost) -> None:
        self.since.left = request
        if isinstance(request, RequestObserved):
            self.left = request
            timeout_ms = self.join.rebalance_timeout_ms if self.join else 0
            self.since.left_late = timeout_ms <= request.time_ms - self.acted_ms
        self.member_id, self.is_member, self.applied = "", False, None
        self.open = {number: each for number, each in self.open.items() if each.api not in CHAIN}

    def replied(self, reply: ReplyObserved) -> None:
        """A reply to one of its group requests passed."""
        request = self.open.pop(reply.request, None)
        if request is None:
            return
        was_slow = request.api != Api.JOIN_GROUP and reply.time_ms - request.time_ms > SLOW_MS
        if reply.fault or was_slow or reply.error in COORDINATOR_ERRORS:
            self.hinder(reply.time_ms)
            self.is_cut_off = True
        if reply.fault in UNSEEN:
            self.since.unseen = reply
        elif reply.error == NONE:
            self._recognised(Answered(request, reply))
            self._accept(Answered(request, reply))
        else:
            self._refuse(Answered(request, reply))
        if request.api in CHAIN and reply.fault not in UNSEEN:
            self.chain = Answered(request, reply)

    def _recognised(self, answered: Answered) -> None:
        """The coordinator knows it as a member; its own session begins anew, but for a commit
        (``Heartbeat.receiveHeartbeat``)."""
        self.is_cut_off, now_ms = False, answered.reply.time_ms
        if answered.request.api != Api.OFFSET_COMMIT:
            self.since.was_silent |= 0 < self.session_ms < now_ms - (self.recognised_ms or now_ms)
            self.recognised_ms = now_ms

    def _accept(self, answered: Answered) -> None:
        request, reply = answered.request, answered.reply
        if request.api == Api.JOIN_GROUP:
            member_id = reply.assigned_member_id or request.member_id
            self.is_overtaken = self.lost is not None and request.seq < self.lost.reply.seq
            self.member_id, self.is_member, self.lost, self.fenced = member_id, True, None, None
            if self.round is not None and reply.reply_generation < self.round.generation:
                self.used.clear()  # the group was created anew, and counts its generations from the start
            self.round = self.rounds[reply.reply_generation] = Round(request, reply)
        elif request.api == Api.SYNC_GROUP and (found := self.rounds.get(request.request_generation)) is not None:
            found.synced = reply
            self.applied = found
            self.used_partitions.clear()
        elif request.api == Api.HEARTBEAT and self.lost and self.lost.request.api == Api.OFFSET_COMMIT:
            self._still_member(request, self.lost.reply)

    def _still_member(self, heartbeat: RequestObserved, refusal: ReplyObserved) -> None:
        """A commit was refused; a client that goes on under the same identity, and is accepted, keeps it."""
        if heartbeat.seq < refusal.seq:
            return
        self.member_id, self.is_member, self.lost, self.fenced = heartbeat.member_id, True, None, None

    def _refuse(self, answered: Answered) -> None:
        error, request = answered.reply.error, answered.request
        self.since.errors[error] = answered
        if error == REBALANCE_IN_PROGRESS:
            self._recognised(answered)
        elif error == MEMBER_ID_REQUIRED:
            self.member_id, self.is_member = answered.reply.assigned_member_id, False
        elif error in LOSSES and self._concerns_now(request):
            self.lost, self.applied = self.lost or answered, None
            if error != ILLEGAL_GENERATION:
                self.is_member = False
            gave_id_up = self.lost.reply.error == UNKNOWN_MEMBER_ID
            if error == FENCED_INSTANCE_ID and not gave_id_up:
                self.fenced = self.fenced or answered
            if error == UNKNOWN_MEMBER_ID:
                self.member_id = ""

    def _concerns_now(self, request: RequestObserved) -> bool:
        """Whether a refused request spoke for the present identity, and not for one that the client had before."""
        is_last = self.round is None or request.request_generation in {NO_GENERATION, self.round.generation}
        has_left = self.since.left is not None
        join = self.join
        began_anew = join is not None and join.seq > request.seq and join.member_id != request.member_id
        is_its_id = request.member_id != "" and self.member_id in ("", request.member_id)
        return is_its_id and is_last and not has_left and not began_anew

    def looked_up(self, reply: ReplyObserved) -> None:
        """The FindCoordinator that was open last got its reply."""
        if self.look_up is not None and self.look_up.request == reply.request:
            if reply.time_ms - self.look_up.time_ms > SLOW_MS:
                self.hinder(reply.time_ms)
            self.look_up = None

    def connected(self, request: RequestObserved) -> None:
        """It has a connection, which may be new."""
        if not self.connections:
            self.hinder(request.time_ms)
        self.connections.add(request.connection)

    def disconnected(self, event: ConnectionClosed) -> None:
        """One of its connections closed, with what was open on it."""
        join = self.joining
        if join is not None and join.connection == event.connection and event.closed_by == "client":
            self.since.gave_up = event
        self.connections.discard(event.connection)
        self.used.pop(event.connection, None)
        self.open = {number: each for number, each in self.open.items() if each.connection != event.connection}
        if self.look_up is not None and self.look_up.connection == event.connection:
            self.look_up = None
        self.since.closed = event
        self.hinder(event.time_ms)
        self.is_cut_off |= event.closed_by != "client"

    def recorded(self, event: MemberEvent) -> None:
        """It recorded something that the wire does not show."""
        match event:
            case ConnectionBroken():
                self.since.closed, self.is_cut_off = event, True
                self.hinder(event.time_ms)
            case ApplicationBusy():
                self.hinder(event.time_ms + event.busy_ms)
            case CallbackEnded():
                if event.outcome != FINISHED:
                    self.hinder(event.time_ms)
            case MembershipLost():
                self.since.reset = event
                if any(words in event.reason for words in GIVEN_UP_FREELY):
                    self._leave(event)
            case MemberJoined():
                self.member_id = self.member_id or event.member_id
            case AssignmentCompleted():
                self.since.completed = event
            case _:
                self.since.asked = event

    def resumed(self, event: Event) -> None:
        """Its process goes on."""
        self.resumed_ms = event.time_ms
        self.hinder(event.time_ms)
