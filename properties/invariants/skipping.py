"""Who is notified not to assign: a static leader that comes back to a group which goes on as it is (KIP-814)."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import Event, GroupStatusChanged, IncarnationStarted, JoinGroupReplied
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import ACCEPTED, IncarnationFold


class OnlyReturningLeadersSkipViolated(Violation):
    """A member was notified not to assign that does not lead, or whose group waits for an assignment."""


class _Skips(IncarnationFold):
    bookkeeping = frozenset({IncarnationStarted, GroupStatusChanged})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            IncarnationStarted: self.on_other,
            GroupStatusChanged: self.on_other,
            JoinGroupReplied: self.on_replied,
        }
        super().__init__(invariant, handlers)
        self.compared = 0

    def on_other(self, _event: Event) -> None:
        """The incarnations note it."""

    def on_replied(self, event: JoinGroupReplied) -> None:
        """A reply that says so goes to the leader of a Stable group."""
        if event.error != ACCEPTED or not event.skip_assignment:
            return
        self.compared = (self.compared or 0) + 1
        group = self.incarnations.current
        status = group.status if group is not None else ""
        who = event.assigned_member_id
        if event.leader != who:
            self._report(event, f"{event.leader or 'no member'} leads")
        elif status not in {"", GroupStatus.STABLE}:
            self._report(event, f"the group is {status}")

    def _report(self, event: JoinGroupReplied, why: str) -> None:
        self.contradiction(
            f"{event.assigned_member_id} is notified not to assign, and {why}",
            (f"{event.assigned_member_id} was answered skipAssignment at {STEP}, and {why}: contradiction.", event),
        )


OnlyReturningLeadersSkip: Final = Invariant(
    name="only_returning_leaders_skip",
    family="joining",
    claim="a reply to JoinGroup says skipAssignment only to the leader, and only in a group that is Stable",
    source="KIP-814; GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin",
    premises=("the history holds the coordinator's events, with its answers",),
    exempted_by=(GroupStatusChanged,),
    violation=OnlyReturningLeadersSkipViolated,
    fold=_Skips,
)
"""Only a static leader that comes back to a group which goes on as it is does not assign.

The smallest history that breaks it::

    JoinGroupReplied(incarnation=0, generation=1, request=1, error="NONE", reply_generation=1, assigned_member_id="a",
                     leader="b", skip_assignment=True)
"""

CLAIMS: Final = (OnlyReturningLeadersSkip,)
"""In the order in which reports name them."""
