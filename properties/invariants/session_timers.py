"""Sessions at rest: the timer of each member runs since its last sign of activity, for as long as it asked for."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    CoordinatorRested,
    Event,
    GenerationStarted,
    HeartbeatReplied,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    NodeChanged,
    OffsetCommitReplied,
    ReplyEvent,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.properties.invariants.denied import PAUSED
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.recent import DEPARTED, WAITING, Recent
from rebalance_check.properties.views.sessions import PROLONGS, Key
from rebalance_check.properties.views.simulated import SIMULATED, SimulatedFold

SESSION: Final = "session"
"""The kind of timer that ends the membership of a silent member."""


class SessionsRunFromTheLastSignViolated(Violation):
    """The session of a member ends earlier or later than one session timeout after its last sign of activity."""


class _Timers(SimulatedFold):
    """When the session of each member began last; what waits is a sign of activity when it arrives."""

    bookkeeping = frozenset(
        {IncarnationStarted, MemberAdded, GenerationStarted, RequestParked, JoinGroupReplied, SyncGroupReplied,
         HeartbeatReplied, OffsetCommitReplied, NodeChanged}
    )  # fmt: skip

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            NodeChanged: self.on_node,
            IncarnationStarted: self.on_all,
            GenerationStarted: self.on_all,
            MemberAdded: self.on_added,
            RequestParked: self.on_parked,
            JoinGroupReplied: self.on_answered,
            SyncGroupReplied: self.on_answered,
            HeartbeatReplied: self.on_sign,
            OffsetCommitReplied: self.on_sign,
            CoordinatorRested: self.on_rested,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._since: Recent[Key, CoordinatorEvent] = Recent(DEPARTED)
        self._parked: Recent[int, RequestParked] = Recent(WAITING)
        self._was_paused = False

    def on_node(self, event: NodeChanged) -> None:
        """A node that was paused is late with all that it does."""
        self._was_paused = self._was_paused or event.change == PAUSED

    def on_all(self, event: IncarnationStarted | GenerationStarted) -> None:
        """All members that are there begin a session."""
        for member_id in event.members:
            self._since[event.incarnation, member_id] = event

    def on_added(self, event: MemberAdded) -> None:
        """Its session begins."""
        self._since[event.incarnation, event.member_id] = event

    def on_parked(self, event: RequestParked) -> None:
        """It waits from here on."""
        self._parked[event.request] = event

    def on_answered(self, event: JoinGroupReplied | SyncGroupReplied) -> None:
        """Who waited for the answer begins a session with it."""
        parked = self._parked.pop(event.request, None)
        if parked is not None:
            self._since[event.incarnation, parked.member_id] = event

    def on_sign(self, event: ReplyEvent) -> None:
        """A request that was accepted is a sign of activity since it arrived."""
        parked = self._parked.pop(event.request, None)
        if event.error in (PROLONGS if isinstance(event, HeartbeatReplied) else {ACCEPTED}):
            self._since[event.incarnation, event.member_id] = event if parked is None else parked

    def on_rested(self, event: CoordinatorRested) -> None:
        """Each timer is where it must be."""
        if not self.run.is_simulated or self._was_paused:
            return
        timers = {member_id: left_ms for kind, member_id, left_ms in event.timers if kind == SESSION}
        for member_id, session_ms, _ in event.timeouts:
            since, left_ms = self._since.get((event.incarnation, member_id)), timers.get(member_id)
            if since is None or left_ms is None:
                continue
            self.compared = (self.compared or 0) + 1
            began_ms = event.time_ms + left_ms - session_ms
            if began_ms != since.time_ms:
                self.contradiction(
                    f"the session of {member_id} runs since {began_ms} ms, and it was active at {since.time_ms} ms",
                    (f"the last sign of activity of {member_id} came at {STEP};", since),
                    (f"its session of {session_ms} ms has {left_ms} ms left at {STEP}, and so began at {began_ms} ms: "
                     "contradiction.", event),
                )  # fmt: skip


SessionsRunFromTheLastSign: Final = Invariant(
    name="sessions_run_from_the_last_sign",
    family="timing",
    claim="the session of each member of a settled group ends one session timeout after the last request of it that "
    "was accepted, or after its coordinator read the group from the log",
    source="GroupMetadataManager.rescheduleClassicGroupMemberHeartbeat, onLoaded, validateOffsetCommit",
    premises=(SIMULATED, "no node was paused"),
    exempted_by=(GenerationStarted, HeartbeatReplied, IncarnationStarted, JoinGroupReplied, MemberAdded, NodeChanged,
                 OffsetCommitReplied, RequestParked, SyncGroupReplied),
    violation=SessionsRunFromTheLastSignViolated,
    fold=_Timers,
)  # fmt: skip
"""A session that ends early removes a member that is alive; one that ends late keeps its work from all others.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    HeartbeatReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a")
    CoordinatorRested(incarnation=0, generation=1, timeouts=(("a", 10000, 30000),), timers=(("session", "a", 9000),))
"""

CLAIMS: Final = (SessionsRunFromTheLastSign,)
"""In the order in which reports name them."""
