"""When a join phase ends: with the last JoinGroup that is waited for, and not while new members come to a new group.

Both are judged only where the run says that its timers are punctual (`RunStarted`); all times are in ms.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    Event,
    GenerationStarted,
    GroupStatusChanged,
    IncarnationEnded,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
    MemberStarted,
    NodeChanged,
    RequestParked,
    RunStarted,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.invariants.denied import PAUSED
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import LEFT, SESSION_EXPIRED, Incarnation
from rebalance_check.properties.views.join_phase import JoinPhase, JoinPhaseFold


class LastJoinEndsTheJoinPhaseViolated(Violation):
    """A join phase went on after the last of its members had joined."""


class NewMembersProlongTheInitialDelayViolated(Violation):
    """The first generation of a group began, and a new member had come since the delay was set last."""


class _Phases(JoinPhaseFold):
    """Looks at each join phase when its generation begins."""

    needs = ((RunStarted,), (RequestParked,), (GroupStatusChanged,))

    def __init__(self, invariant: Invariant, others: Mapping[type[Event], Handler] = MappingProxyType({})) -> None:
        handlers: dict[type[Event], Handler] = {GenerationStarted: self.on_generation, **others}
        super().__init__(invariant, handlers)
        self.compared = 0

    def on_generation(self, event: GenerationStarted) -> None:
        """The join phase is over."""
        phase, group = self.phases.ended, self.incarnations.current
        if phase is not None and self.run.is_simulated and group is not None and group.is_known:
            self.look(event, phase)

    def look(self, event: GenerationStarted, phase: JoinPhase) -> None:
        """Whether it ended when it should."""


class _LastJoin(_Phases):
    """Keeps the longest session timeout of all members, too: an id that is not used is forgotten after its own.

    A coordinator whose node is paused meanwhile forgets it when the node goes on.
    """

    bookkeeping = frozenset({MemberStarted, NodeChanged})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_started,
            GroupStatusChanged: self.on_status,
            IncarnationEnded: self.on_lost,
            NodeChanged: self.on_node,
        }
        super().__init__(invariant, handlers)
        self._session_ms = 0
        self._paused_ms = -1

    def on_started(self, event: MemberStarted) -> None:
        """It has this session."""
        self._session_ms = max(self._session_ms, event.session_timeout_ms)

    def on_node(self, event: NodeChanged) -> None:
        """Its timers stand still."""
        if event.change == PAUSED:
            self._paused_ms = event.time_ms

    def on_status(self, event: GroupStatusChanged) -> None:
        """A coordinator that resigns ends the join phase, too."""
        if event.to_status == GroupStatus.DEAD:
            self.on_lost(event)

    def on_lost(self, event: GroupStatusChanged | IncarnationEnded) -> None:
        """The coordinator is gone, and began no generation: it waited for somebody until here."""
        phase, group = self.phases.ended, self.incarnations.known.get(event.incarnation)
        if phase is None or group is None or not (self.run.is_simulated and group.is_known):
            return
        if phase.is_initial or group.pending or not _ends(phase.last):
            return
        self.compared = (self.compared or 0) + 1
        late_ms = event.time_ms - phase.last.time_ms
        if late_ms > 0 and group.members and group.members.keys() <= group.joined:
            self.contradiction(
                f"no generation begins, {late_ms} ms after all had joined",
                (f"the join phase began at {STEP};", phase.begun),
                (f"at {STEP} the coordinator waited for no further member;", phase.last),
                (f"yet it had begun no generation {late_ms} ms later, when its group ended at {STEP}: contradiction.",
                 event),
            )  # fmt: skip

    def look(self, event: GenerationStarted, phase: JoinPhase) -> None:
        """Where nothing happened since the last member joined, or one that was waited for was gone, it ended then."""
        group, last = self.incarnations.current, phase.last
        given = None if group is None else self._given_last(group)
        if phase.is_initial or group is None or not (_ends(last) if given is None else self._session_ms):
            return
        if given is not None and self._paused_ms >= given.time_ms:
            return
        self.compared = (self.compared or 0) + 1
        over_ms = last.time_ms if given is None else max(last.time_ms, given.time_ms + self._session_ms)
        if event.time_ms > over_ms and group.members.keys() <= group.joiners:
            self.contradiction(
                f"generation {event.generation} begins {event.time_ms - over_ms} ms after all had joined",
                (f"the join phase began at {STEP};", phase.begun),
                *self._unused(given),
                (f"at {STEP} the coordinator waited for no further member;", last),
                (f"yet generation {event.generation} began {event.time_ms - over_ms} ms later, at {STEP}: "
                 "contradiction.", event),
            )  # fmt: skip

    def _unused(self, given: JoinGroupReplied | None) -> list[tuple[str, Event | None]]:
        if given is None:
            return []
        lasts = f"no session lasts for more than {self._session_ms} ms"
        return [(f"{given.assigned_member_id} was handed out at {STEP}, and not used; {lasts};", given)]

    @staticmethod
    def _given_last(group: Incarnation) -> JoinGroupReplied | None:
        """The last of the ids that were handed out and not used."""
        return max(group.pending.values(), key=lambda given: given.time_ms, default=None)


def _ends(last: CoordinatorEvent) -> bool:
    """Whether this may end a join phase: a JoinGroup, or the end of a member that it was waited for."""
    if isinstance(last, MemberRemoved):
        return last.reason in {LEFT, SESSION_EXPIRED}
    return isinstance(last, RequestParked)


class _InitialDelay(_Phases):
    def look(self, event: GenerationStarted, phase: JoinPhase) -> None:
        """The phase ends at the end of a delay in which no member came, or when it has lasted as long as it may."""
        group, delay_ms, timeouts_ms = self.incarnations.current, phase.initial_delay_ms, phase.timeouts_ms
        if (
            group is None
            or group.pending
            or not phase.is_initial
            or not delay_ms
            or not timeouts_ms
            or not all(timeouts_ms)
            or phase.added is None
        ):
            return
        self.compared = (self.compared or 0) + 1
        began, took_ms = phase.begun.time_ms, event.time_ms - phase.begun.time_ms
        if took_ms % delay_ms or took_ms >= max(timeouts_ms):
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
)

LastJoinEndsTheJoinPhase: Final = Invariant(
    name="last_join_ends_the_join_phase",
    family="joining",
    claim="a group that had members begins its next generation at once when the last of them has joined, and when the "
    "last that had not is gone, or the last member id that was handed out and not used, also where its coordinator is "
    "gone soon after",
    source="ClassicGroup.hasAllMembersJoined; GroupMetadataManager.maybeCompleteJoinPhase, prepareRebalance",
    premises=(
        *_PREMISES,
        "an id that is not used is gone when the longest session timeout of all members (MemberStarted) has passed, "
        "and no node was paused meanwhile",
        "where the coordinator is gone, nothing is said of a group with an id that is not used",
    ),
    exempted_by=(JoinGroupReplied, LeaveGroupReplied, MemberAdded, MemberRemoved, NodeChanged),
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
    premises=(
        *_PREMISES,
        "no member id was handed out and not used: the join phase waits for these, too",
        "a member that came when a delay began or ended is left out",
    ),
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
