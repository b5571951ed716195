"""Why a worker removes the statuses of topics (KIP-558): an operator asked for it, or the connector was deleted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigSnapshotTaken,
    MemberStarted,
    RejoinRequested,
    StatusAttempted,
    StatusFlushStarted,
    StatusRead,
    TopicsReset,
    WorkerConfigured,
    WorkRevocationStarted,
)
from rebalance_check.properties.connect.topics import TopicFold
from rebalance_check.properties.connect.worker import Worker, connector_of
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.status.stores import DESTROYED, Topic, topic_named
from rebalance_check.properties.verdict import STEP, Violation

RECONFIGURED: Final = "connectors or tasks were reconfigured"
"""Why a herder wants to join again that has just taken over the newest configs."""


class TopicsAreResetForAReasonViolated(Violation):
    """A worker removed the status of a topic whose connector is configured, and was not asked to."""


class RemovedConnectorLosesItsTopicsViolated(Violation):
    """A worker gave up the work of a connector that was deleted, and left the statuses of its topics."""


@dataclass(slots=True)
class Known:
    """What a herder knows of the connectors: those of ``taken``, but for what later snapshots say otherwise."""

    taken: ConfigSnapshotTaken
    names: set[str]
    doubtful: set[str] = field(default_factory=set)

    def lacks(self, connector: str) -> bool:
        """Whether the herder knows that the connector is not configured."""
        return connector not in self.names and connector not in self.doubtful

    def holds(self, connector: str) -> bool:
        """Whether the herder knows that the connector is configured."""
        return connector in self.names and connector not in self.doubtful


class HerderFold(TopicFold):
    """A fold that follows what herders know: the store's newest configs, from when they take these over."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ConfigSnapshotTaken: self.on_snapshot,
                RejoinRequested: self.on_rejoin,
                AssignmentAccepted: self.on_accepted,
                WorkRevocationStarted: self.on_revocation,
                TopicsReset: self.on_reset,
                StatusAttempted: self.on_attempted,
                StatusFlushStarted: self.on_flush,
                MemberStarted: self.on_started,
            },
        )
        self.known: dict[str, Known] = {}

    def on_snapshot(self, event: ConfigSnapshotTaken) -> None:
        """The store knows more; whether the herder does is open where that makes a difference."""
        known = self.known.get(event.member)
        if known is not None:
            known.doubtful |= known.names ^ {name for name, _ in event.connectors}

    def on_rejoin(self, event: RejoinRequested) -> None:
        """A herder that saw connectors come or go has just taken over the newest configs."""
        if event.reason == RECONFIGURED:
            self._take_over(self.memory.of(event.member))

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """A herder starts work with the configs of its assignment."""
        worker = self.memory.of(event.member)
        if worker.snapshot is not None and worker.snapshot.offset == event.config_offset:
            self._take_over(worker)

    def _take_over(self, worker: Worker) -> None:
        if worker.snapshot is not None:
            names = {name for name, _ in worker.snapshot.connectors}
            self.known[worker.name] = Known(worker.snapshot, names)

    def on_started(self, event: MemberStarted) -> None:
        """A new process knows nothing."""
        self.known.pop(event.member, None)

    def on_revocation(self, event: WorkRevocationStarted) -> None:
        """Work is given up."""

    def on_reset(self, event: TopicsReset) -> None:
        """The operator asked for it."""

    def on_attempted(self, event: StatusAttempted) -> None:
        """A write."""

    def on_flush(self, event: StatusFlushStarted) -> None:
        """What a revocation writes is written."""


BOOKKEPT: Final = (ConfigSnapshotTaken, RejoinRequested, AssignmentAccepted, WorkRevocationStarted, MemberStarted)


class _ResetForAReason(HerderFold):
    needs = ((WorkerConfigured,),)
    bookkeeping = frozenset({*BOOKKEPT, TopicsReset, StatusFlushStarted})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self.compared = 0
        self._asked: dict[str, str] = {}

    def on_reset(self, event: TopicsReset) -> None:
        """These may go now."""
        self._asked[event.member] = event.connector

    def on_attempted(self, event: StatusAttempted) -> None:
        """The tombstone of a topic."""
        worker, topic = self.memory.of_store(event.worker), topic_named(event.key)
        if worker is None:
            return
        if topic is None or event.status != DESTROYED:
            self._asked.pop(worker.name, None)
            return
        self.compared = (self.compared or 0) + 1
        known, connector = self.known.get(worker.name), topic[0]
        if self._asked.get(worker.name) == connector:
            return
        if worker.revoking is None:
            why, shown = "it was not asked to, and gives no work up", None
        elif known is not None and known.holds(connector):
            why, shown = f"{connector} is configured, as it knows", known.taken
        else:
            return
        self.contradiction(
            f"{worker.name} removed the status of the topic {topic[1]} of {connector}, and {why}",
            (f"{why} ({STEP}).", shown),
            (f"it wrote the tombstone at {STEP}: contradiction.", event),
        )


