"""What claims about the wire are built on: folds that look at one request, at one reply, or at what is due."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ConnectionClosed,
    CoordinatorMoved,
    Event,
    ProcessEnded,
    ProcessSignalled,
    ProcessStarted,
    ReplyObserved,
    RequestObserved,
)
from rebalance_check.properties.kinds import Fold, Handler, Invariant, Memories
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.wire.client import Client
from rebalance_check.properties.wire.clients import Clients
from rebalance_check.properties.wire.errors import LOSSES, UNSEEN

FAMILY: Final = "wire"

ONE_MEMBER: Final = (
    "a process has one member of the group, or several on connections of their own; where the recorder does not know "
    "the processes, a client goes by its connections and member ids"
)
"""The premise of all claims."""
DISTURBED: Final = (
    "while a process is paused or unknown, its coordinator unreachable or refusing, or a reply outstanding, no time "
    "counts"
)
"""The premise of claims about time."""

DISTURBANCES: Final = (ProcessStarted, ProcessSignalled, ProcessEnded, ConnectionClosed, CoordinatorMoved)
"""Events that explain what a client does or leaves undone."""


class WireFold(Fold):
    """A fold that looks at the clients of its group; ``memory`` shows them as they were before the event at hand.

    ``compared`` counts how often the claim was put to the test.
    """

    memory: Clients

    def __init__(self, invariant: Invariant, handlers: Mapping[type[Event], Handler]) -> None:
        super().__init__(invariant, handlers)
        self.compared = 0

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same clients."""
        self.memory = Clients.among(memories)
        self.memories = (self.memory,)

    def tested(self, times: int = 1) -> None:
        """The claim was put to the test, and held."""
        self.compared = (self.compared or 0) + times

    def test(self, fault: str, *reasons: tuple[str, Event | None], at: Event) -> None:
        """The claim is put to the test ``at`` this event, and broken where ``fault`` says how."""
        self.tested()
        if fault:
            self.contradiction(fault, *reasons, (f"{fault} at {STEP}: contradiction.", at))


class RequestFold(WireFold):
    """Looks at each request of one of ``apis``, and at who sent it."""

    apis: ClassVar[frozenset[str]]

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RequestObserved: self.on_request})

    def on_request(self, event: RequestObserved) -> None:
        """Requests whose sender cannot be known are passed over."""
        client = self.memory.client
        if client is not None and event.api in self.apis:
            self.look(client, event)

    @abstractmethod
    def look(self, client: Client, event: RequestObserved) -> None:
        """Compare a request with what its sender was before."""


class UntilTheEndFold(RequestFold):
    """Looks at requests that should not be sent; a client that ends without them has kept the claim, too."""

    bookkeeping = frozenset({ProcessEnded})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self.handlers = {**self.handlers, ProcessEnded: self.on_ended}

    def on_ended(self, event: ProcessEnded) -> None:
        """The clients of the process end with it."""
        self.tested(sum(self.concerns(client) for client in self.memory.clients_of(event.process)))

    @abstractmethod
    def concerns(self, client: Client) -> bool:
        """Whether a client that ends now could have broken the claim."""


@dataclass(frozen=True, slots=True, eq=False)
class Due:
    """What a client must do ``length_ms`` after ``since`` at the latest."""

    since: ReplyObserved
    length_ms: int

    def is_over(self, client: Client, now_ms: int) -> bool:
        """Whether the time is over, disturbances left out."""
        return not client.is_hindered and now_ms > max(self.since.time_ms, client.disturbed_ms) + self.length_ms


class DueFold(WireFold):
    """A reply after which the client must send one of ``ends`` in time.

    A client that leaves, loses its membership or ends has nothing due. A static member may fall silent instead, as it
    does after the poll timeout.
    """

    ends: ClassVar[frozenset[str]]
    must: ClassVar[str]
    """What it must do, in words."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RequestObserved: self.on_request, ReplyObserved: self.on_reply})
        self._due: dict[Client, Due] = {}

    @abstractmethod
    def length_ms(self, client: Client, request: RequestObserved, reply: ReplyObserved) -> int:
        """How long the client has from this reply on; 0 where nothing is due."""

    def on_request(self, event: RequestObserved) -> None:
        """The client does what is due, or something else."""
        client = self.memory.client
        self._look_at_all(event)
        due = self._due.get(client) if client is not None else None
        if client is None or due is None:
            return
        if event.api == Api.LEAVE_GROUP:
            del self._due[client]
        elif due.is_over(client, event.time_ms):
            self._break(client, due, event)
        elif event.api in self.ends:
            del self._due[client]
            self.tested()

    def on_reply(self, event: ReplyObserved) -> None:
        """Something may be due from here on, or no longer."""
        self._look_at_all(event)
        client, request = self.memory.client, self.memory.request
        if client is None or request is None or event.fault in UNSEEN:
            return
        if event.error in LOSSES:
            self._due.pop(client, None)
        elif client not in self._due and (length_ms := self.length_ms(client, request, event)):
            self._due[client] = Due(event, length_ms)

    def _look_at_all(self, event: RequestObserved | ReplyObserved) -> None:
        """Silence breaks the claim too, where the client must not fall silent."""
        for client, due in list(self._due.items()):
            if client.is_ending or not self.memory.has(client):
                del self._due[client]
            elif not client.is_static and due.is_over(client, event.time_ms):
                self._break(client, due, event)

    def _break(self, client: Client, due: Due, event: RequestObserved | ReplyObserved) -> None:
        del self._due[client]
        self.test(
            f"{client.name} did not {self.must} within {due.length_ms} ms",
            (f"{client.name} received {describe(due.since)} at {STEP};", due.since),
            at=event,
        )


def describe(reply: ReplyObserved) -> str:
    """A reply in words: ``REBALANCE_IN_PROGRESS to its Heartbeat``."""
    said = (
        f"generation {reply.reply_generation}" if reply.error == "NONE" and reply.reply_generation >= 0 else reply.error
    )
    return f"{said} in reply to its {reply.api}"
