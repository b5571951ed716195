"""The network of a run whose choices have addresses: a message is named by its sender, and by how many came before.

``m0:3.lost`` is the request of m0 after three others that is lost, ``m0:3-reply.lost`` the answer to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Final

from rebalance_check.impl.protocol.messages import MemberReply, MemberRequest
from rebalance_check.impl.runtime.choices import ChosenStream
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.simulator.network import Connection, Receive, Serve, SimulatedNetwork, Token, never

SENT: Final = ("lost", "duplicated", "disconnect")
"""The faults that may strike a request that is sent, in the order in which `Connection.send` asks."""

ANSWERED: Final = ("lost",)
SERVED: Final = ("refused",)


def network_of(clock: VirtualClock, random: Random, plan: FaultPlan, serve: Serve) -> SimulatedNetwork:
    """The network of a run: one with addresses where the choices of the run have any."""
    if isinstance(random, ChosenStream):
        return ChosenNetwork(clock, random, plan, serve)
    return SimulatedNetwork(clock, random, plan, serve)


class ChosenNetwork(SimulatedNetwork):
    """As its base class; the faults of a message, and its time on the way, are choices of that message."""

    def __init__(self, clock: VirtualClock, random: ChosenStream, plan: FaultPlan, serve: Serve) -> None:
        super().__init__(clock, random, plan, self._served)
        self._choices, self._stream = random.of_run, random.real
        self._serve = serve
        self._asked = 0
        self._names: tuple[str, ...] = ()
        self.sent: Counter[str] = Counter()

    def connect(
        self, receive: Receive, node: int = 0, broken: Callable[[], None] = never, owner: str = ""
    ) -> Connection:
        """A new connection of ``owner``."""
        return _ChosenConnection(self, receive, node, broken, owner)

    def _served(self, node: int, token: Token | None, request: MemberRequest) -> None:
        with self.message(self._label(token), SERVED):
            self._serve(node, token, request)

    def _label(self, token: Token | None) -> str:
        """The name of a request that arrives; empty where no member waits for its answer any more."""
        connection = self._connections.get(token[0]) if token is not None else None
        if token is None or not isinstance(connection, _ChosenConnection):
            return ""
        return connection.labels.get(token[1], "")

    @contextmanager
    def message(self, label: str, names: tuple[str, ...]) -> Iterator[None]:
        """Choices inside concern this message; ``names`` are the faults that may strike it, in the order of asking."""
        before = self._choices.scope, self._names, self._asked
        self._choices.scope, self._names, self._asked = label, names, 0
        try:
            yield
        finally:
            self._choices.scope, self._names, self._asked = before

    def _drawn_way_ms(self) -> int:
        """How long one message is on its way; quietly the shortest time."""
        return int(self._choices.take("network", "way", self._way_of_stream_ms, 1))

    def _way_of_stream_ms(self) -> int:
        return 1 + int(self._stream.random() * self.plan.delay_ms)

    def happens(self, chance: float) -> bool:
        """Whether a fault strikes; quietly it does not."""
        asked, self._asked = self._asked, self._asked + 1
        scope, quiet = self._choices.scope, chance >= 1

        def strikes() -> bool:
            return chance > 0 and self._stream.random() < chance

        if scope and asked < len(self._names):
            return bool(self._choices.decide(f"{scope}.{self._names[asked]}", strikes, quiet))
        return bool(self._choices.take("network", "fault", strikes, quiet))


class _ChosenConnection(Connection):
    __slots__ = ("_chosen", "labels")

    def __init__(
        self, network: ChosenNetwork, receive: Receive, node: int, broken: Callable[[], None], owner: str
    ) -> None:
        super().__init__(network, receive, node, broken, owner)
        self._chosen = network
        self.labels: dict[int, str] = {}

    def send(self, correlation_id: int, request: MemberRequest) -> None:
        count = self._chosen.sent[self.owner]
        self._chosen.sent[self.owner] += 1
        self.labels[correlation_id] = f"{self.owner}:{count}"
        with self._chosen.message(self.labels[correlation_id], SENT):
            super().send(correlation_id, request)

    def carry_reply(self, correlation_id: int, reply: MemberReply) -> None:
        with self._chosen.message(f"{self.labels.get(correlation_id, self.owner)}-reply", ANSWERED):
            super().carry_reply(correlation_id, reply)

    def _let_go(self, chance: float) -> None:
        with self._chosen.message(f"{self.owner}:broken", ()):
            super()._let_go(chance)
