"""What a member makes of answers: when it gives up its membership and its id, and for whom it speaks meanwhile."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
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
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Because, Violation
from rebalance_check.properties.views.recent import WAITING, Recent

ENDS_MEMBERSHIP: Final = frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID"})
ENDS_IDENTITY: Final = ENDS_MEMBERSHIP - {"ILLEGAL_GENERATION"}
SPEAKS_FOR_A_GENERATION: Final = frozenset({Api.HEARTBEAT, Api.SYNC_GROUP, Api.OFFSET_COMMIT})
NOT_NOTIFIED: Final = "not notified"
"""The reason where a client does not show why it lost its membership."""
GIVEN_UP_FREELY: Final = ("poll timeout", "unsubscribed", "taking too long", NOT_NOTIFIED)
"""How the reasons are recorded of a member that left by itself, or of which nothing says that it did not."""


class MembershipEndsForAReasonViolated(Violation):
    """A member gave its membership up although no answer took it away."""


class MemberIdIsKeptViolated(Violation):
    """A member that no answer called unknown came back under another member id."""


class HeartbeatNamesAMemberViolated(Violation):
    """A Heartbeat was sent for no generation."""


class LeaveIsLastViolated(Violation):
    """A member spoke for a generation that it had left."""


class _Refusals(Fold):
    """Per member: the generation of each request, and the last answer that may end a membership."""

    bookkeeping = frozenset({RequestAnswered, RequestSent})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant, {RequestSent: self.on_sent, RequestAnswered: self.on_answered, MembershipLost: self.on_lost}
        )
        self._sent: dict[tuple[str, int], RequestSent] = Recent(WAITING)
        self._refused: dict[tuple[str, str], tuple[RequestSent | None, RequestAnswered]] = {}

    def on_sent(self, event: RequestSent) -> None:
        """Remember what it was sent for."""
        self._sent[event.member, event.request] = event

    def on_answered(self, event: RequestAnswered) -> None:
        """Remember who said so."""
        sent = self._sent.pop((event.member, event.request), None)
        if event.error in ENDS_MEMBERSHIP:
            self._refused[event.member, event.error] = (sent, event)

    def on_lost(self, event: MembershipLost) -> None:
        """A reason that is an error must be one of three, and have been answered to a request of that generation."""
        if not event.reason.isupper():
            return  # the member left by itself
        refused = self._refused.pop((event.member, event.reason), None)
        if event.reason not in ENDS_MEMBERSHIP:
            self.contradiction(
                f"{event.member} gave generation {event.generation} up because of {event.reason}",
                (f"{event.reason} does not end a membership; {event.member} lost it at {STEP}: contradiction.", event),
            )
        elif refused is not None and _is_of_another_generation(refused[0], event):
            self.contradiction(
                f"{event.member} gave generation {event.generation} up because of an answer to an older one",
                (f"{event.reason} was answered at {STEP} to a request of an earlier generation.", refused[1]),
                (f"{event.member} gave generation {event.generation} up at {STEP}: contradiction.", event),
            )


def _is_of_another_generation(sent: RequestSent | None, event: MembershipLost) -> bool:
    """Kafka's client gives up also after a late answer to OffsetCommit; JoinGroup is sent for no generation."""
    return sent is not None and sent.api in {Api.HEARTBEAT, Api.SYNC_GROUP} and sent.generation != event.generation


class _Identities(Fold):
    """Per member: the join under its present member id, until something allows another one."""

    bookkeeping = frozenset(
        {AssignmentCompleted, MemberCrashed, MemberLeft, MemberStarted, MembershipLost, RequestAnswered, RequestSent}
    )

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_over, MemberCrashed: self.on_over, MemberLeft: self.on_over,
            RequestSent: self.on_sent, RequestAnswered: self.on_answered, MembershipLost: self.on_lost,
            MemberJoined: self.on_joined, AssignmentCompleted: self.on_completed,
        }  # fmt: skip
        super().__init__(invariant, handlers)
        self._joined: dict[str, MemberJoined] = {}
        self._completing: set[str] = set()

    def on_over(self, event: MemberEvent) -> None:
        """Another process has another id."""
        self._joined.pop(event.member, None)
        self._completing.discard(event.member)

    def on_sent(self, event: RequestSent) -> None:
        """A member that leaves comes back as another one."""
        if event.api == Api.LEAVE_GROUP:
            self._joined.pop(event.member, None)

    def on_answered(self, event: RequestAnswered) -> None:
        """The id means nothing to the coordinator any more; or an assignment is known, and to be applied."""
        if event.error in ENDS_IDENTITY:
            self._joined.pop(event.member, None)
        elif event.api == Api.SYNC_GROUP and event.error == "NONE":
            self._completing.add(event.member)

    def on_completed(self, event: AssignmentCompleted) -> None:
        """The assignment is applied."""
        self._completing.discard(event.member)

    def on_lost(self, event: MembershipLost) -> None:
        """It left without a word, because it could not, or need not, send one; or it had not completed its join."""
        is_overtaken = event.member in self._completing and event.reason == "ILLEGAL_GENERATION"
        if is_overtaken or any(words in event.reason for words in GIVEN_UP_FREELY):
            self._joined.pop(event.member, None)

    def on_joined(self, event: MemberJoined) -> None:
        """The same member, the same id."""
        self._completing.discard(event.member)
        before = self._joined.get(event.member)
        if before is not None and before.member_id and event.member_id not in {"", before.member_id}:
            self.contradiction(
                f"{event.member} joined as {event.member_id} and had been {before.member_id}",
                (f"{event.member} joined as {before.member_id} at {STEP}, and no reply called it unknown.", before),
                (
                    f"it joined as {event.member_id} at {STEP}, and leaves its former member id behind in the group: "
                    "contradiction.",
                    event,
                ),
            )
        self._joined[event.member] = event


