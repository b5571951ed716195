"""The fold of claims about workers, and the events at which a group may be seen converged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import Event, HealEnded, RunEnded, RunSettled
from rebalance_check.properties.kinds import Fold, Memories
from rebalance_check.properties.views.worker import Worker
from rebalance_check.properties.views.workers import Workers

Converged: TypeAlias = RunSettled | HealEnded | RunEnded
"""The harness may have seen the group converged."""

CONVERGED: Final[tuple[type[Event], ...]] = (HealEnded, RunEnded, RunSettled)


class WorkerFold(Fold):
    """A fold that looks at what the workers must hold; ``memory`` took the event at hand before."""

    memory: Workers

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same workers."""
        self.memory = Workers.among(memories)
        self.memories = (self.memory.rounds, self.memory)

    def converged(self) -> bool:
        """Whether all workers are at rest in one generation, and have read what it was computed from, and no more."""
        workers = [worker for worker in self.each_worker() if worker.known]
        return len({worker.received.generation for worker in workers if worker.received}) == 1 and all(
            worker.is_at_rest for worker in workers
        )

    def each_worker(self) -> Iterable[Worker]:
        """The workers, by name."""
        return (self.memory.workers[name] for name in sorted(self.memory.workers))
