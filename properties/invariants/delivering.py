"""A member that was answered that it is no member gives its application no more records."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RecordsDelivered,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import Recent

OPEN: Final = 64
"""So many requests of a member are remembered while they wait for their answer."""

ENDS: Final[dict[str, frozenset[str]]] = {
    Api.HEARTBEAT: frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID"}),
    Api.SYNC_GROUP: frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}),
    Api.OFFSET_COMMIT: frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}),
}
"""The answers after which a client resets its generation, by request."""


class FormerMemberReadsNothingViolated(Violation):
    """A member gave its application records although it had been answered that its membership is over."""


class _Reader:
    """What one process sent, in which generation it was accepted, and what refused it since.

    ``poll`` is the first delivery since then: its poll may have been under way.
    """

    def __init__(self) -> None:
        self.open: Recent[int, RequestSent] = Recent(OPEN)
        self.join = -1
        self.generation = -1
        self.knows_its_coordinator = False
        self.refused: RequestAnswered | None = None
        self.poll: RecordsDelivered | None = None

    @property
    def awaits_a_commit(self) -> bool:
        """Whether it may be waiting for the commit that precedes a rebalance, and read on meanwhile."""
        return any(sent.api == Api.OFFSET_COMMIT for sent in self.open.values())

    def is_present(self, sent: RequestSent) -> bool:
        """Whether the request is of the generation that it is in, and it has not begun to join another since."""
        return sent.generation == self.generation >= 0 and self.join < sent.request


class _Deliveries(Fold):
    bookkeeping = frozenset(
        {MemberStarted, MemberCrashed, MemberLeft, CoordinatorFound, CoordinatorLost, RequestSent, RequestAnswered}
    )
    needs = ((RequestAnswered,), (RequestSent,), (CoordinatorFound,))

    def __init__(self, invariant: Invariant) -> None:
        gone: tuple[type[Event], ...] = (MemberStarted, MemberCrashed, MemberLeft)
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(gone, self.on_gone),
            CoordinatorFound: self.on_found,
            CoordinatorLost: self.on_lost,
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            RecordsDelivered: self.on_delivered,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._readers: dict[str, _Reader] = {}

    def _of(self, member: str) -> _Reader:
        reader = self._readers.get(member)
        if reader is None:
            reader = self._readers[member] = _Reader()
        return reader

    def on_gone(self, event: MemberEvent) -> None:
        """Another process knows nothing of it."""
        self._readers.pop(event.member, None)

    def on_found(self, event: CoordinatorFound) -> None:
        """From here on a poll begins to join."""
        self._of(event.member).knows_its_coordinator = True

    def on_lost(self, event: CoordinatorLost) -> None:
        """From here on a poll only looks for its coordinator."""
        self._of(event.member).knows_its_coordinator = False

    def on_sent(self, event: RequestSent) -> None:
        """An answer is judged by what the request says."""
        reader = self._of(event.member)
        reader.open[event.request] = event
        if event.api == Api.JOIN_GROUP:
            reader.join = event.request

    def on_answered(self, event: RequestAnswered) -> None:
        """It is accepted into a generation, has its assignment, or is no member any more."""
        reader = self._of(event.member)
        sent = reader.open.pop(event.request, None)
        if event.error == "NONE" and event.api == Api.JOIN_GROUP:
            reader.generation = event.generation
        elif event.error == "NONE" and event.api == Api.SYNC_GROUP:
            reader.refused = reader.poll = None
        elif sent is not None and event.error in ENDS.get(event.api, ()) and reader.is_present(sent):
            reader.refused, reader.poll = event, None

    def on_delivered(self, event: RecordsDelivered) -> None:
        """Two deliveries after the answer have the beginning of a poll between them, at which all is lost."""
        reader = self._of(event.member)
        if not reader.knows_its_coordinator or reader.awaits_a_commit:
            return
        self.compared = (self.compared or 0) + 1
        refused = reader.refused
        if refused is None:
            return
        if reader.poll is None:
            reader.poll = event
            return
        self.contradiction(
            f"{event.member} reads {', '.join(event.partitions)}, and is no member",
            (f"the {refused.api} of {event.member} was answered {refused.error} at {STEP};", refused),
            (f"a poll, which was perhaps under way, gave its application records at {STEP};", reader.poll),
            (f"the next one gave it records of {', '.join(event.partitions)} at {STEP}, and it had not joined again: "
             "contradiction.", event),
        )  # fmt: skip


FormerMemberReadsNothing: Final = Invariant(
    name="former_member_reads_nothing",
    family="clients",
    claim="a member that was answered UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION or, to a heartbeat, FENCED_INSTANCE_ID in "
    "its generation gives its application no records from its next poll on, until it has another assignment",
    source="AbstractCoordinator.resetStateOnResponseError, ensureActiveGroup; ConsumerCoordinator.onJoinPrepare",
    premises=(
        "the history holds what polls deliver (RecordsDelivered), and the requests of members",
        "a member that knows no coordinator, or waits for the answer to a commit, reads on: Kafka's consumers have no "
        "lease",
        "what the poll delivers that was under way is delivered",
    ),
    exempted_by=(
        CoordinatorFound,
        CoordinatorLost,
        MemberCrashed,
        MemberLeft,
        MemberStarted,
        RequestAnswered,
        RequestSent,
    ),
    violation=FormerMemberReadsNothingViolated,
    fold=_Deliveries,
)
"""The smallest history that breaks it::

    CoordinatorFound(member="m0", node=1)
    RequestSent(member="m0", api="JoinGroup", request=0)
    RequestAnswered(member="m0", api="JoinGroup", request=0, error="NONE", generation=1)
    RequestSent(member="m0", api="Heartbeat", request=1, generation=1)
    RequestAnswered(member="m0", api="Heartbeat", request=1, error="ILLEGAL_GENERATION")
    RecordsDelivered(member="m0", partitions=("t-0",))
    RecordsDelivered(member="m0", partitions=("t-0",))
"""

CLAIMS: Final = (FormerMemberReadsNothing,)
"""In the order in which reports name them."""
