"""What was committed outlives the coordinator that it was committed to."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    GroupDeleted,
    IncarnationStarted,
    LogTailLost,
    OffsetCommitted,
)
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation


class CommittedOffsetsSurviveViolated(Violation):
    """A coordinator was loaded without the offset of a partition for which a commit had been accepted."""


class _Survive(Fold):
    """The last accepted commit of each partition."""

    bookkeeping = frozenset({OffsetCommitted, LogTailLost, GroupDeleted})
    needs = ((OffsetCommitted,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            OffsetCommitted: self.on_committed,
            LogTailLost: self.on_lost,
            GroupDeleted: self.on_lost,
            IncarnationStarted: self.on_incarnation,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._accepted: dict[str, OffsetCommitted] = {}

    def on_committed(self, event: OffsetCommitted) -> None:
        """It stands in the log."""
        if event.error == "NONE":
            self._accepted[event.partition] = event

    def on_lost(self, _event: LogTailLost | GroupDeleted) -> None:
        """It may stand there no more."""
        self._accepted.clear()

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """A coordinator that is loaded from the log knows it.

        A group that is created is not read from the log: a coordinator that was deposed and does not know creates one
        that it never had.
        """
        is_created = event.generation == 0 and not event.members
        if event.committed is None or not self._accepted or is_created:
            return
        self.compared = (self.compared or 0) + 1
        known = dict(event.committed)
        for partition, commit in sorted(self._accepted.items()):
            if partition not in known:
                self.contradiction(
                    f"the offset that {commit.member} committed for {partition} is lost",
                    (
                        f"{commit.member} committed {commit.offset} for {partition}, which was accepted at {STEP}.",
                        commit,
                    ),
                    (f"a coordinator was loaded without any offset of {partition} at {STEP}: contradiction.", event),
                )


CommittedOffsetsSurvive: Final = Invariant(
    name="committed_offsets_survive",
    family="persistence",
    claim="a coordinator that is loaded knows an offset of each partition for which a commit was accepted before",
    source="GroupCoordinatorShard.replay, OffsetMetadataManager.replay (OffsetCommitKey)",
    premises=(
        "the coordinator says with which offsets it begins (committed)",
        "offsets are not expired, nor deleted by themselves, in the run",
        "what a log that lost its end held is unknown",
        "a group that a coordinator creates is not read from the log",
    ),
    exempted_by=(GroupDeleted, LogTailLost),
    violation=CommittedOffsetsSurviveViolated,
    fold=_Survive,
)
"""The smallest history that breaks it::

    OffsetCommitted(member="m0", generation=1, partition="t-0", offset=5, error="NONE")
    IncarnationStarted(incarnation=1, generation=1, status="Stable", members=("a",), committed=())
"""

CLAIMS: Final = (CommittedOffsetsSurvive,)
"""In the order in which reports name them."""
