"""The client libraries of live members, behind one interface: `LiveConsumer`.

A client is a module here with a class that has the methods of `LiveConsumer`, its `ClientName`, and its line in
`open_consumer`. The adapter subscribes an unmodified consumer, hands the callbacks that the library makes to the
member's `Observer` (assigned, revoked, lost: those that it has), and answers what the library shows of itself between
two polls. What a library does not show stays unknown. What a member offers (`Seat.assignors`) is given with the order,
so a member that is started again may offer something else.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

from rebalance_check.integration.live.settings import ClientName, MemberOrder
from rebalance_check.model.errors import RebalanceCheckError
from rebalance_check.model.ids import NO_GENERATION

if TYPE_CHECKING:
    from rebalance_check.integration.live.observer import Observer

T = TypeVar("T")

GRACE_MS: Final = 5_000
"""How long a commit or an orderly end may take."""

UNKNOWN_NODE: Final = -1

MODULES: Final = {
    ClientName.KAFKA_PYTHON: "kafka",
    ClientName.LIBRDKAFKA: "confluent_kafka",
    ClientName.AIOKAFKA: "aiokafka",
}


class GaveUpError(RebalanceCheckError):
    """The consumer cannot go on: the group refused it for good."""


class Membership(NamedTuple):
    """What a consumer shows of its place in the group, read at once; ``settled``: its last rebalance is complete,
    ``coordinator``: the node that it takes for its coordinator."""

    generation: int = NO_GENERATION
    member_id: str = ""
    settled: bool = False
    coordinator: int = UNKNOWN_NODE


class Committed(NamedTuple):
    """How the commit of one partition ended: Kafka's name of the error, ``NONE``, or None where no answer told."""

    partition: str
    offset: int
    error: str | None


class LiveConsumer(Protocol):
    """A consumer of some library, subscribed to the topic of its order. One thread calls it."""

    @property
    def release(self) -> str:
        """The version of the library that runs, by its own account."""
        ...

    def poll(self, timeout_ms: int) -> None:
        """Let it work for at most so long; what it calls back it hands to the observer. Retriable errors are its own
        affair: the next poll tries again."""
        ...

    def membership(self) -> Membership:
        """Its place in the group; may be asked from within a callback."""
        ...

    def owned(self) -> tuple[str, ...]:
        """The partitions it owns by its own account, sorted."""
        ...

    def commit(self) -> Iterable[Committed]:
        """Commit how far it has read each partition that it owns."""
        ...

    def close(self) -> None:
        """Leave the group."""
        ...


def require_installed(client: ClientName) -> None:
    """`RebalanceCheckError` when the client's library is not there."""
    if importlib.util.find_spec(MODULES[client]) is None:
        raise RebalanceCheckError(f"the client {client} is not installed: pip install 'rebalance-check[brokers]'")


def open_consumer(order: MemberOrder, observer: Observer) -> LiveConsumer:
    """The consumer that ``order`` asks for; it joins when it is polled. Only its own library is imported."""
    match order.seat.client:
        case ClientName.KAFKA_PYTHON:
            from rebalance_check.integration.live.clients.kafka_python import KafkaPython  # noqa: PLC0415 - see above

            return KafkaPython(order, observer)
        case ClientName.LIBRDKAFKA:
            from rebalance_check.integration.live.clients.librdkafka import Librdkafka  # noqa: PLC0415 - see above

            return Librdkafka(order, observer)
        case ClientName.AIOKAFKA:
            from rebalance_check.integration.live.clients.aiokafka import AioKafka  # noqa: PLC0415 - see above

            return AioKafka(order, observer)


def assignors_of(order: MemberOrder, offered: Mapping[str, T]) -> list[T]:
    """What stands for the assignors of an order; `RebalanceCheckError` for one that the client does not have."""
    unknown = [name for name in order.seat.assignors if name not in offered]
    if unknown:
        raise RebalanceCheckError(
            f"{order.seat.client} has no assignor {unknown[0]!r} that live members use: it has {', '.join(offered)}"
        )
    return [offered[name] for name in order.seat.assignors]