class _Heartbeats(Fold):
    """Nothing is remembered: the request says it."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RequestSent: self.on_sent})

    def on_sent(self, event: RequestSent) -> None:
        """A heartbeat carries a generation."""
        if event.api == Api.HEARTBEAT and event.generation < 0:
            self.violated(
                f"{event.member} sent a Heartbeat, and is in no generation",
                [Because(f"the Heartbeat of {STEP} carries generation {event.generation}: contradiction.", event)],
                [event],
            )


class _Leaves(Fold):
    """Per member: the LeaveGroup that ended its membership, until it joins again."""

    bookkeeping = frozenset({MemberStarted})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberStarted: self.on_started, RequestSent: self.on_sent})
        self._left: dict[str, RequestSent] = {}

    def on_started(self, event: MemberStarted) -> None:
        """Another process has not left."""
        self._left.pop(event.member, None)

    def on_sent(self, event: RequestSent) -> None:
        """After LeaveGroup only JoinGroup makes sense."""
        if event.api == Api.LEAVE_GROUP:
            self._left[event.member] = event
        elif event.api == Api.JOIN_GROUP:
            self._left.pop(event.member, None)
        elif event.api in SPEAKS_FOR_A_GENERATION and event.member in self._left:
            self.contradiction(
                f"{event.member} sent {event.api} for generation {event.generation} after it had left",
                (f"{event.member} sent LeaveGroup at {STEP}.", self._left[event.member]),
                (f"it sent {event.api} at {STEP}, which no coordinator can accept any more: contradiction.", event),
            )


MembershipEndsForAReason: Final = Invariant(
    name="membership_ends_for_a_reason",
    family="identity",
    claim="a member gives its generation up only when an answer to a request of that generation says that it is over",
    source="AbstractCoordinator.resetStateOnResponseError; ConsumerCoordinator.OffsetCommitResponseHandler",
    premises=(
        "MembershipLost names Kafka's error, or says in other words that the member left by itself",
        "an answer to OffsetCommit may be late: Kafka's client believes it all the same",
    ),
    violation=MembershipEndsForAReasonViolated,
    fold=_Refusals,
)
"""UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION and FENCED_INSTANCE_ID end a membership, and no other error does.

Source: the error tables of ``AbstractCoordinator`` (KAFKA-8487, KAFKA-9823, KAFKA-13214, KAFKA-14016 broke them).

The smallest history that breaks it::

    MembershipLost(member="m0", generation=1, reason="REBALANCE_IN_PROGRESS")
"""

MemberIdIsKept: Final = Invariant(
    name="member_id_is_kept",
    family="identity",
    claim="a member comes back under its member id, unless that was unknown or fenced, or it had left",
    source="AbstractCoordinator.resetStateAndGeneration, joinGroupIfNeeded; KAFKA-13419, KAFKA-13214",
    premises=(
        "the history holds the answers to the member's requests",
        "a started process is another member",
        "ILLEGAL_GENERATION between SyncGroup's answer and its completion takes the id, too: Kafka's client forgets it",
    ),
    exempted_by=(
        MemberCrashed,
        MemberLeft,
        MemberStarted,
        MembershipLost,
        RequestAnswered,
        RequestSent,
    ),
    violation=MemberIdIsKeptViolated,
    fold=_Identities,
)
"""A member that drops its id needlessly leaves it behind in the group, and for it which the next rebalance waits.

Source: ``AbstractCoordinator``: only UNKNOWN_MEMBER_ID and FENCED_INSTANCE_ID take the id away.

The smallest history that breaks it::

    MemberJoined(member="m0", generation=1, member_id="m0-1")
    MemberJoined(member="m0", generation=2, member_id="m0-2")
"""

HeartbeatNamesAMember: Final = Invariant(
    name="heartbeat_names_a_member",
    family="identity",
    claim="a Heartbeat is sent for a generation",
    source="AbstractCoordinator.HeartbeatThread, which rests while the member has no generation",
    premises=("RequestSent tells the generation of a Heartbeat",),
    violation=HeartbeatNamesAMemberViolated,
    fold=_Heartbeats,
)
"""A member that fell out of its generation is silent until it has joined again.

Source: ``AbstractCoordinator.HeartbeatThread``.

The smallest history that breaks it::

    RequestSent(member="m0", api="Heartbeat", request=0)
"""

LeaveIsLast: Final = Invariant(
    name="leave_is_last",
    family="identity",
    claim="after LeaveGroup a member sends nothing for the generation that it left",
    source="AbstractCoordinator.close; ConsumerCoordinator.maybeAutoCommitOffsetsSync",
    premises=("requests are recorded in the order in which they are sent",),
    exempted_by=(MemberStarted,),
    violation=LeaveIsLastViolated,
    fold=_Leaves,
)
"""The last commit goes out before LeaveGroup: behind it, it is refused, and what was processed is processed again.

Source: ``ConsumerCoordinator.close``.

The smallest history that breaks it::

    RequestSent(member="m0", api="LeaveGroup", request=0)
    RequestSent(member="m0", api="OffsetCommit", request=1, generation=1)
"""

CLAIMS: Final = (MembershipEndsForAReason, MemberIdIsKept, HeartbeatNamesAMember, LeaveIsLast)
"""In the order in which reports name them."""
