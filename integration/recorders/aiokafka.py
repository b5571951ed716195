"""aiokafka's consumer, recorded: EAGER only, and without a callback for partitions that are lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from aiokafka import ConsumerRebalanceListener, TopicPartition, __version__

from rebalance_check.integration.recorders.membership import UNKNOWN_NODE, Membership
from rebalance_check.integration.recorders.observer import Observer
from rebalance_check.integration.recorders.wrapped import Offset, RecordingConsumer, RecordingListener, Shown
from rebalance_check.model.vocabulary.ids import NO_GENERATION


class _Listener(RecordingListener, ConsumerRebalanceListener):  # type: ignore[misc] # the package ships no types
    def __init__(self, recorded: RecordingAioKafkaConsumer, observer: Observer, inner: Any) -> None:
        super().__init__(observer, inner)
        self._recorded = recorded

    async def on_partitions_assigned(self, assigned: Any) -> None:
        self._recorded.assigned_in = self._recorded.membership().generation
        await super().on_partitions_assigned(assigned)

    async def on_partitions_revoked(self, revoked: Any) -> None:
        self._recorded.assigned_in = NO_GENERATION
        await super().on_partitions_revoked(revoked)


class RecordingAioKafkaConsumer(RecordingConsumer):
    """An ``aiokafka.AIOKafkaConsumer`` that is recorded."""

    def __init__(self, consumer: Any, observer: Observer) -> None:
        self.assigned_in = NO_GENERATION
        super().__init__(consumer, observer)
        observer.topics = self._topics
        subscription = consumer._subscription
        if subscription.partitions_auto_assigned():
            subscription._listener = _Listener(self, observer, subscription.listener)

    def membership(self) -> Membership:
        """See `RecordingConsumer`. The consumer shows neither generation nor member id; its coordinator does. The
        rebalance is complete from the callback that assigns to the one that revokes."""
        coordinator = self._consumer._coordinator
        generation = getattr(coordinator, "generation", NO_GENERATION)
        node = getattr(coordinator, "coordinator_id", None)
        return Membership(
            generation,
            getattr(coordinator, "member_id", ""),
            generation == self.assigned_in != NO_GENERATION,
            UNKNOWN_NODE if node is None else node,
        )

    def subscribe(self, topics: Any = (), pattern: Any = None, listener: Any = None) -> None:
        """See ``AIOKafkaConsumer.subscribe``."""
        self._consumer.subscribe(topics, pattern, _Listener(self, self._observer, listener))

    def unsubscribe(self) -> None:
        """See ``AIOKafkaConsumer.unsubscribe``."""
        self._observer.unsubscribing()
        self._consumer.unsubscribe()
        self.assigned_in = NO_GENERATION

    async def getone(self, *partitions: Any) -> Any:
        """See ``AIOKafkaConsumer.getone``."""
        with self._polling():
            return await self._consumer.getone(*partitions)

    async def getmany(self, *partitions: Any, **named: Any) -> Any:
        """See ``AIOKafkaConsumer.getmany``."""
        with self._polling():
            return await self._consumer.getmany(*partitions, **named)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        with self._polling():
            return await anext(self._consumer)

    async def commit(self, offsets: Mapping[Any, Any] | None = None) -> None:
        """See ``AIOKafkaConsumer.commit``."""
        with self._committing(_read(self._consumed() if offsets is None else offsets)):
            await self._consumer.commit(offsets)

    async def stop(self) -> None:
        """See ``AIOKafkaConsumer.stop``."""
        self._observer.leaving()
        await self._consumer.stop()
        self._observer.left()

    async def __aenter__(self) -> Self:
        await self._consumer.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.stop()

    def _topics(self) -> tuple[str, ...]:
        return tuple(sorted(self._consumer.subscription()))

    def _consumed(self) -> Mapping[Any, Any]:
        assignment = getattr(self._consumer._subscription.subscription, "assignment", None)
        return assignment.all_consumed_offsets() if assignment is not None else {}


def shown(consumer: Any) -> Shown:
    """The settings that the consumer shows."""
    return Shown(
        group=consumer._group_id or "",
        client="aiokafka",
        release=__version__,
        protocol="eager",
        group_instance_id=consumer._group_instance_id or "",
        assignors=tuple(assignor.name for assignor in consumer._partition_assignment_strategy),
        topics=tuple(sorted(consumer.subscription())),
        rebalance_timeout_ms=consumer._rebalance_timeout_ms,
        session_timeout_ms=consumer._session_timeout_ms,
    )


def _read(offsets: Mapping[Any, Any]) -> list[Offset]:
    """The offsets in an argument of ``commit``, alone or first in a tuple; none in one that it refuses."""
    read = [(tp, at[0] if isinstance(at, tuple) and at else at) for tp, at in offsets.items()]
    right = all(isinstance(tp, TopicPartition) and isinstance(at, int) for tp, at in read)
    return [Offset(tp.topic, tp.partition, at) for tp, at in read] if right else []
