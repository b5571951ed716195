"""aiokafka's consumer as a live member: EAGER only, and without a callback for partitions that are lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, TopicPartition, __version__
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.errors import KafkaError

from rebalance_check.integration.live.clients.consumer import GRACE_MS, assignors_of
from rebalance_check.integration.live.settings import MemberOrder
from rebalance_check.integration.recorders.aiokafka import RecordingAioKafkaConsumer
from rebalance_check.integration.recorders.observer import Observer
from rebalance_check.model.vocabulary.ids import NO_GENERATION

ASSIGNORS: Final[dict[str, Any]] = {"range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor}


class AioKafka:
    """A `LiveConsumer`. Its event loop runs while it is called; between two calls its heartbeats rest."""

    release: str = __version__

    def __init__(self, order: MemberOrder, observer: Observer) -> None:
        self._read: dict[Any, int] = {}
        self._runner = asyncio.Runner()
        self._consumer: RecordingAioKafkaConsumer = self._runner.run(self._start(order, observer))

    async def _start(self, order: MemberOrder, observer: Observer) -> RecordingAioKafkaConsumer:
        settings = order.settings
        consumer = AIOKafkaConsumer(
            bootstrap_servers=order.bootstrap,
            group_id=order.group,
            client_id=order.member,
            partition_assignment_strategy=[_watched(each, observer) for each in assignors_of(order, ASSIGNORS)],
            session_timeout_ms=settings.session_timeout_ms,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            max_poll_interval_ms=settings.max_poll_interval_ms,
            rebalance_timeout_ms=settings.max_poll_interval_ms,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        recorded = RecordingAioKafkaConsumer(consumer, observer)
        await recorded.start()
        # From here on it joins, as soon as its loop runs again: when it is polled.
        recorded.subscribe([order.topic])
        return recorded

    def poll(self, timeout_ms: int) -> None:
        """See `LiveConsumer`."""
        self._runner.run(self._poll(timeout_ms))

    async def _poll(self, timeout_ms: int) -> None:
        with contextlib.suppress(KafkaError):
            for tp, records in (await self._consumer.getmany(timeout_ms=timeout_ms, max_records=1)).items():
                self._read[tp] = records[-1].offset + 1

    def commit(self) -> None:
        """See `LiveConsumer`."""
        owned: set[Any] = self._consumer.assignment()
        self._read = {tp: at for tp, at in self._read.items() if tp in owned}
        offsets = {TopicPartition(*tp): at for tp, at in sorted(self._read.items())}
        if offsets:
            with contextlib.suppress(TimeoutError, KafkaError):
                self._runner.run(asyncio.wait_for(self._consumer.commit(offsets), GRACE_MS / 1000))

    def close(self) -> None:
        """See `LiveConsumer`."""
        with self._runner:
            self._runner.run(asyncio.wait_for(self._consumer.stop(), GRACE_MS / 1000))


def _watched(assignor: Any, observer: Observer) -> Any:
    """The assignor, which aiokafka uses as a class; it notifies ``observer`` of its results. No claims."""

    class Watched(assignor):  # type: ignore[misc] # a class that is known when it runs
        @classmethod
        def assign(cls, cluster: Any, members: Mapping[str, Any]) -> Any:
            result = super().assign(cluster, members)
            observer.computed(
                cls.name,
                dict.fromkeys(members, ()),
                {member_id: _flat(result[member_id]) for member_id in members},
                dict.fromkeys(members, NO_GENERATION),
            )
            return result

    return Watched


def _flat(assignment: Any) -> list[tuple[str, int]]:
    return [(topic, index) for topic, indexes in assignment.assignment for index in indexes]
