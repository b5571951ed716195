"""What a member says that it claimed when it joined is what its JoinGroup claimed."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import Event, MemberEvent, MemberJoined, RequestAnswered, RequestSent
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class JoinsRecordTheirClaimsViolated(Violation):
    """A member joined a generation, and records other partitions than those that its JoinGroup claimed."""


class _Claimed(SimulatedFold):
    """Per member: the JoinGroups that wait for an answer, by number, and the one that was accepted last."""

    bookkeeping = frozenset({*PROCESS, RequestAnswered, RequestSent})
    needs = ((MemberJoined,), (RequestSent,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            MemberJoined: self.on_joined,
        }
        super().__init__(invariant, handlers)
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
        """It records the same."""
        sent = self._accepted.get(event.member)
        if sent is None or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if sorted(sent.owned) != sorted(event.owned_partitions):
            recorded = ", ".join(event.owned_partitions) or "nothing"
            self.contradiction(
                f"{event.member} joined with a claim to {', '.join(sent.owned) or 'nothing'}, and records {recorded}",
                (f"its JoinGroup claims {', '.join(sent.owned) or 'nothing'} at {STEP};", sent),
                (f"it joins at {STEP}, and records that it claimed {recorded}: contradiction.", event),
            )


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

CLAIMS: Final = (JoinsRecordTheirClaims,)
"""In the order in which reports name them."""
