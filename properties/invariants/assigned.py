"""What members are assigned, as clients of any coordinator see it: what the leader of that generation sent."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import ReplyReceived, RequestIssued
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.verdict import STEP, Violation


class AssignmentIsOfItsGenerationViolated(Violation):
    """A SyncGroup was answered with an assignment that no member sent in its generation."""


class _OfItsGeneration(Fold):
    """By generation the assignments that a SyncGroup brought; those of who does not lead count, too."""

    bookkeeping = frozenset({RequestIssued})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RequestIssued: self.on_issued, ReplyReceived: self.on_received})
        self.compared = 0
        self._open: dict[int, RequestIssued] = {}
        self._sent: dict[int, set[str]] = {}

    def on_issued(self, event: RequestIssued) -> None:
        """What may be handed out in that generation from here on."""
        if event.api == Api.SYNC_GROUP:
            self._open[event.request] = event
            sent = self._sent.setdefault(event.request_generation, set())
            sent.update(text for _, text in event.assignments)

    def on_received(self, event: ReplyReceived) -> None:
        """Something of that, or nothing."""
        request = self._open.pop(event.request, None)
        if request is None or not event.assignment:
            return
        self.compared = (self.compared or 0) + 1
        if event.assignment not in self._sent[request.request_generation]:
            self.contradiction(
                f"{request.member_id} is assigned what no member sent in generation {request.request_generation}",
                (f"{request.member_id} asks for its assignment of generation {request.request_generation} at {STEP};",
                 request),
                (f"it is answered {event.assignment} at {STEP}, which no SyncGroup of that generation brought: "
                 "contradiction.", event),
            )  # fmt: skip


AssignmentIsOfItsGeneration: Final = Invariant(
    name="assignment_is_of_its_generation",
    family="observed",
    claim="a SyncGroup is answered with an assignment that a SyncGroup of the same generation brought, or with none",
    source="ClassicGroup.assignment; GroupMetadataManager.setAndPropagateAssignment",
    premises=("the history holds what clients sent and received (RequestIssued, ReplyReceived)",),
    relies_on=frozenset({Feature.LEADER, Feature.GENERATIONS}),
    exempted_by=(RequestIssued,),
    violation=AssignmentIsOfItsGenerationViolated,
    fold=_OfItsGeneration,
)
"""Whom the leader forgot is assigned nothing, not what it had before.

The smallest history that breaks it::

    RequestIssued(client="b", api="SyncGroup", request=1, member_id="b-1", request_generation=2)
    ReplyReceived(request=1, error="NONE", assignment="5f1d9c2a")
"""

CLAIMS: Final = (AssignmentIsOfItsGeneration,)
"""In the order in which reports name them."""
