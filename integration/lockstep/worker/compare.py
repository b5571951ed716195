"""Performs a sequence on both workers and compares what can be seen after every step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from rebalance_check.impl.protocol.connect_protocol import read_connect_assignment, write_connect_assignment
from rebalance_check.integration.lockstep.worker.our_worker import OurWorker
from rebalance_check.integration.lockstep.worker.sequences import RandomSequence
from rebalance_check.integration.lockstep.worker.steps import Seen, Step

_OUR_REASON: Final = "rebalance failed due to "
"""What Java writes into the next JoinGroup after a failed one; ours gives no reason there (docs/differences.md)."""


FRAMES: Final = "frames"
"""The requests as bytes: they are carried, and compared field by field as ``requests``."""


class SteppedWorker(Protocol):
    """A worker that is driven by steps: Kafka's, or ours."""

    def perform(self, step: Step) -> Seen:
        """Do a step; what was seen since the one before."""
        ...


@dataclass(frozen=True, slots=True)
class Difference:
    """The first step of a sequence after which the two differ, and in what (name, Java's value, ours)."""

    steps: tuple[Step, ...]
    fields: tuple[tuple[str, Any, Any], ...]

    def __str__(self) -> str:
        """The last step and the fields, a line each."""
        lines = [f"after {self.steps[-1]} (step {len(self.steps)}):"]
        lines += [f"  {name}: Kafka's {theirs!r}, ours {mine!r}" for name, theirs, mine in self.fields]
        return "\n".join(lines)


def run_random(java: SteppedWorker, seed: int, steps: int) -> tuple[int, Difference | None]:
    """One random sequence; how many steps both did, and where they differed first (None: nowhere)."""
    sequence, ours = RandomSequence(seed, steps), OurWorker()
    done: list[Step] = []
    for step in sequence:
        done.append(step)
        theirs, mine = java.perform(step), ours.perform(step)
        fields = differing(theirs, mine)
        if fields:
            return len(done), Difference(tuple(done), fields)
        sequence.observe(mine)
    return len(done), None


def run_steps(java: SteppedWorker, steps: list[Step]) -> Difference | None:
    """The steps of a script."""
    ours = OurWorker()
    for number, step in enumerate(steps, start=1):
        if fields := differing(java.perform(step), ours.perform(step)):
            return Difference(tuple(steps[:number]), fields)
    return None


def differing(theirs: Seen, mine: Seen) -> tuple[tuple[str, Any, Any], ...]:
    """The fields that differ; a reason that only Java gives is none."""
    for request in theirs["requests"]:
        if str(request.get("reason", "")).startswith(_OUR_REASON):
            request["reason"] = ""
    for request in (*theirs["requests"], *mine["requests"]):
        _sort_work(request)
    theirs["calls"] = [call for call in theirs["calls"] if call["call"] != "poll timeout"]
    return tuple((name, theirs[name], mine[name]) for name in theirs if name != FRAMES and theirs[name] != mine[name])


def _sort_work(request: Seen) -> None:
    """Java takes away in the order of its hash sets, which the order of the claim decides in part."""
    for member, data in request.get("assignments", {}).items():
        if data and data[:4] != "0000":
            one = read_connect_assignment(bytes.fromhex(data))
            gone = replace(
                one,
                revoked_connectors=tuple(sorted(one.revoked_connectors)),
                revoked_tasks=tuple(sorted(one.revoked_tasks)),
            )
            request["assignments"][member] = (write_connect_assignment(gone, one.version) or b"").hex()
