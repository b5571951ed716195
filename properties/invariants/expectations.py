"""What a client may expect of a coordinator, and some coordinator of Kafka breaks: each is a finding of this project.

TRACK_RECORD.md has the scenario and the versions for each. Our coordinator follows Kafka's, defects included, so a
campaign on it asks these invariants only by name.

No mutant stands for these invariants, since coordinators of Kafka themselves break each of them. Two tests show that
each can be held and broken: `test_scenario_claims_that_hold` has histories that come near a violation, and
`test_smallest_histories` judges the history in each docstring.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ReplyReceived,
    RequestIssued,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Violation
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.steps import (
    FORMED,
    Broken,
    Finding,
    Step,
    StepFold,
    members_of,
    pending_after,
)

FAMILY: Final = "expectations"
NEW_MEMBER_MS: Final = 300_000
"""How long a new member may wait in its first JoinGroup; a scenario that takes less time has no such expiry."""


class MembersAreKnownViolated(Violation):
    """A completed generation has a member whose id no client learned."""


class GroupFitsMaxSizeViolated(Violation):
    """A formed group has more members than ``group.max.size``."""


class LeaveWithoutMembersChangesNothingViolated(Violation):
    """A LeaveGroup that removed no member started a rebalance."""


class ParkedMemberStaysViolated(Violation):
    """A member that waited in JoinGroup was removed because its session ended."""


class NoServerErrorViolated(Violation):
    """A request was answered UNKNOWN_SERVER_ERROR."""


class NothingIsThrownViolated(Violation):
    """The coordinator threw an exception that no client saw."""


class FencedStaysFencedViolated(Violation):
    """A member that was fenced holds its instance id again."""


class JoinPhaseEndsViolated(Violation):
    """A join phase went on although no member was awaited."""


class RefusedJoinLeavesNoTraceViolated(Violation):
    """A JoinGroup that was refused at once changed the group."""


class GenerationsHaveMembersViolated(Violation):
    """An Empty group that no member joined changed its generation."""


class KeptOffsetsKeepTheirGroupViolated(Violation):
    """A group was deleted with offsets that must be kept."""


class _Known(StepFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._known: set[str] = set()

    def look(self, step: Step) -> Finding:
        """Once no JoinGroup waits, every member of a formed group has an id that was in a reply."""
        self._known |= {reply.event.assigned_member_id for reply in step.replies_to(Api.JOIN_GROUP)}
        if step.after.status not in FORMED or any(sent.api == Api.JOIN_GROUP for sent in step.waiting.values()):
            return False
        unknown = members_of(step.after) - self._known
        if unknown:
            return Broken(
                f"generation {step.after.generation} has {min(unknown)}, an id that no client learned", step.after
            )
        return True


class _FitsMaxSize(StepFold):
    def look(self, step: Step) -> Finding:
        """A formed group has at most group.max.size members."""
        count = len(step.after.members)
        if step.after.status not in FORMED:
            return False
        if count > step.max_size:
            return Broken(f"{count} members are {step.after.status}; group.max.size is {step.max_size}", step.after)
        return True


class _LeaveWithoutMembers(StepFold):
    def look(self, step: Step) -> Finding:
        """A LeaveGroup that removes no member leaves a formed group formed."""
        if step.verb != "leave" or step.before.status not in FORMED:
            return False
        if step.after.status == GroupStatus.PREPARING_REBALANCE and members_of(step.before) == members_of(step.after):
            return Broken("a LeaveGroup that removed no member made the group rebalance", step.after)
        return True


class _ParkedStays(StepFold):
    def look(self, step: Step) -> Finding:
        """No JoinGroup that waits is answered UNKNOWN_MEMBER_ID while time passes."""
        if step.verb != "advance" or step.now_ms >= NEW_MEMBER_MS:
            return False
        for reply in step.replies_to(Api.JOIN_GROUP):
            if reply.error == "UNKNOWN_MEMBER_ID":
                return Broken(
                    f"{reply.request.client} waited in JoinGroup, and is answered UNKNOWN_MEMBER_ID when its session "
                    f"ends", reply.event,
                )  # fmt: skip
        return any(sent.api == Api.JOIN_GROUP for sent in step.waiting.values())


class _NoServerError(StepFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._failing = ""

    def look(self, step: Step) -> Finding:
        """UNKNOWN_SERVER_ERROR is only how a record that is too large is reported."""
        words = step.started.step.split()
        if step.verb == "fail":
            self._failing = words[1] if len(words) > 1 else ""
        if self._failing == "MESSAGE_TOO_LARGE":
            return False
        for reply in step.replies:
            if reply.error == "UNKNOWN_SERVER_ERROR":
                return Broken(f"{reply.request.client} is answered UNKNOWN_SERVER_ERROR", reply.event)
        return bool(step.replies)


class _NothingThrown(StepFold):
    def look(self, step: Step) -> Finding:
        """An exception that no reply reports ends in a log file, and no client learns of it."""
        if step.after.exception:
            return Broken(f"the coordinator threw {step.after.exception}", step.after)
        return True


class _FencedStays(StepFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._fenced: set[str] = set()

    def look(self, step: Step) -> Finding:
        """No holder of an instance id was answered FENCED_INSTANCE_ID before."""
        holders = {member: instance for member, instance in step.after.members if instance}
        back = sorted(holders.keys() & self._fenced)
        compared = bool(holders and self._fenced)
        for reply in step.replies_to(Api.JOIN_GROUP):
            if reply.error == "FENCED_INSTANCE_ID":
                self._fenced.add(reply.event.assigned_member_id)
        return Broken(f"{back[0]} was fenced, and holds instance {holders[back[0]]}", step.after) if back else compared


class _JoinPhaseEnds(StepFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._is_initial = True
        self._pending: dict[str, int] = {}
        self._joined: dict[str, int] = {}

    def look(self, step: Step) -> Finding:
        """A client that joins without an id waits under one that only the coordinator knows: it stands for a member."""
        if step.after.status != GroupStatus.PREPARING_REBALANCE:
            self._is_initial = step.after.status not in FORMED
        self._pending = pending_after(self._pending, step)
        waiting = self._waiting(step)
        members = members_of(step.after)
        if step.after.status != GroupStatus.PREPARING_REBALANCE or self._is_initial or self._pending or not members:
            return False
        absent = members - {sent.member_id for sent in waiting}
        if len(absent) > sum(not sent.member_id for sent in waiting):
            return True
        return Broken(
            f"all {len(members)} members wait in JoinGroup, no other is awaited, and the join phase goes on", step.after
        )

    def _waiting(self, step: Step) -> list[RequestIssued]:
        """The JoinGroups that count: of two under one id only one is answered, the earlier one is given up."""
        for reply in step.replies_to(Api.JOIN_GROUP):
            if reply.request.member_id:
                self._joined[reply.request.member_id] = reply.request.request
        joins = (sent for sent in step.waiting.values() if sent.api == Api.JOIN_GROUP)
        return [sent for sent in joins if sent.request > self._joined.get(sent.member_id, 0)]


class _NoTrace(StepFold):
    def look(self, step: Step) -> Finding:
        """What DescribeGroups shows is as before, assignments included."""
        refused = [r for r in step.replies_to(Api.JOIN_GROUP) if r.request in step.sent and r.error != ACCEPTED]
        if step.verb != "join" or not refused or step.before.status not in FORMED:
            return False
        if step.before.digest != step.after.digest:
            return Broken(f"a JoinGroup is answered {refused[0].error}, and the group is another", step.after)
        return True


class _GenerationsHaveMembers(StepFold):
    def look(self, step: Step) -> Finding:
        """Only a join phase begins a generation; a failover that loses records may go back to an earlier one."""
        is_empty = step.before.status == step.after.status == GroupStatus.EMPTY
        if not is_empty or step.verb in {"join", "failover", "load"}:
            return False
        before, after = step.before.generation, step.after.generation
        if before != after:
            return Broken(
                f"no client joins the Empty group, and it goes from generation {before} to {after}", step.after
            )
        return True


class _KeptOffsets(StepFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._until_ms = 0
        self._producers: set[int] = set()

    def look(self, step: Step) -> Finding:
        """A group with a committed offset, or with one in an open transaction, is not deleted by itself."""
        self._note(step)
        if step.verb != "advance" or not (self._producers or step.now_ms < self._until_ms):
            return False
        if step.after.status == GroupStatus.DEAD:
            return Broken("the group is deleted with offsets that are not too old, or with an open transaction",
                          step.after)  # fmt: skip
        return True

    def _note(self, step: Step) -> None:
        """A deletion, and a log that loses records, lose offsets, too."""
        words = step.started.step.split()
        if step.verb in {"delete", "offset-delete", "failover"}:
            self._until_ms = 0
            self._producers.clear()
        if step.verb == "end-txn":
            self._producers -= {int(w.partition("=")[2]) for w in words if w.startswith("producer=")}
        for reply in step.replies:
            if not reply.event.partition_errors or any(error != ACCEPTED for _, error in reply.event.partition_errors):
                continue
            if reply.api == Api.TXN_OFFSET_COMMIT:
                self._producers.add(reply.request.producer_id)
            elif reply.api == Api.OFFSET_COMMIT:
                self._until_ms = step.now_ms + step.offsets_retention_ms


_STEPS: Final = (
    "the history holds the steps of a scenario (StepStarted, RequestIssued, ReplyReceived, GroupDescribed)",
    "some coordinators of Kafka break it in known cases (TRACK_RECORD.md), and ours as they do",
)

MembersAreKnown: Final = Invariant(
    name="members_are_known",
    family=FAMILY,
    claim="every member of a completed generation has an id that a client learned",
    source="KIP-394",
    premises=_STEPS,
    exempted_by=(RequestIssued,),
    violation=MembersAreKnownViolated,
    fold=_Known,
)
"""A member that is no client's holds up every rebalance until its session ends.

