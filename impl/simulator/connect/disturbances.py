"""What may go wrong around a Connect worker in a run: how long things take, and what fails, by the run's fault plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Final

from rebalance_check.impl.connect.herder.behaviour import WELL_BEHAVED, Behaviour
from rebalance_check.impl.connect.herder.work_events import WorkKey
from rebalance_check.impl.connect.status.codec import ConnectorKey
from rebalance_check.impl.runtime.faults import NO_FAULTS, FaultPlan

UNREADABLE_MS: Final = 5_000
"""How long the config topic cannot be read when that happens: longer than ``worker.sync.timeout.ms``."""

LONGEST_OUTAGE_MS: Final = 60_000
"""How long it cannot be read in an outage, at most: for longer than a worker may stay away."""

COMMON_TOPIC: Final = "common"
"""The topic that the tasks of all connectors use; each connector has one of its own besides."""


class Disturbances:
    """Draws from one stream of the seed; ``plan`` gives the present plan, without faults once the run is healed."""

    def __init__(self, random: Random, plan: Callable[[], FaultPlan]) -> None:
        self.random = random
        self._plan = plan

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
        return self.random.randint(0, self.plan.delay_ms)

    def reading_ms(self) -> int:
        """How long the reader of a config topic takes for its next records."""
        if self.happens(self.plan.drop):
            return UNREADABLE_MS
        if self.happens(self.plan.config_outage):
            return self.random.randrange(LONGEST_OUTAGE_MS)
        return self.delay_ms()

    def happens(self, chance: float) -> bool:
        """Whether a fault of that chance strikes; nothing is drawn for one that is switched off."""
        return chance > 0 and self.random.random() < chance

    def behaviour_of(self, key: WorkKey) -> Behaviour:
        """What the next start of a connector or task does; it fails as often as messages are lost."""
        plan = self.plan
        topics = () if isinstance(key, ConnectorKey) else (COMMON_TOPIC, f"of-{key.connector}")
        if self.healed:
            return replace(WELL_BEHAVED, topics=topics)
        return Behaviour(
            begin_ms=self.delay_ms(),
            start_ms=self._maybe_slow_ms(),
            stop_ms=self._maybe_slow_ms(),
            fails_at_start=self.happens(plan.drop),
            fails_at_stop=self.happens(plan.drop),
            fails_after_ms=self.random.randrange(20_000) if self.happens(plan.drop) else None,
            topics=topics,
        )

    def _maybe_slow_ms(self) -> int:
        plan = self.plan
        return self.random.randrange(plan.slow_ms) if self.happens(plan.slow_application) else self.delay_ms()
