"""When a join phase ends: with the last JoinGroup that is waited for, and not while new members come to a new group.

Both are judged only where the run says that its timers are punctual (`RunStarted`); all times are in ms.
"""

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
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
    RequestParked,
    RunStarted,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import IncarnationFold
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent


class LastJoinEndsTheJoinPhaseViolated(Violation):
    """A generation began long after the last of its members had joined."""


class NewMembersProlongTheInitialDelayViolated(Violation):
    """The first generation of a group began, and a new member had come since the delay was set last."""


class _Phase:
    """A join phase of one incarnation.

    ``begun`` began it. ``last`` is its last event that may change who is waited for, ``added`` the last member that
    came since it began; ``timeout_ms`` is the longest rebalance timeout of the members that it began with (0: unknown).
    """

    __slots__ = ("added", "begun", "last", "timeout_ms")

    def __init__(self, begun: GroupStatusChanged, timeout_ms: int) -> None:
        self.begun = begun
        self.last: CoordinatorEvent = begun
        self.added: MemberAdded | None = None
        self.timeout_ms = timeout_ms

    @property
    def is_initial(self) -> bool:
        """Whether it is one of a group that was Empty, which lasts for the initial delay."""
        return self.begun.from_status == GroupStatus.EMPTY


class _Phases(IncarnationFold):
    """The join phase of each incarnation, until its generation begins."""

    bookkeeping = frozenset({RunStarted, IncarnationStarted, GroupStatusChanged, MemberAdded, MemberRemoved,
                             RequestParked, JoinGroupReplied, LeaveGroupReplied})  # fmt: skip
    needs = ((RunStarted,), (RequestParked,), (GroupStatusChanged,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RunStarted: self.on_run,
            IncarnationStarted: self.on_incarnation,
            GroupStatusChanged: self.on_status,
            MemberAdded: self.on_added,
            RequestParked: self.on_parked,
            **dict.fromkeys((MemberRemoved, JoinGroupReplied, LeaveGroupReplied), self.on_change),
            GenerationStarted: self.on_generation,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._punctual = False
        self._delays: Recent[int, int] = Recent(GENERATIONS)
        self._timeouts: Recent[tuple[int, str], int] = Recent(WAITING)
        self._phases: Recent[int, _Phase] = Recent(GENERATIONS)

    def on_run(self, event: RunStarted) -> None:
        """Only where time is virtual an end that is late or early is seen as such."""
        self._punctual = event.punctual

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """With the delay that the first join phase of a group has."""
        self._delays[event.incarnation] = event.initial_rebalance_delay_ms

    def on_status(self, event: GroupStatusChanged) -> None:
        """A join phase begins, for the members that the group has now; a group that dies ends it."""
        if event.to_status != GroupStatus.PREPARING_REBALANCE:
            if event.to_status == GroupStatus.DEAD:
                self._phases.pop(event.incarnation, None)
            return
        group = self.incarnations.current
        members = group.members if group is not None and group.is_known else {}
        timeouts = [self._timeouts.get((event.incarnation, one), 0) for one in members]
        self._phases[event.incarnation] = _Phase(event, max(timeouts) if timeouts and all(timeouts) else 0)

    def on_added(self, event: MemberAdded) -> None:
        """Another one whose JoinGroup is waited for; one that takes the place of a static member is not new."""
        self.on_change(event)
        phase, group = self._phases.get(event.incarnation), self.incarnations.current
        if phase is not None and group is not None and event.member_id not in group.predecessors:
            phase.added = event

    def on_parked(self, event: RequestParked) -> None:
        """A JoinGroup that the coordinator keeps, and how long its member waits for others."""
        if event.api == Api.JOIN_GROUP and self._punctual:
            self._timeouts[event.incarnation, event.member_id] = event.rebalance_timeout_ms
            self.on_change(event)

    def on_change(self, event: CoordinatorEvent) -> None:
        """What may change who is waited for."""
        if (phase := self._phases.get(event.incarnation)) is not None:
            phase.last = event

    def on_generation(self, event: GenerationStarted) -> None:
        """The join phase is over."""
        phase, group = self._phases.pop(event.incarnation, None), self.incarnations.current
        if phase is not None and self._punctual and group is not None and group.is_known and not group.pending:
            self.look(event, phase)

    def look(self, event: GenerationStarted, phase: _Phase) -> None:
        """Whether it ended when it should."""


class _LastJoin(_Phases):
    def look(self, event: GenerationStarted, phase: _Phase) -> None:
        """Where nothing happened since the last member joined, the phase ended then."""
        group, last = self.incarnations.current, phase.last
        if phase.is_initial or group is None or not isinstance(last, RequestParked):
            return
        self.compared = (self.compared or 0) + 1
        if event.time_ms > last.time_ms and group.members.keys() <= group.joiners:
            self.contradiction(
                f"generation {event.generation} begins {event.time_ms - last.time_ms} ms after its last member joined",
                (f"the join phase began at {STEP};", phase.begun),
                (f"{last.member_id} joined at {STEP}, and was the last that was waited for;", last),
                (f"yet generation {event.generation} began {event.time_ms - last.time_ms} ms later, at {STEP}: "
                 "contradiction.", event),
            )  # fmt: skip


class _InitialDelay(_Phases):
    def look(self, event: GenerationStarted, phase: _Phase) -> None:
        """The phase ends at the end of a delay in which no member came, or when it has lasted as long as it may."""
        delay_ms = self._delays.get(event.incarnation, 0)
        if not phase.is_initial or not delay_ms or not phase.timeout_ms or phase.added is None:
            return
        self.compared = (self.compared or 0) + 1
        began, took_ms = phase.begun.time_ms, event.time_ms - phase.begun.time_ms
        if took_ms % delay_ms or took_ms >= phase.timeout_ms:
            return
        if began + took_ms - delay_ms < phase.added.time_ms < event.time_ms:
            since_ms = event.time_ms - phase.added.time_ms
            self.contradiction(
                f"generation {event.generation} begins {since_ms} ms after a new member came",
                (f"the first join phase of the group began at {STEP}, for {delay_ms} ms;", phase.begun),
                (f"{phase.added.member_id} was new {since_ms} ms before the delay was over, at {STEP};", phase.added),
                (f"yet generation {event.generation} began at {STEP}, and no further delay: contradiction.", event),
            )  # fmt: skip


_PREMISES: Final = (
    "the run is simulated: time is virtual",
    "the history holds the coordinator's events, with the requests it keeps",
    "no member id was handed out and not used: the join phase waits for these, too",
)

LastJoinEndsTheJoinPhase: Final = Invariant(
    name="last_join_ends_the_join_phase",
    family="joining",
    claim="a group that had members begins its next generation at once when the last of them has joined",
    source="ClassicGroup.hasAllMembersJoined; GroupMetadataManager.maybeCompleteJoinPhase, prepareRebalance",
    premises=_PREMISES,
    exempted_by=(JoinGroupReplied, LeaveGroupReplied, MemberAdded, MemberRemoved),
    violation=LastJoinEndsTheJoinPhaseViolated,
    fold=_LastJoin,
)
"""A group that had members begins its next generation at once when the last of them has joined.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
    GroupStatusChanged(incarnation=0, generation=1, from_status="Stable", to_status="PreparingRebalance")
    RequestParked(incarnation=0, generation=1, api="JoinGroup", request=1, member_id="a")
    GenerationStarted(incarnation=0, generation=2, members=("a",), leader="a", time_ms=1)
"""

NewMembersProlongTheInitialDelay: Final = Invariant(
    name="new_members_prolong_the_initial_delay",
    family="joining",
    claim="the first join phase of a group goes on for group.initial.rebalance.delay.ms once more after a delay in "
    "which a new member came, but no longer than the rebalance timeout of the members that it began with",
    source="KIP-134; GroupMetadataManager.tryCompleteInitialRebalanceElseSchedule",
    premises=(*_PREMISES, "a member that came when a delay began or ended is left out"),
    exempted_by=(JoinGroupReplied, MemberRemoved),
    violation=NewMembersProlongTheInitialDelayViolated,
    fold=_InitialDelay,
)
"""A delay in which a new member came is followed by another one.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    IncarnationStarted(incarnation=0, generation=0, status="Empty", initial_rebalance_delay_ms=3000)
    MemberAdded(incarnation=0, generation=0, member_id="a")
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a", rebalance_timeout_ms=60000)
    GroupStatusChanged(incarnation=0, generation=0, from_status="Empty", to_status="PreparingRebalance")
    MemberAdded(incarnation=0, generation=0, member_id="b", time_ms=1000)
    GenerationStarted(incarnation=0, generation=1, members=("a", "b"), leader="a", time_ms=3000)
"""

CLAIMS: Final = (LastJoinEndsTheJoinPhase, NewMembersProlongTheInitialDelay)
"""In the order in which reports name them."""
