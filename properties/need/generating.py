"""The coordinator begins a generation only for a cause: all have joined, or the join phase took its time."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    Event,
    GenerationStarted,
    GroupStatusChanged,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberRemoved,
    RequestParked,
    RunStarted,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.need.causes import FAMILY
from rebalance_check.properties.need.removing import SESSION_EXPIRED
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import Incarnation, IncarnationFold
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent


class GenerationHasACauseViolated(Violation):
    """A generation began before all had joined, and before the join phase had taken its time."""


class _JoinPhase:
    """Of one incarnation: the initial delay, the timeout of each member's last JoinGroup, and the present join phase.

    ``timeout_ms`` is the shortest of those of the members that were there when the phase began, 0 for unknown.
    ``expired`` is a member whose session ended since.
    """

    def __init__(self) -> None:
        self.initial_delay_ms = 0
        self.timeouts: Recent[str, int] = Recent(WAITING)
        self.begun: GroupStatusChanged | None = None
        self.timeout_ms = 0
        self.expired: MemberRemoved | None = None


class _Generations(IncarnationFold):
    bookkeeping = frozenset({RunStarted, IncarnationStarted, RequestParked, MemberRemoved, GroupStatusChanged})
    needs = ((RunStarted,), (RequestParked,), (GroupStatusChanged,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RunStarted: self.on_run,
            IncarnationStarted: self.on_incarnation,
            RequestParked: self.on_parked,
            MemberRemoved: self.on_removed,
            GroupStatusChanged: self.on_status,
            GenerationStarted: self.on_generation,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._punctual = False
        self._phases: Recent[int, _JoinPhase] = Recent(GENERATIONS)

    def _at(self, event: CoordinatorEvent) -> _JoinPhase:
        phase = self._phases.get(event.incarnation)
        if phase is None:
            phase = self._phases[event.incarnation] = _JoinPhase()
        return phase

    def on_run(self, event: RunStarted) -> None:
        """Only where time is virtual a phase that is too short is seen as such."""
        self._punctual = event.punctual

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """With the delay that the first join phase of a group has."""
        self._phases[event.incarnation] = phase = _JoinPhase()
        phase.initial_delay_ms = event.initial_rebalance_delay_ms

    def on_parked(self, event: RequestParked) -> None:
        """A JoinGroup has the time that its member gives a join phase: none, or an unknown one, where it is 0."""
        if event.api == Api.JOIN_GROUP:
            self._at(event).timeouts[event.member_id] = event.rebalance_timeout_ms

    def on_removed(self, event: MemberRemoved) -> None:
        """A session that ends may leave no member to wait for, and then no delay is waited for either."""
        if event.reason == SESSION_EXPIRED:
            self._at(event).expired = event

    def on_status(self, event: GroupStatusChanged) -> None:
        """A join phase begins, for the members that the group has now."""
        if event.to_status != GroupStatus.PREPARING_REBALANCE:
            return
        phase, group = self._at(event), self.incarnations.current
        members = group.members if group is not None else {}
        phase.begun, phase.expired = event, None
        phase.timeout_ms = min((phase.timeouts[one] for one in members if one in phase.timeouts), default=0)

    def on_generation(self, event: GenerationStarted) -> None:
        """The join phase is over."""
        phase, group = self._at(event), self.incarnations.current
        begun, phase.begun = phase.begun, None
        if begun is None or group is None or not self._punctual:
            return
        if begun.from_status == GroupStatus.EMPTY:
            if group.pending or phase.expired is not None:
                return
            self._judge(begun, event, phase.initial_delay_ms, "a group that was Empty waits for further members for")
        elif absent := _absent(group):
            what = f"{absent} has not joined, and may do so for"
            self._judge(begun, event, phase.timeout_ms, what)

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
