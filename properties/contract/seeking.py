"""When a member looks for its coordinator: once another node coordinates its group, and a back-off after a failure."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorFound,
    CoordinatorLost,
    Event,
    LookUpAnswered,
    LookUpSent,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RequestAnswered,
    RequestSent,
    RunEnded,
    RunStarted,
)
from rebalance_check.properties.contract.heartbeats import JITTER, OF_A_WAIT, DueFold
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import SimulatedFold

RETRIABLE: Final = frozenset(
    {
        None,
        "COORDINATOR_NOT_AVAILABLE",
        "COORDINATOR_LOAD_IN_PROGRESS",
        "NOT_COORDINATOR",
        "NETWORK_EXCEPTION",
        "REQUEST_TIMED_OUT",
    }
)
"""The outcomes of a look-up after which the member asks again, and the application learns nothing."""

MOVED: Final = frozenset({"COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"})
"""The answers that say that the node does not coordinate the group."""

READ_AT_ONCE: Final = frozenset({Api.HEARTBEAT, Api.SYNC_GROUP, Api.OFFSET_COMMIT})
"""The requests whose answers a member reads when they come; an answer to JoinGroup waits for the application."""


class LookUpsKeepTheBackoffViolated(Violation):
    """A member looked its coordinator up sooner than one back-off after a look-up that failed."""


class MovedCoordinatorIsGivenUpViolated(Violation):
    """A member went on with a node that had answered that it does not coordinate the group."""


class _LookUps(DueFold):
    """Per member: how many look-ups failed in a row. Too early, not too late: what is due is the earliest time."""

    needs = ((RunStarted,), (CoordinatorLost, LookUpAnswered))
    bookkeeping = OF_A_WAIT | {CoordinatorFound, CoordinatorLost, LookUpAnswered, RunEnded}

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            CoordinatorLost: self.on_lost,
            LookUpAnswered: self.on_answered,
            LookUpSent: self.on_sent,
        }
        super().__init__(invariant, handlers)
        self._failures: dict[str, int] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process begins anew."""
        super().on_process(event)
        self._failures.pop(event.member, None)

    def on_lost(self, event: CoordinatorLost) -> None:
        """One pause follows, in members of the simulator; Kafka's pause where the connection broke, and not always."""
        pace = self.paces.of.get(event.member)
        if pace is not None and self.paces.run.is_recorded:
            self.wait(event, pace.started.retry_backoff_ms)

    def on_answered(self, event: LookUpAnswered) -> None:
        """A look-up that failed is followed by a pause, which is twice as long each time."""
        pace = self.paces.of.get(event.member)
        if event.error not in RETRIABLE:
            self._failures.pop(event.member, None)
        elif pace is not None and pace.started.retry_backoff_ms:
            failed = self._failures[event.member] = self._failures.get(event.member, 0) + 1
            first_ms, most_ms = pace.started.retry_backoff_ms, pace.started.retry_backoff_max_ms
            pause_ms = min(first_ms << min(failed - 1, 30), max(first_ms, most_ms))
            self.wait(event, int(pause_ms * (1 - JITTER)))

    def on_sent(self, event: LookUpSent) -> None:
        """The next one."""
        since, due_ms = self.due.pop(event.member, (None, 0))
        if since is not None and event.time_ms < due_ms:
            what = "the loss of its coordinator" if isinstance(since, CoordinatorLost) else "a look-up that failed"
            self.contradiction(
                f"{event.member} looks for a node {event.time_ms - since.time_ms} ms after {what}",
                (f"{event.member} learns at {STEP} of {what}, and its back-off takes {due_ms - since.time_ms} ms at "
                 "least;", since),
                (f"it sent the next FindCoordinator at {STEP}: contradiction.", event),
            )  # fmt: skip

    def look(self, member: str, event: Event) -> None:
        """Nothing is late here: a thread may be away."""

    def report_late(self, member: str, since: Event, event: Event, due_ms: int) -> None:
        """Nothing is late here."""


class _Moved(SimulatedFold):
    """Per member: the answer that its coordinator moved, until it gives the node up."""

    bookkeeping = frozenset({RunStarted, CoordinatorLost, RequestAnswered, *PROCESS})
    needs = ((RunStarted,), (RequestAnswered,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys((*PROCESS, CoordinatorLost), self.on_forgotten),
            RequestAnswered: self.on_answered,
            RequestSent: self.on_sent,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._moved: dict[str, RequestAnswered] = {}

    def on_forgotten(self, event: MemberEvent) -> None:
        """It gives the node up, or its process ends."""
        self._moved.pop(event.member, None)

    def on_answered(self, event: RequestAnswered) -> None:
        """The node does not coordinate the group."""
        if self.run.is_simulated and event.api in READ_AT_ONCE and event.error in MOVED:
            self.compared = (self.compared or 0) + 1
            self._moved[event.member] = event

    def on_sent(self, event: RequestSent) -> None:
        """Nothing more goes there."""
        moved = self._moved.pop(event.member, None)
        if moved is not None:
            self.contradiction(
                f"{event.member} sends {event.api} to a node that does not coordinate its group",
                (f"the {moved.api} of {event.member} was answered {moved.error} at {STEP};", moved),
                (f"it has not given the node up, and sends it {event.api} at {STEP}: contradiction.", event),
            )


LookUpsKeepTheBackoff: Final = Invariant(
    name="look_ups_keep_the_backoff",
    family=FAMILY,
    claim="after a look-up that failed a member sends the next FindCoordinator no sooner than one back-off later, "
    "which doubles with each failure in a row from retry.backoff.ms up to retry.backoff.max.ms, and after it lost its "
    "coordinator no sooner than retry.backoff.ms later",
    source="AbstractCoordinator.ensureCoordinatorReady; KIP-580 (ExponentialBackoff)",
    premises=(
        "the run is simulated: time is virtual",
        "settings of members are recorded (MemberStarted)",
        "only members of the simulator pause after each loss; Kafka's do where the connection to the node broke",
    ),
    exempted_by=(CoordinatorLost, LookUpAnswered, MemberCrashed, MemberLeft, MemberStarted),
    violation=LookUpsKeepTheBackoffViolated,
    fold=_LookUps,
)
"""A member pauses after a look-up that failed.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", retry_backoff_ms=100, retry_backoff_max_ms=1000)
    LookUpAnswered(member="m0", request=0, error="COORDINATOR_NOT_AVAILABLE")
    LookUpSent(member="m0", request=1, time_ms=10)
"""

MovedCoordinatorIsGivenUp: Final = Invariant(
    name="moved_coordinator_is_given_up",
    family=FAMILY,
    claim="a member whose Heartbeat, SyncGroup or OffsetCommit is answered NOT_COORDINATOR or "
    "COORDINATOR_NOT_AVAILABLE sends nothing more to that node before it has looked its coordinator up",
    source="AbstractCoordinator.markCoordinatorUnknown; HeartbeatResponseHandler, SyncGroupResponseHandler",
    premises=("the run is simulated: what members know of their coordinator is recorded in order (CoordinatorLost)",),
    exempted_by=(CoordinatorLost, MemberCrashed, MemberLeft, MemberStarted),
    violation=MovedCoordinatorIsGivenUpViolated,
    fold=_Moved,
)
"""A member gives a node up that does not coordinate its group.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    RequestAnswered(member="m0", api="Heartbeat", request=0, error="COORDINATOR_NOT_AVAILABLE")
    RequestSent(member="m0", api="Heartbeat", request=1, generation=1)
"""

CLAIMS: Final = (LookUpsKeepTheBackoff, MovedCoordinatorIsGivenUp)
"""In the order in which reports name them."""
