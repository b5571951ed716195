"""`Exchange`: the one place that sees each frame between clients and a broker, records it, and injects faults.

A broker, or a front that forwards to one, answers frames with a function (`connection.Answer`). For each connection
that it accepts it asks the exchange for an `ObservedConnection` and serves that one's `answer` instead of its own:

    exchange = Exchange(events.append, FaultPlan(Fault("SyncGroup", Effect.DROP_REPLY)))
    observed = exchange.connection(broker_answer, node=1, process="p0")   # records ConnectionOpened
    reply = await observed.answer(frame, "/127.0.0.1")                    # RequestObserved, the fault, ReplyObserved
    observed.closed()                                                     # ConnectionClosed, once

The bytes that pass are never changed, but for faults.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Final

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.exchange.connection import Answer
from rebalance_check.integration.exchange.control import Control
from rebalance_check.integration.exchange.faults import Effect, Fault, FaultPlan
from rebalance_check.integration.exchange.observing import NumberedRequest, reply_observed, request_observed
from rebalance_check.integration.exchange.refusals import refusal
from rebalance_check.integration.exchange.seen import Seen, see, see_name
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.integration.wire.frames import LENGTH_BYTES, MalformedFrame, encode_response, read_prefix
from rebalance_check.integration.wire.messages import name_of, read_response
from rebalance_check.model.vocabulary.events import ConnectionClosed, ConnectionOpened, CoordinatorMoved, Event

SOURCE: Final = "wire"
"""The source of all events that an exchange records."""

LONG_FRAME_BYTES: Final = 16 * 1024
"""A longer frame is decoded in another thread: it takes as long as the frame is."""

CLOSES: Final = frozenset({Effect.CLOSE_BEFORE, Effect.CLOSE_AFTER})
"""Effects that close the connection instead of a reply."""


class Exchange:
    """The traffic between clients and one broker, or one cluster.

    ``listener`` receives ConnectionOpened, RequestObserved, ReplyObserved, ConnectionClosed and CoordinatorMoved of the
    source ``wire``, in the order in which they happen, in the thread that serves the connections; without one nothing
    is decoded but for faults. ``faults`` are carried out; those of the coordinator need ``control``, which
    may be set later. ``clock`` has the time in ms.

    A group request is recorded under its group; all else on a connection, under the group that this
    connection, or else its process, spoke for last, and under "" before.
    """

    def __init__(
        self,
        listener: Callable[[Event], None] | None = None,
        faults: FaultPlan | None = None,
        *,
        control: Control | None = None,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self.faults = faults or FaultPlan()
        self.control = control
        self._listener = listener
        self._clock = clock
        self._recorders: dict[str, Recorder] = {}
        self._connections = itertools.count(1)
        self._requests = itertools.count(1)
        self._group_of_process: dict[str, str] = defaultdict(str)
        self._protocol_types: dict[str, str] = defaultdict(str)

    def connection(self, answer: Answer, *, node: int, process: str = "") -> ObservedConnection:
        """A client connected to ``node``: what serves its frames instead of ``answer``; see `ObservedConnection`.

        ``process`` is the client's process, "" where unknown.
        """
        return ObservedConnection(self, answer, next(self._connections), node, process)

    @property
    def listens(self) -> bool:
        """Whether events are recorded."""
        return self._listener is not None

    def emit(self, group: str, event: Event) -> None:
        """Record an event of the source ``wire`` under a group; call it in the thread that serves the connections."""
        if self._listener is None:
            return
        if group not in self._recorders:
            self._recorders[group] = Recorder(group, SOURCE, self._clock, self._listener)
        self._recorders[group].emit(event)

    def moved(self, group: str, node: int) -> None:
        """Record that ``node`` coordinates the group from here on."""
        self.emit(group, CoordinatorMoved(node=node))

    # ----------------------------------------------------------------------------------- questions of connections

    async def see(self, frame: bytes, process: str) -> Seen:
        """Read a request: only the name of its api where no listener and no fault needs more."""
        if not self.listens and not self.faults.reads(name_of(read_prefix(frame).api_key)):
            return see_name(frame, process)
        if len(frame) > LONG_FRAME_BYTES:
            return await asyncio.to_thread(see, frame, process)
        return see(frame, process)

    def next_request(self) -> int:
        """The number of the request that passes now."""
        return next(self._requests)

    def protocol_type(self, seen: Seen) -> str:
        """The protocol type of a request's group, as its last JoinGroup says; "" where that is unknown."""
        if isinstance(seen.part, msg.JoinGroupRequest):
            self._protocol_types[seen.group] = seen.part.protocol_type
        return self._protocol_types[seen.group]

    def group_of(self, process: str) -> str:
        """The group that a process spoke for last; "" for none."""
        return self._group_of_process[process] if process else ""

    def speaks_for(self, process: str, group: str) -> None:
        """Note the group that a process speaks for."""
        if process:
            self._group_of_process[process] = group

    def inject(self, fault: Fault, seen: Seen) -> None:
        """Carry out a fault of the coordinator before the request is handled."""
        if self.control is None:
            return
        match fault.effect:
            case Effect.MOVE_COORDINATOR:
                self.control.move_coordinator(seen.group, fault.node)
            case Effect.END_SESSION:
                self.control.end_session(seen.group, seen.member_id)
            case Effect.JUMP_CLOCK:
                self.control.jump_clock(fault.jump_ms)


