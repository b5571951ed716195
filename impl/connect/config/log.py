"""The port between a config store and its topic: a store's calls to a log, and a log's reports to the store.

A log is the store's producers and its reader in one. The store calls `ConfigLog.submit` with a number; the owner of the
log does the step in its own time, or never, and then calls

- ``store.completed(number)``, or ``store.completed(number, failure)``, at most once for each number;
- ``store.read(offset, key, value)`` for each record that the reader polls, in the order of the log. When that raises,
  the reader passes over the rest of the records that it polled with it; when they were the first ones polled after a
  `ReadToEnd` was served, the reader ends (the reader's thread of ``KafkaBasedLog`` dies).

A store is not thread-safe: an adapter holds one lock around every call. Time is handed in as a function.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from rebalance_check.impl.connect.config.values import ConfigRecord


class ExactlyOnce(StrEnum):
    """``exactly.once.source.support``: anything but disabled makes privileged writes transactions that can be fenced.

    Only ``enabled`` makes readers pass over uncommitted records.
    """

    DISABLED = "disabled"
    PREPARING = "preparing"
    ENABLED = "enabled"

    @property
    def transactional(self) -> bool:
        """Whether a leader's writes go through a producer that can be fenced."""
        return self is not ExactlyOnce.DISABLED

    @property
    def isolation(self) -> str:
        """``isolation.level`` of readers."""
        return "read_committed" if self is ExactlyOnce.ENABLED else "read_uncommitted"


@dataclass(frozen=True, slots=True)
class Send:
    """Append records: with the plain producer, all at once and each on its own; or as one transaction."""

    records: tuple[ConfigRecord, ...]
    transaction: bool = False


@dataclass(frozen=True, slots=True)
class ReadToEnd:
    """Let the store read every record below the end that the log has now."""


@dataclass(frozen=True, slots=True)
class InitTransactions:
    """Make the producer with the cluster's transactional id; every earlier one of that id is fenced."""


LogStep: TypeAlias = Send | ReadToEnd | InitTransactions


class ConfigLog(Protocol):
    """The log that a store writes to and reads from."""

    @property
    def partitions(self) -> int:
        """How many partitions the topic has; a store works with one only."""
        ...

    def submit(self, number: int, step: LogStep) -> None:
        """Do the step, now or later, and report with ``number``."""

    def close_transactions(self) -> None:
        """Close the producer that can be fenced, without waiting."""

    def close(self) -> None:
        """Read no more and close the plain producer, after its sends have been answered."""


class ConfigReader(Protocol):
    """The side of a store that a log talks to."""

    def completed(self, number: int, failure: str = "") -> None:
        """The step with that number is done, or failed."""

    def read(self, offset: int, key: str | None, value: bytes | None) -> None:
        """One record of the topic, in its order."""