class _LosesItsTopics(HerderFold):
    needs = ((WorkerConfigured,), (WorkRevocationStarted,), (StatusRead,), (ConfigSnapshotTaken,))
    bookkeeping = frozenset({*BOOKKEPT, TopicsReset, StatusAttempted})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._removed: dict[str, set[Topic]] = {}

    def on_revocation(self, event: WorkRevocationStarted) -> None:
        """From here on tombstones count."""
        self._removed[event.member] = set()

    def on_attempted(self, event: StatusAttempted) -> None:
        """A tombstone that may have been due."""
        worker, topic = self.memory.of_store(event.worker), topic_named(event.key)
        if worker is not None and topic is not None and event.status == DESTROYED:
            self._removed.setdefault(worker.name, set()).add(topic)

    def on_flush(self, event: StatusFlushStarted) -> None:
        """All that a revocation writes was written."""
        worker = self.memory.of_store(event.worker)
        known = None if worker is None else self.known.get(worker.name)
        if worker is None or worker.revoking is None or known is None:
            return
        given_up = {name for work in worker.revoking.work for name in (work, connector_of(work))}
        for topic, read in sorted(self.stores.of(event.worker).topics.items(), key=lambda entry: entry[0]):
            connector, name = topic
            if connector in given_up and known.lacks(connector) and topic not in self._removed.get(worker.name, set()):
                self.contradiction(
                    f"{worker.name} left the status of the topic {name} of {connector}, which was deleted",
                    (f"{worker.name} read that {connector} uses {name} at {STEP}.", read),
                    (f"it knows since {STEP} that {connector} is not configured,", known.taken),
                    (f"and gave up work of it at {STEP}", worker.revoking),
                    (f"without a tombstone before it flushed its statuses at {STEP}: contradiction.", event),
                )


TopicsAreResetForAReason: Final = Invariant(
    name="topics_are_reset_for_a_reason",
    family="connect_statuses",
    claim="a worker removes the status of a topic only when it was asked to reset the topics of that connector, or in "
    "a revocation, where it knows that the connector is configured no more",
    source="KIP-558; AbstractHerder.resetConnectorActiveTopics, RebalanceListener.resetActiveTopics",
    premises=("a herder knows the configs at which it started work, or asked for a round because connectors changed",),
    exempted_by=(ConfigSnapshotTaken, RejoinRequested, TopicsReset, WorkRevocationStarted),
    violation=TopicsAreResetForAReasonViolated,
    fold=_ResetForAReason,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    StatusAttempted(worker="w0", key="status-topic-t:connector-c", attempt=0, status="DESTROYED", generation=-1,
                    safe=False)
"""

RemovedConnectorLosesItsTopics: Final = Invariant(
    name="removed_connector_loses_its_topics",
    family="connect_statuses",
    claim="a worker that gives up work of a connector of which it knows that it is not configured removes the status "
    "of each topic of it that it has read, before it flushes its statuses",
    source="KIP-558; DistributedHerder.RebalanceListener.onRevoked, resetActiveTopics",
    premises=("a herder knows the configs at which it started work, or asked for a round because connectors changed",),
    exempted_by=(ConfigSnapshotTaken, StatusAttempted, StatusRead),
    violation=RemovedConnectorLosesItsTopicsViolated,
    fold=_LosesItsTopics,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    StatusRead(worker="w0", key="status-topic-t:connector-c", partition=0, offset=0, status="TOPIC")
    ConfigSnapshotTaken(member="w0", offset=3, connectors=(), tasks=())
    RejoinRequested(member="w0", reason="connectors or tasks were reconfigured")
    WorkRevocationStarted(member="w0", generation=1, work=("c", "c-0"), reason="revoked")
    StatusFlushStarted(worker="w0")
"""

CLAIMS: Final = (TopicsAreResetForAReason, RemovedConnectorLosesItsTopics)
"""In the order in which reports name them."""
