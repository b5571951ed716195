"""What every coordinator keeps to, as its clients see it: requests, replies, and DescribeGroups after each step.

Sources: KIP-345, KIP-394, KIP-62 and the documented errors of the protocol's messages. Nothing here depends on how a
coordinator is made, and nothing is said where an observer cannot be certain: what breaks one of these is a finding.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import CoordinatorConfigured, ReplyReceived
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Violation
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.step_times import StepTimes
from rebalance_check.properties.views.steps import (
    MEMBER_ID_REQUIRED,
    MEMBER_ID_REQUIRED_SINCE,
    Broken,
    Finding,
    Step,
    StepFold,
    is_accepted,
    is_rebalancing,
    members_of,
    pending_after,
)

HEARTBEAT_ERRORS: Final = frozenset(
    {
        ACCEPTED, "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", "FENCED_INSTANCE_ID",
        "NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "INVALID_GROUP_ID",
        "GROUP_AUTHORIZATION_FAILED", "UNKNOWN_SERVER_ERROR", "NETWORK_EXCEPTION",
    }
)  # fmt: skip
"""``HeartbeatResponse.json``, and the errors of a failed write."""


class AssignedMemberIdsAreNewViolated(Violation):
    """A JoinGroup without a member id was assigned one that another client has."""


class MemberIdIsKnownBeforeMembershipViolated(Violation):
    """A dynamic member was admitted under an id that no client had learned."""


class HeartbeatErrorsAreDocumentedViolated(Violation):
    """A heartbeat was answered with an error that its message does not document."""


class LeaveRemovesOnlyNamedMembersViolated(Violation):
    """A LeaveGroup removed a member that it does not name."""


class JoinPhaseEndsWhenAllJoinedViolated(Violation):
    """A join phase went on although every member had joined."""


class MembersAreRefusedOnlyWhenFullViolated(Violation):
    """A member was refused for the group's size while the group had capacity for it."""


class LoadingEndsViolated(Violation):
    """A request was refused because of loading when nothing was being loaded."""


class CommittedOffsetIsFetchedViolated(Violation):
    """A fetch returned another offset than the one committed last."""


# ------------------------------------------------------------------------------------------------ identities


