"""The two requests of a rebalance, JoinGroup and SyncGroup, and the effect of each of their answers on the member."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Final

from rebalance_check.impl.client.calling import Calling
from rebalance_check.impl.client.core import Sent
from rebalance_check.impl.client.failures import GroupError, JoinAttempt, Retry
from rebalance_check.impl.client.generation import Generation, MemberState
from rebalance_check.impl.client.heartbeating import Heartbeating
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    JoinedMember,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    SyncAssignment,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import PERFORM_ASSIGNMENT, MemberJoined
from rebalance_check.model.vocabulary.ids import NO_GENERATION

_COORDINATOR_MOVED: Final = frozenset({Error.COORDINATOR_NOT_AVAILABLE, Error.NOT_COORDINATOR})


class Joining(Heartbeating, ABC):
    """Sends JoinGroup and SyncGroup and reads their answers; the loop around them is `Coordinator`'s."""

    _sent_claims: tuple[str, ...] = ()

    # ------------------------------------------------------------------------------------------------ the contract

    @abstractmethod
    def protocol_type(self) -> str:
        """The constant that all members of the group share (``consumer``); an answer that echoes another is fatal."""

    @abstractmethod
    def metadata(self) -> Sequence[tuple[str, bytes]]:
        """The protocols this member offers, most preferred first, each with a new snapshot of its metadata.

        Called whenever a JoinGroup is built, always after `on_join_prepare`; names are unique, the list is not empty,
        else `poll` raises a `RebalanceCheckError`.
        """

    @abstractmethod
    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[JoinedMember]) -> Mapping[str, bytes]:
        """The leader's work: an assignment for every member id; one left out gets zero bytes.

        Called at most once per generation, by the member whose id is ``leader_id``. An exception fails the join and
        surfaces from `poll`.
        """

    def on_assignment_skipped(self, members: Sequence[JoinedMember]) -> None:
        """The member leads again but the group is stable (KIP-814): it watches, and must not assign."""

    def claims(self) -> tuple[str, ...]:
        """The member's owned partitions in the metadata it would send now, as events name it."""
        return ()

    # ------------------------------------------------------------------------------------------------ JoinGroup

    def _offered(self) -> tuple[JoinProtocol, ...]:
        """The protocols that the member offers.

        Raises: RebalanceCheckError where that is nothing, or a protocol twice, which no coordinator can select from.
        """
        offered = tuple(JoinProtocol(name, data) for name, data in self.metadata())
        names = [protocol.name for protocol in offered]
        if not names or len({*names}) < len(names):
            raise RebalanceCheckError(
                f"metadata() of {self.member} offers the protocols {names}: offer at least one, and each only once"
            )
        return offered

    def _send_join(self) -> None:
        offered = self._offered()
        self._state = MemberState.PREPARING_REBALANCE
        self._join = JoinAttempt()
        self.metrics.rebalance_started(self._now_ms)
        self._sent_claims = self.claims()
        self._send(
            JoinGroupRequest(
                group_id=self.config.group_id,
                version=self.config.join_group_version,
                client_id=self.config.client_id,
                session_timeout_ms=self.config.session_timeout_ms,
                rebalance_timeout_ms=self.config.rebalance_timeout_ms,
                member_id=self._generation.member_id,
                protocol_type=self.protocol_type(),
                protocols=offered,
                group_instance_id=self.config.group_instance_id,
                reason=self._rejoin_reason,
            ),
            self._join_answered,
        )

    def _join_answered(self, sent: Sent, reply: GroupReply | None) -> None:
        """``JoinGroupResponseHandler``."""
        if reply is None:
            self._fail_join(Retry.AFTER_BACKOFF)
        elif reply.error is Error.NONE and isinstance(reply, JoinGroupReply):
            self._join_accepted(sent, reply)
        else:
            self._join_refused(sent, reply)

    def _join_accepted(self, sent: Sent, reply: JoinGroupReply) -> None:
        if reply.protocol_type is not None and reply.protocol_type != self.protocol_type():
            self._fail_join(Retry.NEVER, self._wrong_protocol(Api.JOIN_GROUP, reply.protocol_type))
            return
        self.metrics.join.record(self._now_ms - sent.at_ms, self._now_ms)
        if self._state is not MemberState.PREPARING_REBALANCE:
            self._fail_join(Retry.AFTER_BACKOFF)
        else:
            self._enter_generation(reply)
            self._sync(reply)

    def _enter_generation(self, reply: JoinGroupReply) -> None:
        self._state = MemberState.COMPLETING_REBALANCE
        self._timers.arm(self._now_ms)
        self._generation = Generation(reply.generation_id, reply.member_id, reply.protocol_name)
        self.recorder.emit(
            MemberJoined(
                member=self.member,
                generation=reply.generation_id,
                member_id=reply.member_id,
                leader=reply.leader == reply.member_id,
                protocol=reply.protocol_name or "",
                owned_partitions=self._sent_claims,
            )
        )

    def _join_refused(self, sent: Sent, reply: GroupReply) -> None:
        error = reply.error
        if error is Error.UNKNOWN_MEMBER_ID:
            if self._unchanged(sent):
                self._reset(keep_member=False, reason=error.name)
            self._fail_join(Retry.AT_ONCE)
        elif error is Error.MEMBER_ID_REQUIRED and isinstance(reply, JoinGroupReply):
            self._generation = Generation(NO_GENERATION, reply.member_id, None)
            self._rejoin_needed = True
            self._fail_join(Retry.AT_ONCE)
        elif error is Error.REBALANCE_IN_PROGRESS:
            self._fail_join(Retry.AT_ONCE)
        elif error is Error.COORDINATOR_LOAD_IN_PROGRESS:
            self._fail_join(Retry.AFTER_BACKOFF)
        elif error in _COORDINATOR_MOVED:
            self._fail_join(Retry.AFTER_BACKOFF)
            self._forget_coordinator()
        else:
            self._fail_join(Retry.NEVER, GroupError(Api.JOIN_GROUP, error))

    # ------------------------------------------------------------------------------------------------ SyncGroup

    def _sync(self, reply: JoinGroupReply) -> None:
        try:
            assignments = self._assignments(reply)
        except Exception as problem:  # an assignor's exception reaches the application through the join loop
            self._fail_join(Retry.NEVER, problem)
            return
        if self.coordinator_unknown():  # it was given up while the answer waited for the application
            self._fail_join(Retry.AFTER_BACKOFF)
            return
        generation = self._generation
        self._send(
            SyncGroupRequest(
                group_id=self.config.group_id,
                version=self.config.sync_group_version,
                client_id=self.config.client_id,
                generation_id=generation.generation_id,
                member_id=generation.member_id,
                group_instance_id=self.config.group_instance_id,
                protocol_type=self.protocol_type(),
                protocol_name=generation.protocol,
                assignments=assignments,
            ),
            self._sync_answered,
        )

    def _assignments(self, reply: JoinGroupReply) -> tuple[SyncAssignment, ...]:
        """The content of this member's SyncGroup: all members' assignments when it leads, nothing when it follows."""
        if reply.leader != reply.member_id:
            return ()
        if reply.skip_assignment:
            self.on_assignment_skipped(reply.members)
            return ()
        with Calling(self.recorder, self.member, PERFORM_ASSIGNMENT, self._generation):
            assigned = self.perform_assignment(reply.leader, reply.protocol_name or "", reply.members)
        return tuple(SyncAssignment(member_id, data) for member_id, data in assigned.items())

    def _sync_answered(self, sent: Sent, reply: GroupReply | None) -> None:
        """``SyncGroupResponseHandler``."""
        if reply is None:
            self._fail_join(Retry.AFTER_BACKOFF)
        elif reply.error is Error.NONE and isinstance(reply, SyncGroupReply):
            self._sync_accepted(sent, reply)
        else:
            self._sync_refused(sent, reply.error)

    def _sync_accepted(self, sent: Sent, reply: SyncGroupReply) -> None:
        if reply.protocol_type is not None and reply.protocol_type != self.protocol_type():
            self._fail_join(Retry.NEVER, self._wrong_protocol(Api.SYNC_GROUP, reply.protocol_type))
            return
        self.metrics.sync.record(self._now_ms - sent.at_ms, self._now_ms)
        if self._generation.reset or self._state is not MemberState.COMPLETING_REBALANCE:
            self._fail_join(Retry.AT_ONCE)
        elif reply.protocol_name is not None and reply.protocol_name != self._generation.protocol:
            self._fail_join(Retry.NEVER, self._wrong_protocol(Api.SYNC_GROUP, reply.protocol_name))
        elif self._join is not None:
            if self._rests_until_stable():
                self._timers.arm(self._now_ms)
            self._state = MemberState.STABLE
            self._rejoin_needed = False
            self._rejoin_reason = None
            self._join.assignment = reply.assignment
            self.metrics.rebalance_completed(self._now_ms)

    def _sync_refused(self, sent: Sent, error: Error) -> None:
        if error is Error.REBALANCE_IN_PROGRESS:
            self._fail_join(Retry.AT_ONCE)
        elif error in {Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION}:
            if self._unchanged(sent):
                self._reset(keep_member=self._keeps_member_id(error), reason=error.name)
            self._fail_join(Retry.AT_ONCE)
        elif error in _COORDINATOR_MOVED:
            self._fail_join(Retry.AFTER_BACKOFF)
            self._forget_coordinator()
        else:
            self._fail_join(Retry.NEVER, GroupError(Api.SYNC_GROUP, error))

    def _wrong_protocol(self, api: str, echoed: str) -> GroupError:
        meaning = f"the coordinator echoes {echoed!r}, this member joined with {self.protocol_type()!r}"
        return GroupError(api, Error.INCONSISTENT_GROUP_PROTOCOL, meaning)
