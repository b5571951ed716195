"""The clients of a group: which of them each event concerns, and what each was before that event.

A recorder between clients and brokers shows them, or their own records do (`own_record`): both become one view, so that
one set of invariants judges a client on the wire, in a recorded application and in a simulated group.

A process has one member of the group at a time, or several that differ in their connections. A request belongs to the
client that was assigned its member id; else to the client of its connection; else to a client of its process that is no
member; else to a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, get_args

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    AssignmentCompleted,
    CallbackEnded,
    ConnectionBroken,
    ConnectionClosed,
    ConnectionOpened,
    CoordinatorMoved,
    Event,
    MemberEvent,
    MemberJoined,
    MembershipLost,
    ProcessEnded,
    ProcessSignalled,
    ProcessStarted,
    RebalanceEnforced,
    ReplyObserved,
    RequestObserved,
    SubscriptionChanged,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION, topic_of
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.client import Client, Process
from rebalance_check.properties.views.errors import KILL, NONE, PAUSE, RESUME, TERMINATE, UNSEEN
from rebalance_check.properties.views.own_record import (
    METADATA,
    OfProcess,
    OfReply,
    OfRequest,
    OwnRecords,
    OwnRequest,
    Recorded,
)
from rebalance_check.properties.views.recent import DEPARTED, GENERATIONS, WAITING, Recent

OF_MEMBERS: Final = frozenset({Api.JOIN_GROUP, Api.SYNC_GROUP, Api.HEARTBEAT, Api.OFFSET_COMMIT})
"""The requests that a member sends about itself."""
OF_CLIENTS: Final = OF_MEMBERS | {Api.LEAVE_GROUP}
OF_PARTITIONS: Final = frozenset({"Fetch", Api.OFFSET_FETCH, Api.OFFSET_COMMIT})
"""The requests that show that a client has taken partitions up."""

OfHarness: TypeAlias = (
    ProcessStarted | ProcessSignalled | ProcessEnded | CoordinatorMoved | ConnectionOpened | ConnectionClosed
)  # fmt: skip
OnTheWire: TypeAlias = OfHarness | RequestObserved | ReplyObserved
"""Events of a recorder between clients and brokers, or of a member's own record in its place."""

OfApplications: TypeAlias = (
    SubscriptionChanged | RebalanceEnforced | ApplicationBusy | ConnectionBroken | MembershipLost | MemberJoined
    | AssignmentCompleted | CallbackEnded
)  # fmt: skip
"""Events that only a member's own record has."""


OWN_RECORD: Final[tuple[type[Event], ...]] = (*get_args(Recorded), *get_args(OfApplications))
"""The events by which a member's own record shows it."""