class ObservedConnection:
    """One connection of a client: `answer` is called for each frame that arrives, one after the other.

    A client may send requests while an earlier one is parked: `arrives` records each when it arrives. Without it they
    are recorded when their turn comes.

    `closed` is called as soon as it is known that the client closed its side, and when the connection is over at the
    latest; later answers are not recorded, as the client does not receive them.
    """

    def __init__(self, exchange: Exchange, answer: Answer, number: int, node: int, process: str) -> None:
        self.number = number
        self.node = node
        self.process = process
        self._exchange = exchange
        self._answer = answer
        self._group = ""
        self._closed_by = "client"
        self._is_closed = False
        self._arrived: deque[NumberedRequest] = deque()
        self._emit(ConnectionOpened(connection=number, process=process, node=node))

    async def arrives(self, frame: bytes) -> None:
        """A frame arrived, which `answer` will be called for in its turn."""
        if self._exchange.listens:
            self._arrived.append(self._observe(await self._exchange.see(frame, self.process)))

    async def answer(self, frame: bytes, peer: str) -> bytes | None:
        """As `connection.Answer`: the broker's answer, or a fault's."""
        if not self._arrived:
            self._arrived.append(self._observe(await self._exchange.see(frame, self.process)))
        numbered = self._arrived.popleft()
        seen = numbered.seen
        fault = self._exchange.faults.strike(seen)
        try:
            reply = await self._carried_out(fault, seen, frame, peer)
        except MalformedFrame:
            self._closed_by = "broker"
            raise
        await self._observe_reply(numbered, reply, fault)
        return self._sent_back(reply, fault)

    def closed(self, by: str = "") -> None:
        """The connection is over: record it, once. ``by`` is client, broker or fault, "" for what is known so far."""
        if not self._is_closed:
            self._emit(ConnectionClosed(connection=self.number, process=self.process, closed_by=by or self._closed_by))
        self._is_closed = True

    # ----------------------------------------------------------------------------------- one request

    async def _carried_out(self, fault: Fault | None, seen: Seen, frame: bytes, peer: str) -> bytes | None:
        if fault is not None:
            if fault.effect is Effect.CLOSE_BEFORE:
                return None
            if fault.effect is Effect.ANSWER:
                response = refusal(seen.request, fault.error)
                return encode_response(response, seen.prefix.api_version, seen.prefix.correlation_id)
            if fault.effect is Effect.DELAY:
                await asyncio.sleep(fault.delay_s)
            self._exchange.inject(fault, seen)
        return await self._answer(frame, peer)

    def _sent_back(self, reply: bytes | None, fault: Fault | None) -> bytes | None:
        if fault is not None and fault.effect in CLOSES:
            self._closed_by = "fault"
            return None
        if fault is not None and fault.effect is Effect.DROP_REPLY:
            return b""
        if reply is None:
            self._closed_by = "broker"
        return reply

    # ----------------------------------------------------------------------------------- recording

    def _emit(self, event: Event) -> None:
        if not self._is_closed:
            self._exchange.emit(self._group or self._exchange.group_of(self.process), event)

    def _observe(self, seen: Seen) -> NumberedRequest:
        if seen.group:
            self._group = seen.group
            self._exchange.speaks_for(self.process, seen.group)
        numbered = NumberedRequest(seen, self._exchange.next_request(), self.number, self._exchange.protocol_type(seen))
        if self._exchange.listens:
            self._emit(request_observed(numbered))
        return numbered

    async def _observe_reply(self, numbered: NumberedRequest, reply: bytes | None, fault: Fault | None) -> None:
        """A request without a reply has an event only where a fault is the reason."""
        if not self._exchange.listens or (not reply and fault is None):
            return
        response = await self._read(numbered.seen, reply) if reply else None
        self._emit(reply_observed(numbered, response, "" if fault is None else str(fault.effect)))

    async def _read(self, seen: Seen, reply: bytes) -> object | None:
        if len(reply) > LONG_FRAME_BYTES:
            return await asyncio.to_thread(read_response, seen.prefix, reply[LENGTH_BYTES:])
        return read_response(seen.prefix, reply[LENGTH_BYTES:])
