"""What a simulated application shows of its membership, whatever the group is for."""

from __future__ import annotations

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import MemberStarted


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


def record_start(
    recorder: Recorder, member: str, config: ClientConfig, protocol: str, topics: tuple[str, ...] = ()
) -> None:
    """Record that the process ``member`` runs from now on, with what it is configured to and the topics it wants."""
    recorder.emit(
        MemberStarted(
            member=member,
            protocol=protocol,
            group_instance_id=config.group_instance_id or "",
            topics=topics,
            rebalance_timeout_ms=config.rebalance_timeout_ms,
            session_timeout_ms=config.session_timeout_ms,
        )
    )
