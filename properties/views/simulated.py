"""Whether a run is simulated: all that happens is recorded, in one order, and time is virtual."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import Event, RunStarted
from rebalance_check.properties.kinds import Fold, Handler, Memories, Memory

SIMULATED: Final = "the run is simulated: all that its processes do is recorded, in one order"
"""The premise of claims that accuse what others would have recorded, or recorded earlier."""

SIMULATOR: Final = "simulator"
"""The subject of the runs of `impl.simulator`."""

RECORDED: Final = "the run is one of the simulator: members, coordinators and workers record all events of theirs"
"""The premise of claims about the record itself; who else keeps virtual time may leave out some kinds of events."""


class Run(Memory):
    """What the begin of the run says: ``is_simulated``, which a run of merged files is not, and ``is_recorded`` as of
    `RECORDED`."""

    def __init__(self) -> None:
        handlers: dict[type[Event], Handler] = {RunStarted: self._on_run}
        super().__init__(handlers)
        self.is_simulated = False
        self.is_recorded = False

    def _on_run(self, event: RunStarted) -> None:
        self.is_simulated = event.punctual
        self.is_recorded = event.punctual and event.subject == SIMULATOR


class SimulatedFold(Fold):
    """A fold that judges simulated runs alone."""

    run: Run

    def share(self, memories: Memories) -> None:
        """All folds of a group know of one run."""
        self.run = Run.among(memories)
        self.memories = (*self.memories, self.run)
