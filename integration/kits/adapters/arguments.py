"""The arguments that all adapters take, for those in Python; the others parse the same ones in their own language."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence


def parsed(assignors: Sequence[str]) -> argparse.Namespace:
    """The arguments of the command line; ``assignors`` are the protocols that the client can speak."""
    return parser(assignors).parse_args()


def parser(assignors: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of these arguments, for a program that takes some of its own."""
    made = argparse.ArgumentParser(description="Consumes a topic in a group until SIGTERM.")
    for required in ("bootstrap", "group", "topic"):
        made.add_argument(f"--{required}", required=True)
    made.add_argument("--instance", help="group.instance.id of a static member")
    made.add_argument("--assignor", choices=assignors, default=assignors[0])
    made.add_argument("--session-ms", type=int, default=10_000)
    made.add_argument("--heartbeat-ms", type=int, default=1_000)
    made.add_argument("--rebalance-ms", type=int, default=10_000)
    return made


class Shown:
    """Prints the partitions of a consumer whenever they change, a line each time."""

    def __init__(self) -> None:
        self._last: list[str] = []

    def __call__(self, owned: Iterable[tuple[str, int]]) -> None:
        """Print ``owned``, topics and partition numbers, if it isn't the same as printed last."""
        names = sorted(f"{topic}-{index}" for topic, index in owned)
        if names != self._last:
            self._last = names
            print("owned", *names, flush=True)
