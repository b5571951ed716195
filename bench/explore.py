"""How fast the compiled explorer is: cold and cached starts, states per second, memory, and Spin on the same protocol.

    python bench/explore.py [--runs 3] [--states 2000000]    bounds, two processes against one, and Spin
    python bench/explore.py --mutants                        the first counterexample of every mutant from cold

Each figure is that of a process of its own. The variants take turns, run after run, and the least, the median and the
greatest are printed, so that the noise of the machine can be seen.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import explore_mutants
import spin_model
from measured_process import Measured, Running, load, spread
from rebalance_check.model.checker.compiler.program import program_text
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds

ONCE = Path(__file__).parent / "explore_once.py"
COOPERATIVE = "cooperative"
PRESENT_AT_START = 60_000_000
"""Bytes of the process before it explores: Python, NumPy and LLVM."""

SEVERAL = "timeouts&losses=1&failovers=1&commits=1"

SHAPES = (
    ("eager?members=2&partitions=1&generations=2", False),
    (COOPERATIVE, False),
    (COOPERATIVE, True),
    (f"cooperative?{SEVERAL}&static_members=2&shared_instances=1", False),
    (f"eager?partitions=2&upgrade=legal&rolling_restarts=1&{SEVERAL}&static_members=2", False),
    ("cooperative?members=6&partitions=6&timeouts&losses=1&new_members&heartbeats_during_sync=1", False),
    (f"cooperative?members=6&partitions=6&{SEVERAL}&static_members=3&shared_instances=1", False),
    ("status?generations=3", False),
)
"""Bounds, and whether of all states that differ in the names of members one is kept."""

WITH_SPIN = ("eager?members=2&partitions=1&generations=2", "eager", COOPERATIVE)


MEANINGFUL = 50_000
"""With fewer states a search is over before a clock can measure it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One exploration: its findings, and the cost of its process."""

    found: dict[str, Any]
    process: Measured


def started(address: str, cache: str, states: int | None, threads: int = 1, *, symmetry: bool = False) -> Running:
    limit = ["--states", str(states)] if states is not None else []
    folded = ["--symmetry"] if symmetry else []
    command = [sys.executable, str(ONCE), address, "--threads", str(threads), *limit, *folded]
    return Running(command, extra={"XDG_CACHE_HOME": cache})


def finished(running: Running) -> Run:
    process = running.ended()
    return Run(json.loads(process.output), process)


def per_second(runs: list[Run], of: str) -> str:
    """Millions of distinct states per second of searching."""
    return spread(run.found["distinct"] / run.found[of] / 1e6 for run in runs)


# ------------------------------------------------------------------------------------------------ bounds


def measure(address: str, runs: int, states: int, *, symmetry: bool) -> None:
    """The figures of some bounds: a cold start, a cached one, and a cached one with two threads, in turn."""
    cold, one, two, code = list[Run](), list[Run](), list[Run](), 0
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(finished(started(address, cache, states, symmetry=symmetry)))
            code = sum(path.stat().st_size for path in Path(cache).rglob("*.program"))
            one.append(finished(started(address, cache, states, symmetry=symmetry)))
            two.append(finished(started(address, cache, states, 2, symmetry=symmetry)))
    assert not any(run.found["was_cached"] for run in cold)
    assert all(run.found["was_cached"] for run in (*one, *two))
    say_start(address, cold, one, code, symmetry=symmetry)
    say_search("1 thread", one)
    say_search("2 threads", two)


def say_start(address: str, cold: list[Run], cached: list[Run], code: int, *, symmetry: bool) -> None:
    bounds = Bounds.from_address(address)
    lines = program_text(model_for(bounds), bounds).text.count("\n")
    starts = [run.process.seconds - run.found["search_seconds"] for run in cached]
    print(f"{address}{', symmetry' if symmetry else ''}; {load()}")
    print(f"  cold compile, CPU s     {spread(run.found['compile_cpu_seconds'] for run in cold)}")
    print(f"  cached start, s         {spread(starts)}  (the process until its search, and its end)")
    print(f"  program                 {code:,} bytes of machine code, {lines:,} lines of IR")


def say_search(what: str, runs: list[Run]) -> None:
    found = runs[0].found
    transition = spread((run.found["search_cpu_seconds"] / run.found["generated"] * 1e9 for run in runs), 0)
    peaks = [run.process.peak_bytes for run in runs]
    grown = (run.process.peak_bytes - run.found["bytes_before"] for run in runs)
    searched = spread((each / found["distinct"] for each in grown), 1)
    beyond = spread(((peak - PRESENT_AT_START) / found["distinct"] for peak in peaks), 1)
    print(f"  {what}: {found['distinct']:,} states, {found['generated']:,} transitions, depth {found['depth']}")
    if found["distinct"] >= MEANINGFUL:
        print(f"    M states/s            {per_second(runs, 'search_seconds')}")
        print(f"    M states/CPU s        {per_second(runs, 'search_cpu_seconds')}")
        print(f"    CPU ns per transition {transition}")
        print(f"    bytes per state       {beyond}  (beyond {PRESENT_AT_START / 1e6:.0f} MB)")
        print(f"    bytes per state       {searched}  (beyond what the process has before it searches)")
    print(f"    peak MB               {spread((peak / 1e6 for peak in peaks), 0)}", flush=True)


# ------------------------------------------------------------------------------------------------ a second processor


def measure_processors(runs: int) -> None:
    """Two independent processes of one thread against one: the gain by a second processor on this machine."""
    alone, both = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as cache:
        finished(started(COOPERATIVE, cache, None))
        for _ in range(runs):
            alone.append(rate(finished(started(COOPERATIVE, cache, None))))
            pair = [started(COOPERATIVE, cache, None) for _ in range(2)]
            both.append(sum(rate(finished(each)) for each in pair))
    print(f"two independent processes against one, {COOPERATIVE}; {load()}")
    print(f"  one, M states/s         {spread(alone)}")
    print(f"  two together            {spread(both)}")
    print(f"  ratio of the medians    {median(both) / median(alone):.2f}", flush=True)


def rate(run: Run) -> float:
    return float(run.found["distinct"] / run.found["search_seconds"] / 1e6)


# ------------------------------------------------------------------------------------------------ Spin


def measure_spin(address: str, runs: int) -> None:
    """Ours with one thread and Spin in turn; the counts must be equal."""
    bounds = Bounds.from_address(address)
    ours, theirs = list[Run](), {variant: list[spin_model.SpinRun]() for variant in spin_model.VARIANTS}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            ours.append(finished(started(address, cache, None)))
        for variant, found in theirs.items():
            found.append(spin_model.run(bounds, variant))
    require_equal(bounds, ours[0].found, theirs)
    print(f"ours and Spin, {address}: exact searches find the same {ours[0].found['distinct']:,} states; {load()}")
    print(f"  {'ours, 64-bit fingerprints':40} {our_figures(ours)}")
    for variant, found in theirs.items():
        print(f"  {'Spin, ' + variant:40} {spin_figures(found)}", flush=True)


def require_equal(bounds: Bounds, found: dict[str, Any], theirs: dict[str, list[spin_model.SpinRun]]) -> None:
    """The counts are equal, but that all beyond the bounds is one state of Spin, and the exception in `spin/group.pml`.

    There a COOPERATIVE leader also makes steps that change nothing, so that transitions are equal under EAGER only.
    """
    cut = int(found["cut"] > 0)
    for variant in spin_model.EXACT:
        for run in theirs[variant]:
            assert run.states == found["distinct"] + cut, (variant, run, found)
            assert run.transitions == found["generated"] + found["cut"] or bounds.protocol != "eager", (run, found)


def our_figures(runs: list[Run]) -> str:
    states = runs[0].found["distinct"]
    return figures(
        states,
        [run.process.seconds - run.found["search_seconds"] for run in runs],
        [run.process.seconds for run in runs],
        [states / run.found["search_cpu_seconds"] / 1e6 for run in runs],
        [run.process.peak_bytes / states for run in runs],
    )


def spin_figures(runs: list[spin_model.SpinRun]) -> str:
    return figures(
        runs[0].states,
        [run.make_seconds for run in runs],
        [run.make_seconds + run.seconds for run in runs],
        [run.rate / 1e6 for run in runs],
        [run.peak_bytes / run.states for run in runs],
    )


def figures(states: int, ready: list[float], whole: list[float], rates: list[float], size: list[float]) -> str:
    times = f"{states:>9,} states; ready {spread(ready)} s, at the end {spread(whole)} s"
    if states < MEANINGFUL:
        return times
    return f"{times}; {spread(rates)} M states/CPU s; {spread(size, 0)} bytes of peak memory per state"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--states", type=int, default=2_000_000, help="where a search of larger bounds ends")
    options.add_argument("--threads", type=int, default=2, help="of the search for a mutant")
    options.add_argument("--mutants", action="store_true")
    given = options.parse_args()
    if given.mutants:
        explore_mutants.measure_all(given.threads)
        return
    measure_processors(given.runs)
    for address in WITH_SPIN if spin_model.is_there() else ():
        measure_spin(address, given.runs)
    if not spin_model.is_there():
        print("Spin is not measured: install spin and a C compiler (Debian: apt-get install spin gcc)")
    for address, symmetry in SHAPES:
        measure(address, given.runs, given.states, symmetry=symmetry)


if __name__ == "__main__":
    main()
