"""Which topics a connector uses (KIP-558): a worker writes that when a task uses one that it does not know of."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    RunEnded,
    StatusAttempted,
    StatusRead,
    TaskStarted,
    TopicUsed,
    WorkerConfigured,
)
from rebalance_check.properties.connect.worker import SHOWS_WHAT_RUNS, connector_of
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant, Memories
from rebalance_check.properties.status.stores import DESTROYED, Stores, Topic, topic_named
from rebalance_check.properties.verdict import STEP, Violation


class TopicStatusSaysWhatWasUsedViolated(Violation):
    """A worker wrote that a connector uses a topic, and no task of it did there, or its store knew it already."""


class UsedTopicsAreAnnouncedViolated(Violation):
    """A task used a topic for the first time, and its worker did not write that."""


class TopicFold(WorkerFold):
    """A fold that looks at what workers run and at what their stores have read."""

    stores: Stores

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same workers and stores."""
        super().share(memories)
        self.stores = Stores.among(memories)
        self.memories = (*self.memories, self.stores)

    def cached(self, store: str, topic: Topic) -> StatusRead | None:
        """The record that makes a store say that a connector uses a topic."""
        return self.stores.of(store).topics.get(topic)


def used_by(event: TopicUsed) -> Topic:
    """The connector of the task, and the topic."""
    return connector_of(event.task), event.topic


class _SaysWhatWasUsed(TopicFold):
    needs = ((WorkerConfigured,),)
    bookkeeping = frozenset({TopicUsed})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {TopicUsed: self.on_used, StatusAttempted: self.on_attempted})
        self.compared = 0
        self._used: dict[str, TopicUsed] = {}

    def on_used(self, event: TopicUsed) -> None:
        """The worker may write that now."""
        self._used[event.member] = event

    def on_attempted(self, event: StatusAttempted) -> None:
        """The status of a topic, and no tombstone."""
        worker, topic = self.memory.of_store(event.worker), topic_named(event.key)
        if worker is None or topic is None or event.status == DESTROYED:
            return
        self.compared = (self.compared or 0) + 1
        shown: Event | None
        used, known = self._used.get(worker.name), self.cached(event.worker, topic)
        if used is None or used_by(used) != topic:
            why, shown = "no task of that connector has just used that topic", used
        elif used.task not in worker.running and used.task not in worker.cancelled:
            why, shown = f"it does not run {used.task}, which used the topic", used
        elif known is not None:
            why, shown = "it had read that status already", known
        else:
            return
        self.contradiction(
            f"{worker.name} wrote that {topic[0]} uses the topic {topic[1]}, and {why}",
            (f"{why} ({STEP}).", shown),
            (f"{worker.name} wrote {event.key} at {STEP}: contradiction.", event),
        )


class _IsAnnounced(TopicFold):
    needs = ((WorkerConfigured,), (TopicUsed,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                TopicUsed: self.on_used,
                StatusAttempted: self.on_attempted,
                StatusRead: self.on_read,
                RunEnded: self.on_ended,
            },
        )
        self._due: dict[str, TopicUsed] = {}

    def on_used(self, event: TopicUsed) -> None:
        """To be written unless it is known."""
        store = self.memory.of(event.member).store
        self._look(store, event)
        if store and not self.stores.of(store).stopped and self.cached(store, used_by(event)) is None:
            self._due[store] = event

    def on_attempted(self, event: StatusAttempted) -> None:
        """What was due comes before all else that the store does."""
        due = self._due.get(event.worker)
        if due is not None and topic_named(event.key) == used_by(due) and event.status != DESTROYED:
            del self._due[event.worker]
        self._look(event.worker, event)

    def on_read(self, event: StatusRead) -> None:
        """The store goes on."""
        self._look(event.worker, event)

    def on_ended(self, event: RunEnded) -> None:
        """Nothing follows."""
        for store in sorted(self._due):
            self._look(store, event)

    def _look(self, store: str, event: Event) -> None:
        due = self._due.pop(store, None)
        if due is None:
            return
        self.contradiction(
            f"{due.member} did not write that {due.task} uses the topic {due.topic}",
            (f"{due.task} used the topic at {STEP}, of which {due.member} had read no status.", due),
            (f"at {STEP} it had not written one: contradiction.", event),
        )


TopicStatusSaysWhatWasUsed: Final = Invariant(
    name="topic_status_says_what_was_used",
    family="connect_statuses",
    claim="a worker writes that a connector uses a topic only when a task of it that it runs has just used the topic, "
    "and it has read no such status",
    source="KIP-558; WorkerTask.recordActiveTopic",
    exempted_by=(TopicUsed, StatusRead, TaskStarted, *SHOWS_WHAT_RUNS),
    violation=TopicStatusSaysWhatWasUsedViolated,
    fold=_SaysWhatWasUsed,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    StatusAttempted(worker="w0", key="status-topic-t:connector-c", attempt=0, status="TOPIC", generation=-1, safe=False)
"""

UsedTopicsAreAnnounced: Final = Invariant(
    name="used_topics_are_announced",
    family="connect_statuses",
    claim="when a task uses a topic of which its worker has read no status, the worker writes one before its status "
    "store does anything else",
    source="KIP-558; WorkerTask.recordActiveTopic",
    premises=("until it has read that status back, a worker writes it again for each record",),
    exempted_by=(StatusAttempted, StatusRead),
    violation=UsedTopicsAreAnnouncedViolated,
    fold=_IsAnnounced,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    TopicUsed(member="w0", generation=1, task="c-0", topic="t")
    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=1, safe=False)
"""

CLAIMS: Final = (TopicStatusSaysWhatWasUsed, UsedTopicsAreAnnounced)
"""In the order in which reports name them."""
