"""The join phase of each incarnation: when it began, for which members, and what has changed whom it waits for."""

from __future__ import annotations

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    Event,
    GenerationStarted,
    GroupStatusChanged,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
    RequestParked,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Handler, Memories, Memory
from rebalance_check.properties.views.coordinator import LEFT, IncarnationFold, Incarnations
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent
from rebalance_check.properties.views.simulated import Run


class JoinPhase:
    """A join phase.

    ``begun`` began it. ``timeouts_ms`` are the rebalance timeouts of the members that it began with (0: unknown),
    ``initial_delay_ms`` is what the first phase of a group waits. ``last`` is its last event that may change who is
    waited for, ``added`` the last member that came, ``removed`` are the members that went, since it began.
    """

    __slots__ = ("added", "begun", "initial_delay_ms", "last", "removed", "timeouts_ms")

    def __init__(self, begun: GroupStatusChanged, timeouts_ms: tuple[int, ...], initial_delay_ms: int) -> None:
        self.begun = begun
        self.timeouts_ms = timeouts_ms
        self.initial_delay_ms = initial_delay_ms
        self.last: CoordinatorEvent = begun
        self.added: MemberAdded | None = None
        self.removed: list[MemberRemoved] = []

    @property
    def is_initial(self) -> bool:
        """Whether it is one of a group that was Empty, which lasts for the initial delay."""
        return self.begun.from_status == GroupStatus.EMPTY


class JoinPhases(Memory):
    """The join phase of each incarnation.

    ``ended`` is the one that the generation at hand ended, or the end of its coordinator; None for none.
    """

    def __init__(self, incarnations: Incarnations) -> None:
        handlers: dict[type[Event], Handler] = {
            IncarnationStarted: self._on_incarnation,
            GroupStatusChanged: self._on_status,
            MemberAdded: self._on_added,
            MemberRemoved: self._on_removed,
            RequestParked: self._on_parked,
            JoinGroupReplied: self._on_answered,
            LeaveGroupReplied: self._on_left,
            GenerationStarted: self._on_end,
            IncarnationEnded: self._on_incarnation_ended,
        }
        super().__init__(handlers)
        self._incarnations = incarnations
        self._delays: Recent[int, int] = Recent(GENERATIONS)
        self._timeouts: Recent[tuple[int, str], int] = Recent(WAITING)
        self._phases: Recent[int, JoinPhase] = Recent(GENERATIONS)
        self.ended: JoinPhase | None = None

    @classmethod
    def begin(cls, memories: Memories) -> JoinPhases:
        """A new one, which takes an event after the group as it is."""
        return cls(Incarnations.among(memories))

    def _on_incarnation(self, event: IncarnationStarted) -> None:
        self._delays[event.incarnation] = event.initial_rebalance_delay_ms
        self._phases.pop(event.incarnation, None)

    def _on_status(self, event: GroupStatusChanged) -> None:
        """A join phase begins, for the members that the group has now; a group that dies ends it."""
        incarnation, group = event.incarnation, self._incarnations.current
        if event.to_status == GroupStatus.PREPARING_REBALANCE:
            members = group.members if group is not None and group.is_known else {}
            timeouts_ms = tuple(self._timeouts.get((incarnation, one), 0) for one in members)
            self._phases[incarnation] = JoinPhase(event, timeouts_ms, self._delays.get(incarnation, 0))
        elif event.to_status == GroupStatus.DEAD:
            self._on_end(event)

    def _on_added(self, event: MemberAdded) -> None:
        """Another one whose JoinGroup is waited for; one that takes the place of a static member is not new."""
        phase, group = self._changed(event), self._incarnations.current
        if phase is not None and group is not None and event.member_id not in group.predecessors:
            phase.added = event

    def _on_removed(self, event: MemberRemoved) -> None:
        if (phase := self._changed(event)) is not None:
            phase.removed.append(event)

    def _on_parked(self, event: RequestParked) -> None:
        """A JoinGroup that the coordinator keeps, and how long its member waits for others."""
        if event.api == Api.JOIN_GROUP:
            self._timeouts[event.incarnation, event.member_id] = event.rebalance_timeout_ms
            self._changed(event)

    def _on_answered(self, event: JoinGroupReplied) -> None:
        """The coordinator may wait for another JoinGroup after that."""
        self._changed(event)

    def _on_left(self, event: LeaveGroupReplied) -> None:
        """A member was removed before, which changed who is waited for; an id that was not used is removed now."""
        phase = self._phases.get(event.incarnation)
        if phase is not None and not (isinstance(phase.last, MemberRemoved) and phase.last.reason == LEFT):
            phase.last = event

    def _changed(self, event: CoordinatorEvent) -> JoinPhase | None:
        """What may change who is waited for."""
        phase = self._phases.get(event.incarnation)
        if phase is not None:
            phase.last = event
        return phase

    def _on_end(self, event: CoordinatorEvent) -> None:
        self.ended = self._phases.pop(event.incarnation, None)

    def _on_incarnation_ended(self, event: IncarnationEnded) -> None:
        """A coordinator that is deposed and does not know it goes on with its phase."""
        self.ended = self._phases.get(event.incarnation)
        if not event.deposed:
            self._on_end(event)


class JoinPhaseFold(IncarnationFold):
    """A fold that looks at the join phase of each generation, where time is virtual."""

    run: Run
    phases: JoinPhases

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same join phases."""
        super().share(memories)
        self.run, self.phases = Run.among(memories), JoinPhases.among(memories)
        self.memories = (*self.memories, self.run, self.phases)
