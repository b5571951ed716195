"""What the coordinator may accept: SyncGroup, Heartbeat and OffsetCommit, each by member, generation and status."""

from __future__ import annotations

from typing import ClassVar, Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
    OffsetCommitReplied,
    ReplyEvent,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import (
    ACCEPTED,
    NOT_RECORDED,
    Incarnation,
    IncarnationFold,
)
from rebalance_check.properties.views.recent import WAITING

RECOGNISED: Final = frozenset({"NONE", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS"})
"""The answers that only a member gets who passed for the holder of its instance id."""


class SyncIsFencedViolated(Violation):
    """A SyncGroup was accepted from outside the generation, or before it was Stable."""


class HeartbeatIsFencedViolated(Violation):
    """A heartbeat was accepted from outside the generation, or in a status that refuses it."""


class CommitIsFencedViolated(Violation):
    """An offset commit was accepted from outside the generation, or in a status that refuses it."""


class InstanceIsExclusiveViolated(Violation):
    """A request with a group instance id was accepted from a member id that does not hold it."""


class OneResponsePerRequestViolated(Violation):
    """A request was answered twice."""


class _Fenced(IncarnationFold):
    """Compares who asks, and for which generation, with the group as it is then."""

    api: ClassVar[str] = ""
    statuses: ClassVar[frozenset[str]] = frozenset()

    needs = ((IncarnationStarted, GenerationStarted, GroupStatusChanged),)

    def on_replied(self, event: ReplyEvent) -> None:
        """What is accepted comes from a member, for the present generation, at its time."""
        group = self.incarnations.current
        if event.error != ACCEPTED or group is None or not group.is_known:
            return
        if group.arrival is not None:
            status, generation, is_member, _ = group.arrival
        else:
            status, generation, is_member = group.status, event.generation, event.member_id in group.members
        if not is_member:
            self._report(event, group, f"{event.member_id or 'a nameless client'} is no member")
        elif event.request_generation != generation:
            self._report(event, group, f"the generation was {generation}")
        elif status and status not in self.statuses:
            self._report(event, group, f"the group was {status}")

    def _report(self, event: ReplyEvent, group: Incarnation, why: str) -> None:
        taken = group.arrival.event if group.arrival is not None else None
        who = event.member_id or "a client without a member id"
        self.contradiction(
            f"{self.api} of {who} for generation {event.request_generation} is accepted, and {why}",
            *([(f"the generation before this answer started at {STEP}.", group.started)] if group.started else []),
            *([(f"the request was taken at {STEP}.", taken)] if taken is not None else []),
            (f"it was answered without an error at {STEP}, and {why}: contradiction.", event),
        )


class _Sync(_Fenced):
    api = Api.SYNC_GROUP
    statuses = frozenset({GroupStatus.STABLE})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {SyncGroupReplied: self.on_replied})


class _Heartbeat(_Fenced):
    api = Api.HEARTBEAT
    statuses = frozenset({GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {HeartbeatReplied: self.on_replied})


class _Commit(_Fenced):
    api = Api.OFFSET_COMMIT
    statuses = frozenset({GroupStatus.PREPARING_REBALANCE, GroupStatus.STABLE})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {OffsetCommitReplied: self.on_commit})

    def on_commit(self, event: OffsetCommitReplied) -> None:
        """A commit outside of any generation needs an Empty group."""
        group = self.incarnations.current
        if event.request_generation >= 0:
            self.on_replied(event)
        elif event.error == ACCEPTED and group is not None:
            status = group.arrival.status if group.arrival is not None else group.status
            if status and status != GroupStatus.EMPTY:
                self._report(event, group, f"the group was {status}")


class _Exclusive(IncarnationFold):
    needs = ((IncarnationStarted, GenerationStarted),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            SyncGroupReplied: self.on_replied,
            HeartbeatReplied: self.on_replied,
            OffsetCommitReplied: self.on_commit,
            JoinGroupReplied: self.on_replied,
        }
        super().__init__(invariant, handlers)

    def on_commit(self, event: OffsetCommitReplied) -> None:
        """Outside of any generation the coordinator does not ask which member commits."""
        if event.request_generation >= 0:
            self.on_replied(event)

    def on_replied(self, event: ReplyEvent) -> None:
        """A member that passes with an instance id is the member that has it now."""
        if not event.instance_id or not event.member_id or event.error not in RECOGNISED:
            return
        group = self.incarnations.current
        if group is None or not group.is_known or group.arrival is not None:
            return
        holder = group.holder_of(event.instance_id)
        if holder != event.member_id and (holder or NOT_RECORDED not in group.members.values()):
            whose = f"belongs to {holder}" if holder else "belongs to nobody"
            self.contradiction(
                f"{event.member_id} passes with the instance id {event.instance_id}, which {whose}",
                (f"{event.member_id} was answered {event.error} at {STEP}, and {event.instance_id} {whose}: "
                 f"contradiction.", event),
            )  # fmt: skip


class _OneResponse(Fold):
    """Requests are numbered as they arrive, so one below the highest was answered unless it is parked."""

    bookkeeping = frozenset({RequestParked})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                RequestParked: self.on_parked,
                JoinGroupReplied: self.on_replied,
                SyncGroupReplied: self.on_replied,
                HeartbeatReplied: self.on_replied,
                LeaveGroupReplied: self.on_replied,
                OffsetCommitReplied: self.on_replied,
            },
        )
        self._highest: dict[str, int] = {}
        self._open: dict[tuple[str, int], RequestParked] = {}
        self._forgotten: dict[str, int] = {}
        self._last: dict[str, ReplyEvent] = {}

    def on_parked(self, event: RequestParked) -> None:
        """It waits for its one answer."""
        self._open[event.source, event.request] = event
        self._highest[event.source] = max(event.request, self._highest.get(event.source, -1))
        if len(self._open) > WAITING:
            source, request = next(iter(self._open))
            del self._open[source, request]
            self._forgotten[source] = max(request, self._forgotten.get(source, -1))

    def on_replied(self, event: ReplyEvent) -> None:
        """Answered at once when it is newer than all before, else only if it waits."""
        source, request = event.source, event.request
        last = self._last.get(source)
        self._last[source] = event
        if request > self._highest.get(source, -1):
            self._highest[source] = request
        elif self._open.pop((source, request), None) is None and request > self._forgotten.get(source, -1):
            before = last if last is not None and last.request == request else None
            self.contradiction(
                f"request {request} of {event.member_id or 'a new member'} is answered twice",
                *([(f"request {request} was answered at {STEP}.", before)] if before is not None else []),
                (f"request {request} did not wait any more and was answered {event.error} at {STEP}: contradiction.",
                 event),
            )  # fmt: skip