The smallest history that breaks it::

    StepStarted(step="release")
    GroupDescribed(status="Stable", generation=1, members=(("a-1", ""),))
"""

GroupFitsMaxSize: Final = Invariant(
    name="group_fits_max_size",
    family=FAMILY,
    claim="a formed group has at most group.max.size members",
    source="KIP-389",
    premises=_STEPS,
    violation=GroupFitsMaxSizeViolated,
    fold=_FitsMaxSize,
)
"""Stricter than `group_size`, which admits the ways in which Kafka lets a group outgrow the limit.

The smallest history that breaks it::

    CoordinatorConfigured(max_size=1, offsets_retention_ms=60000)
    StepStarted(step="join b")
    GroupDescribed(status="Stable", members=(("a-1", ""), ("b-1", "")))
"""

LeaveWithoutMembersChangesNothing: Final = Invariant(
    name="leave_without_members_changes_nothing",
    family=FAMILY,
    claim="a LeaveGroup that removes no member starts no rebalance",
    source="GroupMetadataManager.classicGroupLeaveToClassicGroup",
    premises=_STEPS,
    violation=LeaveWithoutMembersChangesNothingViolated,
    fold=_LeaveWithoutMembers,
)
"""The leave of a pending id should make no member stop work.

The smallest history that breaks it::

    GroupDescribed(status="Stable", members=(("a-1", ""),))
    StepStarted(step="leave b")
    GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))
