"""What a client sends, and when: one step of a rebalance at a time, and commits only between two of them."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import Recent


class OneChainInFlightViolated(Violation):
    """A member sent JoinGroup, SyncGroup or Heartbeat while another JoinGroup or SyncGroup was on its way."""


class CommitsWhenStableViolated(Violation):
    """A member sent a commit for a generation that it was not settled in."""


class RequestEndsOnceViolated(Violation):
    """A member took a second outcome of one request."""


COORDINATOR: Final = "coordinator"
"""The source of what the coordinator records, in runs where it is held to the model."""

ENDED: Final = 64
"""So many requests of a member are remembered after they ended; a second outcome comes soon, or never."""


class _Ends(Fold):
    """Per member: how each of its last requests ended."""

    bookkeeping = frozenset({MemberCrashed, MemberLeft, MemberStarted, RequestSent})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                MemberStarted: self.on_process,
                MemberCrashed: self.on_process,
                MemberLeft: self.on_process,
                RequestSent: self.on_sent,
                RequestAnswered: self.on_answered,
            },
        )
        self._ended: dict[str, Recent[int, RequestAnswered]] = {}

    def on_process(self, event: MemberEvent) -> None:
        """A process that starts counts its requests anew; one that ended asks for nothing any more."""
        self._ended.pop(event.member, None)

    def on_sent(self, event: RequestSent) -> None:
        """A number that is sent again is a request of its own."""
        ended = self._ended.get(event.member)
        if ended is not None:
            ended.pop(event.request, None)

    def on_answered(self, event: RequestAnswered) -> None:
        """The first outcome counts: after it the member has forgotten the request.

        What the coordinator records as its answer may be lost on its way, and the member then gives the request up.
        """
        if event.source == COORDINATOR:
            return
        ended = self._ended.get(event.member)
        if ended is None:
            ended = self._ended[event.member] = Recent(ENDED)
        before = ended.get(event.request)
        if before is None:
            ended[event.request] = event
        else:
            self.contradiction(
                f"{event.api} {event.request} of {event.member} ends twice",
                (f"{before.api} {event.request} of {event.member} {_outcome(before)} at {STEP}.", before),
                (f"it {_outcome(event)} at {STEP}: contradiction.", event),
            )


def _outcome(event: RequestAnswered) -> str:
    return "was given up" if event.error is None else f"was answered {event.error}"


class _Chain(Fold):
    """Per member: the JoinGroup or SyncGroup that is not answered yet."""

    bookkeeping = frozenset({MemberCrashed, MemberLeft, MemberStarted, RequestAnswered})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                MemberStarted: self.on_gone,
                MemberCrashed: self.on_gone,
                MemberLeft: self.on_gone,
                RequestSent: self.on_sent,
                RequestAnswered: self.on_answered,
            },
        )
        self._open: dict[str, RequestSent] = {}

    def on_gone(self, event: MemberEvent) -> None:
        """A process takes its requests with it."""
        self._open.pop(event.member, None)

    def on_sent(self, event: RequestSent) -> None:
        """One at a time; and no heartbeat while a JoinGroup waits, which shows that the member is there."""
        before = self._open.get(event.member)
        chained = event.api in {Api.JOIN_GROUP, Api.SYNC_GROUP}
        if before is not None and (chained or (event.api == Api.HEARTBEAT and before.api == Api.JOIN_GROUP)):
            self.contradiction(
                f"{event.member} sends {event.api} while its {before.api} is on its way",
                (f"{event.member} sent {before.api} at {STEP}, and no answer followed.", before),
                (f"it sent {event.api} at {STEP}: contradiction.", event),
            )
        if chained:
            self._open[event.member] = event
        elif event.api == Api.LEAVE_GROUP:
            self._open.pop(event.member, None)

    def on_answered(self, event: RequestAnswered) -> None:
        """Answered, or given up."""
        before = self._open.get(event.member)
        if before is not None and before.request == event.request:
            del self._open[event.member]


class _Commits(Fold):
    """Per member: whether it is settled, and in which generation."""

    bookkeeping = frozenset({MemberCrashed, MemberJoined, MemberLeft, MemberStarted, MembershipLost, RequestAnswered})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                MemberStarted: self.on_gone,
                MembershipLost: self.on_gone,
                MemberCrashed: self.on_ended,
                MemberLeft: self.on_ended,
                MemberJoined: self.on_joined,
                RequestSent: self.on_sent,
                RequestAnswered: self.on_answered,
            },
        )
        self._joined: dict[str, MemberJoined] = {}
        self._unsettled: dict[str, Event] = {}

    def on_gone(self, event: MemberEvent) -> None:
        """It belongs to no generation."""
        self._joined.pop(event.member, None)
        self._unsettled[event.member] = event

    def on_ended(self, event: MemberEvent) -> None:
        """The process ended."""
        self._joined.pop(event.member, None)
        self._unsettled.pop(event.member, None)

    def on_joined(self, event: MemberJoined) -> None:
        """Its generation, once the SyncGroup is answered."""
        self._joined[event.member] = event

    def on_sent(self, event: RequestSent) -> None:
        """From JoinGroup on it is not settled, and what it commits meanwhile it may not own any more."""
        if event.api == Api.JOIN_GROUP:
            self._unsettled[event.member] = event
        elif event.api == Api.OFFSET_COMMIT and event.generation != NO_GENERATION:
            self._look(event)

    def on_answered(self, event: RequestAnswered) -> None:
        """With the answer to its SyncGroup it is."""
        if event.api == Api.SYNC_GROUP and event.error == "NONE" and event.member in self._joined:
            self._unsettled.pop(event.member, None)

    def _look(self, event: RequestSent) -> None:
        unsettled, joined = self._unsettled.get(event.member), self._joined.get(event.member)
        if unsettled is not None:
            self.contradiction(
                f"{event.member} commits for generation {event.generation} and is not settled in any",
                (f"{event.member} is not settled since {STEP}.", unsettled),
                (f"it sent an OffsetCommit for generation {event.generation} at {STEP}: contradiction.", event),
            )
        elif joined is not None and joined.generation != event.generation:
            self.contradiction(
                f"{event.member} commits for generation {event.generation} in generation {joined.generation}",
                (f"{event.member} joined generation {joined.generation} at {STEP}.", joined),
                (f"it sent an OffsetCommit for generation {event.generation} at {STEP}: contradiction.", event),
            )


_REQUESTS: Final = "the history holds what members send (RequestSent), and how it is answered"

OneChainInFlight: Final = Invariant(
    name="one_chain_in_flight",
    family="clients",
    claim="a member has one JoinGroup or SyncGroup on its way at a time, and sends no heartbeat during a JoinGroup",
    source="AbstractCoordinator.joinFuture, HeartbeatThread",
    premises=(_REQUESTS, "a member that leaves takes back what is on its way"),
    exempted_by=(
        MemberStarted,
        RequestAnswered,
    ),
    violation=OneChainInFlightViolated,
    fold=_Chain,
)
"""A member has one JoinGroup or SyncGroup on its way at a time, and sends no heartbeat while it is a JoinGroup.

