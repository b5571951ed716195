"""A Connect worker's member of its group, under the eager protocol v0 (``WorkerCoordinator``, ``DistributedHerder``).

The coordinator agrees with the others on who runs what; the herder part, at the end of every poll, makes it so. Work
is started only when the worker has read the config topic exactly as far as the leader had when it assigned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.core import always_found
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.connect.assignors.eager import EagerAssignor
from rebalance_check.impl.connect.assignors.round import Round, config_mismatch, leader_configs
from rebalance_check.impl.connect.config_topic import ConfigSource
from rebalance_check.impl.connect.running_tasks import RunningWork
from rebalance_check.impl.protocol.connect_protocol import (
    PROTOCOL_TYPE,
    ConnectAssignment,
    WorkerState,
    read_connect_assignment,
    read_worker_state,
    write_connect_assignment,
    write_worker_state,
)
from rebalance_check.impl.protocol.messages import JoinedMember
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import AssignmentCompleted, AssignmentComputed

_EAGER: Final = "default"
UNSYNC_BACKOFF_MS: Final = 300_000
"""Kafka's default of ``worker.unsync.backoff.ms``: how long a worker stays away that cannot read the config topic."""


class WorkerCoordinator(Coordinator):
    """One worker, with what of Kafka Connect is modelled: the eager protocol v0 alone, without a config store.

    ``url`` is its REST address, ``configs`` its reader of the config topic, which here holds the names of connectors
    and their numbers of tasks. The incremental protocols (v1, v2; KIP-415), the rest of ``DistributedHerder`` and
    ``KafkaConfigBackingStore`` are not modelled yet.

    ``config.rebalance_timeout_ms`` is ``rebalance.timeout.ms`` (Kafka's default for workers is 60 s), and workers are
    never static. An assignment that cannot be read is raised from `poll`; in Kafka it ends the worker process.
    """

    def __init__(
        self,
        config: ClientConfig,
        recorder: Recorder,
        *,
        member: str,
        url: str,
        configs: ConfigSource,
        unsync_backoff_ms: int = UNSYNC_BACKOFF_MS,
        find_coordinator: Callable[[], bool] = always_found,
    ) -> None:
        if config.group_instance_id is not None:
            raise RebalanceCheckError(
                f"{member} has a group_instance_id, but Connect workers are never static: drop it"
            )
        super().__init__(config, recorder, member=member, find_coordinator=find_coordinator)
        self.url = url
        self.configs = configs
        self._snapshot = configs.snapshot()
        self._assignment: ConnectAssignment | None = None
        self._running = RunningWork(member, recorder)
        self._resolved = True
        self._unsync_backoff_ms = unsync_backoff_ms
        self._unreadable_until_ms: int | None = None
        self._unknown_since_ms: int | None = None

    @property
    def running(self) -> RunningWork:
        """The connectors and tasks that run here now."""
        return self._running

    @property
    def assignment(self) -> ConnectAssignment | None:
        """The last assignment; None before the first, and after the worker gave up without a coordinator."""
        return self._assignment

    def metric_values(self, now_ms: int) -> dict[str, float]:
        """As the base class, and how much is assigned (``connect-coordinator-metrics``)."""
        assigned = self._assignment
        counts = (0, 0) if assigned is None else (len(assigned.connectors), len(assigned.tasks))
        return super().metric_values(now_ms) | {
            "assigned-connectors": float(counts[0]),
            "assigned-tasks": float(counts[1]),
        }

    def is_leader(self) -> bool:
        """Whether this worker leads the present generation; never while it rebalances."""
        stable = self.generation_if_stable()
        return stable is not None and self._assignment is not None and self._assignment.leader == stable.member_id

    # ------------------------------------------------------------------------------------------------ the herder

    def poll(self, now_ms: int) -> None:
        """One tick of the herder: join where needed, then bring what runs into line with what is assigned."""
        self._now_ms = now_ms
        if self._readable():
            self._give_up_without_coordinator()
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
        due = super().next_poll()
        if self._unknown_since_ms is not None and self._assignment is not None and due is not None:
            return min(due, self._unknown_since_ms + self.config.heartbeat_interval_ms)
        return due

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
        self._unreadable_until_ms = self._now_ms + self._unsync_backoff_ms
        self.maybe_leave_group("taking too long to read the config log", self._now_ms)
        return False

    def _give_up_without_coordinator(self) -> None:
        """Stop all work when no coordinator was found for a heartbeat interval: others may have it already."""
        if self._ensure_coordinator():
            self._unknown_since_ms = None
            return
        if self._unknown_since_ms is None:
            self._unknown_since_ms = self._now_ms
        if self._now_ms >= self._unknown_since_ms + self.config.heartbeat_interval_ms:
            self._revoke()
            self._assignment = None

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
        self._snapshot = self.configs.snapshot()
        self._resolved = True
        return True

    def _notice_changes(self) -> None:
        """A connector came or went, or has another number of tasks: all must be dealt anew."""
        latest = self.configs.snapshot()
        if latest.connectors != self._snapshot.connectors:
            self._snapshot = latest
            self.request_rejoin("connectors or tasks were reconfigured")

    # ------------------------------------------------------------------------------------------------ the contract

    def protocol_type(self) -> str:
        """``connect``."""
        return PROTOCOL_TYPE

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        """The URL and how far the config topic was read."""
        self._snapshot = self.configs.snapshot()
        state = WorkerState(url=self.url, config_offset=self._snapshot.offset)
        return [(_EAGER, write_worker_state(state, 0))]

    def rejoin_needed_or_pending(self) -> bool:
        """Also while there is no assignment at all."""
        return self._assignment is None or super().rejoin_needed_or_pending()

    def on_join_prepare(self, generation_id: int, member_id: str) -> bool:  # noqa: ARG002 - part of the contract
        """Stop everything, however the membership ended: an eager worker joins empty-handed."""
        self._revoke()
        return True

    def on_join_complete(
        self,
        generation_id: int,  # noqa: ARG002 - part of the contract
        member_id: str,  # noqa: ARG002 - part of the contract
        protocol: str,  # noqa: ARG002 - part of the contract
        assignment: bytes,
    ) -> None:
        """Note the assignment; work is started by the herder's part of the poll."""
        self._assignment = read_connect_assignment(assignment)
        self._resolved = False
        generation = self._generation
        self.recorder.emit(
            AssignmentCompleted(
                member=self.member, generation=generation.generation_id, member_id=generation.member_id, owned=()
            )
        )

    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[JoinedMember]) -> Mapping[str, bytes]:
        """Assign connectors and tasks, or CONFIG_MISMATCH to all when the leader is behind.

        Raises: `RebalanceCheckError` for another protocol than the eager one, `MalformedBytes` for unreadable metadata.
        """
        if protocol != _EAGER:
            raise RebalanceCheckError(f"the group selected {protocol!r}, but {self.member} speaks {_EAGER!r} only")
        states = {member.member_id: read_worker_state(member.metadata) for member in members}
        assigned = self._assign(leader_id, states)
        self._emit_assignment(assigned)
        return {member: write_connect_assignment(one, 0) or b"" for member, one in assigned.items()}

    def on_assignment_skipped(self, members: Sequence[JoinedMember]) -> None:
        """Raises `RebalanceCheckError`: only static members skip the assignment, and workers never are static."""
        raise RebalanceCheckError(
            f"the coordinator asked {self.member} to skip the assignment of {len(members)} workers, none of which is "
            "static: report the coordinator"
        )

    def on_close(self) -> bool:
        """All work stops before the worker leaves."""
        self._running.stop_all(self._generation)
        return True

    def describe_assignment(self, assignment: bytes) -> tuple[str, ...]:
        """The names of connectors and tasks."""
        try:
            return _names(read_connect_assignment(assignment))
        except MalformedBytes:
            return ()

    # ------------------------------------------------------------------------------------------------ the leader

    def _assign(self, leader_id: str, states: Mapping[str, WorkerState]) -> Mapping[str, ConnectAssignment]:
        """No worker may have read further than the leader, which reads again and else fails the round."""
        found = leader_configs(self._snapshot, self.configs.snapshot, states)
        if found is None:
            return config_mismatch(leader_id, states, version=0)
        self._snapshot, offset = found
        current = Round(
            leader=leader_id,
            members=states,
            task_counts=self._snapshot.connectors,
            config_offset=offset,
            generation=self._generation.generation_id,
            last_completed_generation=-1,
            now_ms=self._now_ms,
            version=0,
        )
        return EagerAssignor().assign(current).assignments

    def _emit_assignment(self, assigned: Mapping[str, ConnectAssignment]) -> None:
        generation = self._generation
        self.recorder.emit(
            AssignmentComputed(
                member=self.member,
                generation=generation.generation_id,
                member_id=generation.member_id,
                protocol=_EAGER,
                assignments=tuple((member, _names(one)) for member, one in assigned.items()),
            )
        )

    def _revoke(self) -> None:
        """``onRevoked`` for the whole assignment; nothing runs of one that was never started."""
        if self._assignment is not None and not self._assignment.failed and self._resolved:
            self._running.stop(self._assignment, self._generation)


def _names(assigned: ConnectAssignment) -> tuple[str, ...]:
    tasks = (f"{connector}-{number}" for connector, number in assigned.tasks)
    return (*assigned.connectors, *tasks)
