"""When a consumer commits by itself: once in each interval, and before it closes; not at all where it must not."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ON_LEAVE_PREPARE,
    AssignmentCompleted,
    CallbackEnded,
    CallbackStarted,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberClosing,
    MemberEvent,
    MembershipLost,
    MemberStarted,
    PartitionsLost,
    PartitionsRevoked,
    RecordsDelivered,
    RequestSent,
)
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import SIMULATED, SimulatedFold


class AutoCommitsKeepTheIntervalViolated(Violation):
    """A consumer committed by itself too soon, did not when it closed, or did though it is not to."""


class _Commits:
    """Of one process: its last commit or assignment, whether it can commit, what it read, and whether it closes."""

    def __init__(self, started: MemberStarted) -> None:
        self.started = started
        self.since: Event | None = None
        self.is_called = False
        self.closing: MemberClosing | None = None
        self.has_committed = False
        self.is_settled = False
        self.knows_coordinator = False
        self.read: RecordsDelivered | None = None


class _AutoCommits(SimulatedFold):
    bookkeeping = frozenset(
        {
            AssignmentCompleted,
            CallbackEnded,
            CoordinatorFound,
            CoordinatorLost,
            MemberClosing,
            MembershipLost,
            PartitionsLost,
            PartitionsRevoked,
            RecordsDelivered,
            *PROCESS,
        }
    )
    needs = ((MemberStarted,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            CoordinatorFound: self.on_coordinator,
            CoordinatorLost: self.on_coordinator,
            **dict.fromkeys((MembershipLost, PartitionsLost, PartitionsRevoked), self.on_unsettled),
            AssignmentCompleted: self.on_assigned,
            RecordsDelivered: self.on_read,
            MemberClosing: self.on_closing,
            CallbackStarted: self.on_call,
            CallbackEnded: self.on_return,
            RequestSent: self.on_sent,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._of: dict[str, _Commits] = {}

    def on_process(self, event: MemberEvent) -> None:
        """In a simulated run the settings of a process are known."""
        self._of.pop(event.member, None)
        if isinstance(event, MemberStarted) and self.run.is_simulated:
            self._of[event.member] = _Commits(event)

    def on_coordinator(self, event: CoordinatorFound | CoordinatorLost) -> None:
        """It knows where to commit, or not."""
        if (one := self._of.get(event.member)) is not None:
            one.knows_coordinator = isinstance(event, CoordinatorFound)

    def on_unsettled(self, event: MemberEvent) -> None:
        """It cannot commit, or has less to commit than it read."""
        if (one := self._of.get(event.member)) is not None:
            one.read = None
            one.is_settled = one.is_settled and not isinstance(event, MembershipLost)

    def on_assigned(self, event: AssignmentCompleted) -> None:
        """The interval begins anew."""
        if (one := self._of.get(event.member)) is not None:
            one.since, one.is_settled = event, True

    def on_read(self, event: RecordsDelivered) -> None:
        """It has something to commit."""
        if (one := self._of.get(event.member)) is not None:
            one.read = event

    def on_closing(self, event: MemberClosing) -> None:
        """It is to commit once more."""
        if (one := self._of.get(event.member)) is not None:
            one.closing = event

    def on_call(self, event: CallbackStarted) -> None:
        """What is committed inside is what the callback wants; one that closes has committed what it read."""
        one = self._of.get(event.member)
        if one is None:
            return
        one.is_called = True
        if event.callback != ON_LEAVE_PREPARE or one.closing is None:
            return
        self.compared = (self.compared or 0) + 1
        can_commit = one.is_settled and one.knows_coordinator and one.read is not None
        if one.started.auto_commit_interval_ms and can_commit and not one.has_committed:
            self.contradiction(
                f"{event.member} closes and does not commit what it read",
                (f"{event.member} commits by itself, as its start at {STEP} says;", one.started),
                (f"it reads at {STEP}, closes", one.read),
                (f"at {STEP}, and has not committed when it", one.closing),
                (f"prepares to leave at {STEP}: contradiction.", event),
            )

    def on_return(self, event: CallbackEnded) -> None:
        """What follows, it commits by itself."""
        if (one := self._of.get(event.member)) is not None:
            one.is_called = False

    def on_sent(self, event: RequestSent) -> None:
        """A commit between two callbacks; a JoinGroup unsettles the member."""
        one = self._of.get(event.member)
        if one is None:
            return
        if event.api == Api.JOIN_GROUP:
            one.is_settled = False
        if event.api != Api.OFFSET_COMMIT or one.is_called:
            return
        if one.closing is not None:
            self._look_at_last(one, event)
            one.has_committed = True
        elif one.started.auto_commit_interval_ms:
            self._look_at_interval(one, event)
            one.since = event

    def _look_at_last(self, one: _Commits, event: RequestSent) -> None:
        self.compared = (self.compared or 0) + 1
        if not one.started.auto_commit_interval_ms:
            self.contradiction(
                f"{event.member} closes, and commits by itself",
                (f"{event.member} does not commit by itself, as its start at {STEP} says;", one.started),
                (f"it closes at {STEP},", one.closing),
                (f"and commits at {STEP}: contradiction.", event),
            )

    def _look_at_interval(self, one: _Commits, event: RequestSent) -> None:
        if one.since is None:
            return
        self.compared = (self.compared or 0) + 1
        interval_ms, passed_ms = one.started.auto_commit_interval_ms, event.time_ms - one.since.time_ms
        if passed_ms < interval_ms:
            self.contradiction(
                f"{event.member} commits after {passed_ms} ms of {interval_ms} ms",
                (f"{event.member} commits by itself each {interval_ms} ms, as its start at {STEP} says;", one.started),
                (f"it was assigned what it owns, or committed, at {STEP},", one.since),
                (f"and commits {passed_ms} ms later, at {STEP}: contradiction.", event),
            )


AutoCommitsKeepTheInterval: Final = Invariant(
    name="auto_commits_keep_the_interval",
    family=FAMILY,
    claim="a consumer that commits by itself does so no sooner than auto.commit.interval.ms after its last commit or "
    "assignment, and once more when it closes; one that does not commits nothing when it closes",
    source="ConsumerCoordinator.maybeAutoCommitOffsetsAsync, onJoinComplete (nextAutoCommitTimer), close",
    premises=(SIMULATED, "settings of members are recorded (MemberStarted)"),
    exempted_by=(
        CallbackEnded, CallbackStarted, CoordinatorLost, MembershipLost, MemberStarted, PartitionsLost,
        PartitionsRevoked, RequestSent,
    ),
    violation=AutoCommitsKeepTheIntervalViolated,
    fold=_AutoCommits,
)  # fmt: skip
"""What is not committed is read twice, and each commit is a write.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", auto_commit_interval_ms=5000)
    AssignmentCompleted(member="m0", generation=1, owned=("t-0",))
    RequestSent(member="m0", api="OffsetCommit", request=1, generation=1, time_ms=100)
"""

CLAIMS: Final = (AutoCommitsKeepTheInterval,)
"""In the order in which reports name them."""
