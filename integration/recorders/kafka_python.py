"""kafka-python's consumer, recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from kafka import AsyncConsumerRebalanceListener, OffsetAndMetadata, TopicPartition, __version__
from kafka.structs import MemberState

from rebalance_check.integration.recorders.kafka_python_requests import RecordedRequests
from rebalance_check.integration.recorders.membership import UNKNOWN_NODE, Membership
from rebalance_check.integration.recorders.observer import Observer
from rebalance_check.integration.recorders.wrapped import (
    ACCEPTED,
    Offset,
    RecordingConsumer,
    RecordingListener,
    Shown,
    error_name,
)


class _Listener(RecordingListener, AsyncConsumerRebalanceListener):  # type: ignore[misc] # the package ships no types
    pass


class RecordingKafkaConsumer(RecordingConsumer):
    """A ``kafka.KafkaConsumer`` that is recorded."""

    def __init__(self, consumer: Any, observer: Observer) -> None:
        super().__init__(consumer, observer)
        observer.topics = self._topics
        subscription = consumer._subscription
        if subscription.subscription is not None:
            subscription.rebalance_listener = _Listener(observer, subscription.rebalance_listener)
        coordinator = consumer._coordinator
        by_default = coordinator.config["default_offset_commit_callback"]
        coordinator.config["default_offset_commit_callback"] = self._ending(by_default, Membership())
        coordinator._manager = RecordedRequests(coordinator._manager, observer)

    def membership(self) -> Membership:
        """See `RecordingConsumer`. The consumer does not show its coordinator; the part that talks to one does."""
        now = self._consumer.group_metadata()
        found = str(self._consumer._coordinator.coordinator_id or UNKNOWN_NODE)  # such as coordinator-2
        node = int(found.removeprefix("coordinator-"))
        return Membership(now.generation_id, now.member_id, now.state == MemberState.STABLE, node)

    def subscribe(self, topics: Any = (), pattern: Any = None, listener: Any = None) -> None:
        """See ``KafkaConsumer.subscribe``."""
        self._consumer.subscribe(topics, pattern, _Listener(self._observer, listener))

    def unsubscribe(self) -> None:
        """See ``KafkaConsumer.unsubscribe``."""
        self._observer.unsubscribing()
        self._consumer.unsubscribe()

    def poll(self, *arguments: Any, **named: Any) -> Any:
        """See ``KafkaConsumer.poll``."""
        with self._polling():
            return self._consumer.poll(*arguments, **named)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._polling():
            return next(self._consumer)

    def commit(self, offsets: Mapping[Any, Any] | None = None, timeout_ms: int | None = None) -> None:
        """See ``KafkaConsumer.commit``."""
        chosen = self._chosen(offsets)
        with self._committing(_read(chosen)):
            self._consumer.commit(chosen, timeout_ms=timeout_ms)

    def commit_async(
        self, offsets: Mapping[Any, Any] | None = None, callback: Callable[..., Any] | None = None
    ) -> Any:  # fmt: skip
        """See ``KafkaConsumer.commit_async``."""
        ended = callback or self._consumer._coordinator.config["default_offset_commit_callback"]
        return self._consumer.commit_async(self._chosen(offsets), self._ending(ended, self.membership()))

    def close(self, *arguments: Any, **named: Any) -> None:
        """See ``KafkaConsumer.close``."""
        self._observer.leaving()
        self._consumer.close(*arguments, **named)
        self._observer.left()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _topics(self) -> tuple[str, ...]:
        return tuple(sorted(self._consumer.subscription() or ()))

    def _chosen(self, offsets: Mapping[Any, Any] | None) -> Mapping[Any, Any]:
        chosen: Mapping[Any, Any] = self._consumer._subscription.all_consumed_offsets() if offsets is None else offsets
        return chosen

    def _ending(self, inner: Callable[..., Any], sent: Membership) -> Callable[..., Any]:
        """The callback of a commit; of the library's own commits nothing says in which generation they were sent."""

        def ended(offsets: Mapping[Any, Any], response: Any) -> None:
            error = error_name(response) if isinstance(response, Exception) else ACCEPTED
            self._committed(_read(offsets), error, sent)
            inner(offsets, response)

        return ended


def shown(consumer: Any) -> Shown:
    """The settings that the consumer shows."""
    config = consumer.config
    coordinator = consumer._coordinator
    return Shown(
        group=config["group_id"] or "",
        client="kafka-python",
        release=__version__,
        protocol=coordinator._rebalance_protocol.name.lower(),
        group_instance_id=config["group_instance_id"] or "",
        assignors=tuple(coordinator._assignors),
        topics=tuple(sorted(consumer.subscription() or ())),
        rebalance_timeout_ms=config["max_poll_interval_ms"],
        session_timeout_ms=config["session_timeout_ms"],
    )


def _read(offsets: Mapping[Any, Any]) -> list[Offset]:
    """The offsets in an argument of ``commit``; none in one that the library refuses."""
    right = all(isinstance(tp, TopicPartition) and isinstance(at, OffsetAndMetadata) for tp, at in offsets.items())
    return [Offset(tp.topic, tp.partition, at.offset) for tp, at in offsets.items()] if right else []
