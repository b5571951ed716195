"""Members on virtual Kafka, in virtual time: the same `DrivenMember` as on sockets, byte for byte.

Virtual Kafka is a coordinator without the rest of a broker; requests about the cluster (ApiVersions, Metadata,
FindCoordinator) are answered here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from functools import partial
from typing import Any, Final, Generic, TypeVar

from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.runtime.clock import Timer, VirtualClock
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.integration.driver.config import ConnectionConfig
from rebalance_check.integration.driver.keeper import Close, Open, Order, Write
from rebalance_check.integration.driver.member import DrivenMember
from rebalance_check.integration.embedded import answers_cluster
from rebalance_check.integration.embedded.cluster import single
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.integration.wire.apis import APIS
from rebalance_check.integration.wire.frames import LENGTH_BYTES, decode_request, encode_response, read_prefix

C = TypeVar("C", bound=Coordinator)

CLUSTER: Final = single("virtual", 9092)
WAY_MS: Final = 1
"""How long bytes are on their way, in virtual time."""


class VirtualBroker:
    """One environment of virtual Kafka as a broker that members connect to; time is that of ``clock``."""

    def __init__(
        self, kafka: VirtualKafka, clock: VirtualClock, topics: Mapping[str, int], config: GroupConfig, seed: int = 0
    ) -> None:
        self.clock = clock
        self._kafka = kafka
        self._environment = kafka.environment()
        self._environment.reset(seed, topics, config.settings)
        self._topics = Topics()
        for name, partitions in topics.items():
            self._topics.create(name, partitions)
        self._now_ms = 0
        self._asked: dict[int, _Connection] = {}
        self._timer: Timer | None = None

    def close(self) -> None:
        """Give the environment back."""
        if self._timer is not None:
            self._timer.cancel()
        self._kafka.give_back(self._environment)

    def handle(self, connection: _Connection, frame: bytes) -> None:
        """A request arrived: the coordinator gets it as it is, unless it is about the cluster."""
        self._pass()
        prefix = read_prefix(frame)
        name = APIS[prefix.api_key].name
        if name in {"ApiVersions", "Metadata", "FindCoordinator"}:
            request = decode_request(APIS[prefix.api_key].request, prefix, frame)
            response = asyncio.run(self._about_cluster(name, request))
            connection.deliver(encode_response(response, prefix.api_version, prefix.correlation_id))
            return
        number = self._environment.post(frame)
        self._asked[number] = connection
        self._environment.answer(number)
        self._hand_out()

    def _about_cluster(self, name: str, request: Any) -> Coroutine[Any, Any, Any]:
        if name == "ApiVersions":
            return answers_cluster.served_versions(request)
        if name == "Metadata":
            return answers_cluster.metadata(request, self._topics, CLUSTER)
        return answers_cluster.find_coordinator(request, CLUSTER)

    def _pass(self) -> None:
        """Let the coordinator's time go on to now."""
        if self.clock.now_ms > self._now_ms:
            self._environment.order(f"advance {self.clock.now_ms - self._now_ms}")
            self._now_ms = self.clock.now_ms

    def _wake_up(self) -> None:
        self._timer = None
        self._pass()
        self._hand_out()

    def _hand_out(self) -> None:
        """Send the answers, and come back when the coordinator's next timer is due."""
        deadline = self._environment.control("deadline")
        for number, body in self._environment.take_replies():
            if body is not None and number in self._asked:
                self._asked.pop(number).deliver(len(body).to_bytes(LENGTH_BYTES, "big") + body)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.clock.at(int(deadline), self._wake_up) if deadline else None


class _Connection:
    """A connection of a member to the broker: bytes take their time in both directions."""

    def __init__(self, broker: VirtualBroker, receive: Any) -> None:
        self._broker = broker
        self._receive = receive
        self._is_open = True
        self._buffer = bytearray()

    def write(self, data: bytes) -> None:
        """Bytes go to the broker."""
        self._broker.clock.after(WAY_MS, partial(self._arrive, data))

    def _arrive(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(self._buffer[:LENGTH_BYTES], "big")
            if len(self._buffer) < end:
                return
            frame = bytes(self._buffer[LENGTH_BYTES:end])
            del self._buffer[:end]
            self._broker.handle(self, frame)

    def deliver(self, data: bytes) -> None:
        """Bytes come back."""
        self._broker.clock.after(WAY_MS, partial(self._came, data))

    def _came(self, data: bytes) -> None:
        if self._is_open:
            self._receive(data)

    def close(self) -> None:
        """Nothing comes back any more; written bytes still arrive."""
        self._is_open = False


class VirtualMember(Generic[C]):
    """Any `Coordinator` of ours as a member on virtual Kafka; its application polls whenever that gets it further."""

    def __init__(
        self, coordinator: C, broker: VirtualBroker, *, connections: ConnectionConfig | None = None, seed: int = 0
    ) -> None:
        self.coordinator = coordinator
        self._clock = broker.clock
        self._broker = broker
        self._driven = DrivenMember(
            coordinator,
            [(CLUSTER.first.host, CLUSTER.first.port)],
            connections or ConnectionConfig(),
            stream(seed, f"connections {coordinator.member}"),
        )
        self._connections: dict[int, _Connection] = {}
        self._timer: Timer | None = None
        self._is_running = True
        self._turn()

    def close(self) -> bool:
        """Leave the group in good order; False while something must be answered first."""
        closed = self._driven.close(self._clock.now_ms)
        self._carry_out()
        if closed:
            self._is_running = False
        return closed

    def kill(self) -> None:
        """Die without a word."""
        self._is_running = False
        for connection in self._connections.values():
            connection.close()

    def _turn(self) -> None:
        """One turn of both threads of a member: time-outs and heartbeats, then a poll where it gets further."""
        self._timer = None
        if not self._is_running:
            return
        now_ms = self._clock.now_ms
        self._driven.advance(now_ms)
        self._driven.poll(now_ms)
        self._carry_out()

    def _carry_out(self) -> None:
        for order in self._driven.take_orders():
            self._do(order)
        due = [self._driven.next_ms(), self._driven.next_poll(), self._clock.now_ms + 1_000]
        next_ms = max(self._clock.now_ms + 1, min(each for each in due if each is not None))
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._clock.at(next_ms, self._turn)

    def _do(self, order: Order) -> None:
        match order:
            case Open(number):
                self._connections[number] = _Connection(self._broker, partial(self._receive, number))
                self._clock.after(WAY_MS, partial(self._opened, number))
            case Write(number, data):
                self._connections[number].write(data)
            case Close(number):
                self._connections.pop(number).close()

    def _opened(self, number: int) -> None:
        if self._is_running:
            self._driven.opened(number, self._clock.now_ms)
            self._carry_out()

    def _receive(self, number: int, data: bytes) -> None:
        if self._is_running:
            self._driven.received(number, data, self._clock.now_ms)
            self._carry_out()
