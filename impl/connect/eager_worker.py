"""A Connect worker under the eager protocol alone: its coordinator, and the part of the herder that starts its work.

Work is started only when the worker has read the config topic exactly as far as the leader had when it assigned.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.connect.config_topic import ConfigSource
from rebalance_check.impl.connect.running_tasks import RunningWork
from rebalance_check.impl.connect.worker.config import WorkerConfig
from rebalance_check.impl.connect.worker.coordinator import WorkerCoordinator
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectorTask
from rebalance_check.impl.runtime.recorder import Recorder


class EagerWorker(WorkerCoordinator):
    """One worker that starts and stops what it is assigned, in the mode ``eager``.

    ``url`` is its REST address, ``configs`` its reader of the config topic.
    """

    def __init__(
        self,
        config: WorkerConfig,
        recorder: Recorder,
        *,
        member: str,
        url: str,
        configs: ConfigSource,
        random: Random | None = None,
    ) -> None:
        super().__init__(
            config,
            recorder,
            member=member,
            url=url,
            configs=configs,
            listener=self,
            random=random,
        )
        self.configs = configs
        self._running = RunningWork(member, recorder)
        self._resolved = True
        self._unreadable_until_ms: int | None = None

    @property
    def running(self) -> RunningWork:
        """The connectors and tasks that run here now."""
        return self._running

    def on_assigned(self, assignment: ConnectAssignment, generation: int) -> None:  # noqa: ARG002 - part of the contract
        """Note that there is something to start; the herder's part of the poll does it. After a mismatch read on."""
        self._resolved = False
        if assignment.failed:
            self.configs.read_to_end()

    def on_revoked(self, leader: str, connectors: Sequence[str], tasks: Sequence[ConnectorTask]) -> bool:  # noqa: ARG002 - part of the contract
        """Stop what is listed; nothing runs of an assignment that was never started."""
        if self._resolved:
            self._running.stop(ConnectAssignment(connectors=tuple(connectors), tasks=tuple(tasks)), self._generation)
        return True

    # ------------------------------------------------------------------------------------------------ the herder

    def poll(self, now_ms: int) -> None:
        """One tick of the herder: join where needed, then bring what runs into line with what is assigned."""
        self._now_ms = now_ms
        if self._readable():
            super().poll(now_ms)

    def on_poll(self) -> None:
        """The herder's part of a tick; nothing while a join is under way."""
        if self._state is not MemberState.STABLE or self.rejoin_needed_or_pending():
            return
        if self._resolve():
            self._notice_changes()

    def next_poll(self) -> int | None:
        """As the base class, plus the herder's own deadlines."""
        if self.closed or self._unreadable_until_ms is not None:
            return None if self.closed else self._unreadable_until_ms
        return super().next_poll()

    def _readable(self) -> bool:
        """Whether the config topic could be read; after a failure the worker stays away, then tries again."""
        if self._unreadable_until_ms is None:
            return True
        if self._now_ms < self._unreadable_until_ms:
            return False
        return self._read_configs()

    def _read_configs(self) -> bool:
        """Read the config topic to its end; when that fails leave the group and back off."""
        self._unreadable_until_ms = None
        if self.configs.read_to_end():
            return True
        self._unreadable_until_ms = self._now_ms + self.worker_config.worker_unsync_backoff_ms
        self.maybe_leave_group("taking too long to read the config log", self._now_ms)
        return False

    def _resolve(self) -> bool:
        """Start what was assigned, unless that must wait for the config topic or another round.

        A failed assignment is always followed by another round; before it the leader, and every worker that is behind,
        read on.
        """
        assigned = self._assignment
        if self._resolved or assigned is None:
            return True
        behind = self.configs.snapshot().offset < assigned.config_offset
        if (behind or (assigned.failed and self.is_leader())) and not self._read_configs():
            return False
        here = self.configs.snapshot().offset
        if assigned.failed or here != assigned.config_offset:
            self.request_rejoin(f"config offset is {here}, the assignment was made at {assigned.config_offset}")
            return False
        self._running.start(assigned, self._generation)
        self._config_state = self.configs.snapshot()
        self._resolved = True
        return True

    def _notice_changes(self) -> None:
        """A connector came or went, or has another number of tasks: all must be dealt anew."""
        latest = self.configs.snapshot()
        if latest.task_counts != self._config_state.task_counts:
            self._config_state = latest
            self.request_rejoin("connectors or tasks were reconfigured")

    def on_close(self) -> bool:
        """All work stops before the worker leaves."""
        self._running.stop_all(self._generation)
        return True
