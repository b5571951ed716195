"""The commit that precedes a rebalance: onJoinPrepare waits for its answer, and nothing is read meanwhile."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ON_JOIN_PREPARE,
    UNFINISHED,
    CallbackEnded,
    CallbackStarted,
    Event,
    MemberEvent,
    MemberStarted,
    OffsetCommitted,
    PartitionsRevoked,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS

EAGER: Final = "eager"


class OneCommitPrecedesAJoinViolated(Violation):
    """A member sent the commit that precedes a rebalance again, and the first one was not answered."""


class RevokedWhereCommittedViolated(Violation):
    """A member read on after the commit that preceded the revocation of a partition."""


class Preparation:
    """An onJoinPrepare that may take several calls.

    ``is_inside`` says that a call runs, ``waits_for`` is the last commit that a call sent which came back unfinished,
    ``sent`` the one of the present call. ``is_read`` says that the answer to such a commit is being read, ``committed``
    has the commits that were accepted by it, by partition.
    """

    __slots__ = ("committed", "is_inside", "is_read", "sent", "waits_for")

    def __init__(self) -> None:
        self.is_inside = True
        self.is_read = False
        self.sent: RequestSent | None = None
        self.waits_for: RequestSent | None = None
        self.committed: dict[str, OffsetCommitted] = {}


OF_A_PREPARATION: Final[frozenset[type[Event]]] = frozenset({*PROCESS, CallbackStarted, RequestSent, RequestAnswered})
"""What is followed of a preparation, and breaks no claim by itself."""


class PreparationFold(Fold):
    """Per member: the preparation that is under way."""

    bookkeeping = OF_A_PREPARATION

    def __init__(self, invariant: Invariant, handlers: dict[type[Event], Handler] | None = None) -> None:
        ours: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            CallbackStarted: self.on_call,
            CallbackEnded: self.on_return,
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
        }
        super().__init__(invariant, {**ours, **(handlers or {})})
        self.compared = 0
        self.under_way: dict[str, Preparation] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process prepares nothing."""
        self.under_way.pop(event.member, None)

    def on_call(self, event: CallbackStarted) -> None:
        """The first call, or one more."""
        if event.callback == ON_JOIN_PREPARE:
            self.under_way.setdefault(event.member, Preparation()).is_inside = True

    def on_return(self, event: CallbackEnded) -> None:
        """The preparation is over, or waits for what the call sent."""
        one = self.under_way.get(event.member)
        if event.callback != ON_JOIN_PREPARE or one is None:
            return
        if event.outcome != UNFINISHED:
            del self.under_way[event.member]
        elif one.sent is not None:
            self.look(one, event)
            one.waits_for = one.sent
        one.is_inside, one.sent = False, None

    def look(self, one: Preparation, event: CallbackEnded) -> None:
        """The call that ends sent a commit, and asks to be repeated."""

    def on_sent(self, event: RequestSent) -> None:
        """A commit of the call that runs."""
        one = self.under_way.get(event.member)
        if one is not None and one.is_inside and event.api == Api.OFFSET_COMMIT:
            one.sent = event

    def on_answered(self, event: RequestAnswered) -> None:
        """The answer that the preparation waits for."""
        one = self.under_way.get(event.member)
        if one is not None:
            one.is_read = one.waits_for is not None and one.waits_for.request == event.request
            if one.is_read:
                one.waits_for = None


class _OneCommit(PreparationFold):
    def look(self, one: Preparation, event: CallbackEnded) -> None:
        """It waits for no other commit."""
        self.compared = (self.compared or 0) + 1
        if one.waits_for is not None and one.sent is not None:
            self.contradiction(
                f"{event.member} sends a second commit before it joins, and the first is not answered",
                (f"onJoinPrepare of {event.member} sent OffsetCommit {one.waits_for.request} at {STEP}, and waits for "
                 "its answer;", one.waits_for),
                (f"it sent OffsetCommit {one.sent.request} at {STEP}: contradiction.", one.sent),
            )  # fmt: skip


