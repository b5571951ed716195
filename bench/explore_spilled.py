"""What a search on disk costs: the same bounds in memory and on disk, by turns, with equal counts.

    python bench/explore_spilled.py [ADDRESS ...] [--memory MIB] [--threads N] [--runs 2]

Each run is a process of its own, so that its peak memory is its own. The best of some runs counts, because a busy
machine only ever makes a run slower.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.limits import Limits, peak_resident_bytes
from rebalance_check.model.checker.safety.search import Outcome
from rebalance_check.model.checker.safety.spill_folder import SpillFolder
from rebalance_check.model.checker.safety.spilled import SpilledSearch
from rebalance_check.model.checker.safety.workers import ParallelSearch
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds

ADDRESSES = ["cooperative", "cooperative?losses=1"]
COUNTS = ("distinct", "generated", "cut", "depth")


def searched(address: str, threads: int, memory: int) -> Outcome:
    """One search without symmetry; ``memory`` is the limit of a search on disk in MiB, 0 searches in memory."""
    bounds = Bounds.from_address(address)
    model = model_for(bounds)
    program, machine = Program(model, bounds), Machine(model, bounds)
    if not memory:
        return ParallelSearch(program, machine, symmetry=False, threads=threads, limits=Limits()).run()
    with tempfile.TemporaryDirectory() as path, SpillFolder(Path(path)) as folder:
        return SpilledSearch(
            program, machine, folder, symmetry=False, threads=threads, limits=Limits(memory=memory << 20)
        ).run()


def one_run(address: str, threads: int, memory: int) -> None:
    found = searched(address, threads, memory)
    figures = {name: getattr(found, name) for name in (*COUNTS, "seconds", "disk_bytes")}
    print(json.dumps(figures | {"peak_bytes": peak_resident_bytes()}))


def apart(address: str, threads: int, memory: int) -> dict[str, Any]:
    """The figures of a run in a process of its own."""
    words = [sys.executable, __file__, "--one", address, "--threads", str(threads), "--memory", str(memory)]
    figures: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return figures


def line(what: str, found: dict[str, Any]) -> str:
    return (
        f"  {what:10} {found['seconds']:8.2f} s {found['distinct'] / found['seconds']:>12,.0f} states/s "
        f"{found['peak_bytes'] / 2**20:7,.0f} MiB of memory {found['disk_bytes'] / 2**20:8,.0f} MiB on disk"
    )


def measure(address: str, threads: int, memory: int, runs: int) -> None:
    pairs = [(apart(address, threads, 0), apart(address, threads, memory)) for _ in range(runs)]
    inside, outside = (min(column, key=lambda found: found["seconds"]) for column in zip(*pairs, strict=True))
    assert [inside[name] for name in COUNTS] == [outside[name] for name in COUNTS]
    print(f"{address}: {inside['distinct']:,} states, {inside['generated']:,} transitions, {threads} threads")
    print(line("in memory", inside))
    print(line("on disk", outside))
    ratios = sorted(other["seconds"] / one["seconds"] for one, other in pairs)
    print(f"  on disk takes {outside['seconds'] / inside['seconds']:.1f} times as long (pairs of runs: "
          f"{', '.join(f'{ratio:.1f}' for ratio in ratios)})")  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("addresses", nargs="*", default=ADDRESSES)
    options.add_argument("--memory", type=int, default=1024)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--runs", type=int, default=2)
    options.add_argument("--one", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        one_run(chosen.one, chosen.threads, chosen.memory)
        return
    for address in chosen.addresses:
        measure(address, chosen.threads, chosen.memory, chosen.runs)


if __name__ == "__main__":
    main()
