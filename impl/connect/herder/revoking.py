"""A herder gives work up when its coordinator takes it away (``RebalanceListener.onRevoked``)."""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_check.impl.connect.herder.starting import Starting
from rebalance_check.impl.connect.herder.stopping import POOL_SIZE, StopJob
from rebalance_check.impl.connect.herder.waits import Steps, Wait
from rebalance_check.impl.connect.herder.work_events import WorkKey, work_of
from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode, ConnectorTask


class Revoking(Starting):
    """Stops work and flushes the status store before the coordinator goes on.

    The flush comes last: the UNASSIGNED of work that is given up precedes all that its next owner writes. Work that
    is too slow is cancelled, and counts as given up.
    """

    _flush_started = False

    def on_revoked(self, leader: str, connectors: Sequence[str], tasks: Sequence[ConnectorTask]) -> bool:  # noqa: ARG002 - part of the contract
        """Stop these, wait for their ends, flush; False while that goes on.

        An eager worker that never started its assignment has nothing to stop.
        """
        if self._stop_job is None:
            if not self.resolved and self.mode is ConnectMode.EAGER:
                return True
            work = work_of(connectors, tasks)
            self._stop_job = StopJob(self.worker, work, self.config.task_shutdown_graceful_timeout_ms)
            self._flush_started = False
        return self._finish_revocation(self._stop_job)

    def _finish_revocation(self, job: StopJob) -> bool:
        """Whether everything stopped and the flush is over."""
        store = self.statuses.store
        if not self._flush_started:
            if not job.advance(self.now_ms):
                return False
            self.running.difference_update(job.work)
            if self.settings.topic_tracking:
                self._reset_topics_of_removed(job.work)
            self._flush_started = True
            store.flush()
        if store.flushing:
            return False
        self._stop_job = None
        return True

    def _reset_topics_of_removed(self, work: Sequence[WorkKey]) -> None:
        """Remove the topic statuses of connectors that are no longer configured (``resetActiveTopics``).

        Only after their tasks have stopped, or these would write them again. A connector that is given up with its
        tasks is reset twice, as in Kafka.
        """
        connectors = [key.connector for key in work if isinstance(key, ConnectorKey)]
        of_tasks = dict.fromkeys(key.connector for key in work if not isinstance(key, ConnectorKey))
        for connector in (*connectors, *of_tasks):
            if connector not in self.config_state:
                self.statuses.reset_topics(connector)

    def _next_revocation_ms(self) -> int | None:
        """When a revocation goes on by itself: the next instance is cancelled then."""
        return None if self._stop_job is None or self._flush_started else self._stop_job.deadline_ms()

    def _revoke_everything(self) -> Steps[None]:
        """Have the coordinator revoke all that runs: this worker did not catch up with the config topic."""
        connectors = sorted(key.connector for key in self.running if isinstance(key, ConnectorKey))
        tasks = sorted(ConnectorTask(*key) for key in self.running if isinstance(key, TaskKey))
        leader = None if self.assignment is None else self.assignment.leader
        everything = ConnectAssignment(leader=leader, connectors=tuple(connectors), tasks=tuple(tasks))
        while not self.coordinator.revoke_assignment(everything):
            yield Wait(self._revocation_goes_on, self._next_revocation_ms())

    def _revocation_goes_on(self) -> bool:
        """Whether a revocation that was begun can do its next step."""
        job = self._stop_job
        if job is None or self._flush_started:
            return not self.statuses.store.flushing
        return job.advance(self.now_ms)

    def _stop_and_await(self, work: tuple[WorkKey, ...], *, at_once: int = POOL_SIZE) -> Steps[None]:
        """Stop some work outside a revocation, so many pieces ``at_once``; it stays assigned."""
        job = StopJob(self.worker, work, self.config.task_shutdown_graceful_timeout_ms, at_once=at_once)
        while not job.advance(self.now_ms):
            yield Wait(lambda: job.advance(self.now_ms), job.deadline_ms())
