"""The common part of the recording consumers of all libraries: they pass everything on, and note what they see."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rebalance_check.integration.recorders.membership import Committed, Membership
from rebalance_check.integration.recorders.observer import Observer, names

ACCEPTED: Final = "NONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A consumer's settings: its ``group`` ("" for none), and the settings that `MemberStarted` has of it."""

    group: str
    client: str
    release: str
    protocol: str = ""
    group_instance_id: str = ""
    assignors: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    rebalance_timeout_ms: int = 0
    session_timeout_ms: int = 0


class Offset(NamedTuple):
    """How far a partition was read: the position that a commit stores."""

    topic: str
    partition: int
    offset: int


class RecordingConsumer:
    """A consumer of some library that is recorded; methods that a subclass does not name are passed on as they are.

    ``consumer`` is the library's own, ``observer`` gets its facts.
    """

    def __init__(self, consumer: Any, observer: Observer) -> None:
        self._consumer = consumer
        self._observer = observer
        observer.membership = self.membership

    def __getattr__(self, name: str) -> Any:
        return getattr(self._consumer, name)

    def membership(self) -> Membership:
        """Its place in the group; may be asked from within a callback. Each library has its own way."""
        return Membership()

    def owned(self) -> tuple[str, ...]:
        """The partitions that it owns by its own account, sorted."""
        return names((tp.topic, tp.partition) for tp in self._consumer.assignment())

    @contextmanager
    def _polling(self) -> Iterator[None]:
        """Looks at the consumer when it was polled, even after an error."""
        try:
            yield
        finally:
            self._observer.after_poll(self.owned)

    @contextmanager
    def _committing(self, offsets: Iterable[Offset]) -> Iterator[None]:
        """Records how the commit inside ended: in the membership in which it began."""
        sent, error = self.membership(), None
        try:
            yield
            error = ACCEPTED
        except Exception as failure:
            error = error_name(failure)
            raise
        finally:
            self._committed(offsets, error, sent)

    def _committed(self, offsets: Iterable[Offset], error: str | None, sent: Membership) -> None:
        outcomes = [Committed(f"{topic}-{partition}", offset, error) for topic, partition, offset in sorted(offsets)]
        self._observer.committed(outcomes, sent)


class RecordingListener:
    """A listener whose callbacks are recorded around those of ``inner`` (None for none), which may be coroutines.

    An assignment is recorded before the application learns of it, a revocation after the application has given
    it up: it owns the partitions from the one to the other. Lost partitions are gone already.
    """

    def __init__(self, observer: Observer, inner: Any) -> None:
        self._observer = observer
        self._inner = inner

    async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        """Called when partitions are added."""
        self._observer.assigned(assigned)
        await self._call("on_partitions_assigned", assigned)

    async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        """Called when partitions are to be given up."""
        try:
            await self._call("on_partitions_revoked", revoked)
        finally:
            self._observer.revoked(revoked)

    async def on_partitions_lost(self, lost: Iterable[Any]) -> None:
        """Called when partitions are gone."""
        self._observer.lost(lost)
        await self._call("on_partitions_lost", lost)

    async def _call(self, name: str, partitions: Iterable[Any]) -> None:
        result = getattr(self._inner, name)(partitions) if self._inner is not None else None
        if inspect.isawaitable(result):
            await result


def error_name(failure: Exception) -> str | None:
    """Kafka's name of an error that a broker answered; None (unknown) for one that kafka-python or aiokafka made up."""
    return getattr(failure, "message", None) if getattr(failure, "errno", -1) > 0 else None
