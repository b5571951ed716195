"""A herder completes a rebalance: it reads on, joins again, or starts the work (``handleRebalanceCompleted``)."""

from __future__ import annotations

from rebalance_check.impl.connect.herder.core import BACKOFF_RETRIES
from rebalance_check.impl.connect.herder.revoking import Revoking
from rebalance_check.impl.connect.herder.waits import Steps
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode


class Completing(Revoking):
    """Work is started only where the config topic was read exactly as far as the leader had when it assigned."""

    def _complete_rebalance(self) -> Steps[bool]:
        """Whether the assigned work is started, and no other round is needed for it."""
        assigned = self.assignment
        if self.resolved or assigned is None:
            return True
        rejoin = "the assignment failed" if assigned.failed else ""
        if self.scheduled_ms is not None and self.scheduled_ms <= self.now_ms:
            self.scheduled_ms = None
            rejoin = "the scheduled rebalance is due"
        if self._must_read_on(assigned) and not (yield from self._read_configs_to_end()):
            self._can_read_configs = False
            rejoin = "the config topic could not be read"
        here = self.config_state.offset
        if not rejoin and here != assigned.config_offset:
            rejoin = f"config offset is {here}, the assignment was made at {assigned.config_offset}"
        if rejoin:
            self.coordinator.request_rejoin(rejoin)
            return False
        self.start_work()
        self.metrics.succeeded(self.now_ms)
        self.resolved = True
        return not self._follow_up()

    def _must_read_on(self, assigned: ConnectAssignment) -> bool:
        return (assigned.failed and self.is_leader) or self.config_state.offset < assigned.config_offset

    def _follow_up(self) -> bool:
        """Whether another round must give on the work that this worker gave up in the last one; asked for once."""
        follows, self._revocations_to_follow = self._revocations_to_follow, False
        if follows:
            self.coordinator.request_rejoin("work was revoked")
        return follows

    def _read_configs_to_end(self) -> Steps[bool]:
        """Read the config topic to its end; a worker that cannot leaves the group, and waits before it joins again."""
        error = yield from self._await(self.configs.refresh(self.config.worker_sync_timeout_ms))
        if error is None:
            self.config_state = self.configs.snapshot()
            self._backoff_retries = BACKOFF_RETRIES
            return True
        self.coordinator.maybe_leave_group("taking too long to read the log", self.now_ms)
        yield from self._back_off()
        return False

    def _back_off(self) -> Steps[None]:
        """Wait longer each time; a cooperative worker at last gives up all that it runs, and begins again."""
        if self.mode is ConnectMode.EAGER:
            yield from self._sleep(self.config.worker_unsync_backoff_ms)
        elif self._backoff_retries > 0:
            delay_ms = self.config.scheduled_rebalance_max_delay_ms // 10 // self._backoff_retries
            self._backoff_retries -= 1
            yield from self._sleep(delay_ms)
        else:
            yield from self._revoke_everything()
            self._backoff_retries = BACKOFF_RETRIES
