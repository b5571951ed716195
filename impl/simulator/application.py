"""What a simulated application shows of its membership, whatever the group is for."""

from __future__ import annotations

from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.generation import MemberState


class MembershipView(Coordinator):
    """Part of an `Application` that is a `Coordinator` itself."""

    def pending(self) -> str:
        """What this member waits for; empty when it is settled."""
        if self.state is not MemberState.STABLE:
            return f"is {self.state.value}"
        return "wants to join again" if self.rejoin_needed_or_pending() else ""

    def standing(self) -> tuple[int, str]:
        """Generation and member id."""
        generation = self.generation()
        return generation.generation_id, generation.member_id
