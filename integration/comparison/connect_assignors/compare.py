"""Ours and Kafka's Connect assignors compute the same rounds of random histories: shares, owners, memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from rebalance_check.impl.comparison.compare import first_difference
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference, Field, differing, shrunk
from rebalance_check.integration.comparison.connect_assignors.assigned_group import PROTOCOL, answer_of, run_history
from rebalance_check.integration.comparison.connect_assignors.java import JavaConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.ours import OurConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.request import (
    ConnectAssignors,
    RoundAnswer,
    RoundRequest,
)
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.properties.assignment.connect_histories import random_history
from rebalance_check.properties.assignment.connect_steps import History

_BATCH: Final = 200
"""So many histories are computed by ours before a release computes them."""

_MOST_SMALLER: Final = 3
"""So many differences of a shape are made smaller."""


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


class _Histories:
    """Runs histories with ours, and has each release compute the same rounds."""

    def __init__(self, releases: Sequence[JavaConnectAssignors], protocol: str, ours: ConnectAssignors | None) -> None:
        self._releases, self._protocol, self._ours = releases, protocol, ours

    def differences(self, histories: Sequence[History], results: Sequence[Compared]) -> list[list[Difference | None]]:
        """By release and history, the first round that differs, if one does; ``results`` count the rounds."""
        posting = Posting(self._ours or OurConnectAssignors(), self._releases)
        starts = [len(posting.answers)]
        for history in histories:
            run_history(posting, history, self._protocol)
            starts.append(len(posting.answers))
        for result in results:
            result.counts.update(histories=len(histories), rounds=len(posting.answers))
        return [
            [
                _first(release.name, history, posting.answers[start:end], theirs[start:end])
                for history, start, end in zip(histories, starts, starts[1:], strict=False)
            ]
            for release, theirs in ((each, each.collect()) for each in self._releases)
        ]

    def smaller(self, number: int, found: Difference) -> Difference:
        """With steps of the history left out."""
        one = _Histories([self._releases[number]], self._protocol, self._ours)
        history: History = found.start

        def again(steps: tuple[Any, ...]) -> Difference | None:
            return one.differences([replace(history, steps=steps)], ())[0][0]

        return shrunk(found, again)


def _first(
    release: str,
    history: History,
    ours: Sequence[tuple[RoundRequest, RoundAnswer]],
    theirs: Sequence[RoundAnswer],
) -> Difference | None:
    """The first round in which answers differ, which explains the rest of the history."""
    rounds = [f"round {request.generation}" for request, _ in ours]
    found = first_difference((release, Posting.name), rounds, (theirs, [answer for _, answer in ours]), what_differs)
    return None if found is None else replace(found, steps=history.steps, start=history, origin=str(found.steps[-1]))


def what_differs(theirs: RoundAnswer, ours: RoundAnswer) -> tuple[Field, ...]:
    """The parts of two answers that differ: the order within an assignment means nothing, nor does a failure's text."""
    return differing(_shown(theirs), _shown(ours))


def _shown(answer: RoundAnswer) -> dict[str, Any]:
    if answer.failure:
        return {"failure": True}
    read = {member: answer_of(given) for member, given in answer.assignments.items()}
    assignments = {
        member: (sorted(one.assigned), sorted(one.revoked), replace(one, assigned=(), revoked=()))
        for member, one in read.items()
    }
    owners = {**answer.connector_owners, **answer.task_owners}
    return {"assignments": assignments, "owners": owners, "remembered": answer.memory}


def compare(
    releases: Sequence[JavaConnectAssignors],
    shapes: Sequence[str],
    seeds: range,
    *,
    protocol: str = PROTOCOL,
    ours: ConnectAssignors | None = None,
    progress: ProgressListener = ignore_progress,
) -> Iterator[Compared]:
    """Run the histories of all shapes and seeds with our assignors, and have each release compute the same rounds.

    One comparison for each shape and release. ``ours`` replaces our own assignors; ``progress`` receives the histories
    of the present shape. The first differences of each are made smaller.
    """
    runs = _Histories(releases, protocol, ours)
    for shape in shapes:
        results = [Compared((release.name, Posting.name), shape) for release in releases]
        for start in range(seeds.start, seeds.stop, _BATCH):
            batch = range(start, min(start + _BATCH, seeds.stop))
            found = runs.differences([random_history(shape, seed) for seed in batch], results)
            for number, (result, differences) in enumerate(zip(results, found, strict=True)):
                for seed, one in zip(batch, differences, strict=True):
                    if one is not None:
                        found_at = replace(one, origin=f"{shape}, seed {seed}, {one.origin}")
                        is_early = len(result.differences) < _MOST_SMALLER
                        result.note(runs.smaller(number, found_at) if is_early else found_at)
            progress(f"connect {shape}", batch.stop - seeds.start, len(seeds))
        yield from results
