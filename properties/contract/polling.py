"""What an application's polls decide: when a member joins again after an attempt that was refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    CallbackEnded,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    RequestAnswered,
    RequestSent,
    RunEnded,
    RunStarted,
    SubscriptionChanged,
)
from rebalance_check.properties.contract.pace import SLACK_MS, Paces
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Fold, Handler, Invariant, Memories
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS

AT_ONCE: Final[Mapping[str, frozenset[str]]] = {
    Api.JOIN_GROUP: frozenset({"UNKNOWN_MEMBER_ID", "MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS"}),
    Api.SYNC_GROUP: frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS"}),
}
"""The answers after which the next JoinGroup follows without a pause."""


class RefusedJoinJoinsAgainViolated(Violation):
    """A member whose JoinGroup or SyncGroup was refused for now did not join again at once."""


class _JoinsAgain(Fold):
    """For each member, the refusal that it has not followed with a JoinGroup yet; each of its events is looked at
    whether it comes too late for that."""

    paces: Paces
    needs = ((RunStarted,), (RequestAnswered,))
    bookkeeping = frozenset({*PROCESS, CallbackEnded, MemberClosing, SubscriptionChanged})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            SubscriptionChanged: self.on_process,
            RunEnded: self.on_end,
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._refused: dict[str, RequestAnswered] = {}

    def share(self, memories: Memories) -> None:
        """All claims look at the same paces."""
        self.paces = Paces.among(memories)
        self.memories = (self.paces.run, self.paces)

    def on_process(self, event: MemberEvent) -> None:
        """Another process has nothing due."""
        self._refused.pop(event.member, None)

    def on_end(self, event: RunEnded) -> None:
        """What was due before the end and did not happen."""
        for member in list(self._refused):
            self._look(member, event)

    def on_answered(self, event: RequestAnswered) -> None:
        """Refused for now."""
        self._look(event.member, event)
        if event.error in AT_ONCE.get(event.api, frozenset()):
            self.compared = (self.compared or 0) + 1
            self._refused[event.member] = event

    def on_sent(self, event: RequestSent) -> None:
        """It joins again, or leaves."""
        self._look(event.member, event)
        if event.api in {Api.JOIN_GROUP, Api.LEAVE_GROUP}:
            self._refused.pop(event.member, None)

    def _look(self, member: str, event: Event) -> None:
        """Whether it is late at ``event``, for a member that could join all the time."""
        since = self._refused.get(member)
        pace = self.paces.of.get(member)
        if since is None or pace is None:
            return
        if event.time_ms > max(since.time_ms + SLACK_MS, pace.joins_since()) + SLACK_MS:
            del self._refused[member]
            self._report(since, event)

    def _report(self, since: RequestAnswered, event: Event) -> None:
        """It does something else."""
        self.contradiction(
            f"{since.member} does not join again at once, and its {since.api} was answered {since.error}",
            (f"the {since.api} of {since.member} was answered {since.error} at {STEP};", since),
            (f"it polled, knew its coordinator and was prepared, and {event.time_ms - since.time_ms} ms later, at "
             f"{STEP}, it had not sent JoinGroup: contradiction.", event),
        )  # fmt: skip


RefusedJoinJoinsAgain: Final = Invariant(
    name="refused_join_joins_again",
    family=FAMILY,
    claim="a member whose JoinGroup or SyncGroup is answered REBALANCE_IN_PROGRESS, or whose membership is refused by "
    "that answer, sends JoinGroup at once when its application polls",
    source="AbstractCoordinator.joinGroupIfNeeded",
    premises=(
        "the run is simulated: time is virtual, and pauses of processes and applications are recorded",
        "settings of members are recorded (MemberStarted)",
    ),
    exempted_by=(
        ApplicationBusy,
        CoordinatorFound,
        CoordinatorLost,
        MemberClosing,
        MemberCrashed,
        MemberLeft,
        MemberPaused,
        MemberResumed,
        MemberStarted,
        RequestAnswered,
        RequestSent,
        CallbackEnded,
        SubscriptionChanged,
    ),
    violation=RefusedJoinJoinsAgainViolated,
    fold=_JoinsAgain,
)
"""A member whose attempt to join is refused for now joins again at once.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0")
    CoordinatorFound(member="m0", node=1)
    RequestAnswered(member="m0", api="SyncGroup", request=1, error="REBALANCE_IN_PROGRESS")
    RequestSent(member="m0", api="Heartbeat", request=2, generation=1, time_ms=3000)
"""


CLAIMS: Final = (RefusedJoinJoinsAgain,)
"""In the order in which reports name them."""
