"""The broker's topics: their partitions' logs, their configs, and a way to wait until something is appended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from rebalance_check.integration.embedded.partition_log import PartitionLog
from rebalance_check.model.vocabulary.ids import partition


class Topics:
    """All topics. Belongs to one event loop. ``on_change`` is called when a topic is created, deleted, or grows."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self._on_change = on_change
        self._logs: dict[str, list[PartitionLog]] = {}
        self._configs: dict[str, dict[str, str]] = {}
        self._leaders: dict[tuple[str, int], int] = {}
        self._appended = asyncio.Event()

    def create(
        self, name: str, partitions: int, configs: Mapping[str, str] | None = None, leaders: Sequence[int] = ()
    ) -> None:
        """Create a topic; ``configs`` by Kafka's names, ``leaders`` are the nodes of its partitions, empty for any.
        ``KeyError`` when it exists."""
        if name in self._logs:
            raise KeyError(name)
        self._logs[name] = [PartitionLog() for _ in range(partitions)]
        self._configs[name] = dict(configs or {})
        self._leaders.update(((name, index), node) for index, node in enumerate(leaders))
        self._on_change()

    def delete(self, name: str) -> None:
        """Delete a topic; ``KeyError`` when it does not exist. A Fetch that waits for its records goes on."""
        del self._logs[name], self._configs[name]
        self._leaders = {of: node for of, node in self._leaders.items() if of[0] != name}
        self.wake()
        self._on_change()

    def grow(self, name: str, partitions: int, leaders: Sequence[int] = ()) -> None:
        """Add partitions until the topic has so many, on these nodes, empty for any; ``KeyError`` when it does not
        exist."""
        logs = self._logs[name]
        self._leaders.update(((name, index), node) for index, node in enumerate(leaders, len(logs)))
        logs += [PartitionLog() for _ in range(partitions - len(logs))]
        self._on_change()

    def __len__(self) -> int:
        return len(self._logs)

    def names(self) -> list[str]:
        """All topics, sorted."""
        return sorted(self._logs)

    def partitions(self, name: str) -> int | None:
        """How many partitions the topic has; None when it does not exist."""
        logs = self._logs.get(name)
        return None if logs is None else len(logs)

    def described(self) -> tuple[str, ...]:
        """Every partition of every topic, by its name."""
        return tuple(partition(name, index) for name in self.names() for index in range(len(self._logs[name])))

    def configs(self, name: str) -> Mapping[str, str]:
        """The configs that were set for a topic; ``KeyError`` when it does not exist."""
        return self._configs[name]

    def configure(self, name: str, configs: Mapping[str, str]) -> None:
        """Set the configs of a topic, in the place of those it had; ``KeyError`` when it does not exist."""
        if name not in self._configs:
            raise KeyError(name)
        self._configs[name] = dict(configs)

    def exists(self, name: str, index: int | None = None) -> bool:
        """Whether there is such a partition, or (None) such a topic."""
        return name in self._logs if index is None else self.log(name, index) is not None

    def log(self, name: str, index: int) -> PartitionLog | None:
        """The log of a partition; None when it does not exist."""
        logs = self._logs.get(name, [])
        return logs[index] if 0 <= index < len(logs) else None

    def leader(self, name: str, index: int) -> int | None:
        """The node that a partition was assigned to by hand; None when any may lead it."""
        return self._leaders.get((name, index))

    def wake(self) -> None:
        """Records were appended: all that wait for them go on."""
        self._appended.set()
        self._appended = asyncio.Event()

    async def appended(self, timeout_s: float) -> None:
        """Return when records are appended or the time is over."""
        try:
            await asyncio.wait_for(self._appended.wait(), timeout_s)
        except TimeoutError:
            return
