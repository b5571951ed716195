"""``rebalance-check compare assignors kafka:RELEASE``: our assignors' answers and those of a release of Kafka."""

from __future__ import annotations

from collections.abc import Iterator

from rebalance_check.commands._assignor_options import are_of_connect
from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._compare_report import finish, say_compared
from rebalance_check.commands._console import Console
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.integration.comparison.assignors.assignors import JavaAssignors
from rebalance_check.integration.comparison.assignors.compare import compare
from rebalance_check.integration.comparison.connect_assignors import compare as of_connect
from rebalance_check.integration.comparison.connect_assignors.java import JavaConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.search import protocol_of
from rebalance_check.properties.assignment.connect_histories import SHAPES as CONNECT_SHAPES
from rebalance_check.properties.assignment.problem import ASSIGNORS
from rebalance_check.properties.assignment.problems import SHAPES


def compare_assignors(
    console: Console, release: str, seeds: range, names: tuple[str, ...], shapes: tuple[str, ...]
) -> int:
    """Hold ours against theirs, and show figures by assignor and shape; an unexplained difference is a failure.

    Raises: RebalanceCheckError without Java or jars, and for a shape that does not belong to the assignors.
    """
    compared = _workers if are_of_connect(names, shapes) else _consumers
    parts = list(compared(release, seeds, names, shapes))
    say_compared(console, parts)
    return finish(console, parts, CiOptions())


def _consumers(release: str, seeds: range, names: tuple[str, ...], shapes: tuple[str, ...]) -> Iterator[Compared]:
    with JavaAssignors(release) as theirs:
        yield from compare(theirs, names or ASSIGNORS, shapes or tuple(SHAPES), seeds)


def _workers(release: str, seeds: range, names: tuple[str, ...], shapes: tuple[str, ...]) -> Iterator[Compared]:
    with JavaConnectAssignors(release) as theirs:
        for name in names:
            chosen = shapes or tuple(CONNECT_SHAPES)
            yield from of_connect.compare([theirs], chosen, seeds, protocol=protocol_of(name))
