"""A tiny group for the tests of the pipeline: two members, one partition; every seventh seed gives it to both."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberStarted,
    PartitionsAssigned,
    PartitionsRevoked,
    RunEnded,
    RunStarted,
)

DOUBLE = 7


def simulate(seed: int, options: Any) -> list[Event]:
    """``options.steps`` hand-overs of the partition; the seeds divisible by `DOUBLE` forget one revocation."""
    return number(script(seed, options.steps))


def simulate_slowly(seed: int, options: Any) -> list[Event]:
    """The same, but it takes a while: for runs that are killed in the middle."""
    time.sleep(0.01)
    return simulate(seed, options)


def simulate_and_note(seed: int, options: Any) -> list[Event]:
    """The same, and each seed that is finished is noted in a file."""
    history = simulate_slowly(seed, options)
    with Path(os.environ["TOY_NOTES"]).open("a", encoding="utf-8") as notes:
        notes.write(f"{seed}\n")
    return history


def simulate_badly(seed: int, options: Any) -> list[Event]:
    """Breaks down at seed 5."""
    if seed == 5:
        raise ZeroDivisionError("toy")
    return simulate(seed, options)


def simulate_nothing(seed: int, options: Any) -> list[Event]:
    """Refuses, as a subject does that cannot do what it is asked."""
    raise RebalanceCheckError(f"there is no such toy as seed {seed}: choose another")


CALLS: dict[int, int] = {}


def simulate_differently(seed: int, options: Any) -> list[Event]:
    """Another history each time it is asked (in one process): what no subject may do."""
    CALLS[seed] = CALLS.get(seed, 0) + 1
    return simulate(0 if CALLS[seed] == 1 else 1, options)


def script(seed: int, steps: int) -> Iterator[Event]:
    yield RunStarted(source="harness", subject="toy", seed=seed)
    yield MemberStarted(source="m0", member="m0")
    yield MemberStarted(source="m1", member="m1")
    forget = seed % (steps - 1) if seed % DOUBLE == 0 else -1
    for step in range(steps):
        owner = f"m{step % 2}"
        yield PartitionsAssigned(source=owner, member=owner, generation=1, partitions=("t-0",))
        if step != forget:
            yield PartitionsRevoked(source=owner, member=owner, generation=1, partitions=("t-0",))
    yield RunEnded(source="harness", pending=())


def number(events: Iterator[Event]) -> list[Event]:
    seqs: dict[str, int] = {}
    numbered = []
    for event in events:
        seq = seqs.get(event.source, 0)
        seqs[event.source] = seq + 1
        numbered.append(replace(event, group="g", seq=seq))
    return numbered
