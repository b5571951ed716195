"""Histories and rounds of Connect groups per second with our assignors, and a group's cost of a change of workers.

With releases as arguments, the rounds are computed by these as well, and compared.
"""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack

from rebalance_check.integration.comparison.connect_assignors.assigned_group import run_history
from rebalance_check.integration.comparison.connect_assignors.compare import compare
from rebalance_check.integration.comparison.connect_assignors.figures import cost_of_changes
from rebalance_check.integration.comparison.connect_assignors.java import JavaConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.ours import OurConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.request import ConnectAssignors
from rebalance_check.properties.assignment.connect_histories import SHAPES, random_history


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("releases", nargs="*", help="releases of connect-runtime, like 4.3.1")
    parser.add_argument("--seeds", type=int, default=400)
    options = parser.parse_args()
    seeds = range(options.seeds)
    started = time.perf_counter()
    ours = OurConnectAssignors()
    rounds = sum(len(run_history(ours, random_history(shape, seed)).rounds) for shape in SHAPES for seed in seeds)
    seconds = time.perf_counter() - started
    histories = len(seeds) * len(SHAPES)
    print(f"ours: {histories / seconds:,.0f} histories and {rounds / seconds:,.0f} rounds a second")
    with ExitStack() as stack:
        releases = [stack.enter_context(JavaConnectAssignors(version)) for version in options.releases]
        if releases:
            started = time.perf_counter()
            results = list(compare(releases, list(SHAPES), seeds))
            seconds = time.perf_counter() - started
            differences = sum(len(one.differences) for one in results)
            print(f"compared with {len(releases)}: {histories / seconds:,.0f} histories a second, {differences} differ")
        assignors: list[ConnectAssignors] = [ours, *releases]
        for one in assignors:
            for change, cost in cost_of_changes(one, range(100)).items():
                idle = f"{cost.idle_ms / cost.groups / 1000:,.1f} s without an owner, summed over connectors and tasks"
                print(f"{one.name}: {change}: {cost.rounds / cost.groups:.2f} rounds, {idle}")


if __name__ == "__main__":
    main()
