"""The common interface of the client libraries of live members: `LiveConsumer`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol, TypeVar

from rebalance_check.integration.live.settings import MemberOrder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

T = TypeVar("T")

GRACE_MS: Final = 5_000
"""How long a commit or an orderly end may take."""


class GaveUpError(RebalanceCheckError):
    """The consumer cannot go on: the group refused it for good."""


class LiveConsumer(Protocol):
    """A consumer of some library, subscribed to the topic of its order, that is recorded. One thread calls
    it."""

    @property
    def release(self) -> str:
        """The version of the library that runs, by its own account."""
        ...

    def poll(self, timeout_ms: int) -> None:
        """Let it work for at most so long. Retriable errors are its own affair: the next poll tries again."""
        ...

    def commit(self) -> None:
        """Commit how far it has read each partition that it owns. A refusal is recorded, and no error."""
        ...

    def close(self) -> None:
        """Leave the group."""
        ...


def assignors_of(order: MemberOrder, offered: Mapping[str, T]) -> list[T]:
    """The library's assignors for an order; `RebalanceCheckError` for one that the client does not have."""
    unknown = [name for name in order.choice.assignors if name not in offered]
    if unknown:
        raise RebalanceCheckError(
            f"{order.choice.client} has no assignor {unknown[0]!r} that live members use: it has {', '.join(offered)}"
        )
    return [offered[name] for name in order.choice.assignors]
