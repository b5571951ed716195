"""The embedded broker in a thread of its own: the default subject, real sockets without Docker or Java."""

from __future__ import annotations

import asyncio
import random
import threading
import uuid
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.embedded.broker import MAX_REQUEST_BYTES, WireBroker
from rebalance_check.integration.exchange.exchange import Exchange, now_ms
from rebalance_check.integration.exchange.faults import FaultPlan
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, TopicsDescribed
from rebalance_check.model.vocabulary.ids import partition

T = TypeVar("T")

TEST_SETTINGS: Final = GroupConfig(min_session_timeout_ms=100, initial_rebalance_delay_ms=0)
"""The settings that the real brokers of this suite run with, too."""

START_TIMEOUT_S: Final = 30.0


class EmbeddedBroker:
    """A context manager: listening inside, gone outside.

    ``topics`` maps names to partition counts; ``config`` are the broker's settings; ``listener`` receives the events of
    the coordinator, ``wire_listener`` those of the wire (`exchange.Exchange`), both in the broker's thread; ``seed``
    decides the member ids; ``max_request_bytes`` is Kafka's ``socket.request.max.bytes``: a connection that sends a
    longer request is closed.
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
        max_request_bytes: int = MAX_REQUEST_BYTES,
    ) -> None:
        self._max_request_bytes = max_request_bytes
        self.faults = faults or FaultPlan()
        self._exchange = Exchange(wire_listener, self.faults)
        self._topics = dict(topics or {})
        self._config = config
        self._listener = listener
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="embedded-broker", daemon=True)
        self._broker: WireBroker | None = None

    @property
    def bootstrap(self) -> str:
        """``127.0.0.1:PORT``."""
        address = self._running.address
        return f"{address.host}:{address.port}"

    @property
    def coordinator(self) -> GroupCoordinator:
        """The coordinator inside; touch it only through `call`."""
        return self._running.coordinator

    def call(self, function: Callable[[], T]) -> T:
        """Run ``function`` in the broker's thread, between two requests, and return what it returns."""

        async def calling() -> T:
            return function()

        return self._await(calling())

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run ``coroutine`` in the broker's event loop, during its requests; the outcome comes in the future."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def __enter__(self) -> Self:
        self._thread.start()
        self._broker = self._await(self._start())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._await(self._running.stop())
        self._broker = None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_TIMEOUT_S)
        self._loop.close()

    @property
    def _running(self) -> WireBroker:
        if self._broker is None:
            raise RebalanceCheckError("the embedded broker is not running: use it inside its with statement")
        return self._broker

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _await(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(START_TIMEOUT_S)

    async def _start(self) -> WireBroker:
        coordinator = GroupCoordinator(
            self._config,
            new_member_id=self._new_member_id,
            recorder_for=self._recorder_for if self._listener is not None else None,
        )
        broker = WireBroker(coordinator, self._topics, self._exchange, self._max_request_bytes)
        await broker.start()
        return broker

    def _new_member_id(self, prefix: str) -> str:
        return f"{prefix}-{uuid.UUID(int=self._random.getrandbits(128), version=4)}"

    def _recorder_for(self, group_id: str) -> Recorder:
        """The recorder of a group, whose history begins with what there is to assign: topics of a broker stay."""
        existing = tuple(
            partition(topic, index) for topic, count in sorted(self._topics.items()) for index in range(count)
        )
        Recorder(group_id, "broker", now_ms, self._listener).emit(TopicsDescribed(partitions=existing))
        return Recorder(group_id, "coordinator", now_ms, self._listener)
