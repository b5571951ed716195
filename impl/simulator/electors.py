"""Leader election in the simulator: candidates that act as the primary, or do not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random

from rebalance_check.impl.client.elector import PRIMARY, ElectionFailed, LeaderElector
from rebalance_check.impl.protocol.leader_election import PROTOCOL_NAME, Identity
from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.application import WokenUp, pending_of, record_start, standing_of
from rebalance_check.impl.simulator.group_config import SimulatedGroupConfig
from rebalance_check.impl.simulator.network import unnoticed

PORT = 8081


class ElectorApplication(LeaderElector):
    """A candidate, and nothing else to do."""

    def __init__(
        self,
        name: str,
        settings: SimulatedGroupConfig,
        recorder: Recorder,
        *,
        plan: Callable[[], FaultPlan],
        on_strike: Callable[[FaultKind], None] = unnoticed,
        sticky: bool = False,
        random: Random,
        jitter: Random,
    ) -> None:
        identity = Identity(name, PORT, scheme="http")
        config = settings.client(name)
        super().__init__(config, recorder, member=name, identity=identity, sticky=sticky, random=jitter)
        self._random = random
        self._plan = plan
        self._on_strike = on_strike
        self._waits_until_ms = 0
        record_start(recorder, name, config, "eager", offered=(PROTOCOL_NAME,), poll_ms=settings.long_poll_ms)

    def poll(self, now_ms: int) -> None:
        """As Schema Registry does: an election that failed is waited out, and heartbeats go on."""
        with suppress(ElectionFailed, WokenUp):
            super().poll(now_ms)

    def on_join_complete(self, generation_id: int, member_id: str, protocol: str, assignment: bytes) -> None:
        """As the base class, if nothing unexpected happens before. After an election that failed it polls more slowly.

        Raises: `WokenUp` as often as the fault plan says.
        """
        if (chance := self._plan().wake_up) and self._random.random() < chance:
            self._on_strike(FaultKind.WAKE_UP)
            raise WokenUp
        try:
            super().on_join_complete(generation_id, member_id, protocol, assignment)
        except ElectionFailed:
            self._waits_until_ms = self._now_ms + self.config.retry_backoff_ms
            raise

    def next_poll(self) -> int | None:
        """As the base class, but not before the back-off that follows an election that failed."""
        due = super().next_poll()
        return None if due is None else max(due, self._waits_until_ms)

    def work(self, now_ms: int) -> None:
        """A primary has nothing to wait for."""

    @property
    def holds(self) -> tuple[str, ...]:
        """The role, if it is this member's."""
        return (PRIMARY,) if self.is_primary else ()

    def pending(self) -> str:
        """The thing that this member waits for; empty when it is settled."""
        return pending_of(self)

    def standing(self) -> tuple[int, str]:
        """Generation and member id."""
        return standing_of(self)
