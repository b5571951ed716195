"""Consumers in the simulator: a consumer coordinator and an application that reads, and commits what it read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.custom import NewCustomAssignor, OldCustomAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.assignors.sticky import StickyAssignor
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.protocol.messages import JoinedMember
from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.application import MembershipView, WokenUp, record_start
from rebalance_check.impl.simulator.group_config import TOPIC, SimulatedGroupConfig

OTHER_TOPIC: Final = "u"
PATTERN: Final = re.compile(rf"({TOPIC}|__).*")
"""What consumers subscribe to that do so by a pattern: it matches an internal topic, too."""

UNSUBSCRIBE, SUBSCRIBE_MORE, SUBSCRIBE = range(3)
"""What a consumer may do about its topics."""

RECORD_MS: Final = 100
"""Every partition gets a record every so many milliseconds: the log end is a function of the time."""

COMMITS: Final = 0.5
"""The chance that an application that commits by itself does so between two polls."""


ASSIGNORS: Final[dict[str, Callable[[], Assignor]]] = {
    "range": RangeAssignor,
    "roundrobin": RoundRobinAssignor,
    "sticky": StickyAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
    "custom": OldCustomAssignor,
    "custom (cooperative)": NewCustomAssignor,
}
"""How each assignor is made; every member makes its own, for some remember between rounds."""


class ConsumerApplication(MembershipView, ConsumerCoordinator):
    """The coordinator of a consumer, and the loop body of the application around it."""

    def __init__(
        self,
        name: str,
        settings: SimulatedGroupConfig,
        recorder: Recorder,
        *,
        cluster: Mapping[str, int],
        by_pattern: bool,
        plan: Callable[[], FaultPlan],
        random: Random,
        jitter: Random,
    ) -> None:
        config = settings.client(name)
        super().__init__(
            config,
            recorder,
            member=name,
            topics=PATTERN if by_pattern else (TOPIC,),
            assignors=[ASSIGNORS[assignor]() for assignor in settings.assignors],
            partitions_per_topic=cluster,
            refresh_metadata=lambda: cluster,
            auto_commit_ms=settings.auto_commit_ms,
            random=jitter,
        )
        self._by_pattern = by_pattern
        self._has_skipped = False
        self._random = random
        self._plan = plan
        self._commits = settings.auto_commit_ms is None
        record_start(recorder, name, config, self.protocol, self.subscription)

    def work(self, now_ms: int) -> None:
        """Process all records up to the log end; half of the time, commit."""
        for partition in self.fetchable():
            self.consumed(partition, now_ms // RECORD_MS)
        if self._commits and self._random.random() < COMMITS:
            self.commit(self.positions(), now_ms)

    def on_join_complete(self, generation_id: int, member_id: str, protocol: str, assignment: bytes) -> None:
        """As the base class, unless the poll is woken up before.

        Raises: `WokenUp` as often as the fault plan says.
        """
        if self._happens(self._plan().wake_up):
            raise WokenUp
        super().on_join_complete(generation_id, member_id, protocol, assignment)

    def on_assignment_skipped(self, members: Sequence[JoinedMember]) -> None:
        """As the base class; somebody may have to see to what changed meanwhile."""
        super().on_assignment_skipped(members)
        self._has_skipped = True

    def enforce_rebalance(self) -> None:
        """``Consumer.enforceRebalance`` (KIP-568), once for each assignment that was skipped."""
        if self._has_skipped and self.state is MemberState.STABLE:
            self._has_skipped = False
            self.request_rejoin("rebalance enforced by user")

    def change_subscription(self, choice: int, now_ms: int) -> None:
        """Unsubscribe and subscribe again, want another topic as well, or want the first one alone.

        A pattern stays what it is: it finds other topics by itself.
        """
        if choice == UNSUBSCRIBE:
            self.unsubscribe(now_ms)
        if not self._by_pattern:
            self.subscribe((TOPIC, OTHER_TOPIC) if choice == SUBSCRIBE_MORE else (TOPIC,))
        elif choice == UNSUBSCRIBE:
            self.subscribe(PATTERN)

    def _happens(self, chance: float) -> bool:
        return chance > 0 and self._random.random() < chance

    @property
    def holds(self) -> tuple[str, ...]:
        """The names of the owned partitions."""
        return tuple(partition.name for partition in self.owned)
