"""A call that comes back has been recorded whole: what it was given, and what it led to."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    FINISHED,
    ON_JOIN_COMPLETE,
    PERFORM_ASSIGNMENT,
    AssignmentCompleted,
    AssignmentComputed,
    CallbackEnded,
    CallbackStarted,
    ConfigSnapshotTaken,
    ConnectAssignmentComputed,
    ConnectAssignmentReceived,
    Event,
    MemberEvent,
    MemberStarted,
    RequestSent,
    SubscriptionChanged,
    WorkerClaimed,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

OF_ALL: Final[dict[str, tuple[type[MemberEvent], ...]]] = {
    PERFORM_ASSIGNMENT: (AssignmentComputed,),
    ON_JOIN_COMPLETE: (AssignmentCompleted,),
}
"""What each member records within a call, before it comes back."""

OF_WORKERS: Final[dict[str, tuple[type[MemberEvent], ...]]] = {
    PERFORM_ASSIGNMENT: (ConnectAssignmentComputed,),
    ON_JOIN_COMPLETE: (ConnectAssignmentReceived,),
}
"""What a Connect worker records besides."""

NOTHING_READ: Final = -1
"""The offset that a worker claims before it has taken a snapshot of the config topic."""

WITHIN: Final = tuple(event for table in (OF_ALL, OF_WORKERS) for events in table.values() for event in events)


class CallsAreRecordedWholeViolated(Violation):
    """A call of a member's user came back, and what it was given or led to is not recorded."""


class ClaimsAreRecordedViolated(Violation):
    """A Connect worker joined, and did not record the metadata that it joined with."""


