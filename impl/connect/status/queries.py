"""The answers of a status store: all that it has read back, and nothing that was only written.

Kafka's ``get``, ``getAll``, ``connectors``, ``getTopic`` and ``getAllTopics``; each answer is recorded.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.connect.status.cache import StatusCache
from rebalance_check.impl.connect.status.codec import ConnectorKey, StatusValue, TaskKey, TopicKey, TopicValue
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import StatusesListed, StatusQueried

TOPIC_STATUS: Final = "TOPIC"
"""The word of events for the status of a topic record, which has no status of its own."""


class StatusQueries:
    """The reading side of one worker's store; ``worker`` names the store in its events."""

    def __init__(self, worker: str, cache: StatusCache, recorder: Recorder) -> None:
        self.worker = worker
        self.cache = cache
        self._recorder = recorder

    def get(self, key: ConnectorKey | TaskKey) -> StatusValue | None:
        """The status as last read back, or None."""
        value = self.cache.get(key)
        self._recorder.emit(
            StatusQueried(
                worker=self.worker,
                key=str(key),
                status="" if value is None else value.status,
                status_worker="" if value is None else value.worker_id or "",
                generation=-1 if value is None else value.generation,
            )
        )
        return value

    def get_topic(self, key: TopicKey) -> TopicValue | None:
        """The status of a topic that a connector uses, as last read back, or None."""
        value = self.cache.topic(key)
        status = "" if value is None else TOPIC_STATUS
        self._recorder.emit(StatusQueried(worker=self.worker, key=str(key), status=status))
        return value

    def connectors(self) -> list[str]:
        """The names of connectors, sorted, also of those of which only a write of this worker is known."""
        names = self.cache.connectors()
        self._listed("connectors", "", names)
        return names

    def tasks(self, connector: str) -> dict[int, StatusValue]:
        """The statuses of a connector's tasks, by number, in ascending order."""
        values = self.cache.tasks(connector)
        self._listed("tasks", connector, [f"{connector}-{number}" for number in values])
        return values

    def topics(self, connector: str) -> list[TopicValue]:
        """The topics that a connector is known to use, by name."""
        self._listed("topics", connector, self.cache.topic_names(connector))
        return self.cache.topics(connector)

    def _listed(self, kind: str, connector: str, names: list[str]) -> None:
        self._recorder.emit(StatusesListed(worker=self.worker, kind=kind, connector=connector, names=tuple(names)))
