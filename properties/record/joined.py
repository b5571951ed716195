"""What a member says that it claimed when it joined, and what its leader says that it read of that, is what the
JoinGroup of the member claimed."""

from __future__ import annotations

from collections import deque
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    Event,
    MemberEvent,
    MemberJoined,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.recent import DEPARTED, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

KEPT: Final = 16
"""So many JoinGroups are kept of a member id."""


class JoinsRecordTheirClaimsViolated(Violation):
    """A member joined a generation, and records other partitions than those that its JoinGroup claimed."""


class LeadersRecordWhatWasClaimedViolated(Violation):
    """A leader records that a member claimed other partitions, or of another generation, than the member sent."""


class _Joins(SimulatedFold):
    """Per member: the JoinGroups that wait for an answer, by number, and the one that was accepted last."""

    def __init__(self, invariant: Invariant, more: dict[type[Event], Handler] | None = None) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            MemberJoined: self.on_joined,
        }
        super().__init__(invariant, {**handlers, **(more or {})})
        self.compared = 0
        self._sent: dict[str, dict[int, RequestSent]] = {}
        self._accepted: dict[str, RequestSent] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process has sent nothing."""
        self._sent.pop(event.member, None)
        self._accepted.pop(event.member, None)

    def on_sent(self, event: RequestSent) -> None:
        """It claims what its first protocol does."""
        if event.api == Api.JOIN_GROUP:
            self._sent.setdefault(event.member, {})[event.request] = event

    def on_answered(self, event: RequestAnswered) -> None:
        """The member joins with what this request claimed."""
        sent = self._sent.get(event.member, {}).pop(event.request, None)
        if sent is not None and event.error == ACCEPTED:
            self._accepted[event.member] = sent

    def on_joined(self, event: MemberJoined) -> None:
        """It learns its member id, and its generation."""
        sent = self._accepted.get(event.member)
        if sent is not None and self.run.is_recorded:
            self.look_at_member(sent, event)

    def look_at_member(self, sent: RequestSent, event: MemberJoined) -> None:
        """The member joined with what it had ``sent``."""


class _Claimed(_Joins):
    bookkeeping = frozenset({*PROCESS, RequestAnswered, RequestSent})
    needs = ((MemberJoined,), (RequestSent,))

    def look_at_member(self, sent: RequestSent, event: MemberJoined) -> None:
        """It records the same."""
        self.compared = (self.compared or 0) + 1
        if sorted(sent.owned) != sorted(event.owned_partitions):
            recorded = ", ".join(event.owned_partitions) or "nothing"
            self.contradiction(
                f"{event.member} joined with a claim to {', '.join(sent.owned) or 'nothing'}, and records {recorded}",
                (f"its JoinGroup claims {', '.join(sent.owned) or 'nothing'} at {STEP};", sent),
                (f"it joins at {STEP}, and records that it claimed {recorded}: contradiction.", event),
            )


class _Read(_Joins):
    """Per member id: the last JoinGroups that were sent under it, or that it was given for.

    A leader may read an older one than the last: that of a static member that is silent stays as it was.
    """

    bookkeeping = frozenset({*PROCESS, MemberJoined, RequestAnswered, RequestSent})
    needs = ((AssignmentComputed,), (RequestSent,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {AssignmentComputed: self.on_computed})
        self._by_id: Recent[str, deque[RequestSent]] = Recent(DEPARTED)

    def on_sent(self, event: RequestSent) -> None:
        """A member that has an id says it."""
        super().on_sent(event)
        if event.api == Api.JOIN_GROUP and event.member_id:
            self._note(event.member_id, event)

    def look_at_member(self, sent: RequestSent, event: MemberJoined) -> None:
        """One that had none is given one."""
        if not sent.member_id:
            self._note(event.member_id, sent)

    def _note(self, member_id: str, sent: RequestSent) -> None:
        known = self._by_id.pop(member_id, deque(maxlen=KEPT))
        known.append(sent)
        self._by_id[member_id] = known

    def on_computed(self, event: AssignmentComputed) -> None:
        """What it was computed from is what the members sent."""
        owned = dict(event.owned_partitions)
        for member_id, generation in event.owned_generations if self.run.is_recorded else ():
            known = self._by_id.get(member_id)
            if known is not None:
                self._compare(event, member_id, (sorted(owned.get(member_id, ())), generation), known)

    def _compare(
        self, event: AssignmentComputed, member_id: str, read: tuple[list[str], int], known: deque[RequestSent]
    ) -> None:
        self.compared = (self.compared or 0) + 1
        if read not in [_claim_of(sent) for sent in known]:
            last = known[-1]
            self.contradiction(
                f"the leader {event.member} read of {member_id} another claim than {last.member} sent",
                (f"{last.member} claimed {_spelt(*_claim_of(last))} at {STEP}, as {member_id}, and never what the "
                 "leader read;", last),
                (f"{event.member} computed an assignment at {STEP} from a claim of {member_id} to {_spelt(*read)}: "
                 "contradiction.", event),
            )  # fmt: skip


def _claim_of(sent: RequestSent) -> tuple[list[str], int]:
    """As its leader reads it: no generation, where the version has no place for one."""
    return sorted(sent.owned), NO_GENERATION if sent.claimed_generation is None else sent.claimed_generation


def _spelt(owned: list[str], generation: int) -> str:
    of = "no generation" if generation == NO_GENERATION else f"generation {generation}"
    return f"{', '.join(owned) or 'nothing'} of {of}"


JoinsRecordTheirClaims: Final = Invariant(
    name="joins_record_their_claims",
    family=FAMILY,
    claim="a member that joins a generation records the partitions that its JoinGroup claimed",
    source="KIP-429; ConsumerProtocolSubscription.json, OwnedPartitions",
    premises=(RECORDED,),
    exempted_by=(*PROCESS, RequestAnswered, RequestSent),
    violation=JoinsRecordTheirClaimsViolated,
    fold=_Claimed,
)
"""Claims about what a member keeps over a rebalance read this record.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    RequestSent(member="m0", api="JoinGroup", request=1, owned=("t-0",))
    RequestAnswered(member="m0", api="JoinGroup", request=1, error="NONE", generation=2)
    MemberJoined(member="m0", generation=2, member_id="a")
"""

LeadersRecordWhatWasClaimed: Final = Invariant(
    name="leaders_record_what_was_claimed",
    family=FAMILY,
    claim="the partitions that a leader of consumers records as claimed by a member, and their generation, are those "
    "that a JoinGroup of that member claimed",
    source="KIP-792; ConsumerProtocolSubscription.json (OwnedPartitions, GenerationId)",
    premises=(
        RECORDED,
        f"one of the last {KEPT} JoinGroups under a member id is what the coordinator has of it",
        "a member that was given its id and has not joined yet is not compared",
    ),
    exempted_by=(*PROCESS, MemberJoined, RequestAnswered, RequestSent),
    violation=LeadersRecordWhatWasClaimedViolated,
    fold=_Read,
)
"""Claims about assignments read the record of the leader, those about what members claim the record of the members.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    RequestSent(member="m0", api="JoinGroup", request=1, member_id="a", owned=("t-0",), claimed_generation=1)
    AssignmentComputed(member="m1", generation=2, owned_partitions=(("a", ("t-0",)),), owned_generations=(("a", 2),))
"""

CLAIMS: Final = (JoinsRecordTheirClaims, LeadersRecordWhatWasClaimed)
"""In the order in which reports name them."""
