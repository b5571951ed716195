"""No coordinator leaves a request without the answer that it could give: when it resigns, and when it has written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    Event,
    GenerationStarted,
    GroupMetadataAppended,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationEnded,
    JoinGroupReplied,
    MemberAdded,
    MemberRemoved,
    OffsetCommitReplied,
    RequestParked,
    RunStarted,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Handler, Invariant, Memories
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import Incarnation, IncarnationFold
from rebalance_check.properties.views.recent import GENERATIONS, Recent
from rebalance_check.properties.views.simulated import SIMULATED, Run


class WhatWaitsIsAnsweredViolated(Violation):
    """A coordinator kept a request, and did not answer it when it resigned, or when what it waited for was written."""


class _Waiting(IncarnationFold):
    """The requests that each incarnation keeps, and the last record of each that was appended."""

    run: Run
    bookkeeping = frozenset({GroupMetadataAppended, RunStarted})
    needs = ((RunStarted,), (RequestParked,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RequestParked: self.on_later,
            IncarnationEnded: self.on_ended,
            GroupMetadataAppended: self.on_appended,
            **dict.fromkeys(
                (GenerationStarted, GroupStatusChanged, HeartbeatReplied, MemberAdded, MemberRemoved,
                 OffsetCommitReplied), self.on_later,
            ),
        }  # fmt: skip
        super().__init__(invariant, handlers)
        self.compared = 0
        self._appended: Recent[int, GroupMetadataAppended] = Recent(GENERATIONS)

    def share(self, memories: Memories) -> None:
        """It judges simulated runs alone."""
        super().share(memories)
        self.run = Run.among(memories)
        self.memories = (*self.memories, self.run)

    def on_ended(self, event: IncarnationEnded) -> None:
        """Who resigns has answered what waits; who dies cannot."""
        group = self.incarnations.known.get(event.incarnation)
        if group is None or not self.run.is_simulated:
            return
        self.compared = (self.compared or 0) + 1
        if group.status != GroupStatus.DEAD or event.deposed:
            return
        for waits in _open(group):
            self._accuse(waits, event, "the coordinator resigns", "its coordinator resigned")

    def on_appended(self, event: GroupMetadataAppended) -> None:
        """A member that came back under another id waited for this."""
        self._appended[event.incarnation] = event

    def on_later(self, event: CoordinatorEvent) -> None:
        """Time went on since a record was appended: who waited for it in a Stable group has its answer."""
        appended, group = self._appended.get(event.incarnation), self.incarnations.current
        if appended is None or group is None or event.time_ms <= appended.time_ms or not self.run.is_simulated:
            return
        del self._appended[event.incarnation]
        self.compared = (self.compared or 0) + 1
        if group.status != GroupStatus.STABLE or (group.changed is not None and group.changed is event):
            return
        for waits in group.joins.values():
            if waits is not event and waits.time_ms <= appended.time_ms:
                self._accuse(waits, appended, "its record is appended", "the record that it waited for was appended")

    def _accuse(self, waits: RequestParked, event: CoordinatorEvent, why: str, when: str) -> None:
        self.contradiction(
            f"{waits.api} of {waits.member_id} is not answered when {why}",
            (f"{waits.api} of {waits.member_id} is kept since {STEP};", waits),
            (f"{when} at {STEP}, and it was not answered: contradiction.", event),
        )


def _open(group: Incarnation) -> Iterator[RequestParked]:
    yield from group.joins.values()
    yield from group.syncs.values()


WhatWaitsIsAnswered: Final = Invariant(
    name="what_waits_is_answered",
    family="gates",
    claim="a coordinator that resigns answers every JoinGroup and SyncGroup that it kept, and one that wrote the new "
    "id of a static member to the log answers its JoinGroup",
    source="GroupMetadataManager.onUnloaded, updateStaticMemberThenRebalanceOrCompleteJoin",
    premises=(SIMULATED, "the group is Dead when its coordinator resigned, and as it was when its coordinator died"),
    exempted_by=(
        GroupMetadataAppended,
        GroupStatusChanged,
        HeartbeatReplied,
        JoinGroupReplied,
        MemberRemoved,
        OffsetCommitReplied,
        SyncGroupReplied,
    ),
    violation=WhatWaitsIsAnsweredViolated,
    fold=_Waiting,
)
"""A member that is not answered waits until its request times out, and its group with it.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a")
    GroupStatusChanged(incarnation=0, generation=0, from_status="PreparingRebalance", to_status="Dead")
    IncarnationEnded(incarnation=0, generation=0)
"""

CLAIMS: Final = (WhatWaitsIsAnswered,)
"""In the order in which reports name them."""
