"""The config topic of a Connect cluster as its workers see it: one log, read by each worker at its own pace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ConfigSnapshot:
    """What a worker knows after reading up to, not including, ``offset`` (-1: nothing was ever read).

    ``connectors`` gives each connector's number of tasks.
    """

    offset: int = -1
    connectors: Mapping[str, int] = field(default_factory=dict)

    @property
    def task_counts(self) -> Mapping[str, int]:
        """The connectors, and how many tasks each has."""
        return self.connectors


class ConfigSource(Protocol):
    """One worker's reader of the config topic (``KafkaConfigBackingStore``)."""

    def snapshot(self) -> ConfigSnapshot:
        """What was read so far; a background reader may have read more since the last call."""
        ...

    def read_to_end(self) -> bool:
        """Read everything that is there now; False when that did not succeed in time."""
        ...


class ConfigLog:
    """The config topic: every change of the connectors takes the next offset."""

    def __init__(self, connectors: Mapping[str, int] | None = None) -> None:
        self._records: list[ConfigSnapshot] = []
        if connectors is not None:
            self.append(connectors)

    def append(self, connectors: Mapping[str, int]) -> ConfigSnapshot:
        """From now on exactly these connectors exist, with that many tasks each."""
        self._records.append(ConfigSnapshot(len(self._records) + 1, dict(sorted(connectors.items()))))
        return self._records[-1]

    def at(self, position: int) -> ConfigSnapshot:
        """What a reader of the first ``position`` records knows."""
        return self._records[position - 1] if position > 0 else ConfigSnapshot()

    def __len__(self) -> int:
        return len(self._records)


class ConfigReader:
    """A worker's `ConfigSource` over a `ConfigLog`; it lags until `advance` or `read_to_end`.

    ``readable`` False makes `read_to_end` fail, as when the topic cannot be reached in time.
    """

    def __init__(self, log: ConfigLog) -> None:
        self.readable = True
        self._log = log
        self._position = 0

    def advance(self, records: int | None = None) -> None:
        """The background reader reads ``records`` more, or (None) all."""
        end = len(self._log)
        self._position = end if records is None else min(end, self._position + records)

    def snapshot(self) -> ConfigSnapshot:
        """What was read so far."""
        return self._log.at(self._position)

    def read_to_end(self) -> bool:
        """Read all, if the topic is readable."""
        if self.readable:
            self.advance()
        return self.readable