"""

ParkedMemberStays: Final = Invariant(
    name="parked_member_stays",
    family=FAMILY,
    claim="the session of a member that waits in JoinGroup does not end",
    source="ClassicGroupMember.hasSatisfiedHeartbeat",
    premises=(*_STEPS, "a scenario of 5 minutes or more is left out: new members expire then"),
    violation=ParkedMemberStaysViolated,
    fold=_ParkedStays,
)
"""A member that waits sends no heartbeat, since its client may not.

The smallest history that breaks it::

    RequestIssued(client="a", api="JoinGroup", request=1, member_id="a-1")
    StepStarted(step="advance 3000")
    ReplyReceived(request=1, error="UNKNOWN_MEMBER_ID")
    GroupDescribed(status="Empty")
"""

NoServerError: Final = Invariant(
    name="no_server_error",
    family=FAMILY,
    claim="no request is answered UNKNOWN_SERVER_ERROR, but for a record that is too large",
    source="Errors.UNKNOWN_SERVER_ERROR: an unexpected error",
    premises=_STEPS,
    violation=NoServerErrorViolated,
    fold=_NoServerError,
)
"""It is what an exception that the coordinator did not expect becomes.

The smallest history that breaks it::

    StepStarted(step="join a")
    RequestIssued(client="a", api="JoinGroup", request=1)
    ReplyReceived(request=1, error="UNKNOWN_SERVER_ERROR")
    GroupDescribed(status="Empty")
"""

NothingIsThrown: Final = Invariant(
    name="nothing_is_thrown",
    family=FAMILY,
    claim="no exception of the coordinator ends in its log file without a reply that reports it",
    source="the runner of virtual Kafka, which catches what a timer or a write throws",
    premises=_STEPS,
    violation=NothingIsThrownViolated,
    fold=_NothingThrown,
)
"""What a timer throws reaches no client, and its work is not done.

The smallest history that breaks it::

    StepStarted(step="advance 5000")
    GroupDescribed(status="Stable", exception="IllegalArgumentException")
