"""One start of a worker of a cluster, its records, and one history of all of them and the cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from rebalance_check.integration.connect.status.store_log import StatusTopic, status_events
from rebalance_check.integration.connect.workers.journal import Stamped, log_lines, worker_events
from rebalance_check.integration.connect.workers.worker import ConnectWorker, WorkerPlace
from rebalance_check.integration.live.recording import read_recording, renumbered
from rebalance_check.model.vocabulary.events import Event

_CUT_OFF_NS: Final = 999_999
"""How much later a line of a log may have been written than it says."""


@dataclass(slots=True)
class WorkerStart:
    """A worker process from its start to its end."""

    place: WorkerPlace
    worker: ConnectWorker
    ours: bool
    paused: bool = False
    ended: bool = False

    def events(self, group: str, wall_to_monotonic_ns: int) -> list[Stamped]:
        """The events that the worker recorded, or, of a Java worker, logged.

        Raises: RebalanceCheckError when a journal is damaged.
        """
        place = self.place
        if self.ours:
            return list(read_recording(place.recording)) if place.recording.exists() else []
        return list(worker_events(place.name, group, place.journal, place.log, wall_to_monotonic_ns))

    def status_events(self, topic: StatusTopic, wall_to_monotonic_ns: int) -> list[Stamped]:
        """The deeds of a Java worker's status store, from its log; a worker of ours records them itself.

        Raises: RebalanceCheckError when it read a record that was not seen in the topic.
        """
        if self.ours or not self.place.log.exists():
            return []
        # A status follows from the journal's lines: the times of the log, which are cut off, would come before it.
        log = ((stamp + wall_to_monotonic_ns + _CUT_OFF_NS, text) for stamp, text in log_lines(self.place.log))
        return list(status_events(self.place.store, topic, log))


def merged(
    own: Iterable[Stamped], starts: Iterable[WorkerStart], group: str, statuses: StatusTopic, wall_to_monotonic_ns: int
) -> list[Event]:
    """One history of the cluster's ``own`` events and those of its workers, in the order of their stamps.

    Raises: RebalanceCheckError when a journal is damaged, or a worker read a status that was not seen in the topic.
    """
    stamped = list(own)
    for started in starts:
        stamped += [
            (stamp, replace(event, group=group, source=started.place.name))
            for stamp, event in (
                *started.events(group, wall_to_monotonic_ns),
                *started.status_events(statuses, wall_to_monotonic_ns),
            )
        ]
    in_order = sorted(stamped, key=lambda each: each[0])
    return list(renumbered(replace(event, time_ms=stamp // 1_000_000) for stamp, event in in_order))
