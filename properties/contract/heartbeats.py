"""When a member sends heartbeats, and how long it goes without an answer to one."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Final, TypeAlias

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MembershipLost,
    MemberStarted,
    RequestAnswered,
    RequestSent,
    RunEnded,
    RunStarted,
)
from rebalance_check.properties.contract.pace import NEVER, SLACK_MS, Pace, Paces
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Fold, Handler, Invariant, Memories
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS

JITTER: Final = 0.2
"""``CommonClientConfigs.RETRY_BACKOFF_JITTER``: a back-off is up to so much shorter or longer."""

PROVES_ALIVE: Final = frozenset(
    {"NONE", "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID"}
)
"""The answers to a heartbeat that show that the coordinator is there; the last three are about an earlier generation,
or end the membership."""

SUCCEEDS: Final = frozenset({"NONE", "REBALANCE_IN_PROGRESS"})
"""The answers to a heartbeat after which the next back-off is a first one."""


class HeartbeatsKeepTheIntervalViolated(Violation):
    """A member of a group sent a heartbeat sooner or later than heartbeat.interval.ms after the one before."""


class SilentCoordinatorIsGivenUpViolated(Violation):
    """A member kept a coordinator that had answered no heartbeat for a session timeout."""


OfMember: TypeAlias = MemberEvent | RequestSent | RequestAnswered
"""An event that names the member that it is about."""

OF_A_WAIT: Final[frozenset[type[Event]]] = frozenset({*PROCESS, MemberJoined})
"""What begins or ends a wait, and cannot break its claim."""


class DueFold(Fold):
    """Waits for something that a member's heartbeat thread does, and looks at each of its events whether it is late.

    ``due`` is, for each member, since what event and until when it is to happen.
    """

    paces: Paces
    bookkeeping = OF_A_WAIT
    needs: ClassVar[tuple[tuple[type[Event], ...], ...]] = (
        (RunStarted,), (MemberStarted,), (MemberJoined,), (CoordinatorFound,),
    )  # fmt: skip

    def __init__(self, invariant: Invariant, handlers: dict[type[Event], Handler]) -> None:
        forgets: dict[type[Event], Handler] = dict.fromkeys(PROCESS, self.on_process)
        super().__init__(invariant, {**forgets, RunEnded: self.on_end, **handlers})
        self.compared = 0
        self.due: dict[str, tuple[Event, int]] = {}

    def share(self, memories: Memories) -> None:
        """All claims look at the same paces."""
        self.paces = Paces.among(memories)
        self.memories = (self.paces.run, self.paces)

    def on_process(self, event: MemberEvent) -> None:
        """Another process has nothing due."""
        self.due.pop(event.member, None)

    def on_end(self, event: RunEnded) -> None:
        """What was due before the end and did not happen."""
        for member in list(self.due):
            self.look(member, event)

    def wait(self, event: OfMember, allowed_ms: int) -> None:
        """From ``event`` on it is to happen within ``allowed_ms`` (0: unknown)."""
        if allowed_ms:
            self.compared = (self.compared or 0) + 1
            self.due[event.member] = (event, event.time_ms + allowed_ms)

    def look(self, member: str, event: Event) -> None:
        """Whether it is late at ``event``, for a member whose thread could do it all the time."""
        since, due_ms = self.due.get(member, (None, NEVER))
        pace = self.paces.of.get(member)
        if since is None or pace is None or event.time_ms <= due_ms + SLACK_MS:
            return
        if event.time_ms > max(due_ms, self.able_since(pace)) + SLACK_MS:
            del self.due[member]
            self.report_late(member, since, event, due_ms)

    def able_since(self, pace: Pace) -> int:
        """Since when the member can do it without a break."""
        return pace.beats_since()

    @abstractmethod
    def report_late(self, member: str, since: Event, event: Event, due_ms: int) -> None:
        """It did not happen in time, as ``event`` shows."""


def longest_pause_ms(started: MemberStarted, failed: int) -> int:
    """How long the back-off after so many failures in a row takes at most, in ms (``ExponentialBackoff``)."""
    term_ms = started.retry_backoff_ms << min(failed - 1, 30)
    return min(int(term_ms * (1 + JITTER)), started.retry_backoff_max_ms)


class _Interval(DueFold):
    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberJoined: self.on_joined,
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self._before: dict[str, tuple[Event, int]] = {}
        self._failures: dict[str, int] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process begins anew."""
        super().on_process(event)
        self._before.pop(event.member, None)
        self._failures.pop(event.member, None)

    def on_joined(self, event: MemberJoined) -> None:
        """The interval begins."""
        self._begin(event)

    def on_sent(self, event: RequestSent) -> None:
        """Neither sooner nor later."""
        self.look(event.member, event)
        if event.api == Api.HEARTBEAT:
            before, earliest_ms = self._before.get(event.member, (None, 0))
            if before is not None and event.time_ms < earliest_ms:
                self.contradiction(
                    f"{event.member} sends a heartbeat {event.time_ms - before.time_ms} ms after the last",
                    (f"{event.member} sent a heartbeat, or began to, at {STEP}, and waits {self._interval(event)} ms "
                     "or a back-off;", before),
                    (f"it sends the next at {STEP}: contradiction.", event),
                )  # fmt: skip
            self._begin(event)

    def on_answered(self, event: RequestAnswered) -> None:
        """A heartbeat that fails is followed by the next after a back-off."""
        self.look(event.member, event)
        if event.api != Api.HEARTBEAT:
            return
        failed = 0 if event.error in SUCCEEDS else self._failures.get(event.member, 0) + 1
        self._failures[event.member] = failed
        pace = self.paces.of.get(event.member)
        if event.error not in PROVES_ALIVE and pace is not None:
            self.wait(event, longest_pause_ms(pace.started, failed))
            least_ms = int(pace.started.retry_backoff_ms * (1 - JITTER))
            self._before[event.member] = (event, event.time_ms + least_ms)

    def _begin(self, event: OfMember) -> None:
        self.wait(event, self._interval(event))
        self._before[event.member] = (event, event.time_ms + self._interval(event))

    def _interval(self, event: OfMember) -> int:
        pace = self.paces.of.get(event.member)
        return 0 if pace is None else pace.started.heartbeat_interval_ms

    def report_late(self, member: str, since: Event, event: Event, due_ms: int) -> None:
        """No heartbeat in time."""
        self.contradiction(
            f"{member} sends no heartbeat for {event.time_ms - since.time_ms} ms",
            (f"{member} belongs to a generation, and its next heartbeat was due {due_ms - since.time_ms} ms after "
             f"{STEP};", since),
            (f"it ran, and knew its coordinator, and at {STEP} it has sent none: contradiction.", event),
        )  # fmt: skip