The smallest history that breaks it::

    RequestSent(member="m0", api="JoinGroup", request=0)
    RequestSent(member="m0", api="JoinGroup", request=1)
"""

CommitsWhenStable: Final = Invariant(
    name="commits_when_stable",
    family="clients",
    claim="a member sends commits for its present generation, and only between its SyncGroup and its next JoinGroup",
    source="ConsumerCoordinator.sendOffsetCommitRequest (generationIfStable)",
    premises=(_REQUESTS, "a commit without a generation is made outside of the group"),
    relies_on=frozenset({Feature.SYNC_GROUP}),
    exempted_by=(
        MemberJoined,
        RequestAnswered,
    ),
    violation=CommitsWhenStableViolated,
    fold=_Commits,
)
"""A member sends commits for its present generation, and only between its SyncGroup's answer and its next JoinGroup.

The smallest history that breaks it::

    RequestSent(member="m0", api="JoinGroup", request=0, generation=1)
    RequestSent(member="m0", api="OffsetCommit", request=1, generation=1)
"""

RequestEndsOnce: Final = Invariant(
    name="request_ends_once",
    family="clients",
    claim="a request of a member is answered or given up once",
    source="ConsumerNetworkClient.RequestFutureCompletionHandler: a future is completed once",
    premises=(_REQUESTS, "requests of a process are numbered, and the numbers of one that starts begin anew"),
    exempted_by=(
        MemberStarted,
        RequestSent,
    ),
    violation=RequestEndsOnceViolated,
    fold=_Ends,
)
"""A request of a member is answered or given up once.

The smallest history that breaks it::

    RequestAnswered(member="m0", api="Heartbeat", request=0, error=None)
    RequestAnswered(member="m0", api="Heartbeat", request=0, error="NONE")
"""

CLAIMS: Final = (OneChainInFlight, CommitsWhenStable, RequestEndsOnce)
"""In the order in which reports name them."""
