"""The coordinator begins a generation only for a cause: all have joined, or the join phase took its time."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupStatusChanged,
    JoinGroupReplied,
    MemberAdded,
    MemberRemoved,
    RequestParked,
    RunStarted,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.need.causes import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import SESSION_EXPIRED, Incarnation
from rebalance_check.properties.views.join_phase import JoinPhaseFold


class GenerationHasACauseViolated(Violation):
    """A generation began before all had joined, and before the join phase had taken its time."""


class _Generations(JoinPhaseFold):
    needs = ((RunStarted,), (RequestParked,), (GroupStatusChanged,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {GenerationStarted: self.on_generation}
        super().__init__(invariant, handlers)
        self.compared = 0

    def on_generation(self, event: GenerationStarted) -> None:
        """The join phase is over; a session that ended in it may leave no member that a delay is waited for."""
        phase, group = self.phases.ended, self.incarnations.current
        if phase is None or group is None or not self.run.is_simulated:
            return
        if phase.is_initial:
            if not group.pending and all(one.reason != SESSION_EXPIRED for one in phase.removed):
                what = "a group that was Empty waits for further members for"
                self._judge(phase.begun, event, phase.initial_delay_ms, what)
        elif absent := _absent(group):
            shortest_ms = min(filter(None, phase.timeouts_ms), default=0)
            self._judge(phase.begun, event, shortest_ms, f"{absent} has not joined, and may do so for")

    def _judge(self, begun: GroupStatusChanged, event: GenerationStarted, least_ms: int, what: str) -> None:
        if not least_ms:
            return
        self.compared = (self.compared or 0) + 1
        took_ms = event.time_ms - begun.time_ms
        if took_ms < least_ms:
            self.contradiction(
                f"generation {event.generation} begins after {took_ms} ms, and nothing asked for it",
                (f"the join phase began at {STEP};", begun),
                (f"{what} {least_ms} ms: yet generation {event.generation} began {took_ms} ms later, at {STEP}: "
                 "contradiction.", event),
            )  # fmt: skip


def _absent(group: Incarnation) -> str:
    """A member that has not joined since the last generation; empty for none."""
    return min(group.members.keys() - group.joiners, default="") if group.is_known else ""


GenerationHasACause: Final = Invariant(
    name="generation_has_a_cause",
    family=FAMILY,
    claim="a generation begins only for a cause: every member has joined, or the join phase has lasted as long as its "
    "members allow; that of a group that was Empty lasts group.initial.rebalance.delay.ms at least",
    source="GroupMetadataManager.maybeCompleteJoinPhase, tryCompleteInitialRebalanceElseSchedule; KIP-134",
    premises=(
        "the run is simulated: time is virtual",
        "the history holds the coordinator's events, with the requests it keeps",
        "a member whose last JoinGroup no event shows gives no time",
        "the session of a member, or of an id that was handed out and not used, may end during the initial delay: "
        "where all others have joined Kafka then waits no longer",
    ),
    exempted_by=(GroupStatusChanged, JoinGroupReplied, MemberAdded, MemberRemoved, RequestParked),
    violation=GenerationHasACauseViolated,
    fold=_Generations,
)
"""A generation begins only for a cause: every member has joined, or the join phase took its time.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    IncarnationStarted(incarnation=0, generation=0, status="Empty", initial_rebalance_delay_ms=3000)
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a")
    GroupStatusChanged(incarnation=0, generation=0, from_status="Empty", to_status="PreparingRebalance")
    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a", time_ms=2999)
"""

CLAIMS: Final = (GenerationHasACause,)
"""In the order in which reports name them."""
