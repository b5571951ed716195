"""The first join phase of a group ends with the first delay in which no member came, and lasts no longer."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupStatusChanged,
    JoinGroupReplied,
    MemberAdded,
    MemberRemoved,
    NodeChanged,
    RunStarted,
)
from rebalance_check.properties.invariants.denied import PAUSED
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.join_phase import JoinPhase, JoinPhaseFold
from rebalance_check.properties.views.recent import GENERATIONS, Recent


class InitialDelayEndsInTimeViolated(Violation):
    """The first join phase of a group lasted for longer than the delays in which members came, and one more."""


class _Delay(JoinPhaseFold):
    """The incarnations that had a first join phase, and whether a node was late with all that it does."""

    bookkeeping = frozenset({NodeChanged})
    needs = ((RunStarted,), (GroupStatusChanged,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            NodeChanged: self.on_node,
            GenerationStarted: self.on_generation,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._was_paused = False
        self._had_one: Recent[int, bool] = Recent(GENERATIONS)

    def on_node(self, event: NodeChanged) -> None:
        """A node that was paused is late."""
        self._was_paused = self._was_paused or event.change == PAUSED

    def on_generation(self, event: GenerationStarted) -> None:
        """The join phase is over."""
        phase, group = self.phases.ended, self.incarnations.current
        if phase is None or group is None or not phase.is_initial or not phase.initial_delay_ms:
            return
        is_later = self._had_one.get(event.incarnation, False)
        self._had_one[event.incarnation] = True
        if self.run.is_simulated and not self._was_paused and group.joiners:
            self._look(event, phase, 1 if is_later else 0)

    def _look(self, event: GenerationStarted, phase: JoinPhase, more: int) -> None:
        """A member of an earlier phase may count in the first delay of this one: ``more`` delays."""
        self.compared = (self.compared or 0) + 1
        delay_ms, began_ms = phase.initial_delay_ms, phase.begun.time_ms
        came_ms = None if phase.added is None else phase.added.time_ms - began_ms
        delays = 1 + more if came_ms is None else max(1 + more, came_ms // delay_ms + 2)
        if event.time_ms > began_ms + delays * delay_ms:
            self.contradiction(
                f"the first join phase lasts {event.time_ms - began_ms} ms, with a delay of {delay_ms} ms",
                (f"the first join phase of the group began at {STEP}, for {delay_ms} ms;", phase.begun),
                *([] if phase.added is None else [(f"the last new member came at {STEP};", phase.added)]),
                (f"no member came in a delay of {delay_ms} ms, and generation {event.generation} began no sooner than "
                 f"at {STEP}: contradiction.", event),
            )  # fmt: skip


InitialDelayEndsInTime: Final = Invariant(
    name="initial_delay_ends_in_time",
    family="joining",
    claim="the first join phase of a group ends with the first group.initial.rebalance.delay.ms in which no new member "
    "came",
    source="KIP-134; GroupMetadataManager.tryCompleteInitialRebalanceElseSchedule",
    premises=(
        "the run is simulated: time is virtual, and no node was paused",
        "the delay is recorded (IncarnationStarted), and a member waits in JoinGroup",
        "in a group that was empty before, a member of an earlier join phase may prolong the first delay",
    ),
    exempted_by=(JoinGroupReplied, MemberAdded, MemberRemoved, NodeChanged),
    violation=InitialDelayEndsInTimeViolated,
    fold=_Delay,
)
"""Members that wait for no other one are not kept waiting.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    IncarnationStarted(incarnation=0, generation=0, status="Empty", initial_rebalance_delay_ms=3000)
    MemberAdded(incarnation=0, generation=0, member_id="a")
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a")
    GroupStatusChanged(incarnation=0, generation=0, from_status="Empty", to_status="PreparingRebalance")
    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a", time_ms=6000)
"""

CLAIMS: Final = (InitialDelayEndsInTime,)
"""In the order in which reports name them."""
