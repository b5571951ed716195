"""The events of a worker's coordinator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from rebalance_check.impl.client.generation import Generation
from rebalance_check.impl.connect.assignors.round import Round, is_connector
from rebalance_check.impl.protocol.connect_protocol import (
    CONFIG_MISMATCH,
    NO_ERROR,
    ConnectAssignment,
    ConnectMode,
    ConnectorTask,
    WorkerState,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    ConnectAssignmentComputed,
    ConnectAssignmentReceived,
    CoordinatorAwaited,
    OwnerLookedUp,
    RejoinRequested,
    WorkerClaimed,
    WorkRevocationEnded,
    WorkRevocationStarted,
)

Owners: TypeAlias = Mapping[str, str]
"""Work by the name that events give it, and the member id of its owner."""

_ERRORS: Final = {NO_ERROR: "NONE", CONFIG_MISMATCH: "CONFIG_MISMATCH"}


class WorkerReporter:
    """Emits the events of the worker ``member``."""

    def __init__(self, recorder: Recorder, member: str) -> None:
        self._recorder = recorder
        self._member = member

    def claimed(
        self, state: WorkerState, claim: ConnectAssignment | None, offered: Sequence[ConnectMode], last: Generation
    ) -> None:
        """The metadata of a JoinGroup was built; ``last`` is the last generation that was completed."""
        self._recorder.emit(
            WorkerClaimed(
                member=self._member,
                generation=last.generation_id,
                member_id=last.member_id,
                url=state.url,
                config_offset=state.config_offset,
                claim=None if claim is None else claim.names,
                protocols=tuple(mode.protocol for mode in offered),
            )
        )

    def computed(
        self, current: Round, assigned: Mapping[str, ConnectAssignment], owners: Owners, mode: ConnectMode
    ) -> None:
        """This worker led the round ``current``."""
        one = next(iter(assigned.values()))
        generation, leader = current.generation, current.leader
        self._recorder.emit(
            ConnectAssignmentComputed(
                member=self._member,
                generation=generation,
                member_id=leader,
                protocol=mode.protocol,
                leader=leader,
                leader_url=one.leader_url or "",
                config_offset=one.config_offset,
                error=_error_name(one),
                delay_ms=one.delay_ms,
                completed=current.last_completed_generation,
                configured=_configured_in(current),
                offsets=tuple((each, state.config_offset) for each, state in current.members.items()),
                claims=tuple((each, state.allocation.names) for each, state in current.members.items()),
                assigned=tuple((each, given.names) for each, given in assigned.items()),
                revoked=tuple((each, given.revoked_names) for each, given in assigned.items()),
                owners=tuple(sorted(owners.items())),
            )
        )
        self._recorder.emit(
            AssignmentComputed(
                member=self._member,
                generation=generation,
                member_id=leader,
                protocol=mode.protocol,
                assignments=tuple((each, _owned_by(each, owners)) for each in current.members),
            )
        )

    def received(self, assigned: ConnectAssignment, mode: ConnectMode, of: Generation) -> None:
        """The worker takes ``assigned`` over, as the leader sent it, without the work that is kept."""
        generation, member_id = of.generation_id, of.member_id
        self._recorder.emit(
            ConnectAssignmentReceived(
                member=self._member,
                generation=generation,
                member_id=member_id,
                protocol=mode.protocol,
                leader=assigned.leader or "",
                leader_url=assigned.leader_url or "",
                config_offset=assigned.config_offset,
                version=assigned.version,
                error=_error_name(assigned),
                delay_ms=assigned.delay_ms,
                assigned=assigned.names,
                revoked=assigned.revoked_names,
            )
        )
        self._recorder.emit(
            AssignmentCompleted(member=self._member, generation=generation, member_id=member_id, owned=())
        )

    def rejoin_requested(self, reason: str) -> None:
        """The worker wants to join again."""
        self._recorder.emit(RejoinRequested(member=self._member, reason=reason))

    def coordinator_awaited(self) -> None:
        """The herder polls, finds no coordinator, and waits for one."""
        self._recorder.emit(CoordinatorAwaited(member=self._member))

    def owner_looked_up(self, work: str, url: str | None, of: Generation) -> None:
        """The REST interface asked for the owner of a connector or task."""
        self._recorder.emit(
            OwnerLookedUp(
                member=self._member,
                generation=of.generation_id,
                member_id=of.member_id,
                work=work,
                url=url or "",
            )
        )

    def revocation_started(self, work: Iterable[str], reason: str, last: Generation) -> None:
        """The listener is called to stop this work."""
        self._recorder.emit(
            WorkRevocationStarted(
                member=self._member,
                generation=last.generation_id,
                member_id=last.member_id,
                work=tuple(work),
                reason=reason,
            )
        )

    def revocation_ended(self, work: Iterable[str], last: Generation) -> None:
        """The listener reported that all of it has stopped."""
        self._recorder.emit(
            WorkRevocationEnded(
                member=self._member, generation=last.generation_id, member_id=last.member_id, work=tuple(work)
            )
        )


def names_of_owners(connectors: Mapping[str, str], tasks: Mapping[ConnectorTask, str]) -> Owners:
    """The owner map with the names that events give to work."""
    return {**connectors, **{task.name: owner for task, owner in tasks.items()}}


def _configured_in(current: Round) -> tuple[str, ...]:
    return tuple(sorted(item.connector if is_connector(item) else item.name for item in current.configured))


def _owned_by(member: str, owners: Owners) -> tuple[str, ...]:
    return tuple(sorted(work for work, owner in owners.items() if owner == member))


def _error_name(assigned: ConnectAssignment) -> str:
    return _ERRORS.get(assigned.error, str(assigned.error))
