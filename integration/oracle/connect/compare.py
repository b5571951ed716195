"""Our Connect assignors next to Kafka's: the same histories, round by round; bytes, owners and memory must be equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rebalance_check.integration.oracle.connect.assigned_group import PROTOCOL, answer_of, run_history
from rebalance_check.integration.oracle.connect.java import JavaConnectAssignors
from rebalance_check.integration.oracle.connect.ours import OurConnectAssignors
from rebalance_check.integration.oracle.connect.request import ConnectAssignors, RoundAnswer, RoundRequest
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.properties.assignment.connect_histories import random_history
from rebalance_check.properties.assignment.connect_steps import History

_BATCH: Final = 200
"""So many histories are computed by ours before a release computes them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first round of a history in which two assignors answer differently, and in what."""

    shape: str
    seed: int
    generation: int
    what: str
    theirs: RoundAnswer
    ours: RoundAnswer


@dataclass(slots=True)
class ConnectComparison:
    """What was compared of one release and shape, and what differs."""

    release: str
    shape: str
    histories: int = 0
    rounds: int = 0
    differences: list[Difference] = field(default_factory=list)


class Posting:
    """Our assignors, which also post every round to those of some releases, and keep our answers."""

    name = "our own"

    def __init__(self, ours: ConnectAssignors, releases: Sequence[JavaConnectAssignors]) -> None:
        self._ours = ours
        self._releases = releases
        self.answers: list[tuple[RoundRequest, RoundAnswer]] = []

    def begin(self, max_delay_ms: int) -> None:
        """Forget all workers."""
        for one in (self._ours, *self._releases):
            one.begin(max_delay_ms)

    def restart(self, worker: str) -> None:
        """Forget one worker."""
        for one in (self._ours, *self._releases):
            one.restart(worker)

    def ask(self, request: RoundRequest) -> RoundAnswer:
        """Compute a round with ours."""
        for java in self._releases:
            java.post(request)
        ours = self._ours.ask(request)
        self.answers.append((request, ours))
        return ours


def what_differs(theirs: RoundAnswer, ours: RoundAnswer) -> str:
    """Which part of two answers differs, empty for none: the order within an assignment means nothing."""
    if bool(theirs.failure) != bool(ours.failure):
        return "failure"
    if theirs.assignments != ours.assignments and _read(theirs) != _read(ours):
        return "assignments"
    if (theirs.connector_owners, theirs.task_owners) != (ours.connector_owners, ours.task_owners):
        return "owners"
    return "" if theirs.memory == ours.memory else "memory"


def _read(answer: RoundAnswer) -> dict[str, object]:
    read = {member: answer_of(given) for member, given in answer.assignments.items()}
    return {
        member: (sorted(one.assigned), sorted(one.revoked), replace(one, assigned=(), revoked=()))
        for member, one in read.items()
    }


def compare(
    releases: Sequence[JavaConnectAssignors],
    shapes: Sequence[str],
    seeds: range,
    *,
    protocol: str = PROTOCOL,
    ours: ConnectAssignors | None = None,
    progress: ProgressListener = ignore_progress,
) -> Iterator[ConnectComparison]:
    """Run the histories of all shapes and seeds with our assignors, and have each release compute the same rounds.

    One comparison for each shape and release. ``ours`` replaces our own assignors; ``progress`` receives the histories
    of the present shape.
    """
    for shape in shapes:
        results = [ConnectComparison(release.version, shape) for release in releases]
        for start in range(seeds.start, seeds.stop, _BATCH):
            batch = range(start, min(start + _BATCH, seeds.stop))
            posting = Posting(ours or OurConnectAssignors(), releases)
            starts = [_posted(posting, random_history(shape, seed), protocol) for seed in batch]
            for result, release in zip(results, releases, strict=True):
                _compared(result, release.collect(), posting.answers, list(zip(batch, starts, strict=True)))
            progress(f"connect {shape}", batch.stop - seeds.start, len(seeds))
        yield from results


def _posted(posting: Posting, history: History, protocol: str) -> int:
    """Run one history; the index of its first round."""
    start = len(posting.answers)
    run_history(posting, history, protocol)
    return start


def _compared(
    result: ConnectComparison,
    theirs: Sequence[RoundAnswer],
    ours: Sequence[tuple[RoundRequest, RoundAnswer]],
    seeds: Sequence[tuple[int, int]],
) -> None:
    """Note the first difference of each history, which explains the rest of it."""
    result.histories += len(seeds)
    result.rounds += len(ours)
    ends = [start for _, start in seeds[1:]] + [len(ours)]
    for (seed, start), end in zip(seeds, ends, strict=True):
        for their, (request, our) in zip(theirs[start:end], ours[start:end], strict=True):
            if their != our and (what := what_differs(their, our)):
                result.differences.append(Difference(result.shape, seed, request.generation, what, their, our))
                break
