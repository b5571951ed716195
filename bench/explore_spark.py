"""What the explorer on Spark costs against one machine, in one run: the same bounds, the same counts, and the ratio.

    python bench/explore_spark.py [--bounds cooperative] [--runs 2]

Spark is embedded here, on the cores that the local engine has, too: what is left is what jobs, files and the transport
of states cost. Each figure is the best of some runs, without the compilation and the start of the session.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

from rebalance_check.model.checker.safety import Exploration, explore
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.pipeline.explore import SPREAD_FROM, explore_on_spark
from rebalance_check.pipeline.session import LOCAL_MASTER, java_available, spark_session


def measured(name: str, search: Callable[[], Exploration], runs: int) -> Exploration:
    found = min((search() for _ in range(runs)), key=lambda each: each.seconds)
    print(
        f"{name:<24} {found.distinct:>12,} states {found.generated:>12,} transitions  depth {found.depth:>3} "
        f"{found.seconds:>8.2f} s {found.states_per_second:>12,.0f} /s"
    )
    return found


def compare(spark: Exploration, here: Exploration) -> None:
    if (spark.distinct, spark.generated, spark.depth) != (here.distinct, here.generated, here.depth):
        raise SystemExit("the engines came to other counts: that is a defect, not a figure")
    ratio, more = spark.seconds / here.seconds, spark.seconds - here.seconds
    print(f"  {ratio:.1f} times as long; {more:.1f} s more, {more / spark.depth:.2f} s for each level")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bounds", default="cooperative", help="as an address, such as cooperative?generations=5")
    options.add_argument("--runs", type=int, default=2)
    given = options.parse_args()
    bounds, runs = Bounds.from_address(given.bounds), given.runs
    if not java_available():
        raise SystemExit("no Java: the figures for Spark are missing")
    here = measured("local, 2 threads", partial(explore, model_for(bounds), bounds, symmetry=False, threads=2), runs)
    started = time.perf_counter()
    with spark_session(LOCAL_MASTER):
        print(f"a Spark session starts in {time.perf_counter() - started:.1f} s")
        for name, spread_from in (("spark", SPREAD_FROM), ("spark, a job per level", 0)):
            compare(
                measured(name, partial(explore_on_spark, bounds, symmetry=False, spread_from=spread_from), runs), here
            )


if __name__ == "__main__":
    main()
