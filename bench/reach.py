"""How many seeds come to each of the rare situations of a group: where no seed comes, no search of seeds can judge.

    python bench/reach.py --first 0 --runs 1000

Every situation is a call of one function of the implementation, and its arguments or its answer. The runs are those
of ``rebalance-check fuzz --protocol PROTOCOL``, with the protocol that the table names. The exit code is 1 where a
situation comes up in fewer than one seed of a hundred.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final

from rebalance_check.impl.assignors import sticky
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.connect.assignors import incremental
from rebalance_check.impl.connect.herder.restarting import Restarting, rank
from rebalance_check.impl.connect.status.writing import StatusWriting
from rebalance_check.impl.connect.workers import coordinator as worker
from rebalance_check.impl.runtime.faults import NO_FAULTS
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.impl.simulator.process import MemberProcess

LEAST: Final = 0.01
"""The share of the seeds that a situation must come up in."""

Seen = Callable[..., bool]


@dataclass(frozen=True, slots=True)
class Situation:
    """A situation of groups of a ``protocol``: its name, and the ``function`` of ``owner`` whose calls show it.

    ``before`` is asked with the arguments of a call, ``after`` with the result and then the arguments.
    """

    protocol: SimulatedProtocol
    name: str
    owner: Any
    function: str
    before: Seen = lambda *_: False
    after: Seen = lambda *_: False


def always(*_: object) -> bool:
    """Every call shows it."""
    return True


def in_quiet_phase(process: MemberProcess) -> bool:
    """Whether an application that polls rarely polls after all faults are over, while its member is not stable."""
    application = process.application
    rests = getattr(application, "state", None) is MemberState.STABLE
    return bool(process._long_poll_ms) and process._network.plan is NO_FAULTS and application is not None and not rests


def on_one_host(_store: StatusWriting, entry: Any, value: Any) -> bool:
    """Whether a safe write is checked against the status of another worker of the same host."""
    if (cached := entry.value) is None or cached.worker_id is None or cached.worker_id == value.worker_id:
        return False
    return bool(cached.worker_id.partition(":")[0] == value.worker_id.partition(":")[0])


def competes(restarting: Restarting, request: Any) -> bool:
    """Whether a restart is read while another one of the same connector, of another rank, waits."""
    waiting = restarting._restarts.get(request.connector)
    return waiting is not None and rank(waiting) != rank(request)


EAGER, CONNECT = SimulatedProtocol.EAGER, SimulatedProtocol.CONNECT

SITUATIONS: Final = (
    Situation(EAGER, "the general sticky algorithm is needed", sticky, "assign_general", always),
    Situation(
        EAGER, "two consumers claim a partition for one generation", sticky, "believed",
        after=lambda ownership, *_: bool(ownership.disputed),
    ),
    Situation(
        EAGER, "a partition is claimed for an earlier generation", sticky, "believed",
        after=lambda ownership, *_: bool(ownership.earlier),
    ),
    Situation(
        EAGER, "an application that polls rarely joins in the quiet phase", MemberProcess, "_enter_poll",
        in_quiet_phase,
    ),
    *(
        Situation(
            CONNECT, f"a Connect leader finds work that {said}", incremental, "sort_out",
            after=lambda found, *_, of=of: bool(getattr(found, of)),
        )
        for of, said in (("deleted", "was deleted"), ("duplicated", "two workers claim"), ("lost", "was lost"))
    ),
    Situation(CONNECT, "a round of Connect fails: CONFIG_MISMATCH", worker, "config_mismatch", always),
    Situation(CONNECT, "two workers of one host write about the same work", StatusWriting, "_may_write", on_one_host),
    Situation(CONNECT, "a restart meets another one that waits", Restarting, "_note_restart", competes),
)  # fmt: skip


@contextmanager
def noticed(situations: Sequence[Situation], note: Callable[[str], object]) -> Iterator[None]:
    """Inside, each situation that comes up is noted by its name."""
    with ExitStack() as stack:
        for situation in situations:
            stack.enter_context(_watched(situation, note))
        yield


@contextmanager
def _watched(situation: Situation, note: Callable[[str], object]) -> Iterator[None]:
    original = getattr(situation.owner, situation.function)

    @wraps(original)
    def watching(*args: Any, **named: Any) -> Any:
        if situation.before(*args):
            note(situation.name)
        answer = original(*args, **named)
        if situation.after(answer, *args):
            note(situation.name)
        return answer

    setattr(situation.owner, situation.function, watching)
    try:
        yield
    finally:
        setattr(situation.owner, situation.function, original)


def reached(first: int, runs: int) -> Counter[str]:
    """In how many of the seeds each situation comes up."""
    counts: Counter[str] = Counter()
    for protocol in dict.fromkeys(situation.protocol for situation in SITUATIONS):
        of_protocol = [situation for situation in SITUATIONS if situation.protocol is protocol]
        options = SimulationOptions(protocol=protocol)
        for seed in range(first, first + runs):
            seen: set[str] = set()
            with noticed(of_protocol, seen.add):
                simulate(seed, options)
            counts.update(seen)
    return counts


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=1000)
    asked = parser.parse_args()
    counts = reached(asked.first, asked.runs)
    for situation in SITUATIONS:
        print(f"{counts[situation.name]:6,} of {asked.runs:,}  {situation.protocol:8}  {situation.name}")
    return int(any(counts[situation.name] < LEAST * asked.runs for situation in SITUATIONS))


if __name__ == "__main__":
    sys.exit(main())
