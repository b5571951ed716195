"""aiokafka's consumer as a live member: EAGER only, and without a callback for partitions that are lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition, __version__
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.errors import KafkaError, KafkaTimeoutError

from rebalance_check.integration.live.clients.consumer import (
    GRACE_MS,
    UNKNOWN_NODE,
    Committed,
    Membership,
    assignors_of,
)
from rebalance_check.integration.live.observer import Observer, names
from rebalance_check.integration.live.settings import MemberOrder
from rebalance_check.model.vocabulary.ids import NO_GENERATION

ASSIGNORS: Final[dict[str, Any]] = {"range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor}


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc] # the package ships no types
    def __init__(self, client: AioKafka, observer: Observer) -> None:
        self._client = client
        self._observer = observer

    def on_partitions_assigned(self, assigned: set[Any]) -> None:
        self._client.assigned_in = self._client.membership().generation
        self._observer.assigned(assigned)

    def on_partitions_revoked(self, revoked: set[Any]) -> None:
        self._client.assigned_in = NO_GENERATION
        self._observer.revoked(revoked)


class AioKafka:
    """A `LiveConsumer`. Its event loop runs while it is called; between two calls its heartbeats rest."""

    release: str = __version__

    def __init__(self, order: MemberOrder, observer: Observer) -> None:
        self.assigned_in = NO_GENERATION
        self._read: dict[Any, int] = {}
        self._runner = asyncio.Runner()
        self._consumer: Any = self._runner.run(self._start(order, observer))

    async def _start(self, order: MemberOrder, observer: Observer) -> Any:
        settings = order.settings
        self._consumer = AIOKafkaConsumer(
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
        observer.membership = self.membership
        await self._consumer.start()
        # From here on it joins, as soon as its loop runs again: when it is polled.
        self._consumer.subscribe([order.topic], listener=_Listener(self, observer))
        return self._consumer

    def poll(self, timeout_ms: int) -> None:
        """See `LiveConsumer`."""
        self._runner.run(self._poll(timeout_ms))

    async def _poll(self, timeout_ms: int) -> None:
        with contextlib.suppress(KafkaError):
            for tp, records in (await self._consumer.getmany(timeout_ms=timeout_ms, max_records=1)).items():
                self._read[tp] = records[-1].offset + 1

    def membership(self) -> Membership:
        """See `LiveConsumer`. The consumer shows neither generation nor member id; its coordinator does. The rebalance
        is complete from the callback that assigns to the one that revokes."""
        coordinator = self._consumer._coordinator
        generation = getattr(coordinator, "generation", NO_GENERATION)
        node = getattr(coordinator, "coordinator_id", None)
        return Membership(
            generation,
            getattr(coordinator, "member_id", ""),
            generation == self.assigned_in != NO_GENERATION,
            UNKNOWN_NODE if node is None else node,
        )

    def owned(self) -> tuple[str, ...]:
        """See `LiveConsumer`."""
        return names(self._consumer.assignment())

    def commit(self) -> list[Committed]:
        """See `LiveConsumer`."""
        owned: set[Any] = self._consumer.assignment()
        self._read = {tp: at for tp, at in self._read.items() if tp in owned}
        offsets = {TopicPartition(*tp): at for tp, at in sorted(self._read.items())}
        error: str | None = "NONE"
        if offsets:
            try:
                self._runner.run(asyncio.wait_for(self._consumer.commit(offsets), GRACE_MS / 1000))
            except (TimeoutError, KafkaTimeoutError):
                error = None
            except KafkaError as failure:
                error = kafka_name(failure)
        return [Committed(f"{tp.topic}-{tp.partition}", at, error) for tp, at in offsets.items()]

    def close(self) -> None:
        """See `LiveConsumer`."""
        with self._runner:
            self._runner.run(asyncio.wait_for(self._consumer.stop(), GRACE_MS / 1000))


def kafka_name(failure: Exception) -> str | None:
    """Kafka's name of an error that a broker answered; None (unknown) for what the client made up itself."""
    return getattr(failure, "message", None) if getattr(failure, "errno", -1) > 0 else None


def _watched(assignor: Any, observer: Observer) -> Any:
    """The assignor, which aiokafka uses as a class; it notifies ``observer`` of what it computes. No claims."""

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
