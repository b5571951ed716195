"""A Connect worker's identity in its group, and its claims (``WorkerCoordinator``)."""

from __future__ import annotations

from random import Random

from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.generation import NO_MEMBERSHIP, Generation
from rebalance_check.impl.connect.assignors.eager import EagerAssignor
from rebalance_check.impl.connect.assignors.incremental import IncrementalAssignor
from rebalance_check.impl.connect.assignors.round import ConnectAssignor
from rebalance_check.impl.connect.workers.config import WorkerConfig
from rebalance_check.impl.connect.workers.leading import ConfigState, ConfigView, LeaderState
from rebalance_check.impl.connect.workers.listener import WorkerListener
from rebalance_check.impl.connect.workers.reporting import WorkerReporter
from rebalance_check.impl.protocol.connect_protocol import EMPTY, ConnectAssignment, ConnectMode, ConnectorTask
from rebalance_check.impl.runtime.metrics import Metrics
from rebalance_check.impl.runtime.recorder import Recorder


class WorkerMembership(Coordinator):
    """A worker's knowledge of itself in its group; `WorkerCoordinator` joins, gives up, and leads."""

    metric_prefix = "connect"
    poll_timeout_reason = "worker poll timeout has expired."

    def __init__(
        self,
        config: WorkerConfig,
        recorder: Recorder,
        *,
        member: str,
        url: str,
        configs: ConfigView,
        listener: WorkerListener,
        incremental: ConnectAssignor | None = None,
        random: Random | None = None,
    ) -> None:
        super().__init__(config, recorder, member=member, random=random)
        self.worker_config = config
        self.url = url
        self._configs = configs
        self._config_state: ConfigState = configs.snapshot()
        self._listener = listener
        self._eager = EagerAssignor()
        self._incremental = incremental or IncrementalAssignor(config.scheduled_rebalance_max_delay_ms)
        self._report = WorkerReporter(recorder, member)
        self._mode = config.connect_protocol
        self._assignment: ConnectAssignment | None = None
        self._leader_state: LeaderState | None = None
        self._rejoin_requested = False
        self._completed = NO_MEMBERSHIP
        self._completing: Generation | None = None
        self._is_revoking = False
        self._is_giving_up = False
        self._is_inside_join = False
        self._unknown_since_ms: int | None = None
        self._awaited_ms = -1

    # ------------------------------------------------------------------------------------------------ identity

    @property
    def mode(self) -> ConnectMode:
        """The mode of the last round that this worker completed; before the first, the one it is configured with."""
        return self._mode

    @property
    def assignment(self) -> ConnectAssignment | None:
        """The claim of this worker, as the leader will read it (``assignmentSnapshot``).

        None before the first assignment, and after the worker gave up without a coordinator.
        """
        return self._assignment

    @property
    def config_state(self) -> ConfigState:
        """The config that this worker joined with, or, when it leads and had to read on, assigned with."""
        return self._config_state

    def member_id(self) -> str:
        """The member id while the member is STABLE, else "" (the base class returns it in every state)."""
        stable = self.generation_if_stable()
        return "" if stable is None else stable.member_id

    def generation_id(self) -> int:
        """The present generation, stable or not; -1 after a reset."""
        return self.generation().generation_id

    def last_completed_generation(self) -> int:
        """The last generation whose assignment this worker took over; -1 before the first. No reset changes it."""
        return self._completed.generation_id

    def is_leader(self) -> bool:
        """Whether this worker leads the present generation; never while it rebalances."""
        return self._assignment is not None and self.member_id() == self._assignment.leader

    def owner_url(self, work: str | ConnectorTask) -> str | None:
        """The REST URL of the worker that owns a connector (by name) or a task.

        None while a rejoin is needed or under way, at every worker but the leader, and for unowned work: unknown or
        deleted, given up in this round, lost and waiting for the delay, or a round that failed.
        """
        url = None
        if not self.rejoin_needed_or_pending() and self.is_leader() and self._leader_state is not None:
            url = self._leader_state.owner_url(work)
        self._report.owner_looked_up(work if isinstance(work, str) else work.name, url, self._generation)
        return url

    def register_metrics(self, metrics: Metrics) -> None:
        """As the base class, and how much is claimed (``WorkerCoordinatorMetrics``)."""
        super().register_metrics(metrics)
        group = self.metric_group(metrics)
        group.add(
            "assigned-connectors",
            "The number of connector instances currently assigned to this worker",
            lambda _: float(len((self._assignment or EMPTY).connectors)),
        )
        group.add(
            "assigned-tasks",
            "The number of tasks currently assigned to this worker",
            lambda _: float(len((self._assignment or EMPTY).tasks)),
        )