class _Where(PreparationFold):
    """An EAGER member reads nothing of a partition that waits for its last commit."""

    bookkeeping = OF_A_PREPARATION | {CallbackEnded, OffsetCommitted}
    needs = ((PartitionsRevoked,), (OffsetCommitted,), (CallbackStarted,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {OffsetCommitted: self.on_committed, PartitionsRevoked: self.on_revoked})
        self._eager: set[str] = set()

    def on_process(self, event: MemberEvent) -> None:
        """Whether the new one is EAGER."""
        super().on_process(event)
        if isinstance(event, MemberStarted) and event.protocol == EAGER:
            self._eager.add(event.member)
        else:
            self._eager.discard(event.member)

    def on_committed(self, event: OffsetCommitted) -> None:
        """Part of the answer that the preparation waits for."""
        one = self.under_way.get(event.member)
        if one is not None and one.is_read:
            if event.error == "NONE":
                one.committed[event.partition] = event
            else:
                one.committed.pop(event.partition, None)

    def on_revoked(self, event: PartitionsRevoked) -> None:
        """At the positions of that commit."""
        one = self.under_way.get(event.member)
        if one is None or event.member not in self._eager:
            return
        for partition, position in event.positions:
            committed = one.committed.get(partition)
            if committed is None:
                continue
            self.compared = (self.compared or 0) + 1
            if committed.offset != position:
                self.contradiction(
                    f"{event.member} read {partition} on after its last commit",
                    (f"{event.member} committed {partition} at offset {committed.offset} before it joins, as was "
                     f"answered at {STEP};", committed),
                    (f"it gives {partition} up at offset {position} at {STEP}: what lies between is delivered again: "
                     "contradiction.", event),
                )  # fmt: skip


_PREMISES: Final = (
    "what a coordinator calls is recorded (CallbackStarted, CallbackEnded)",
    "a call of onJoinPrepare that asks to be repeated waits for the commit that it sent",
)

OneCommitPrecedesAJoin: Final = Invariant(
    name="one_commit_precedes_a_join",
    family=FAMILY,
    claim="while onJoinPrepare waits for the commit that precedes a rebalance, it sends no other",
    source="ConsumerCoordinator.onJoinPrepare (autoCommitOffsetRequestFuture, KAFKA-13310)",
    premises=_PREMISES,
    exempted_by=(CallbackEnded, CallbackStarted, RequestAnswered),
    violation=OneCommitPrecedesAJoinViolated,
    fold=_OneCommit,
)
"""While onJoinPrepare waits for the commit that precedes a rebalance, it sends no other.

The smallest history that breaks it::

    CallbackStarted(member="m0", callback="onJoinPrepare", generation=1)
    RequestSent(member="m0", api="OffsetCommit", request=1, generation=1)
    CallbackEnded(member="m0", callback="onJoinPrepare", outcome="unfinished")
    CallbackStarted(member="m0", callback="onJoinPrepare", generation=1)
    RequestSent(member="m0", api="OffsetCommit", request=2, generation=1)
    CallbackEnded(member="m0", callback="onJoinPrepare", outcome="unfinished")
"""

RevokedWhereCommitted: Final = Invariant(
    name="revoked_where_committed",
    family=FAMILY,
    claim="an EAGER member gives a partition up at the offset that it committed before it joins: it reads nothing "
    "while it waits for that commit",
    source="ConsumerCoordinator.onJoinPrepare (SubscriptionState.markPendingRevocation, KAFKA-14196)",
    premises=(*_PREMISES, "the positions of what is revoked are recorded (PartitionsRevoked.positions)"),
    exempted_by=(CallbackEnded, CallbackStarted, OffsetCommitted, RequestAnswered, RequestSent),
    violation=RevokedWhereCommittedViolated,
    fold=_Where,
)
"""An EAGER member reads nothing of a partition between the commit that precedes its revocation and the revocation.

The smallest history that breaks it::

    MemberStarted(member="m0", protocol="eager")
    CallbackStarted(member="m0", callback="onJoinPrepare", generation=1)
    RequestSent(member="m0", api="OffsetCommit", request=1, generation=1)
    CallbackEnded(member="m0", callback="onJoinPrepare", outcome="unfinished")
    RequestAnswered(member="m0", api="OffsetCommit", request=1, error="NONE")
    OffsetCommitted(member="m0", generation=1, partition="t-0", offset=5, error="NONE")
    CallbackStarted(member="m0", callback="onJoinPrepare", generation=1)
    PartitionsRevoked(member="m0", generation=1, partitions=("t-0",), positions=(("t-0", 7),))
"""

CLAIMS: Final = (OneCommitPrecedesAJoin, RevokedWhereCommitted)
"""In the order in which reports name them."""
