"""How fast a campaign goes on each engine, in one run: the same seeds, the same verdicts, and the ratio of speeds."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.pipeline.fuzz import fuzz, judge_table
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.pipeline.session import java_available, spark_session


def report(name: str, result: FuzzResult, base: FuzzResult) -> None:
    speed, base_speed = result.events / result.seconds, base.events / base.seconds
    print(f"{name:<40} {speed:>12,.0f} events/s {result.seconds:>8.2f} s {speed / base_speed:>8.2f} x")
    if result.verdicts != base.verdicts:
        raise SystemExit(f"{name} came to other verdicts than {base.engine}: that is a defect, not a figure")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000)
    seeds, options = range(parser.parse_args().seeds), SimulationOptions()
    with TemporaryDirectory() as folder:
        alone = fuzz(seeds, options, workers=1)
        print(f"{len(seeds)} seeds, {alone.events:,} events; the last column compares with one process in memory")
        report("simulate and judge, one process", alone, alone)
        report("simulate and judge, a process per core", fuzz(seeds, options), alone)
        report("local, with a table", fuzz(seeds, options, out=Path(folder, "local")), alone)
        report("local, judging the table", judge_table(Path(folder, "local")), alone)
        if not java_available():
            raise SystemExit("no Java: the figures for Spark are missing")
        started = time.perf_counter()
        with spark_session():
            print(f"a Spark session starts in {time.perf_counter() - started:.1f} s")
            report("spark, with a table", fuzz(seeds, options, engine="spark", out=Path(folder, "spark")), alone)
            report("spark, judging the table", judge_table(Path(folder, "spark"), engine="spark"), alone)


if __name__ == "__main__":
    main()