class _Calls(SimulatedFold):
    """The call that each member is in, and what it recorded since that began."""

    bookkeeping = frozenset({MemberStarted, SubscriptionChanged, WorkerConfigured, *WITHIN})
    needs = ((CallbackStarted,), (CallbackEnded,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_process,
            WorkerConfigured: self.on_configured,
            SubscriptionChanged: self.on_wished,
            CallbackStarted: self.on_called,
            **dict.fromkeys(WITHIN, self.on_recorded),
            CallbackEnded: self.on_ended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._workers: set[str] = set()
        self._wishes: set[str] = set()
        self._calls: dict[str, tuple[CallbackStarted, set[type[Event]]]] = {}

    def on_process(self, event: MemberStarted) -> None:
        """Another process is in no call."""
        self._calls.pop(event.member, None)
        self._workers.discard(event.member)
        self._wishes.discard(event.member)

    def on_configured(self, event: WorkerConfigured) -> None:
        """A worker of Connect records more."""
        self._workers.add(event.member)

    def on_wished(self, event: SubscriptionChanged) -> None:
        """An assignment with a topic that a member wants no more changes nothing: it joins again."""
        self._wishes.add(event.member)

    def on_called(self, event: CallbackStarted) -> None:
        """A generation has a protocol, and each of its members an assignment."""
        self._calls[event.member] = event, set()
        needed = {PERFORM_ASSIGNMENT: ("protocol",), ON_JOIN_COMPLETE: ("protocol", "assignment")}
        missing = [field for field in needed.get(event.callback, ()) if not getattr(event, field)]
        if missing and self.run.is_recorded:
            self.contradiction(
                f"{event.callback} of {event.member} is recorded without the {missing[0]} that it was called with",
                (f"{event.callback} was called at {STEP}, and its record says no {missing[0]}: contradiction.", event),
            )

    def on_recorded(self, event: MemberEvent) -> None:
        """It is part of the call."""
        if isinstance(event, AssignmentCompleted):
            self._wishes.discard(event.member)
        if (call := self._calls.get(event.member)) is not None:
            call[1].add(type(event))

    def on_ended(self, event: CallbackEnded) -> None:
        """A call that finished has led to what is recorded of it."""
        started, recorded = self._calls.pop(event.member, (None, set()))
        if started is None or started.callback != event.callback or event.outcome != FINISHED:
            return
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        is_refused = event.callback == ON_JOIN_COMPLETE and event.member in self._wishes
        wanted = () if is_refused else OF_ALL.get(event.callback, ())
        wanted += OF_WORKERS.get(event.callback, ()) if event.member in self._workers else ()
        for kind in wanted:
            if kind not in recorded:
                self.contradiction(
                    f"{event.callback} of {event.member} finished, and no {kind.__name__} is recorded",
                    (f"{event.callback} was called in generation {started.generation} at {STEP};", started),
                    (f"it finished at {STEP}, and the member recorded no {kind.__name__}: contradiction.", event),
                )


class _WorkerJoins(SimulatedFold):
    """What each Connect worker recorded since it began, or since its last JoinGroup, and the offset of its snapshot."""

    bookkeeping = frozenset({ConfigSnapshotTaken, MemberStarted, WorkerConfigured})
    needs = ((WorkerConfigured,), (RequestSent,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_process,
            WorkerConfigured: self.on_configured,
            ConfigSnapshotTaken: self.on_snapshot,
            WorkerClaimed: self.on_claimed,
            RequestSent: self.on_sent,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._last: dict[str, Event] = {}
        self._snapshots: dict[str, int] = {}

    def on_process(self, event: MemberStarted) -> None:
        """Another process may be something else, and has read nothing."""
        self._last.pop(event.member, None)
        self._snapshots.pop(event.member, None)

    def on_snapshot(self, event: ConfigSnapshotTaken) -> None:
        """It has read so far."""
        self._snapshots[event.member] = event.offset

    def on_configured(self, event: WorkerConfigured) -> None:
        """It builds metadata before it joins."""
        self._last[event.member] = event

    def on_claimed(self, event: WorkerClaimed) -> None:
        """It did; it knows of configurations what its last snapshot has."""
        if event.member not in self._last:
            return
        self._last[event.member] = event
        known = self._snapshots.get(event.member, NOTHING_READ)
        if event.config_offset != known and self.run.is_recorded:
            self.contradiction(
                f"{event.member} joins with offset {event.config_offset}, and its last snapshot is of {known}",
                (f"{event.member} claims to know the config topic to {event.config_offset} at {STEP}, and the last "
                 f"snapshot that it recorded is of offset {known}: contradiction.", event),
            )  # fmt: skip

    def on_sent(self, event: RequestSent) -> None:
        """Each JoinGroup has metadata of its own."""
        before = self._last.get(event.member)
        if event.api != Api.JOIN_GROUP or before is None or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        self._last[event.member] = event
        if not isinstance(before, WorkerClaimed):
            self.contradiction(
                f"{event.member} joins, and has not recorded the metadata that it joins with",
                (f"{event.member} began, or joined before, at {STEP};", before),
                (f"it sent JoinGroup at {STEP}, and recorded no metadata since: contradiction.", event),
            )


CallsAreRecordedWhole: Final = Invariant(
    name="calls_are_recorded_whole",
    family=FAMILY,
    claim="a member records the protocol and the assignment that its coordinator calls its user with, and within "
    "performAssignment what was computed, within onJoinComplete that the assignment is complete",
    source="AbstractCoordinator.onLeaderElected, onJoinComplete; WorkerCoordinator.onJoinComplete",
    premises=(RECORDED, "an assignment with a topic that a consumer wants no more changes nothing"),
    exempted_by=(
        AssignmentCompleted, AssignmentComputed, CallbackStarted, ConnectAssignmentComputed, ConnectAssignmentReceived,
        MemberStarted, SubscriptionChanged,
    ),
    violation=CallsAreRecordedWholeViolated,
    fold=_Calls,
)  # fmt: skip
"""Claims about rounds compare what members recorded of them.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    CallbackStarted(member="m0", generation=1, member_id="a", callback="onJoinComplete", protocol="range",
                    assignment="c0ffee")
    CallbackEnded(member="m0", callback="onJoinComplete")
"""

ClaimsAreRecorded: Final = Invariant(
    name="claims_are_recorded",
    family=FAMILY,
    claim="a Connect worker records the metadata of each JoinGroup before it sends it, with the offset of the last "
    "snapshot of the config topic that it recorded",
    source="WorkerCoordinator.metadata",
    premises=(RECORDED,),
    exempted_by=(ConfigSnapshotTaken, MemberStarted, WorkerClaimed),
    violation=ClaimsAreRecordedViolated,
    fold=_WorkerJoins,
)
"""What a worker keeps over a rebalance is what it claimed.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="compatible")
    RequestSent(member="w0", api="JoinGroup", request=1)
"""

CLAIMS: Final = (CallsAreRecordedWhole, ClaimsAreRecorded)
"""In the order in which reports name them."""
