"""A group that stands in the log is denied by no coordinator: one that has not read the log says that it loads."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    Event,
    GroupDeleted,
    GroupMetadataAppended,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    LogTailLost,
    NodeChanged,
    OffsetCommitReplied,
    ReplyEvent,
    SyncGroupReplied,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import SIMULATED, SimulatedFold

DENIES: Final = frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "GROUP_ID_NOT_FOUND"})
"""What only a coordinator answers that knows the group, or knows that there is none."""
PAUSED: Final = "paused"
LOAD_FAILED: Final = "load-failed"
"""The change of a node that could not read the log of the groups that it coordinates."""


class RecordedGroupIsNotDeniedViolated(Violation):
    """A coordinator denied a group that stands in its log."""


class _Denied(SimulatedFold):
    """The last record of the group, and whether a coordinator is in office, or a deposed one may answer still."""

    bookkeeping = frozenset({IncarnationStarted, IncarnationEnded, GroupMetadataAppended, GroupDeleted, LogTailLost,
                             NodeChanged})  # fmt: skip
    needs = ((GroupMetadataAppended,), (IncarnationEnded,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            GroupMetadataAppended: self.on_record,
            GroupDeleted: self.on_gone,
            LogTailLost: self.on_gone,
            NodeChanged: self.on_node,
            IncarnationStarted: self.on_started,
            IncarnationEnded: self.on_ended,
            **dict.fromkeys(
                (JoinGroupReplied, SyncGroupReplied, HeartbeatReplied, LeaveGroupReplied, OffsetCommitReplied),
                self.on_replied,
            ),
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._record: GroupMetadataAppended | None = None
        self._ended: IncarnationEnded | None = None
        self._deposed: set[int] = set()
        self._was_paused = False

    def on_record(self, event: GroupMetadataAppended) -> None:
        """The log has the group."""
        self._record = event

    def on_gone(self, _event: GroupDeleted | LogTailLost) -> None:
        """It may not have it any more."""
        self._record = None

    def on_node(self, event: NodeChanged) -> None:
        """A coordinator that could not read its log serves without the groups in it, and one that was paused may have
        been replaced since: it goes on with what it has, which may be no group."""
        if event.change == LOAD_FAILED:
            self._record = None
        self._was_paused = self._was_paused or event.change == PAUSED

    def on_started(self, event: IncarnationStarted) -> None:
        """A coordinator has read it, or began it anew."""
        self._ended = None
        self._deposed.discard(event.incarnation)

    def on_ended(self, event: IncarnationEnded) -> None:
        """From here on none has it, until the log was read."""
        if event.deposed:
            self._deposed.add(event.incarnation)
        else:
            self._deposed.discard(event.incarnation)
        self._ended = event

    def on_replied(self, event: ReplyEvent) -> None:
        """Who has not read the log says so."""
        is_loading = self._ended is not None and not self._deposed and event.incarnation == UNKNOWN_INCARNATION
        if (
            self._record is None
            or self._ended is None
            or not is_loading
            or self._was_paused
            or not self.run.is_simulated
        ):
            return
        self.compared = (self.compared or 0) + 1
        if event.error in DENIES:
            self.contradiction(
                f"a coordinator answers {event.error} before it has read the group from its log",
                (f"the group stands in the log since {STEP};", self._record),
                (f"its coordinator ended at {STEP}, and none has read it since;", self._ended),
                (f"yet {event.member_id or 'a client'} is answered {event.error} at {STEP}: contradiction.", event),
            )


RecordedGroupIsNotDenied: Final = Invariant(
    name="recorded_group_is_not_denied",
    family="persistence",
    claim="a coordinator that has not read its log denies no member and no generation of a group that stands there",
    source="CoordinatorRuntime.CoordinatorState.LOADING; GroupCoordinatorService (COORDINATOR_LOAD_IN_PROGRESS)",
    premises=(
        SIMULATED,
        "no tail of the log was lost since, the log could be read, and no node was paused or deposed",
    ),
    exempted_by=(GroupDeleted, IncarnationStarted, LogTailLost, NodeChanged),
    violation=RecordedGroupIsNotDeniedViolated,
    fold=_Denied,
)
"""A member that is denied while its group is read joins again for nothing, and loses what it owns.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    GroupMetadataAppended(incarnation=0, generation=1, members=("a",), offset=0)
    IncarnationEnded(incarnation=0, generation=1)
    HeartbeatReplied(incarnation=-1, generation=-1, request=1, error="UNKNOWN_MEMBER_ID", member_id="a")
"""

CLAIMS: Final = (RecordedGroupIsNotDenied,)
"""In the order in which reports name them."""
