"""Consumers in the simulator: a consumer coordinator and an application that reads, and commits its offsets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from random import Random
from typing import Final

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.custom import NewCustomAssignor, OldCustomAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.assignors.sticky import StickyAssignor
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.client.listener import RebalanceListener
from rebalance_check.impl.client.subscriptions import Wanted
from rebalance_check.impl.protocol.messages import JoinedMember
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.faults import NO_FAULTS, FaultPlan
from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.application import WokenUp, pending_of, record_start, standing_of
from rebalance_check.impl.simulator.group_config import TOPIC, SimulatedGroupConfig
from rebalance_check.impl.simulator.network import unnoticed
from rebalance_check.model.vocabulary.events import (
    ON_PARTITIONS_ASSIGNED,
    ON_PARTITIONS_LOST,
    ON_PARTITIONS_REVOKED,
    ListenerCalled,
    MetadataReceived,
    RecordsDelivered,
)
from rebalance_check.model.vocabulary.ids import partition

OTHER_TOPIC: Final = "u"
PATTERN: Final = re.compile(rf"({TOPIC}|__).*")
"""The pattern of consumers that subscribe by one: it matches an internal topic, too."""

UNSUBSCRIBE, SUBSCRIBE_MORE, SUBSCRIBE = range(3)
"""The changes that a consumer may make to its topics."""

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


def _assignor(name: str, settings: SimulatedGroupConfig) -> Assignor:
    if name == StickyAssignor.name:
        return StickyAssignor(writes_generation=settings.sticky_writes_generation)
    return ASSIGNORS[name]()


class CommittingListener(RebalanceListener):
    """Callbacks of ``member`` that record that they are called, and may commit while partitions are still owned, or
    when others came."""

    def __init__(self, recorder: Recorder, member: str, commit: Callable[[], None]) -> None:
        self._recorder = recorder
        self._member = member
        self._commit = commit

    def on_partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        """All that is owned may be committed."""
        self._record(ON_PARTITIONS_ASSIGNED, partitions)
        self._commit()

    def on_partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
        """The last chance; the answer comes while the member joins again."""
        self._record(ON_PARTITIONS_REVOKED, partitions)
        self._commit()

    def on_partitions_lost(self, partitions: Sequence[TopicPartition]) -> None:
        """It is too late to commit."""
        self._record(ON_PARTITIONS_LOST, partitions)

    def _record(self, callback: str, partitions: Sequence[TopicPartition]) -> None:
        names = tuple(each.name for each in partitions)
        self._recorder.emit(ListenerCalled(member=self._member, callback=callback, partitions=names))


class ConsumerApplication(ConsumerCoordinator):
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
        on_strike: Callable[[FaultKind], None] = unnoticed,
        random: Random,
        jitter: Random,
    ) -> None:
        config = settings.client(name)
        super().__init__(
            config,
            recorder,
            member=name,
            topics=PATTERN if by_pattern else (TOPIC,),
            assignors=[_assignor(assignor, settings) for assignor in settings.assignors],
            partitions_per_topic=cluster,
            refresh_metadata=lambda: self._refreshed(cluster),
            listener=CommittingListener(recorder, name, self._commit_in_callback),
            auto_commit_ms=settings.auto_commit_ms,
            random=jitter,
        )
        self._not_read: set[TopicPartition] = set()
        self._by_pattern = by_pattern
        self._has_skipped = False
        self._random = random
        self._plan = plan
        self._on_strike = on_strike
        self._commits = settings.auto_commit_ms is None
        self.wish: Wanted = PATTERN if by_pattern else (TOPIC,)
        record_start(
            recorder, name, config, self.protocol, offered=settings.assignors, topics=self.subscription,
            poll_ms=settings.long_poll_ms, auto_commit_interval_ms=settings.auto_commit_ms or 0,
            by_pattern=by_pattern,
        )  # fmt: skip

    def pending(self) -> str:
        """The thing that this member waits for; empty when it is settled."""
        return pending_of(self)

    def standing(self) -> tuple[int, str]:
        """Generation and member id."""
        return standing_of(self)

    def work(self, now_ms: int) -> None:
        """Process all records up to the log end; half of the time, commit, and always while there are no faults."""
        log_end = now_ms // RECORD_MS
        self._maybe_seek(log_end)
        read = tuple(each for each in self.fetchable() if each not in self._not_read)
        for each in read:
            self.consumed(each, log_end)
        if read:
            self.recorder.emit(RecordsDelivered(member=self.member, partitions=tuple(each.name for each in read)))
        if self._commits and (self._random.random() < COMMITS or self._plan() is NO_FAULTS):
            self.commit(self.positions(), now_ms)

    def _maybe_seek(self, log_end: int) -> None:
        """Seek anywhere, and pause or resume the partition, as often as the plan says; without faults all are read.

        A partition that was paused and is not owned any more is not paused when it comes back.
        """
        plan = self._plan()
        self._not_read &= set() if plan is NO_FAULTS else set(self.owned)
        if self.fetchable() and self._strikes(FaultKind.SEEK, plan.seek):
            sought = self._random.choice(self.fetchable())
            self.consumed(sought, self._random.randint(0, log_end))
            self._not_read ^= {sought}

    def _commit_in_callback(self) -> None:
        """Commit the offsets read, without waiting for the answer, as often as the plan says."""
        if self._strikes(FaultKind.CALLBACK_COMMIT, self._plan().callback_commit):
            with suppress(GroupError):  # of a member that was fenced: every poll says so
                self.commit(self.positions(), self._now_ms)

    def on_join_complete(self, generation_id: int, member_id: str, protocol: str, assignment: bytes) -> None:
        """As the base class, unless the poll is woken up before.

        Raises: `WokenUp` as often as the fault plan says.
        """
        if self._strikes(FaultKind.WAKE_UP, self._plan().wake_up):
            raise WokenUp
        super().on_join_complete(generation_id, member_id, protocol, assignment)

    def on_assignment_skipped(self, members: Sequence[JoinedMember]) -> None:
        """As the base class; the operator may have to see to changes meanwhile."""
        super().on_assignment_skipped(members)
        self._has_skipped = True

    def rebalance_after_skipping(self) -> None:
        """The operator enforces a rebalance, once for each assignment that was skipped."""
        if self._has_skipped and self.state is MemberState.STABLE:
            self._has_skipped = False
            self.enforce_rebalance()

    def receive_metadata(self, cluster: Mapping[str, int]) -> None:
        """The client is answered Metadata."""
        self.update_metadata(self._refreshed(cluster))

    def _refreshed(self, cluster: Mapping[str, int]) -> Mapping[str, int]:
        self.recorder.emit(MetadataReceived(member=self.member, partitions=partitions_of(cluster)))
        return cluster

    def change_subscription(self, choice: int, now_ms: int) -> None:
        """Unsubscribe and subscribe again, want another topic as well, or want the first one alone.

        A pattern stays as it is: it finds other topics by itself.
        """
        if choice == UNSUBSCRIBE:
            self.unsubscribe(now_ms)
        if not self._by_pattern:
            self.wish = (TOPIC, OTHER_TOPIC) if choice == SUBSCRIBE_MORE else (TOPIC,)
            self.subscribe(self.wish)
        elif choice == UNSUBSCRIBE:
            self.subscribe(PATTERN)

    def _strikes(self, kind: FaultKind, chance: float) -> bool:
        struck = chance > 0 and self._random.random() < chance
        if struck:
            self._on_strike(kind)
        return struck

    @property
    def holds(self) -> tuple[str, ...]:
        """The names of the owned partitions."""
        return tuple(each.name for each in self.owned)


def partitions_of(cluster: Mapping[str, int]) -> tuple[str, ...]:
    """The names of all partitions of the cluster, sorted by topic."""
    return tuple(partition(topic, index) for topic, count in sorted(cluster.items()) for index in range(count))
