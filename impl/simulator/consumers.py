"""Consumers in the simulator: a consumer coordinator and an application that reads, and commits what it read."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.custom import NewCustomAssignor, OldCustomAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.assignors.sticky import StickyAssignor
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.recorder import Recorder
from rebalance_check.impl.simulator.settings import TOPIC, GroupSettings
from rebalance_check.impl.simulator.standing import Standing
from rebalance_check.model.events import MemberStarted

RECORD_MS: Final = 100
"""Every partition gets a record every so many milliseconds: the log end is a function of the time."""

COMMITS: Final = 0.5
"""The chance that an application that commits by itself does so between two polls."""


ASSIGNORS: Final[dict[str, Callable[[frozenset[str]], Assignor]]] = {
    "range": RangeAssignor,
    "roundrobin": RoundRobinAssignor,
    "sticky": StickyAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
    "custom": OldCustomAssignor,
    "custom (cooperative)": NewCustomAssignor,
}
"""How each assignor is made; every member makes its own, for some remember between rounds."""


class ConsumerApplication(Standing, ConsumerCoordinator):
    """The coordinator of a consumer, and the loop body of the application around it."""

    def __init__(
        self,
        name: str,
        settings: GroupSettings,
        recorder: Recorder,
        *,
        partitions: int,
        random: Random,
        defects: frozenset[str],
    ) -> None:
        super().__init__(
            settings.client(name),
            recorder,
            member=name,
            topics=(TOPIC,),
            assignors=[ASSIGNORS[assignor](defects) for assignor in settings.assignors],
            partitions_per_topic={TOPIC: partitions},
            auto_commit_ms=settings.auto_commit_ms,
            defects=defects,
        )
        self._random = random
        self._commits = settings.auto_commit_ms is None
        recorder.emit(MemberStarted(member=name, protocol=self.protocol))

    def work(self, now_ms: int) -> None:
        """Process all records up to the log end; half of the time, commit."""
        for partition in self.fetchable():
            self.consumed(partition, now_ms // RECORD_MS)
        if self._commits and self._random.random() < COMMITS:
            self.commit(self.positions(), now_ms)

    @property
    def holds(self) -> tuple[str, ...]:
        """The names of the owned partitions."""
        return tuple(partition.name for partition in self.owned)