class _Session(DueFold):
    bookkeeping = OF_A_WAIT | {CoordinatorFound}

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberJoined: self.on_alive,
            CoordinatorFound: self.on_alive,
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)

    def on_alive(self, event: OfMember) -> None:
        """The session begins anew."""
        pace = self.paces.of.get(event.member)
        if pace is not None:
            self.wait(event, pace.started.session_timeout_ms)

    def on_sent(self, event: RequestSent) -> None:
        """Nothing is sent to a coordinator that is silent for so long."""
        self.look(event.member, event)

    def on_answered(self, event: RequestAnswered) -> None:
        """Nor is a heartbeat of the same session answered then, in a member that noticed."""
        if event.api == Api.HEARTBEAT and event.error in PROVES_ALIVE:
            self.on_alive(event)
        else:
            self.look(event.member, event)

    def report_late(self, member: str, since: Event, event: Event, due_ms: int) -> None:
        """It keeps its coordinator."""
        self.contradiction(
            f"{member} keeps a coordinator that is silent for {event.time_ms - since.time_ms} ms",
            (f"the coordinator of {member} was there last at {STEP}, and its session takes "
             f"{due_ms - since.time_ms} ms;", since),
            (f"{member} has not given it up at {STEP}: contradiction.", event),
        )  # fmt: skip


PREMISES: Final = (
    "the run is simulated: time is virtual, and pauses of processes and applications are recorded",
    "settings of members are recorded (MemberStarted)",
)
EXEMPTED: Final = (
    ApplicationBusy,
    CoordinatorFound,
    CoordinatorLost,
    MemberClosing,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MembershipLost,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)

HeartbeatsKeepTheInterval: Final = Invariant(
    name="heartbeats_keep_the_interval",
    family=FAMILY,
    claim="a member that belongs to a generation and does not join sends a heartbeat each heartbeat.interval.ms, and "
    "one back-off after a heartbeat that failed",
    source="AbstractCoordinator.HeartbeatThread, Heartbeat",
    premises=PREMISES,
    exempted_by=tuple(kind for kind in EXEMPTED if kind is not ApplicationBusy),
    violation=HeartbeatsKeepTheIntervalViolated,
    fold=_Interval,
)
"""A member sends a heartbeat each heartbeat.interval.ms, neither sooner nor later.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", heartbeat_interval_ms=3000)
    CoordinatorFound(member="m0", node=1)
    MemberJoined(member="m0", generation=1, member_id="a")
    RequestSent(member="m0", api="OffsetCommit", request=1, generation=1, time_ms=4000)
"""

SilentCoordinatorIsGivenUp: Final = Invariant(
    name="silent_coordinator_is_given_up",
    family=FAMILY,
    claim="a member that is answered no heartbeat for session.timeout.ms looks for its coordinator anew",
    source="AbstractCoordinator.HeartbeatThread (sessionTimeoutExpired)",
    premises=PREMISES,
    exempted_by=tuple(kind for kind in EXEMPTED if kind is not ApplicationBusy),
    violation=SilentCoordinatorIsGivenUpViolated,
    fold=_Session,
)
"""A member whose coordinator answers no heartbeat for session.timeout.ms looks for its coordinator anew.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", session_timeout_ms=10000)
    CoordinatorFound(member="m0", node=1)
    MemberJoined(member="m0", generation=1, member_id="a")
    RequestSent(member="m0", api="Heartbeat", request=5, generation=1, time_ms=12000)
"""

CLAIMS: Final = (HeartbeatsKeepTheInterval, SilentCoordinatorIsGivenUp)
"""In the order in which reports name them."""
