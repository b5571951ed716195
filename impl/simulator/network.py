"""The simulated network between members and their coordinator.

A connection is a pair of first-in-first-out streams, as TCP gives them: bytes sent first arrive first, late or
never. A connection that breaks leaves every request on it without an answer (its outcome is *unknown*, given as None);
those that were already on their way may still arrive, and then later than those of the next connection. This is
the only way in which requests of one member overtake each other. A request may also be delivered twice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

from rebalance_check.impl.protocol.messages import REPLY_OF, JoinGroupRequest, MemberReply, MemberRequest
from rebalance_check.impl.runtime.clock import Timer, VirtualClock
from rebalance_check.impl.runtime.faults import NO_FAULTS, FaultPlan
from rebalance_check.impl.runtime.options import FaultKind

REQUEST_TIMEOUT_MS: Final = 12_000
"""``request.timeout.ms``; a JoinGroup waits for the rebalance timeout and some more (`ConsumerNetworkClient`)."""

JOIN_GRACE_MS: Final = 5_000
"""So much more time has a JoinGroup, on top of the rebalance timeout."""

LATE_REQUEST_MS: Final = 20_000
"""How much later than its broken connection a request may arrive, at most."""

CLOSED: Final = 0
"""The number of a connection that will not open again."""

Token = tuple[int, int]
"""The address of a reply: the number of the request's connection, and its correlation id there."""

Receive = Callable[[int, MemberReply | None], None]

Serve = Callable[[int, Token | None, MemberRequest], None]
"""A node gets a request: the number of the node, the answer's token (None: no member waits any more), the request."""


def unnoticed(_struck: object) -> None:
    """Strikes are not counted."""


def never() -> None:
    """Nothing is to be done about a connection that broke."""


class SimulatedNetwork:
    """All connections of a run. ``serve`` is the cluster: it takes each request that arrives at one of its nodes.

    ``plan`` may be exchanged while the run goes on: the healed phase has a fault-free one. ``dead`` are the nodes that
    refuse connections. ``on_strike`` is called with the kind of each fault that strikes.
    """

    def __init__(self, clock: VirtualClock, random: Random, plan: FaultPlan, serve: Serve) -> None:
        self.clock = clock
        self.random = random
        self.plan = plan
        self.serve = serve
        self.dead: set[int] = set()
        self.on_strike: Callable[[FaultKind], None] = unnoticed
        self._connections: dict[int, Connection] = {}
        self._opened = 0

    def connect(
        self, receive: Receive, node: int = 0, broken: Callable[[], None] = never, owner: str = ""
    ) -> Connection:
        """A new connection of ``owner`` to a node; ``receive`` takes each reply under its correlation id.

        It takes None for a reply that is unknown. ``broken`` is called after the connection broke, also when nothing
        was in flight.
        """
        return Connection(self, receive, node, broken, owner)

    def kill(self, node: int) -> None:
        """The process of a node is gone: its connections break, and new ones are refused until `revive`."""
        self.dead.add(node)
        for connection in [each for each in self._connections.values() if each.node == node]:
            connection.break_soon()

    def revive(self, node: int) -> None:
        """The node runs again."""
        self.dead.discard(node)

    def break_under(self, token: Token | None) -> None:
        """Break the connection on which a request waits that has arrived."""
        if token is not None and token[0] in self._connections:
            self._connections[token[0]].break_now()

    def answer(self, token: Token | None, reply: MemberReply) -> None:
        """Send a reply back; a reply whose connection broke meanwhile (None: the request came late) is dropped."""
        if token is not None and token[0] in self._connections:
            self._connections[token[0]].carry_reply(token[1], reply)

    def open(self, connection: Connection) -> int:
        """A number under which replies find ``connection``."""
        self._opened += 1
        self._connections[self._opened] = connection
        return self._opened

    def forget(self, number: int) -> None:
        """No reply finds its way to that connection any more."""
        self._connections.pop(number, None)

    def way_ms(self) -> int:
        """How long one message is on its way."""
        way_ms = self._drawn_way_ms()
        if way_ms > NO_FAULTS.delay_ms:
            self.on_strike(FaultKind.DELAY)
        return way_ms

    def _drawn_way_ms(self) -> int:
        return 1 + int(self.random.random() * self.plan.delay_ms)

    def happens(self, chance: float) -> bool:
        """Whether a fault of that chance strikes now; nothing is drawn for a fault that is switched off."""
        return chance > 0 and self.random.random() < chance

    def strikes(self, kind: FaultKind, chance: float) -> bool:
        """As `happens`; a fault that strikes is noticed."""
        struck = self.happens(chance)
        if struck:
            self.on_strike(kind)
        return struck


