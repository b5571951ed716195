"""An elected group at rest: all its members know where its primary is reached."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    GroupRested,
    MemberEvent,
    MemberRested,
    TaskStarted,
    TaskStopped,
)
from rebalance_check.properties.invariants.rest_members import FAMILY, SETTLED, RestFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS


class PrimaryIsKnownToAllViolated(Violation):
    """A settled group has a primary, and one of its members does not know where that is reached."""


class _Primary(RestFold):
    """The processes that act as the primary, with what they began that with."""

    bookkeeping = frozenset({*PROCESS, TaskStarted, TaskStopped})
    needs = ((MemberRested,), (TaskStarted,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys((*PROCESS, TaskStopped), self.on_over),
            TaskStarted: self.on_acts,
            GroupRested: self.on_group,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._acts: dict[str, TaskStarted] = {}

    def on_over(self, event: MemberEvent) -> None:
        """It acts no longer."""
        self._acts.pop(event.member, None)

    def on_acts(self, event: TaskStarted) -> None:
        """What a candidate runs is its role."""
        self._acts[event.member] = event

    def on_group(self, _event: GroupRested) -> None:
        """All members were looked at."""
        candidates = [one for one in self.looks.now.members.values() if one.url]
        acting = [one for one in candidates if one.member in self._acts]
        if len(acting) != 1:
            return
        for one in candidates:
            self.compared = (self.compared or 0) + 1
            if one.primary != acting[0].url:
                self._report(one, acting[0])

    def _report(self, one: MemberRested, primary: MemberRested) -> None:
        self.contradiction(
            f"{one.member} takes the primary to be at {one.primary or 'no address'}, and it is at {primary.url}",
            (f"{primary.member} acts as the primary since {STEP},", self._acts[primary.member]),
            (f"and is reached at {primary.url}, as the settled group shows at {STEP};", primary),
            (f"{one.member} takes it to be at {one.primary or 'no address'} at {STEP}: contradiction.", one),
        )


PrimaryIsKnownToAll: Final = Invariant(
    name="primary_is_known_to_all",
    family=FAMILY,
    claim="while a member of a settled group acts as its primary, every member knows the address of that one",
    source="SchemaRegistryProtocol.Assignment (leaderIdentity); KafkaGroupLeaderElector.onAssigned, "
    "KafkaSchemaRegistry.setLeader",
    premises=(SETTLED, "candidates of an election say where they and their primary are reached (MemberRested.url)"),
    exempted_by=(*PROCESS, TaskStarted, TaskStopped),
    violation=PrimaryIsKnownToAllViolated,
    fold=_Primary,
)
"""A member that does not know its primary cannot forward what only the primary may do: it refuses all writes.

The smallest history that breaks it::

    TaskStarted(member="m0", generation=1, task="primary")
    MemberRested(member="m0", generation=1, url="http://m0:8081")
    GroupRested(status="Stable")
"""

CLAIMS: Final = (PrimaryIsKnownToAll,)
"""In the order in which reports name them."""