_PREMISE: Final = "the history holds the coordinator's events, with the requests it keeps and its answers"
_ARRIVAL: Final = "a request that waits for earlier writes is judged by the group as it was when it was taken"

SyncIsFenced: Final = Invariant(
    name="sync_is_fenced",
    family="gates",
    claim="a SyncGroup is answered with an assignment only for a member, in the present generation, once it is Stable",
    source="GroupMetadataManager.validateSyncGroup, classicGroupSyncToClassicGroup",
    premises=(_PREMISE,),
    exempted_by=(
        GroupStatusChanged,
        IncarnationStarted,
        MemberAdded,
    ),
    violation=SyncIsFencedViolated,
    fold=_Sync,
)
"""A SyncGroup is answered with an assignment only for a member, in the present generation, once it is Stable.

The smallest history that breaks it::

    GenerationStarted(incarnation=0, generation=2, members=("a",), leader="a")
    SyncGroupReplied(incarnation=0, generation=2, request=1, error="NONE", member_id="a", request_generation=1)
"""

HeartbeatIsFenced: Final = Invariant(
    name="heartbeat_is_fenced",
    family="gates",
    claim="a heartbeat is accepted only of a member, in the present generation, in CompletingRebalance or Stable",
    source="GroupMetadataManager.classicGroupHeartbeatToClassicGroup",
    premises=(_PREMISE, _ARRIVAL, "a coordinator that still loads the group answers blindly, of no incarnation"),
    exempted_by=(
        GroupStatusChanged,
        MemberAdded,
        RequestParked,
    ),
    violation=HeartbeatIsFencedViolated,
    fold=_Heartbeat,
)
"""A heartbeat is accepted only of a member, in the present generation, in CompletingRebalance or Stable.

The smallest history that breaks it::

    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
    HeartbeatReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="b", request_generation=1)
"""

CommitIsFenced: Final = Invariant(
    name="commit_is_fenced",
    family="gates",
    claim="offsets are committed only by a member of the present generation in PreparingRebalance or Stable, or to an "
    "Empty group outside of any generation",
    source="ClassicGroup.validateOffsetCommit; OffsetMetadataManager.validateOffsetCommit",
    premises=(
        _PREMISE,
        _ARRIVAL,
        "requests that omit the instance id are not fenced by it; transactional commits are not in the vocabulary",
        "the old generation may commit until the join phase ends; a load returns to the generation of its record",
    ),
    exempted_by=(
        GroupStatusChanged,
        MemberAdded,
        RequestParked,
    ),
    violation=CommitIsFencedViolated,
    fold=_Commit,
)
"""Offsets are committed only by a member of the present generation in PreparingRebalance or Stable, or without any
generation to an Empty group. So commits of an older generation end when the next one starts.

The smallest history that breaks it::

    GenerationStarted(incarnation=0, generation=2, members=("a",), leader="a")
    OffsetCommitReplied(incarnation=0, generation=2, request=1, error="NONE", member_id="a", request_generation=1)
"""

InstanceIsExclusive: Final = Invariant(
    name="instance_is_exclusive",
    family="gates",
    claim="a request with a group instance id passes only for the member id that holds it",
    source="KIP-345; ClassicGroup.validateMember",
    premises=(
        _PREMISE,
        "a failed write of a replacement gives the slot back to the id before it, in a chain to one that was fenced",
        "requests that omit the instance id are not fenced by it",
    ),
    exempted_by=(
        MemberAdded,
        MemberRemoved,
    ),
    violation=InstanceIsExclusiveViolated,
    fold=_Exclusive,
)
"""A request with a group instance id passes only for the member id that holds it, so a fenced process stays fenced.

The smallest history that breaks it::

    GenerationStarted(incarnation=0, generation=1, members=("a", "b"), leader="a")
    MemberAdded(incarnation=0, generation=1, member_id="b", instance_id="i")
    HeartbeatReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a", instance_id="i",
                     request_generation=1)
"""

OneResponsePerRequest: Final = Invariant(
    name="one_response_per_request",
    family="gates",
    claim="every request is answered at most once",
    source="GroupMetadataManager: each response future is completed once",
    premises=(
        "the coordinator numbers the requests as they arrive, and tells which of them it keeps",
        "none at all is legal for a parked request that a later one supersedes, and for the parked SyncGroup of a "
        "member that is removed",
    ),
    exempted_by=(RequestParked,),
    violation=OneResponsePerRequestViolated,
    fold=_OneResponse,
)
"""Every request is answered at most once.

The smallest history that breaks it::

    HeartbeatReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a", request_generation=1)
    HeartbeatReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a", request_generation=1)
"""

CLAIMS: Final = (SyncIsFenced, HeartbeatIsFenced, CommitIsFenced, InstanceIsExclusive, OneResponsePerRequest)
"""In the order in which reports name them."""
