"""What every client library of live members looks like: `LiveConsumer`, and what it shows of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, Protocol, TypeVar

from rebalance_check.integration.live.settings import MemberOrder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.ids import NO_GENERATION

T = TypeVar("T")

GRACE_MS: Final = 5_000
"""How long a commit or an orderly end may take."""

UNKNOWN_NODE: Final = -1


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
    """How the commit of one partition ended: Kafka's name of the error, ``NONE``, or None where no answer says."""

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


def assignors_of(order: MemberOrder, offered: Mapping[str, T]) -> list[T]:
    """What stands for the assignors of an order; `RebalanceCheckError` for one that the client does not have."""
    unknown = [name for name in order.choice.assignors if name not in offered]
    if unknown:
        raise RebalanceCheckError(
            f"{order.choice.client} has no assignor {unknown[0]!r} that live members use: it has {', '.join(offered)}"
        )
    return [offered[name] for name in order.choice.assignors]