"""

FencedStaysFenced: Final = Invariant(
    name="fenced_stays_fenced",
    family=FAMILY,
    claim="a member that was fenced does not hold its instance id again",
    source="KIP-345; ClassicGroup.replaceStaticMember",
    premises=_STEPS,
    violation=FencedStaysFencedViolated,
    fold=_FencedStays,
)
"""A fenced client stops for good: an instance id that it holds is lost until its session ends.

The smallest history that breaks it::

    StepStarted(step="join b")
    RequestIssued(client="a", api="JoinGroup", request=1, member_id="a-1", instance_id="i")
    ReplyReceived(request=1, error="FENCED_INSTANCE_ID", assigned_member_id="a-1")
    GroupDescribed(status="Stable", members=(("b-1", "i"),))
    StepStarted(step="advance 5000")
    GroupDescribed(status="Stable", members=(("a-1", "i"),))
"""

JoinPhaseEnds: Final = Invariant(
    name="join_phase_ends",
    family=FAMILY,
    claim="a join phase ends when the JoinGroup of every member waits, and no other id is awaited",
    source="ClassicGroup.hasAllMembersJoined",
    premises=(*_STEPS, "a join phase that began in an Empty group has a delay, and is left out"),
    exempted_by=(ReplyReceived,),
    violation=JoinPhaseEndsViolated,
    fold=_JoinPhaseEnds,
)
"""Stricter than `join_phase_ends_when_all_joined`: in spite of faults, and of members refused for the group's size.

The smallest history that breaks it::

    StepStarted(step="sync a 1")
    GroupDescribed(status="Stable", members=(("a-1", ""),))
    StepStarted(step="join a")
    RequestIssued(client="a", api="JoinGroup", request=1, member_id="a-1")
    GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))
"""

RefusedJoinLeavesNoTrace: Final = Invariant(
    name="refused_join_leaves_no_trace",
    family=FAMILY,
    claim="a JoinGroup that is refused at once changes nothing in a formed group",
    source="GroupMetadataManager.classicGroupJoin",
    premises=_STEPS,
    violation=RefusedJoinLeavesNoTraceViolated,
    fold=_NoTrace,
)
"""What failed may be tried again, and finds the group as it was.

The smallest history that breaks it::

    GroupDescribed(status="Stable", digest="1")
    StepStarted(step="join a")
    RequestIssued(client="a", api="JoinGroup", request=1)
    ReplyReceived(request=1, error="NOT_COORDINATOR")
    GroupDescribed(status="Stable", digest="2")
"""

GenerationsHaveMembers: Final = Invariant(
    name="generations_have_members",
    family=FAMILY,
    claim="an Empty group that no client joins stays in its generation",
    source="ClassicGroup.initNextGeneration",
    premises=_STEPS,
    violation=GenerationsHaveMembersViolated,
    fold=_GenerationsHaveMembers,
)
"""A join phase needs a member that joins.

The smallest history that breaks it::

    GroupDescribed(status="Empty", generation=1)
    StepStarted(step="advance 3000")
    GroupDescribed(status="Empty", generation=2)
"""

KeptOffsetsKeepTheirGroup: Final = Invariant(
    name="kept_offsets_keep_their_group",
    family=FAMILY,
    claim="no group is deleted with offsets that are not too old, or with an open transaction",
    source="KIP-211; OffsetMetadataManager.cleanupExpiredOffsets",
    premises=_STEPS,
    violation=KeptOffsetsKeepTheirGroupViolated,
    fold=_KeptOffsets,
)
"""The transaction's commit would make offsets of a group that is gone.

The smallest history that breaks it::

    CoordinatorConfigured(max_size=1, offsets_retention_ms=60000)
    StepStarted(step="commit a 1")
    RequestIssued(client="a", api="OffsetCommit", request=1, offsets=(("t-0", 5),))
    ReplyReceived(request=1, error="NONE", partition_errors=(("t-0", "NONE"),))
    GroupDescribed(status="Empty")
    StepStarted(step="advance 1")
    GroupDescribed(status="Dead")
"""

CLAIMS: Final = (
    MembersAreKnown,
    GroupFitsMaxSize,
    LeaveWithoutMembersChangesNothing,
    ParkedMemberStays,
    NoServerError,
    NothingIsThrown,
    FencedStaysFenced,
    JoinPhaseEnds,
    RefusedJoinLeavesNoTrace,
    GenerationsHaveMembers,
    KeptOffsetsKeepTheirGroup,
)
"""In the order in which reports name them."""
