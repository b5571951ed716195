"""How fast histories are made, written, read and judged, on one core; then what each invariant costs alone.

The cost of all invariants shows in the ratio to the judge without any: that one holds on every machine, and is
about 10 (20 before memories of the same events were shared).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.history import decode, encode
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant


def seconds(work: Callable[[], object]) -> float:
    """CPU time of ``work``, the best of three, as other programs only ever make it slower."""
    times = []
    for _ in range(3):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def judge_all(runs: list[list[Event]], invariant: Invariant) -> None:
    for run in runs:
        judge(run, [invariant])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    seeds = range(parser.parse_args().seeds)
    options = SimulationOptions()
    runs = [simulate(seed, options) for seed in seeds]
    lines = [[encode(event) for event in run] for run in runs]
    events = sum(map(len, runs))

    def line(name: str, spent: float, base: float) -> None:
        print(f"{name:<40} {events / spent:>12,.0f} events/s {base / spent:>8.2f} x")

    judging = seconds(lambda: [judge(run) for run in runs])
    print(f"{len(seeds)} seeds, {events:,} events; the last column compares with judging all invariants")
    line("judge, all invariants", judging, judging)
    line("judge, no invariant", seconds(lambda: [judge(run, []) for run in runs]), judging)
    long = simulate(0, replace(options, protocol=SimulatedProtocol.COOPERATIVE, steps=1000))
    spent = seconds(lambda: judge(long))
    print(f"{f'judge, one history of {len(long):,} events':<40} {len(long) / spent:>12,.0f} events/s")
    line("simulate", seconds(lambda: [simulate(seed, options) for seed in seeds]), judging)
    line("encode to JSON lines", seconds(lambda: [encode(event) for run in runs for event in run]), judging)
    line("decode from JSON lines", seconds(lambda: [decode(text) for run in lines for text in run]), judging)
    for invariant in CATALOGUE:
        line(f"judge {invariant.name}", seconds(partial(judge_all, runs, invariant)), judging)


if __name__ == "__main__":
    main()