class Clients(Memory):
    """Shows the `client` that the event at hand concerns, as it was before it.

    ``sent`` is the request at hand, ``got`` the reply at hand and ``request`` the one that it answers; None for other
    events. A change takes effect when the next event is taken, so that an invariant compares an event with
    the state that its sender was in.
    """

    def __init__(self) -> None:
        records = self.records = OwnRecords()
        super().__init__(
            {
                RequestObserved: self._take_sent,
                ReplyObserved: lambda event: self._take_got(event, self._requests.pop(event.request, None)),
                **dict.fromkeys(get_args(OfHarness), self._take_other),
                **dict.fromkeys(get_args(OfRequest), lambda event: self._take_sent(records.request(event))),
                **dict.fromkeys(get_args(OfReply), lambda event: self._take_got(*records.reply(event))),
                **dict.fromkeys(get_args(OfProcess), lambda event: self._take_other(records.of_process(event))),
                **dict.fromkeys(get_args(OfApplications), self._take_own),
            }
        )
        self.client: Client | None = None
        self.sent: RequestObserved | None = None
        self.got: ReplyObserved | None = None
        self.request: RequestObserved | None = None
        self.processes: Recent[str, Process] = Recent(WAITING)
        self._ended: Recent[str, Process] = Recent(DEPARTED)
        self.clients: Recent[int, Client] = Recent(WAITING)
        self._count = 0
        self._last: OnTheWire | OfApplications | None = None
        self._by_connection: Recent[int, Client] = Recent(WAITING)
        self._by_member: Recent[str, Client] = Recent(WAITING)
        self._requests: Recent[int, RequestObserved] = Recent(WAITING)
        self._joins: Recent[int, dict[str, RequestObserved]] = Recent(GENERATIONS)

    def _take_sent(self, event: RequestObserved) -> None:
        """The event before takes effect; find out which client this one concerns. So do the methods below."""
        self._settle(event)
        self.sent, self.got, self.request = event, None, None
        if not isinstance(event, OwnRequest):
            self._requests[event.request] = event
        self.client = self._sender(event)

    def _take_got(self, event: ReplyObserved, request: RequestObserved | None) -> None:
        self._settle(event)
        self.sent, self.got, self.request = None, event, request
        self.client = self._sender_again(request)

    def _take_other(self, event: OfHarness) -> None:
        self._settle(event)
        self.sent = self.got = self.request = self.client = None
        if isinstance(event, ConnectionOpened | ConnectionClosed):
            self.client = self._by_connection.get(event.connection)

    def _take_own(self, event: OfApplications) -> None:
        self._settle(event)
        if isinstance(event, SubscriptionChanged):
            self.records.subscribed(event)
        self.client = self.member(event.member)
        self.sent = self.got = self.request = None

    def up_to_date(self) -> None:
        """Let the event at hand take effect: for rules about events that this view does not take."""
        self._settle(None)

    def _settle(self, event: OnTheWire | OfApplications | None) -> None:
        last, self._last = self._last, event
        if last is not None:
            self._apply(last)

    def member(self, name: str) -> Client | None:
        """The client of a member that records itself, in its present run."""
        found = self.processes.get(name)
        return found.clients[-1] if found is not None and found.clients else None

    def with_id(self, member_id: str) -> Client | None:
        """The client that was assigned this member id."""
        return self._by_member.get(member_id)

    def clients_of(self, process: str) -> Sequence[Client]:
        """The clients of the process of this name, in its present run; none where it is unknown."""
        found = self.processes.get(process)
        return () if found is None else tuple(found.clients)

    def _process(self, name: str) -> Process:
        found = self.processes.get(name)
        if found is None:
            found = self._ended.pop(name) if name in self._ended else Process(name)
            self.processes[name] = found
        return found

    def has(self, client: Client) -> bool:
        """Whether the client is not over: its process runs, as far as is known."""
        return client.number in self.clients

    def joins_of(self, generation: int) -> dict[str, RequestObserved]:
        """The JoinGroups that were accepted into a generation so far, by member id."""
        return self._joins.get(generation, {})

    # ------------------------------------------------------------------------------------------------ who it is

    def _sender(self, request: RequestObserved) -> Client | None:
        known = self.member(request.process) if isinstance(request, OwnRequest) else self._known_sender(request)
        if known is None and request.api in OF_MEMBERS and (request.member_id or request.api != Api.OFFSET_COMMIT):
            known = self._idle(request) or self._new(request)
        if known is not None:
            if self._by_connection.get(request.connection) is not known:
                self._by_connection[request.connection] = known
            known.connected(request)
        return known

    def _known_sender(self, request: RequestObserved) -> Client | None:
        named = request.member_id or next((member for member, _ in request.leaving), "")
        by_member = self._by_member.get(named) if request.api in OF_CLIENTS else None
        if by_member is not None and by_member.process.name == request.process:
            return by_member
        return self._by_connection.get(request.connection)

    def _idle(self, request: RequestObserved) -> Client | None:
        """A client of this process that is no member; where the process is unknown there is no such link."""
        clients = self._process(request.process).clients if request.process else []
        idle = [client for client in clients if not client.is_member and client.client_id == request.client_id]
        return idle[-1] if idle else None

    def _new(self, request: RequestObserved) -> Client:
        process = self._process(request.process)
        is_own = isinstance(request, OwnRequest)
        if is_own and not process.partitions:
            process.lists_metadata = False
        client = self.clients[self._count] = Client(self._count, process, request.client_id, is_own)
        self._count += 1
        if process.is_known:
            process.clients.append(client)
        return client

    def _sender_again(self, request: RequestObserved | None) -> Client | None:
        if request is None:
            return None
        client = self._by_connection.get(request.connection)
        return client if client is None or request.api not in OF_CLIENTS or request.request in client.open else None

    # ------------------------------------------------------------------------------------------------ effects

    def _apply(self, event: OnTheWire | OfApplications) -> None:
        match event:
            case RequestObserved():
                self._sent(event)
            case ReplyObserved():
                self._replied(event)
            case ConnectionClosed():
                if (client := self._by_connection.pop(event.connection, None)) is not None:
                    client.disconnected(event)
            case CoordinatorMoved():
                for client in self.clients.values():
                    client.since.moved = event
                    client.hinder(event.time_ms)
            case ProcessStarted() | ProcessSignalled() | ProcessEnded():
                self._happened(event)
            case MemberEvent():
                if (client := self.member(event.member)) is not None:
                    client.recorded(event)

    def _sent(self, event: RequestObserved) -> None:
        if event.api in OF_PARTITIONS:
            for client in {*self.clients_of(event.process), *([self.client] if self.client else ())}:
                client.uses(event)
        if self.client is not None and event.api in OF_CLIENTS:
            self.client.sent(event)
        elif event.api == Api.FIND_COORDINATOR:
            for client in {*self.clients_of(event.process), *([self.client] if self.client else ())}:
                client.look_up = event

    def _replied(self, event: ReplyObserved) -> None:
        request, client = self.request, self.client
        if request is None:
            if event.api == METADATA:
                self._learned((), event)
            return
        if request.api == Api.JOIN_GROUP and event.error == NONE and event.reply_generation != NO_GENERATION:
            self._accepted(request, event)
        if client is not None and request.api in OF_CLIENTS:
            client.replied(event)
            if client.member_id and self._by_member.get(client.member_id) is not client:
                self._by_member[client.member_id] = client
        elif request.api == METADATA and event.error == NONE and event.fault not in UNSEEN:
            self._learned(request.topics, event)
        elif request.api == Api.FIND_COORDINATOR:
            for each in {*self.clients_of(request.process), *([client] if client else ())}:
                each.looked_up(event)

    def _accepted(self, request: RequestObserved, event: ReplyObserved) -> None:
        """The coordinator accepted a member, whether the client receives the reply or not."""
        if event.reply_generation not in self._joins:
            self._joins[event.reply_generation] = {}
        self._joins[event.reply_generation][event.assigned_member_id] = request

    def _learned(self, topics: tuple[str, ...], event: ReplyObserved) -> None:
        """A process was listed the partitions of topics; what it was listed before may differ."""
        process = self._process(event.process)
        process.lists_metadata = True
        listed: dict[str, set[str]] = {topic: set() for topic in topics or process.partitions}
        for partition in event.partitions:
            listed.setdefault(topic_of(partition), set()).add(partition)
        for topic, partitions in listed.items():
            if process.partitions.get(topic, frozenset()) != partitions:
                process.partitions[topic] = frozenset(partitions)
                for client in process.clients:
                    client.since.metadata = event

    # ------------------------------------------------------------------------------------------------ processes

    def _happened(self, event: ProcessStarted | ProcessSignalled | ProcessEnded) -> None:
        process = self._process(event.process)
        match event:
            case ProcessStarted():
                self._forget_clients(process)
                self.processes[event.process] = Process(
                    event.process, started=event, joined_before=process.joined_before
                )
            case ProcessEnded():
                self._forget_clients(process)
                self._ended[event.process] = self.processes.pop(event.process)
            case ProcessSignalled():
                self._signalled(process, event)

    def _forget_clients(self, process: Process) -> None:
        for number, client in list(self.clients.items()):
            if client.process is process:
                process.joined_before = client.join or process.joined_before
                del self.clients[number]
                for connection in client.connections:
                    self._by_connection.pop(connection, None)
                self._by_member.pop(client.member_id, None)
        process.clients.clear()

    def _signalled(self, process: Process, event: ProcessSignalled) -> None:
        if event.signal in (TERMINATE, KILL):
            process.asked = event
        elif event.signal == PAUSE:
            process.paused = event
            for client in process.clients:
                client.since.paused = event
        elif event.signal == RESUME:
            process.paused = None
            for client in process.clients:
                client.resumed(event)
