"""Faults around a Connect worker in a run: how long things take, and which fail, by the run's fault plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Final

from rebalance_check.impl.connect.herder.behaviour import WELL_BEHAVED, Behaviour
from rebalance_check.impl.connect.herder.work_events import WorkKey
from rebalance_check.impl.connect.status.codec import ConnectorKey
from rebalance_check.impl.runtime.faults import NO_FAULTS, FaultPlan
from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.impl.simulator.network import unnoticed

UNREADABLE_MS: Final = 9_000
"""How long the config topic cannot be read when that happens: longer than ``worker.sync.timeout.ms``."""

LONGEST_OUTAGE_MS: Final = 60_000
"""How long it cannot be read in an outage, at most: for longer than a worker may stay away."""

READ_AGAIN_MS: Final = 1_000
"""How long after it began a read that failed is tried again. ``KafkaBasedLog.WorkThread`` does so until one succeeds,
after a time-out and after each error that may pass, and tells the worker nothing of it."""

COMMON_TOPIC: Final = "common"
"""The topic that the tasks of all connectors use; each connector has one of its own besides."""


class Disturbances:
    """Draws from one stream of the seed; ``plan`` gives the present plan, without faults once the run is healed.

    ``on_strike`` is called with the kind of each fault that strikes, ``on_outage`` with how long, in ms, a topic cannot
    be read.
    """

    def __init__(
        self,
        random: Random,
        plan: Callable[[], FaultPlan],
        on_strike: Callable[[FaultKind], None] = unnoticed,
        on_outage: Callable[[int], None] = unnoticed,
    ) -> None:
        self.random = random
        self._plan = plan
        self.note = on_strike
        self.note_outage = on_outage

    @property
    def plan(self) -> FaultPlan:
        """The present plan."""
        return self._plan()

    @property
    def healed(self) -> bool:
        """Whether nothing goes wrong any more."""
        return self.plan is NO_FAULTS

    def delay_ms(self) -> int:
        """How long one step of a thread or of a message takes."""
        delay_ms = self.random.randint(0, self.plan.delay_ms)
        if delay_ms > NO_FAULTS.delay_ms:
            self.note(FaultKind.DELAY)
        return delay_ms

    def reading_ms(self) -> int:
        """How long the reader of a config topic takes for its next records."""
        if self.loses() or self.read_fails():
            return UNREADABLE_MS
        if self._strikes(FaultKind.CONFIG_OUTAGE, self.plan.config_outage):
            return self.random.randrange(LONGEST_OUTAGE_MS)
        return self.delay_ms()

    def read_fails(self) -> bool:
        """Whether a read of a topic fails."""
        return self._strikes(FaultKind.FAILED_READ, self.plan.failed_read)

    def loses(self) -> bool:
        """Whether something fails that fails as often as messages are lost."""
        return self._strikes(FaultKind.DROP, self.plan.drop)

    def _strikes(self, kind: FaultKind, chance: float) -> bool:
        """Whether a fault of that chance strikes; nothing is drawn for one that is switched off."""
        struck = chance > 0 and self.random.random() < chance
        if struck:
            self.note(kind)
        return struck

    def behaviour_of(self, key: WorkKey) -> Behaviour:
        """The behaviour of the next start of a connector or task; it fails as often as messages are lost."""
        topics = () if isinstance(key, ConnectorKey) else (COMMON_TOPIC, f"of-{key.connector}")
        if self.healed:
            return replace(WELL_BEHAVED, topics=topics)
        return Behaviour(
            begin_ms=self.delay_ms(),
            start_ms=self._maybe_slow_ms(),
            stop_ms=self._maybe_slow_ms(),
            fails_at_start=self.loses(),
            fails_at_stop=self.loses(),
            fails_after_ms=self.random.randrange(20_000) if self.loses() else None,
            topics=topics,
        )

    def _maybe_slow_ms(self) -> int:
        plan = self.plan
        return (
            self.random.randrange(plan.slow_ms)
            if self._strikes(FaultKind.SLOW_APPLICATION, plan.slow_application)
            else self.delay_ms()
        )
