"""A Connect worker's member of its group, in all three modes (``WorkerCoordinator``).

The coordinator agrees with the other workers on the owners of work, and a listener (the herder) learns the work to stop
and the work assigned. It holds no running work itself: it remembers a *claim*, which may name work that was not
started yet, or that was stopped to be started anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from rebalance_check.impl.client.failures import JoinAttempt, NotFinished
from rebalance_check.impl.client.generation import Generation
from rebalance_check.impl.connect.assignors.round import Round, config_mismatch, leader_configs
from rebalance_check.impl.connect.workers.leading import LeaderState
from rebalance_check.impl.connect.workers.membership import WorkerMembership
from rebalance_check.impl.connect.workers.reporting import names_of_owners
from rebalance_check.impl.protocol.connect_protocol import (
    EMPTY,
    PROTOCOL_TYPE,
    ConnectAssignment,
    ConnectMode,
    ConnectorTask,
    WorkerState,
    read_connect_assignment,
    read_worker_state,
    work_names,
    write_connect_assignment,
    write_worker_state,
)
from rebalance_check.impl.protocol.messages import JoinedMember
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

T = TypeVar("T", str, ConnectorTask)


class _StillStopping(NotFinished):
    """The listener has not finished a revocation: the same bytes are delivered again at the next poll."""


class WorkerCoordinator(WorkerMembership):
    """One worker of a Connect cluster.

    ``url`` is its REST address, ``configs`` its reader of the config topic, ``listener`` its herder, ``incremental``
    the assignor for the rounds of a cooperative group that it leads (by default that of the latest release). An
    assignment or metadata that cannot be read is raised from `poll`; in Kafka that ends the worker process.
    """

    # ------------------------------------------------------------------------------------------------ the herder calls

    def poll(self, now_ms: int) -> None:
        """Look for the coordinator, join where needed, and prove this worker alive once nothing is pending.

        A worker that finds no coordinator for a heartbeat interval gives up all that it claims (KAFKA-9184), unless it
        is joining already: Java's thread is then inside the join and comes out only joined, or woken up.

        Raises: `GroupError` when the coordinator refuses for good, any exception of the listener or an assignor,
        `MalformedBytes` for bytes that cannot be read, and `RebalanceCheckError` for a worker that was closed.
        """
        if self._closed:
            raise RebalanceCheckError(f"{self.member} was closed and cannot poll any more: start a new worker")
        self._now_ms = now_ms
        self._read_answers()
        if not self._is_inside_join and not self._has_coordinator_or_gave_up():
            return
        try:
            self._is_inside_join = not self.ensure_active_group(now_ms)
        except _StillStopping:
            self._is_inside_join = True
        if not self._is_inside_join:
            self.poll_heartbeat(now_ms)
            self.on_poll()

    def wake_up(self) -> None:
        """The herder's thread is interrupted inside `poll`: the next poll begins anew, with the look-up."""
        self._is_inside_join = False

    def next_poll(self) -> int | None:
        """As the base class, and when the worker gives up without a coordinator."""
        due = None if self._awaits_answer() and not self._unread else super().next_poll()
        if self._unknown_since_ms is None:
            return due
        give_up_ms = self._unknown_since_ms + self.config.heartbeat_interval_ms
        return give_up_ms if due is None else min(due, give_up_ms)

    def request_rejoin(self, reason: str) -> None:
        """Join again at the next poll. Local: nothing is sent now, and no JoinGroup carries the reason."""
        self._report.rejoin_requested(reason)
        self._rejoin_requested = True

    def rejoin_needed_or_pending(self) -> bool:
        """Also without an assignment, after a failed round, and after `request_rejoin`."""
        assigned = self._assignment
        return assigned is None or assigned.failed or self._rejoin_requested or super().rejoin_needed_or_pending()

    def revoke_assignment(self, assignment: ConnectAssignment) -> bool:
        """Have the listener stop the work in ``assignment``, as after a back-off; False while that is not finished."""
        return self._revoked(assignment.leader, assignment.connectors, assignment.tasks, "back-off")

    # ------------------------------------------------------------------------------------------------ the contract

    def protocol_type(self) -> str:
        """``connect``."""
        return PROTOCOL_TYPE

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        """The URL, how far the config topic was read, and (but for the eager protocol) this worker's claims."""
        self._config_state = self._configs.snapshot()
        state = WorkerState(url=self.url, config_offset=self._config_state.offset, allocation=self._assignment or EMPTY)
        offered = self.worker_config.connect_protocol.offered
        self._report.claimed(state, self._assignment, offered, self._completed)
        return [(mode.protocol, write_worker_state(state, mode.version)) for mode in offered]

    def on_join_prepare(self, generation_id: int, member_id: str) -> bool:  # noqa: ARG002 - part of the contract
        """After an eager round everything stops, however the membership ended; after a cooperative one nothing does.

        The claim stays in both cases.
        """
        self._leader_state = None
        return self._mode is not ConnectMode.EAGER or self._revoked_all("eager join")

    def on_join_complete(self, generation_id: int, member_id: str, protocol: str, assignment: bytes) -> None:
        """Give up the work that the round takes away, then take over the work that it assigns.

        Raises: `MalformedBytes` for bytes that cannot be read, among them none at all, and the listener's exceptions;
        the same bytes then come again.
        """
        of = Generation(generation_id, member_id, protocol)
        self._completing = None
        assigned = read_connect_assignment(assignment)
        before, self._mode = self._mode, ConnectMode.of_protocol(of.protocol or "")
        self._rejoin_requested = False
        if not self._gave_up(assigned, before):
            self._completing, self._mode = of, before
            raise _StillStopping
        self._assignment = self._claim_after(assigned)
        self._completed = of
        self._report.received(assigned, self._mode, of)
        self._listener.on_assigned(self._assignment, of.generation_id)

    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[JoinedMember]) -> Mapping[str, bytes]:
        """Assign connectors and tasks, or CONFIG_MISMATCH to all when the leader is behind.

        Raises: `RebalanceCheckError` for a protocol that is none of Connect's, `MalformedBytes` for metadata that
        cannot be read.
        """
        mode = ConnectMode.of_protocol(protocol)
        states = {member.member_id: read_worker_state(member.metadata) for member in members}
        assigned = self._assign(leader_id, mode, states)
        return {member: write_connect_assignment(one, mode.version) or b"" for member, one in assigned.items()}

    def on_assignment_skipped(self, members: Sequence[JoinedMember]) -> None:
        """Raises `RebalanceCheckError`: only static members skip the assignment, and workers never are static."""
        raise RebalanceCheckError(
            f"the coordinator asked {self.member} to skip the assignment of {len(members)} workers, none of which is "
            "static: report the coordinator"
        )

    def describe_assignment(self, assignment: bytes) -> tuple[str, ...]:
        """The names of connectors and tasks."""
        try:
            return read_connect_assignment(assignment).names
        except MalformedBytes:
            return ()

    # ------------------------------------------------------------------------------------------------ revoking

    def _revoked(
        self, leader: str | None, connectors: Sequence[str], tasks: Sequence[ConnectorTask], reason: str
    ) -> bool:
        """Call the listener; False while it has not finished, and is to be called again."""
        work = work_names(connectors, tasks)
        if not self._is_revoking:
            self._is_revoking = True
            self._report.revocation_started(work, reason, self._completed)
        try:
            self._is_revoking = not self._listener.on_revoked(leader or "", connectors, tasks)
        except Exception:
            self._is_revoking = False
            raise
        if not self._is_revoking:
            self._report.revocation_ended(work, self._completed)
        return not self._is_revoking

    def _revoked_all(self, reason: str) -> bool:
        """Have everything stopped that is claimed; a failed assignment is not revoked."""
        claim = self._assignment
        return claim is None or claim.failed or self._revoked(claim.leader, claim.connectors, claim.tasks, reason)

    def _has_coordinator_or_gave_up(self) -> bool:
        """Look the coordinator up for a heartbeat interval, then give up the claims; False while it goes on."""
        if self._is_revoking and not self._is_giving_up:
            return True  # a join takes work away, and goes on with it
        if not self._is_giving_up:
            if self._ensure_coordinator():
                self._unknown_since_ms = None
                return True
            if self._unknown_since_ms is None:
                self._unknown_since_ms = self._now_ms
            if self._now_ms < self._unknown_since_ms + self.config.heartbeat_interval_ms:
                self._note_the_wait(self._unknown_since_ms)
                return False
        self._unknown_since_ms = None
        self._is_giving_up = not self._revoked_all("coordinator unknown")
        if self._assignment is not None and not self._assignment.failed and not self._is_giving_up:
            self._assignment = None
        return not self._is_giving_up

    def _note_the_wait(self, since_ms: int) -> None:
        """Record that the herder waits for a coordinator: once for each heartbeat interval of the wait."""
        if self._awaited_ms < since_ms or self._now_ms >= self._awaited_ms + self.config.heartbeat_interval_ms:
            self._awaited_ms = self._now_ms
            self._report.coordinator_awaited()

    def _gave_up(self, assigned: ConnectAssignment, before: ConnectMode) -> bool:
        """Have stopped the work that the round takes away; False while that is not finished."""
        if self._mode is ConnectMode.EAGER:
            mends = self.worker_config.revoke_on_downgrade and before is not ConnectMode.EAGER
            return not mends or self._revoked_all("eager join")
        if not assigned.revokes:
            return True
        return self._revoked(assigned.leader, assigned.revoked_connectors, assigned.revoked_tasks, "revoked")

    def _claim_after(self, assigned: ConnectAssignment) -> ConnectAssignment:
        """An eager assignment replaces the old claim, a cooperative one adds to its unrevoked part.

        Nothing is sorted out that stands in both.
        """
        if self._mode is ConnectMode.EAGER or self._assignment is None:
            return assigned
        kept = self._assignment
        return replace(
            assigned,
            connectors=(*assigned.connectors, *_without(kept.connectors, assigned.revoked_connectors)),
            tasks=(*assigned.tasks, *_without(kept.tasks, assigned.revoked_tasks)),
        )

    def _awaits_answer(self) -> bool:
        """Java's thread is inside the join and waits for JoinGroup or SyncGroup, even if the membership ends."""
        return self._is_inside_join and self._join is not None and not self._join.done

    def _can_prepare(self) -> bool:
        """As the base class; a revocation that has begun goes on without a coordinator: Java's thread is inside it."""
        return self._is_revoking or super()._can_prepare()

    def _prepared(self) -> bool:
        """As the base class, but not again while the answer of a join that was prepared is waited for."""
        return self._awaits_answer() or super()._prepared()

    def _finish(self, attempt: JoinAttempt) -> None:
        """As the base class; Java prepares the next join before it notices that the finished one was overtaken."""
        if attempt.failure is None and self._is_overtaken() and not self._prepared():
            raise _StillStopping
        super()._finish(attempt)

    def _completes(self) -> Generation:
        """The completion that has begun, if one has."""
        return super()._completes() if self._completing is None else self._completing

    def _is_overtaken(self) -> bool:
        """A completion that has begun is finished, as in Java, even if the membership has changed since."""
        return self._completing is None and super()._is_overtaken()

    # ------------------------------------------------------------------------------------------------ leading

    def _assign(
        self, leader: str, mode: ConnectMode, members: Mapping[str, WorkerState]
    ) -> Mapping[str, ConnectAssignment]:
        found = leader_configs(self._config_state, self._configs.snapshot, members)
        if found is not None:
            self._config_state = found[0]
        current = Round(
            leader=leader,
            members=members,
            task_counts=self._config_state.task_counts,
            config_offset=self._config_state.offset if found is None else found[1],
            generation=self.generation_id(),
            last_completed_generation=self.last_completed_generation(),
            now_ms=self._now_ms,
            version=mode.version,
        )
        if found is None:
            failed = config_mismatch(leader, members, mode.version)
            self._report.computed(current, failed, {}, mode)
            return failed
        assigned = (self._eager if mode is ConnectMode.EAGER else self._incremental).assign(current)
        self._leader_state = LeaderState(members, assigned)
        owners = names_of_owners(assigned.connector_owners, assigned.task_owners)
        self._report.computed(current, assigned.assignments, owners, mode)
        return assigned.assignments


def _without(claimed: Sequence[T], revoked: Sequence[T]) -> tuple[T, ...]:
    gone = set(revoked)
    return tuple(one for one in claimed if one not in gone)
