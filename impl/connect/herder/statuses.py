"""A worker writes statuses, each with its call (``AbstractHerder`` and its status listeners).

An event is written with ``put``: RUNNING, PAUSED, STOPPED, RESTARTING, and the tombstone DESTROYED. A worker's
status of work that another may have by then is written with ``putSafe``: UNASSIGNED and FAILED. Every status carries
the generation that the herder received last, even where the group has a later one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rebalance_check.impl.connect.status.attempts import StatusStoreError
from rebalance_check.impl.connect.status.codec import (
    ConnectorKey,
    Status,
    TaskKey,
    TopicKey,
    TopicValue,
    status_value,
)
from rebalance_check.impl.connect.status.store import StatusStore

Key = ConnectorKey | TaskKey


class StatusWriter:
    """Writes the statuses of one worker process.

    ``worker_id`` is the host and port of its REST URL, ``generation`` gives the herder's at the time of the call.
    """

    def __init__(self, store: StatusStore, worker_id: str, generation: Callable[[], int]) -> None:
        self.store = store
        self.worker_id = worker_id
        self._generation = generation

    def running(self, key: Key) -> None:
        """A connector was started for the first time, a task's start succeeded, or either was resumed."""
        self._put(key, Status.RUNNING)

    def paused(self, key: Key) -> None:
        """The target state PAUSED was reached, by a task also before its first start."""
        self._put(key, Status.PAUSED)

    def stopped(self, key: ConnectorKey) -> None:
        """The connector reached the target state STOPPED (KIP-875)."""
        self._put(key, Status.STOPPED)

    def restarting(self, key: Key) -> None:
        """A restart request stopped the old instance (KIP-745)."""
        self._put(key, Status.RESTARTING)

    def destroyed(self, key: Key) -> None:
        """The leader found the status of something that is not configured any more."""
        self._put(key, Status.DESTROYED)

    def unassigned(self, key: Key) -> None:
        """An instance ended because it was stopped, or a slow connector is about to be cancelled."""
        self._put(key, Status.UNASSIGNED, safe=True)

    def failed(self, key: Key) -> None:
        """An instance could not be started, or failed while it ran."""
        self._put(key, Status.FAILED, safe=True)

    def topic_used(self, task: TaskKey, topic: str, now_ms: int) -> None:
        """A record of the topic passed through the task: its status is written unless one was read (KIP-558)."""
        if self.store.get_topic(TopicKey(topic, task.connector)) is None:
            self._unless_stopped(lambda: self.store.put_topic(TopicValue(topic, task.connector, task.task, now_ms)))

    def reset_topics(self, connector: str) -> None:
        """Remove the status of each topic that the connector is known to use (``resetConnectorActiveTopics``)."""
        for used in self.store.topics(connector):
            self._unless_stopped(partial(self.store.delete_topic, TopicKey(used.topic, used.connector)))

    def _put(self, key: Key, status: Status, *, safe: bool = False) -> None:
        value = status_value(status, self.worker_id, self._generation())
        write = self.store.put_safe if safe else self.store.put
        self._unless_stopped(lambda: write(key, value))

    @staticmethod
    def _unless_stopped(write: Callable[[], None]) -> None:
        """Write, unless the store is stopped: Kafka's producer then throws to the thread that writes, which ends."""
        try:
            write()
        except StatusStoreError:
            return
