"""The embedded broker in a thread of its own: the default subject, real sockets without Docker or Java."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.coordinator.shard import Numbers
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.embedded.broker import WireBroker
from rebalance_check.integration.embedded.cluster import FIRST_NODE_ID, Cluster
from rebalance_check.integration.embedded.coordinators import Coordinators
from rebalance_check.integration.embedded.listening import Listening
from rebalance_check.integration.embedded.options import LOOPBACK, MAX_REQUEST_BYTES, BrokerOptions
from rebalance_check.integration.exchange.control import check_faults
from rebalance_check.integration.exchange.exchange import Exchange
from rebalance_check.integration.exchange.faults import OF_THE_COORDINATOR, Effect, FaultPlan
from rebalance_check.integration.exchange.loop_thread import LoopThread
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, TopicsDescribed

T = TypeVar("T")

TEST_SETTINGS: Final = GroupConfig(min_session_timeout_ms=100, initial_rebalance_delay_ms=0)
"""The settings that the real brokers of this suite run with, too."""


class EmbeddedBroker:
    """A context manager: listening inside, gone outside. It is a `Control`: faults may do more to it than frames can.

    ``topics`` maps names to partition counts; ``config`` are the broker's settings; ``listener`` receives the events of
    the coordinator, ``wire_listener`` those of the wire (`exchange.Exchange`), both in the broker's thread; ``seed``
    decides the member ids; the rest is as in `BrokerOptions`. As in Kafka a group belongs to a partition of the offsets
    topic, and each partition to a node.

    Raises: RebalanceCheckError on entering when it cannot listen (the port is in use, or there is no such host), or a
    fault cannot be carried out.
    """

    def __init__(
        self,
        topics: Mapping[str, int] | None = None,
        *,
        config: GroupConfig = TEST_SETTINGS,
        faults: FaultPlan | None = None,
        listener: Callable[[Event], None] | None = None,
        wire_listener: Callable[[Event], None] | None = None,
        seed: int = 0,
        nodes: int = 1,
        host: str = LOOPBACK,
        port: int = 0,
        auto_create: int = 0,
        max_request_bytes: int = MAX_REQUEST_BYTES,
    ) -> None:
        self.faults = faults or FaultPlan()
        self._options = BrokerOptions(
            nodes=nodes, host=host, port=port, auto_create=auto_create, max_request_bytes=max_request_bytes
        )
        self._config = config
        self._listener = listener
        self._random = random.Random(seed)
        self._numbers = Numbers()
        self._jumped_ms = 0
        self._exchange = Exchange(wire_listener, self.faults, control=self)
        self._describing: dict[str, Recorder] = {}
        self._broker = WireBroker(
            self._new_coordinator, dict(topics or {}), self._options, self._now_ms, self._describe_topics
        )
        self._listening = Listening(self._broker.answer, self._exchange, self._options)
        self._cluster: Cluster | None = None
        self._loop: LoopThread | None = None

    # ----------------------------------------------------------------------------------- start and end

    def __enter__(self) -> Self:
        check_faults(self.faults.pending, self, _name(self._options.nodes), "give it several nodes")
        self._loop = LoopThread("embedded-broker")
        try:
            self._cluster = self._loop.run(self._listening.start(self.coordinators.node_of))
        except RebalanceCheckError:
            self._loop.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.run(self._stop())
        self._running.close()
        self._loop = self._cluster = None

    async def _stop(self) -> None:
        self.coordinators.stop()
        await self._listening.stop()

    @property
    def _running(self) -> LoopThread:
        if self._loop is None:
            raise RebalanceCheckError("the embedded broker is not running: use it inside its with statement")
        return self._loop

    # ----------------------------------------------------------------------------------- from outside

    @property
    def bootstrap(self) -> str:
        """``127.0.0.1:PORT`` of the first node."""
        return self.addresses[0]

    @property
    def addresses(self) -> tuple[str, ...]:
        """``HOST:PORT`` of each node, the first one first."""
        _ = self._running
        assert self._cluster is not None
        return tuple(f"{node.host}:{node.port}" for node in self._cluster.nodes)

    @property
    def coordinators(self) -> Coordinators:
        """The coordinators inside; touch them only through `call`."""
        return self._broker.coordinators

    def call(self, function: Callable[[], T]) -> T:
        """Run ``function`` in the broker's thread, between two requests, and return its result."""
        return self._running.call(function)

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run ``coroutine`` in the broker's event loop, during its requests; the outcome comes in the future."""
        return self._running.spawn(coroutine)

    # ----------------------------------------------------------------------------------- as a Control

    @property
    def effects(self) -> frozenset[Effect]:
        """All effects on a coordinator; one with a single node cannot be moved."""
        return OF_THE_COORDINATOR - (frozenset({Effect.MOVE_COORDINATOR}) if self._options.nodes == 1 else frozenset())

    @property
    def node_ids(self) -> Sequence[int]:
        """The nodes, the first one first."""
        return range(FIRST_NODE_ID, FIRST_NODE_ID + self._options.nodes)

    def move_coordinator(self, group: str, node: int) -> None:
        """Let ``node`` coordinate the group from here on, and record CoordinatorMoved.

        Parked requests are answered NOT_COORDINATOR, and so is each later request of the group at another node. The new
        coordinator reads the group from the log: its members keep their place and begin new sessions. Groups of the
        same partition of the offsets topic move along.

        Raises: RebalanceCheckError where there is no such node.
        """
        self.call(partial(self._move, group, node))

    def _move(self, group: str, node: int) -> None:
        self.coordinators.move(group, node)
        self._exchange.moved(group, node)

    def end_session(self, group: str, member_id: str) -> None:
        """Let the session of a member expire now, as if its time had come."""
        self.call(lambda: self.coordinators.of(group).expire_session(group, member_id))

    def jump_clock(self, jump_ms: int) -> None:
        """Let the coordinators' clock jump ahead, and the timers fire that are due then."""
        self.call(partial(self._jump, jump_ms))

    def _jump(self, jump_ms: int) -> None:
        self._jumped_ms += jump_ms
        self.coordinators.advance()

    # ----------------------------------------------------------------------------------- parts

    def _now_ms(self) -> int:
        return now_ms() + self._jumped_ms

    def _new_coordinator(self) -> GroupCoordinator:
        return GroupCoordinator(
            self._config,
            new_member_id=self._new_member_id,
            recorder_for=self._recorder_for if self._listener is not None else None,
            numbers=self._numbers,
        )

    def _new_member_id(self, prefix: str) -> str:
        return f"{prefix}-{uuid.UUID(int=self._random.getrandbits(128), version=4)}"

    def _recorder_for(self, group_id: str) -> Recorder:
        """The recorder of a group, whose history begins with the topics to assign."""
        self._describing[group_id] = Recorder(group_id, "broker", self._now_ms, self._listener)
        self._describe_topics(group_id)
        return Recorder(group_id, "coordinator", self._now_ms, self._listener)

    def _describe_topics(self, *groups: str) -> None:
        """Record which partitions there are: for these groups, or for all that are known."""
        for group_id in groups or self._describing:
            self._describing[group_id].emit(TopicsDescribed(partitions=self._broker.topics.described()))


def _name(nodes: int) -> str:
    return "the embedded broker with one node" if nodes == 1 else f"the embedded broker with {nodes} nodes"