class _NewIds(StepFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._assigned: set[str] = set()

    def look(self, step: Step) -> Finding:
        """The id that a JoinGroup without one is assigned was assigned to no other before."""
        compared = False
        for reply in step.replies_to(Api.JOIN_GROUP):
            assigned = reply.event.assigned_member_id if reply.error in {ACCEPTED, MEMBER_ID_REQUIRED} else ""
            if assigned and not reply.request.member_id:
                compared = True
                if assigned in self._assigned:
                    return Broken(
                        f"{reply.request.client} joins without a member id and is assigned {assigned}, which another "
                        f"client has", reply.event,
                    )  # fmt: skip
            self._assigned.add(assigned)
        return compared


class _KnownIds(StepFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._known: set[str] = set()

    def look(self, step: Step) -> Finding:
        """From JoinGroup v4 on, the id of a dynamic member that is admitted was in a reply before."""
        joins = [sent for sent in step.sent if sent.api == Api.JOIN_GROUP]
        exempt = any(join.version < MEMBER_ID_REQUIRED_SINCE or join.instance_id for join in joins)
        self._known |= {sent.member_id for sent in step.sent}
        unknown = members_of(step.after) - members_of(step.before) - self._known
        self._known |= {reply.event.assigned_member_id for reply in step.replies_to(Api.JOIN_GROUP)}
        self._known |= members_of(step.after)
        if not joins or exempt:
            return False
        return Broken(f"{min(unknown)} is a member, and no client knows that id", step.after) if unknown else True


class _HeartbeatErrors(StepFold):
    def look(self, step: Step) -> Finding:
        """A client knows each error that a heartbeat may be answered with."""
        replies = list(step.replies_to(Api.HEARTBEAT))
        for reply in replies:
            if reply.error not in HEARTBEAT_ERRORS:
                return Broken(
                    f"the heartbeat of {reply.request.client} is answered {reply.error}, which its message does not "
                    f"document", reply.event,
                )  # fmt: skip
        return bool(replies)


# ------------------------------------------------------------------------------------------------ members


class _Leave(StepFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._instances: dict[str, str] = {}

    def look(self, step: Step) -> Finding:
        """Every member that goes with a LeaveGroup is named in it, by its id or its instance id."""
        self._instances.update(step.before.members)
        left = list(step.replies_to(Api.LEAVE_GROUP))
        if step.verb != "leave" or step.after.error != ACCEPTED or step.after.status == GroupStatus.DEAD:
            return False
        for reply in left:
            ids = {member for member, _ in reply.request.leaving}
            instances = {instance for _, instance in reply.request.leaving} - {""}
            gone = members_of(step.before) - members_of(step.after)
            others = {one for one in gone if one not in ids and self._instances.get(one) not in instances}
            if others:
                return Broken(f"{min(others)} is removed, and the LeaveGroup does not name it", step.after)
        return bool(left)


class _EndsWhenAllJoined(StepFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._times = StepTimes()
        self._latest: dict[str, int] = {}
        self._pending: dict[str, int] = {}

    def look(self, step: Step) -> Finding:
        """A group in PreparingRebalance awaits a member or a pending id."""
        self._times.note(step)
        self._pending = pending_after(self._pending, step)
        self._latest.update({sent.member_id: sent.request for sent in step.sent if sent.api == Api.JOIN_GROUP})
        members = members_of(step.after)
        if (
            step.after.status != GroupStatus.PREPARING_REBALANCE
            or self._times.disturbed
            or self._times.came_from not in {GroupStatus.STABLE, GroupStatus.COMPLETING_REBALANCE}
        ):
            return False
        if step.after.generation < 0 or self._pending or not members:
            return False
        if all(self._latest.get(member) in step.waiting for member in members):
            return Broken(
                f"all {len(members)} members wait in JoinGroup, no id is pending, and the join phase goes on",
                step.after,
            )
        return True


class _RefusedWhenFull(StepFold):
    def look(self, step: Step) -> Finding:
        """In PreparingRebalance a member is refused for size only if as many others as fit wait already.

        Removing a member may end the join phase, so that the JoinGroups that waited are answered in the same step.
        """
        compared = False
        for reply in step.replies_to(Api.JOIN_GROUP):
            was_member = reply.request.member_id in members_of(step.before)
            if (
                reply.error != "GROUP_MAX_SIZE_REACHED"
                or not was_member
                or step.before.status != GroupStatus.PREPARING_REBALANCE
            ):
                continue
            compared = True
            answered = [r for r in step.replies_to(Api.JOIN_GROUP) if r.request.request < reply.request.request]
            waiting = len(answered) + sum(sent.api == Api.JOIN_GROUP for sent in step.waiting.values())
            if waiting < step.max_size:
                return Broken(
                    f"{reply.request.client} is refused for the group's size; {waiting} members wait, and there is "
                    f"capacity for {step.max_size}", reply.event,
                )  # fmt: skip
        return compared


# ------------------------------------------------------------------------------------------------ the log


class _LoadingEnds(StepFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._loading = False

    def look(self, step: Step) -> Finding:
        """COORDINATOR_LOAD_IN_PROGRESS is answered only between a failover and the end of loading."""
        if step.verb == "failover":
            self._loading = "loading" in step.started.step.split()
        if step.verb in {"load", "unload"}:
            self._loading = False
        for reply in step.replies:
            if reply.api == Api.TXN_OFFSET_COMMIT:
                continue
            if reply.error == "COORDINATOR_LOAD_IN_PROGRESS" and not self._loading:
                return Broken(
                    f"{reply.request.client} is answered COORDINATOR_LOAD_IN_PROGRESS, and nothing is being loaded",
                    reply.event,
                )
        return bool(step.replies)


LOSES_OFFSETS: Final = frozenset({"unload", "fail", "hold", "offset-delete", "txn-commit", "end-txn"})
"""Steps after which the offset that a fetch should return is not certain."""


class _Kept(NamedTuple):
    """A committed offset, and from when on it is old, in ms on the coordinator's clock."""

    offset: int
    old_ms: int


class _CommittedIsFetched(StepFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._last: dict[str, _Kept] = {}

    def look(self, step: Step) -> Finding:
        """The offset of the last commit, until it is deleted, or old in a group whose old offsets may go."""
        if step.loses_records() or step.verb in LOSES_OFFSETS:
            self._last.clear()
        if not (is_rebalancing(step.before) and is_rebalancing(step.after)):
            self._last = {partition: kept for partition, kept in self._last.items() if step.now_ms < kept.old_ms}
        compared, broken = False, None
        for reply in step.replies_to(Api.OFFSET_FETCH) if self._last else ():
            for partition, offset in reply.event.offsets if is_accepted(reply) else ():
                kept = self._last.get(partition)
                compared |= kept is not None
                if kept is not None and kept.offset != offset:
                    broken = Broken(
                        f"{kept.offset} was committed for {partition}, and {offset} is fetched", reply.event
                    )
        self._note_commits(step)
        return broken or compared

    def _note_commits(self, step: Step) -> None:
        """Which commits were accepted; those without a reply may count already, or not yet."""
        for sent in step.sent:
            for partition, _ in sent.offsets if sent.api == Api.OFFSET_COMMIT else ():
                self._last.pop(partition, None)
        in_doubt = any(sent.api == Api.OFFSET_COMMIT for sent in step.waiting.values())
        for reply in step.replies_to(Api.OFFSET_COMMIT):
            offsets, own_ms = dict(reply.request.offsets), reply.request.retention_ms
            old_ms = step.now_ms + (own_ms if own_ms >= 0 else step.offsets_retention_ms)
            for partition, error in reply.event.partition_errors:
                if error == ACCEPTED and not in_doubt and partition in offsets:
                    self._last[partition] = _Kept(offsets[partition], old_ms)
                else:
                    self._last.pop(partition, None)


# ------------------------------------------------------------------------------------------------ the invariants

_STEPS: Final = "the history holds the steps of a scenario (StepStarted, RequestIssued, ReplyReceived, GroupDescribed)"

AssignedMemberIdsAreNew: Final = Invariant(
    name="assigned_member_ids_are_new",
    family="observed",
    claim="a JoinGroup without a member id is assigned one that was assigned to no other client before",
    source="KIP-345, KIP-394; ClassicGroup.generateMemberId",
    premises=(_STEPS,),
    violation=AssignedMemberIdsAreNewViolated,
    fold=_NewIds,
)
"""Two clients with one member id would fence each other, or share an assignment.

The smallest history that breaks it::

    StepStarted(step="join a")
    RequestIssued(client="a", api="JoinGroup", request=1)
    ReplyReceived(request=1, error="MEMBER_ID_REQUIRED", assigned_member_id="a-1")
    RequestIssued(client="b", api="JoinGroup", request=2)
    ReplyReceived(request=2, error="MEMBER_ID_REQUIRED", assigned_member_id="a-1")
    GroupDescribed(status="Empty")
"""

MemberIdIsKnownBeforeMembership: Final = Invariant(
    name="member_id_is_known_before_membership",
    family="observed",
    claim="from JoinGroup v4 on a dynamic client learns its member id before it is a member",
    source="KIP-394; GroupMetadataManager.classicGroupJoinNewDynamicMember",
    premises=(_STEPS, "a step with a JoinGroup of version 3 or lower, or with an instance id, is left out"),
    violation=MemberIdIsKnownBeforeMembershipViolated,
    fold=_KnownIds,
)
"""A client that loses the reply and asks again would otherwise leave a member behind that no process is.

The smallest history that breaks it::

    StepStarted(step="join a")
    RequestIssued(client="a", api="JoinGroup", request=1, version=9)
    GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))
"""

HeartbeatErrorsAreDocumented: Final = Invariant(
    name="heartbeat_errors_are_documented",
    family="observed",
    claim="a Heartbeat is answered with one of the errors that its message documents",
    source="HeartbeatResponse.json",
    premises=(_STEPS,),
    violation=HeartbeatErrorsAreDocumentedViolated,
    fold=_HeartbeatErrors,
)
"""A client has no rule for any other error.

The smallest history that breaks it::

    StepStarted(step="heartbeat a 1")
    RequestIssued(client="a", api="Heartbeat", request=1, member_id="a-1", request_generation=1)
    ReplyReceived(request=1, error="GROUP_ID_NOT_FOUND")
    GroupDescribed(status="Dead")
"""

LeaveRemovesOnlyNamedMembers: Final = Invariant(
    name="leave_removes_only_named_members",
    family="observed",
    claim="a LeaveGroup removes no member but those that it names",
    source="KIP-345; GroupMetadataManager.classicGroupLeaveToClassicGroup",
    premises=(_STEPS,),
    violation=LeaveRemovesOnlyNamedMembersViolated,
    fold=_Leave,
)
"""A batch of leaves names members by member id or by group instance id.

The smallest history that breaks it::

    GroupDescribed(status="Stable", members=(("a-1", ""), ("b-1", "")))
    StepStarted(step="leave a")
    RequestIssued(client="a", api="LeaveGroup", request=1, leaving=(("a-1", ""),))
    ReplyReceived(request=1, error="NONE")
    GroupDescribed(status="PreparingRebalance")
"""

JoinPhaseEndsWhenAllJoined: Final = Invariant(
    name="join_phase_ends_when_all_joined",
    family="observed",
    claim="the join phase of a group that had a generation ends as soon as all of its members have joined",
    source="ClassicGroup.hasAllMembersJoined; GroupMetadataManager.maybeCompleteJoinPhase",
    premises=(_STEPS, "no fault, and no refusal for the group's size, in the same join phase"),
    exempted_by=(ReplyReceived,),
    violation=JoinPhaseEndsWhenAllJoinedViolated,
    fold=_EndsWhenAllJoined,
)
"""A member that waits for no other loses the time until the rebalance timeout.

The smallest history that breaks it::

    StepStarted(step="sync a 1")
    GroupDescribed(status="Stable", generation=1, members=(("a-1", ""),))
    StepStarted(step="join a")
    RequestIssued(client="a", api="JoinGroup", request=1, member_id="a-1")
    GroupDescribed(status="PreparingRebalance", generation=1, members=(("a-1", ""),))
"""

MembersAreRefusedOnlyWhenFull: Final = Invariant(
    name="members_are_refused_only_when_full",
    family="observed",
    claim="in PreparingRebalance a member is refused for the group's size only if as many others as fit have joined",
    source="KIP-389; GroupMetadataManager.acceptJoiningMember",
    premises=(_STEPS,),
    exempted_by=(CoordinatorConfigured,),
    violation=MembersAreRefusedOnlyWhenFullViolated,
    fold=_RefusedWhenFull,
)
"""A group that has outgrown ``group.max.size`` keeps the members that rejoin first.

The smallest history that breaks it::

    CoordinatorConfigured(max_size=1, offsets_retention_ms=60000)
    GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))
    StepStarted(step="join a")
    RequestIssued(client="a", api="JoinGroup", request=1, member_id="a-1")
    ReplyReceived(request=1, error="GROUP_MAX_SIZE_REACHED")
    GroupDescribed(status="PreparingRebalance")
"""

LoadingEnds: Final = Invariant(
    name="loading_ends",
    family="observed",
    claim="once a coordinator has read its log, no request is answered COORDINATOR_LOAD_IN_PROGRESS",
    source="GroupCoordinatorService; CoordinatorRuntime.CoordinatorContext",
    premises=(_STEPS, "a commit in a transaction is left out: it is answered so when its write failed"),
    violation=LoadingEndsViolated,
    fold=_LoadingEnds,
)
"""A coordinator that stays in loading serves no client, and clients wait for it for ever.

The smallest history that breaks it::

    StepStarted(step="join a")
    RequestIssued(client="a", api="JoinGroup", request=1)
    ReplyReceived(request=1, error="COORDINATOR_LOAD_IN_PROGRESS")
    GroupDescribed(status="Dead")
"""

CommittedOffsetIsFetched: Final = Invariant(
    name="committed_offset_is_fetched",
    family="observed",
    claim="OffsetFetch returns the offset that was committed last for a partition of the group",
    source="OffsetMetadataManager.commitOffset, fetchOffsets",
    premises=(
        _STEPS,
        "until the offset is deleted, or old (offsets.retention.minutes, or what its commit says) in a group that does "
        "not rebalance; commits of transactions are not followed",
        "a failed or held log, or lost records, leave it open until the next commit",
    ),
    violation=CommittedOffsetIsFetchedViolated,
    fold=_CommittedIsFetched,
)
"""Offsets belong to the group, not to the member that committed them.

The smallest history that breaks it::

    StepStarted(step="commit a 1")
    RequestIssued(client="a", api="OffsetCommit", request=1, offsets=(("t-0", 5),))
    ReplyReceived(request=1, error="NONE", partition_errors=(("t-0", "NONE"),))
    GroupDescribed(status="Stable")
    StepStarted(step="fetch")
    RequestIssued(client="a", api="OffsetFetch", request=2)
    ReplyReceived(request=2, error="NONE", offsets=(("t-0", 4),))
    GroupDescribed(status="Stable")
"""

CLAIMS: Final = (
    AssignedMemberIdsAreNew,
    MemberIdIsKnownBeforeMembership,
    HeartbeatErrorsAreDocumented,
    LeaveRemovesOnlyNamedMembers,
    JoinPhaseEndsWhenAllJoined,
    MembersAreRefusedOnlyWhenFull,
    LoadingEnds,
    CommittedOffsetIsFetched,
)
"""In the order in which reports name them."""
