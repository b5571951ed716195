"""Whether a run is simulated: all that happens is recorded, in one order, and time is virtual."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import Event, RunStarted
from rebalance_check.properties.kinds import Fold, Handler, Memories, Memory

SIMULATOR: Final = "simulator"
"""The subject of the runs of `impl.simulator`."""


class Run(Memory):
    """What the begin of the run says: ``is_simulated``, which a run of merged files is not."""

    def __init__(self) -> None:
        handlers: dict[type[Event], Handler] = {RunStarted: self._on_run}
        super().__init__(handlers)
        self.is_simulated = False

    def _on_run(self, event: RunStarted) -> None:
        self.is_simulated = event.punctual


class SimulatedFold(Fold):
    """A fold that judges simulated runs alone."""

    run: Run

    def share(self, memories: Memories) -> None:
        """All folds of a group know of one run."""
        self.run = Run.among(memories)
        self.memories = (*self.memories, self.run)
