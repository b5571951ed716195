"""Kafka's stores and ours perform the same sequences of steps; the first step of each at which they differ is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rebalance_check.impl.comparison.compare import first_difference
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference, Field, differing, shrunk
from rebalance_check.integration.comparison.stores.sequence import Observation, StepSequence, Stores


def compare(ours: Stores, theirs: Stores, sequences: Sequence[StepSequence]) -> Compared:
    """Let both sides perform the sequences; of the differences the first one is made smaller."""
    result = Compared((ours.name, theirs.name))
    both = zip(sequences, *(side.perform_all(sequences) for side in (ours, theirs)), strict=True)
    for number, (sequence, mine, other) in enumerate(both):
        result.counts.update(sequences=1, steps=len(sequence.steps))
        found = first_difference(result.sides, sequence.steps, (mine, other), _differ)
        if found is not None:
            result.note(replace(found, origin=f"sequence {number}", start=sequence.options))
    result.differences[:1] = [_smaller(ours, theirs, found) for found in result.differences[:1]]
    return result


def _differ(ours: Observation, theirs: Observation) -> tuple[Field, ...]:
    first, second = ({"trace": list(one.trace), **one.state} for one in (ours, theirs))
    return differing(first, second)


def _smaller(ours: Stores, theirs: Stores, found: Difference) -> Difference:
    def again(steps: tuple[Any, ...]) -> Difference | None:
        sequence = [StepSequence(steps, found.start)]
        [mine], [other] = ours.perform_all(sequence), theirs.perform_all(sequence)
        return first_difference(found.sides, steps, (mine, other), _differ)

    return shrunk(found, again)
