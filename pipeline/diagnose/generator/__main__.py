"""``python -m rebalance_check.pipeline.diagnose.generator DIR --commits 1000000 --problem storm=0.02``."""

from __future__ import annotations

import argparse
from pathlib import Path

from rebalance_check.pipeline.diagnose.generator.generate import Plan, generate
from rebalance_check.pipeline.diagnose.generator.problems import PROBLEMS


def main() -> None:
    """Write a folder, and print its size."""
    parser = argparse.ArgumentParser(description="Generate logs and segments with planted problems.")
    parser.add_argument("folder", type=Path)
    for name in ("seed", "groups", "commits", "hours", "brokers", "segment_bytes"):
        default = getattr(Plan(), name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default, metavar="N", help=f"{default}")
    parser.add_argument("--problem", action="append", metavar="NAME=SHARE",
                        help=f"of {', '.join(PROBLEMS)}; may be repeated; all with 0.04 by default")  # fmt: skip
    given = vars(parser.parse_args())
    folder, problems = given.pop("folder"), given.pop("problem")
    if problems is not None:
        pairs = [one.partition("=") for one in problems]
        given["problems"] = {name: float(share or 1) for name, _, share in pairs}
    made = generate(folder, Plan(**given))
    print(f"{made.commits:,} commits, {len(made.planted)} planted problems in {folder}")


if __name__ == "__main__":
    main()
