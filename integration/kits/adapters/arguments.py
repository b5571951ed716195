"""The arguments that all adapters take, for those in Python; the others parse the same ones in their own language."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence


def parsed(assignors: Sequence[str]) -> argparse.Namespace:
    """The arguments of the command line; ``assignors`` are the protocols that the client can speak."""
    parser = argparse.ArgumentParser(description="Consumes a topic in a group until SIGTERM.")
    for required in ("bootstrap", "group", "topic"):
        parser.add_argument(f"--{required}", required=True)
    parser.add_argument("--instance", help="group.instance.id of a static member")
    parser.add_argument("--assignor", choices=assignors, default=assignors[0])
    parser.add_argument("--session-ms", type=int, default=10_000)
    parser.add_argument("--heartbeat-ms", type=int, default=1_000)
    parser.add_argument("--rebalance-ms", type=int, default=10_000)
    return parser.parse_args()


class Shown:
    """Prints the partitions of a consumer whenever they change, a line each time."""

    def __init__(self) -> None:
        self._last: list[str] = []

    def __call__(self, owned: Iterable[tuple[str, int]]) -> None:
        """Print ``owned``, topics and partition numbers, if it isn't what was printed last."""
        names = sorted(f"{topic}-{index}" for topic, index in owned)
        if names != self._last:
            self._last = names
            print("owned", *names, flush=True)
