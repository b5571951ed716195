"""How a dynamic member ends: it leaves the group, so that the others need not wait for its session to end."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import ProcessEnded
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.wire.client import CHAIN, Client
from rebalance_check.properties.wire.errors import TERMINATE
from rebalance_check.properties.wire.wire_fold import DISTURBANCES, FAMILY, ONE_MEMBER, WireFold


class LeavesOnCloseViolated(Violation):
    """A dynamic member closed in good order and did not leave its group."""


class _Leaves(WireFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ProcessEnded: self.on_ended})

    def on_ended(self, event: ProcessEnded) -> None:
        """It was asked to end, and ended with status 0."""
        for client in self.memory.clients_of(event.process):
            if event.exit_status == 0 and self._can_leave(client):
                self.test(
                    f"{client.name} ends without LeaveGroup" if client.is_member else "",
                    (f"{client.name} was asked to end at {STEP};", client.process.asked),
                    at=event,
                )

    def _can_leave(self, client: Client) -> bool:
        """It has joined as a dynamic member, joins no rebalance right now, and its coordinator was reachable."""
        process, was_member = client.process, client.is_member or client.since.left is not None
        is_asked = process.asked is not None and process.asked.signal == TERMINATE and process.paused is None
        is_kept = client.is_static or client.is_cut_off or client.waits_for(*CHAIN) is not None
        return is_asked and was_member and not is_kept


LeavesOnClose: Final = Invariant(
    name="wire_leaves_on_close",
    family=FAMILY,
    claim="a process that is asked to end, and ends with status 0, sends LeaveGroup for its dynamic member",
    source="AbstractCoordinator.close, maybeLeaveGroup",
    premises=(
        ONE_MEMBER,
        "the application closes its client before it ends, and does not ask it to stay (internal.leave.group.on.close)",
        "a client that waits in a rebalance, or does not reach its coordinator, may end without",
    ),
    exempted_by=DISTURBANCES,
    violation=LeavesOnCloseViolated,
    fold=_Leaves,
)
"""A dynamic member whose process ends in good order leaves its group.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m")
    ProcessSignalled(process="p0", signal="terminate")
    ProcessEnded(process="p0", exit_status=0)
"""

CLAIMS: Final = (LeavesOnClose,)
"""In the order in which reports name them."""
