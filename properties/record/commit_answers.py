"""An answer to a commit says of each partition what became of it."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    OffsetCommitted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class CommitAnswersNameEachPartitionViolated(Violation):
    """A commit was answered, and what became of one of its partitions is not known, or another thing."""


class CommitsAreRecordedViolated(Violation):
    """The commit of a consumer was answered, and the outcome of no partition is recorded."""


class _Answers(SimulatedFold):
    """Per member: the last answer to a commit."""

    bookkeeping = frozenset({RequestAnswered})
    needs = ((RequestAnswered,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RequestAnswered: self.on_answered,
            OffsetCommitted: self.on_committed,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._answered: dict[str, RequestAnswered] = {}

    def on_answered(self, event: RequestAnswered) -> None:
        """The fate of each partition follows."""
        if event.api == Api.OFFSET_COMMIT:
            self._answered[event.member] = event

    def on_committed(self, event: OffsetCommitted) -> None:
        """It is that of the answer: unknown where there was none, and accepted where the whole was."""
        answered = self._answered.get(event.member)
        if answered is None or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        is_lost = (answered.error is None) != (event.error is None)
        if is_lost or (answered.error == ACCEPTED and event.error != ACCEPTED):
            self.contradiction(
                f"a commit of {event.member} is answered {_spelt(answered.error)}, and that of {event.partition} is "
                f"{_spelt(event.error)}",
                (f"the commit was answered {_spelt(answered.error)} at {STEP};", answered),
                (f"to {event.member} the commit of {event.partition} is {_spelt(event.error)} at {STEP}: "
                 "contradiction.", event),
            )  # fmt: skip


class _Commits(SimulatedFold):
    """Commits that were answered, until the outcome of a partition is recorded."""

    bookkeeping = frozenset({*PROCESS, OffsetCommitted})
    needs = ((OffsetCommitted, RequestAnswered),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            OffsetCommitted: self.on_committed,
            RequestAnswered: self.on_answered,
            RequestSent: self.on_sent,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._answered: dict[str, RequestAnswered] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process has sent nothing."""
        self._answered.pop(event.member, None)

    def on_committed(self, event: OffsetCommitted) -> None:
        """The outcome is known."""
        self._answered.pop(event.member, None)

    def on_answered(self, event: RequestAnswered) -> None:
        """The outcome of each partition follows."""
        self._look(event)
        if event.api == Api.OFFSET_COMMIT and self.run.is_recorded:
            self.compared = (self.compared or 0) + 1
            self._answered[event.member] = event

    def on_sent(self, event: RequestSent) -> None:
        """It does so before it goes on."""
        self._look(event)

    def _look(self, event: RequestSent | RequestAnswered) -> None:
        answered = self._answered.pop(event.member, None)
        if answered is not None:
            self.contradiction(
                f"a commit of {event.member} was answered, and the outcome of no partition is recorded",
                (f"{event.member} was answered OffsetCommit at {STEP}, or gave it up;", answered),
                (f"it goes on at {STEP}, and recorded the outcome of no partition: contradiction.", event),
            )


def _spelt(error: str | None) -> str:
    return "not known" if error is None else error


CommitAnswersNameEachPartition: Final = Invariant(
    name="commit_answers_name_each_partition",
    family=FAMILY,
    claim="an answer to OffsetCommit says of each partition of the commit what became of it, and what a member takes "
    "for committed was answered so",
    source="OffsetCommitResponse.json; ConsumerCoordinator.OffsetCommitResponseHandler",
    premises=(RECORDED,),
    exempted_by=(RequestAnswered,),
    violation=CommitAnswersNameEachPartitionViolated,
    fold=_Answers,
)
"""An answer to a commit names each partition.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    RequestAnswered(member="m0", api="OffsetCommit", request=4, error="NONE")
    OffsetCommitted(member="m0", generation=1, partition="t-0", offset=7, error=None)
"""

CommitsAreRecorded: Final = Invariant(
    name="commits_are_recorded",
    family=FAMILY,
    claim="a consumer records the outcome of the partitions of each commit that is answered, or given up, before it "
    "sends or receives anything else",
    source="ConsumerCoordinator.OffsetCommitResponseHandler",
    premises=(RECORDED,),
    exempted_by=(MemberStarted, MemberCrashed, MemberLeft, OffsetCommitted),
    violation=CommitsAreRecordedViolated,
    fold=_Commits,
)
"""Claims about committed offsets begin with these records.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    RequestAnswered(member="m0", api="OffsetCommit", request=3, error="NONE")
    RequestSent(member="m0", api="Heartbeat", request=4, generation=1)
"""

CLAIMS: Final = (CommitAnswersNameEachPartition, CommitsAreRecorded)
"""In the order in which reports name them."""
