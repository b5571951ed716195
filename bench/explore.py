"""How fast the explorer is, and what it gains: compiled against interpreted, two threads against one, symmetry.

    python bench/explore.py [--runs 3]

Each figure is the best of some runs, because a busy machine only ever makes a run slower. Distinct states per second of
searching; compilation is measured on its own.
"""

from __future__ import annotations

import argparse

from rebalance_check.model.checker.safety import Exploration, explore
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds

SMALL = "members=2&partitions=2&generations=3"
"""What the interpreter is measured on."""


def best(address: str, runs: int, *, symmetry: bool = False, threads: int = 1, compiled: bool = True) -> Exploration:
    bounds = Bounds.from_address(address)
    found = [
        explore(model_for(bounds), bounds, symmetry=symmetry, threads=threads, compiled=compiled) for _ in range(runs)
    ]
    return min(found, key=lambda each: each.seconds)


def line(what: str, found: Exploration) -> str:
    return (
        f"{what:34} {found.distinct:>10,} states {found.generated:>11,} transitions  depth {found.depth:>3} "
        f"{found.seconds:8.3f} s {found.states_per_second:>12,.0f} /s  {found.peak_bytes / 1e6:5.0f} MB"
    )


def measure(protocol: str, runs: int) -> None:
    one, two, folded = (
        best(protocol, runs, threads=threads, symmetry=symmetry)
        for threads, symmetry in ((1, False), (2, False), (2, True))
    )
    slow = best(f"{protocol}?{SMALL}", runs, compiled=False)
    print(line(f"{protocol}, 1 thread", one))
    print(line(f"{protocol}, 2 threads", two))
    print(line(f"{protocol}, 2 threads, symmetry", folded))
    print(line(f"{protocol}, interpreted", slow))
    print(
        f"  compiled is {one.states_per_second / slow.states_per_second:,.0f} times the interpreted speed; "
        f"two threads {one.seconds / two.seconds:.2f} times one; "
        f"symmetry {two.seconds / folded.seconds:.1f} times none, "
        f"with {two.distinct / folded.distinct:.1f} times fewer states"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=3)
    runs = options.parse_args().runs
    start = best("eager?partitions=2&generations=3", 1)
    print(f"compiled or loaded from the cache in {start.compile_seconds:.1f} s")
    for protocol in ("eager", "cooperative"):
        measure(protocol, runs)


if __name__ == "__main__":
    main()
