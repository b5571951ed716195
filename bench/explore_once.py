"""One exploration in a process of its own, for `explore.py`: prints its figures as a line of JSON.

    python bench/explore_once.py 'eager?members=2' [--threads 2] [--symmetry] [--states N] [--mutant NAME]

A mutant is searched for as ``rebalance-check mutants --run`` does it, in the bounds that the address gives.
"""

from __future__ import annotations

import argparse
import json
import time

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.compilation import compile_apart
from rebalance_check.model.checker.safety.limits import Limits, resident_bytes
from rebalance_check.model.checker.safety.workers import ParallelSearch
from rebalance_check.model.registry import MUTANTS, model_for
from rebalance_check.model.vocabulary.bounds import Bounds

Instant = tuple[float, float]


def now() -> Instant:
    return time.perf_counter(), time.process_time()


def spent(name: str, begin: Instant, end: Instant) -> dict[str, float]:
    """The seconds and the CPU seconds between two instants."""
    return {f"{name}_seconds": end[0] - begin[0], f"{name}_cpu_seconds": end[1] - begin[1]}


def explored(bounds: Bounds, mutant: str, *, threads: int, symmetry: bool, states: int | None) -> dict[str, object]:
    imported = now()  # the CPU seconds of a process are counted from its start
    machine = Machine(model_for(bounds, mutant), bounds)
    program = compile_apart(machine.model, bounds)
    assert program is not None, "nothing interrupts it"
    compiled, bytes_before = now(), resident_bytes()
    search = ParallelSearch(program, machine, symmetry=symmetry, threads=threads, limits=Limits(states=states))
    outcome = search.run()
    return {
        "was_cached": program.was_cached, "violated": [outcome.violated],
        "distinct": outcome.distinct, "generated": outcome.generated, "cut": outcome.cut, "depth": outcome.depth,
        "import_cpu_seconds": imported[1], "bytes_before": bytes_before,
        **spent("compile", imported, compiled), **spent("search", compiled, now()),
    }  # fmt: skip


def judged(bounds: Bounds, mutant: str) -> dict[str, object]:
    from rebalance_check.model.checker.liveness import check_liveness  # noqa: PLC0415 - only such a mutant needs it

    found = check_liveness(model_for(bounds, mutant), bounds)
    return {"violated": [*found.counterexamples], "distinct": found.reached}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("address")
    options.add_argument("--mutant", default="")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--symmetry", action="store_true")
    options.add_argument("--states", type=int)
    given = options.parse_args()
    bounds = Bounds.from_address(given.address)
    if given.mutant and MUTANTS[given.mutant].liveness:
        found = judged(bounds, given.mutant)
    else:
        found = explored(bounds, given.mutant, threads=given.threads, symmetry=given.symmetry, states=given.states)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
