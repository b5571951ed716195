"""The first counterexample of each mutant of the model from cold: a new process with an empty cache, which compiles."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median

from measured_process import Measured, load, measured
from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.registry import MUTANTS

ONCE = Path(__file__).parent / "explore_once.py"


def catch(mutant: ModelMutant, threads: int) -> Measured:
    """Search for one in the bounds of its catalogue.

    Raises: RuntimeError where another claim than the one it names is broken, or none.
    """
    command = [
        sys.executable, str(ONCE), mutant.bounds.address(), "--mutant", mutant.name, "--symmetry", "--threads",
        str(threads),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as cache:
        found = measured(command, extra={"XDG_CACHE_HOME": cache})
    violated = json.loads(found.output)["violated"]
    if mutant.caught_by not in violated:
        raise RuntimeError(f"{mutant.name} breaks {violated}, and its catalogue says {mutant.caught_by}")
    return found


def measure(mutants: Sequence[ModelMutant], kind: str, threads: int) -> None:
    print(f"{len(mutants)} {kind} mutants, {threads} threads, {load()}")
    found = {}
    for number, mutant in enumerate(mutants, 1):
        one = found[mutant.name] = catch(mutant, threads)
        parts = parts_of(one)
        print(
            f"{number:4} {mutant.name:48} {one.seconds:6.2f} s {one.cpu_seconds:6.2f} CPU s "
            f"{one.peak_bytes / 1e6:5.0f} MB{parts}",
            flush=True,
        )
    print(f"{kind}: {summary(found)}; {load()}")


def parts_of(found: Measured) -> str:
    """Where the CPU seconds went."""
    figures = json.loads(found.output)
    names = [name for name in ("import", "compile", "search") if f"{name}_cpu_seconds" in figures]
    parts = ", ".join(f"{name} {figures[f'{name}_cpu_seconds']:.2f}" for name in names)
    return f"  {figures['distinct']:>10,} states  {parts}"


def summary(found: dict[str, Measured]) -> str:
    wall = {name: one.seconds for name, one in found.items()}
    cpu = {name: one.cpu_seconds for name, one in found.items()}
    slowest = max(wall, key=wall.__getitem__)
    return (
        f"median {median(wall.values()):.2f} s, {median(cpu.values()):.2f} CPU s; "
        f"mean {mean(wall.values()):.2f} s, {mean(cpu.values()):.2f} CPU s; "
        f"slowest {slowest} {wall[slowest]:.2f} s, {cpu[slowest]:.2f} CPU s"
    )


def measure_all(threads: int) -> None:
    """First those that break safety, then those that break liveness."""
    for kind, liveness in (("safety", False), ("liveness", True)):
        measure([one for one in MUTANTS.values() if one.liveness is liveness], kind, threads)
