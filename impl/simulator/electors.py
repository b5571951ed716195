"""Leader election in the simulator: candidates that act as the primary, or do not."""

from __future__ import annotations

from contextlib import suppress
from random import Random

from rebalance_check.impl.client.elector import PRIMARY, ElectionFailed, LeaderElector
from rebalance_check.impl.codecs.leader_election import Identity
from rebalance_check.impl.recorder import Recorder
from rebalance_check.impl.simulator.settings import GroupSettings
from rebalance_check.impl.simulator.standing import Standing
from rebalance_check.model.events import MemberStarted

PORT = 8081


class ElectorApplication(Standing, LeaderElector):
    """A candidate, and nothing else to do."""

    def __init__(
        self,
        name: str,
        settings: GroupSettings,
        recorder: Recorder,
        *,
        random: Random,  # noqa: ARG002 - what every application is started with
        defects: frozenset[str],
    ) -> None:
        identity = Identity(name, PORT, scheme="http")
        super().__init__(settings.client(name), recorder, member=name, identity=identity, defects=defects)
        recorder.emit(MemberStarted(member=name, protocol="eager"))

    def poll(self, now_ms: int) -> None:
        """As Schema Registry does: an election that failed is waited out, and heartbeats go on."""
        with suppress(ElectionFailed):
            super().poll(now_ms)

    def work(self, now_ms: int) -> None:
        """A primary has nothing to wait for."""

    @property
    def holds(self) -> tuple[str, ...]:
        """The role, if it is this member's."""
        return (PRIMARY,) if self.is_primary else ()