class Connection:
    """The connection of a member to a node; when it breaks it is opened again under a new number."""

    __slots__ = (
        "_broken", "_clock", "_last_reply_ms", "_last_request_ms", "_network", "_number", "_on_the_way", "_receive",
        "_timeout", "_types", "_waiting", "node", "owner",
    )  # fmt: skip

    def __init__(
        self, network: SimulatedNetwork, receive: Receive, node: int, broken: Callable[[], None], owner: str
    ) -> None:
        self.node = node
        self.owner = owner
        self._broken = broken
        self._network = network
        self._clock = network.clock
        self._receive = receive
        self._number = network.open(self)
        self._waiting: dict[int, int] = {}
        self._types: dict[int, type[MemberReply]] = {}
        self._on_the_way: dict[int, MemberRequest] = {}
        self._last_request_ms = 0
        self._last_reply_ms = 0
        self._timeout: Timer | None = None

    # -------------------------------------------------------------------------------------------- requests

    def send(self, correlation_id: int, request: MemberRequest) -> None:
        """Put a request on its way."""
        network = self._network
        self._wait_for(correlation_id, request)
        self._types[correlation_id] = REPLY_OF[type(request)]
        if network.strikes(FaultKind.DROP, network.plan.drop):
            return
        self._on_the_way[correlation_id] = request
        arrival_ms = self._last_request_ms = max(self._last_request_ms, self._clock.now_ms + network.way_ms())
        self._clock.at(arrival_ms, partial(self._arrive, self._number, correlation_id))
        if network.strikes(FaultKind.DUPLICATE, network.plan.duplicate):
            self._clock.at(
                arrival_ms + network.random.randrange(LATE_REQUEST_MS), partial(network.serve, self.node, None, request)
            )
        if network.strikes(FaultKind.DISCONNECT, network.plan.disconnect):
            self._clock.after(network.way_ms(), partial(self._break_if, self._number))

    def _arrive(self, number: int, correlation_id: int) -> None:
        """The request reaches the node, if its connection still stands; one that is dead breaks the connection."""
        if number != self._number:
            return
        request = self._on_the_way.pop(correlation_id)
        if self.node in self._network.dead:
            self.break_now()
        else:
            self._network.serve(self.node, (number, correlation_id), request)

    # -------------------------------------------------------------------------------------------- replies

    def carry_reply(self, correlation_id: int, reply: MemberReply) -> None:
        """Put the reply on its way; called by the network."""
        network = self._network
        if network.strikes(FaultKind.DROP, network.plan.drop):
            return
        arrival_ms = self._last_reply_ms = max(self._last_reply_ms, self._clock.now_ms + network.way_ms())
        self._clock.at(arrival_ms, partial(self._deliver, self._number, correlation_id, reply))

    def _deliver(self, number: int, correlation_id: int, reply: MemberReply) -> None:
        """The reply reaches the member, unless it has given the request up; bytes are read by the request's type."""
        if number != self._number or self._waiting.pop(correlation_id, None) is None:
            return
        expected = self._types.pop(correlation_id)
        if not isinstance(reply, expected):
            raise TypeError(f"{self.owner} can read a {expected.__name__} only, and is sent {reply!r}: check the node")
        self._receive(correlation_id, reply)

    # -------------------------------------------------------------------------------------------- breaking

    def close(self) -> None:
        """The member is gone, and waits for no replies; requests sent still arrive, as bytes in a socket do."""
        self._waiting.clear()
        self._types.clear()
        self._let_go(chance=1.0)
        self._number = CLOSED

    def break_now(self) -> None:
        """Break the connection: every request that waits has an unknown outcome; the next one uses a new connection."""
        unknown = list(self._waiting)
        self._waiting.clear()
        self._types.clear()
        self._let_go(chance=self._network.plan.reorder)
        self._number = self._network.open(self)
        for correlation_id in unknown:
            self._receive(correlation_id, None)
        self._broken()

    def probe(self) -> None:
        """Open the connection before anything is sent: one to a dead node breaks."""
        if self.node in self._network.dead:
            self.break_soon()

    def break_soon(self) -> None:
        """The other end is gone, and this one learns of it after a while."""
        self._clock.after(self._network.way_ms(), partial(self._break_if, self._number))

    def _let_go(self, chance: float) -> None:
        """Forget the old number; a request under way is lost, or by ``chance`` arrives after its connection broke."""
        network = self._network
        network.forget(self._number)
        for request in self._on_the_way.values():
            if network.happens(chance):
                late_ms = (
                    network.random.randrange(LATE_REQUEST_MS)
                    if network.strikes(FaultKind.REORDER, network.plan.reorder)
                    else 0
                )
                self._clock.after(late_ms + network.way_ms(), partial(network.serve, self.node, None, request))
        self._on_the_way.clear()

    def _break_if(self, number: int) -> None:
        if number == self._number:
            self.break_now()

    # -------------------------------------------------------------------------------------------- time-outs

    def _wait_for(self, correlation_id: int, request: MemberRequest) -> None:
        """Expect an answer within the request time-out; one timer serves all requests of the connection."""
        patience_ms = REQUEST_TIMEOUT_MS
        if isinstance(request, JoinGroupRequest):
            patience_ms = max(patience_ms, request.rebalance_timeout_ms + JOIN_GRACE_MS)
        deadline_ms = self._waiting[correlation_id] = self._clock.now_ms + patience_ms
        if self._timeout is None or deadline_ms < self._timeout.deadline_ms:
            self._arm(deadline_ms)

    def _arm(self, deadline_ms: int) -> None:
        if self._timeout is not None:
            self._timeout.cancel()
        self._timeout = self._clock.at(deadline_ms, self._check_timeout)

    def _check_timeout(self) -> None:
        """Break the connection when a request waited too long, as `NetworkClient.handleTimedOutRequests` does."""
        self._timeout = None
        if not self._waiting:
            return
        earliest_ms = min(self._waiting.values())
        if earliest_ms <= self._clock.now_ms:
            self.break_now()
        else:
            self._arm(earliest_ms)
