"""``rebalance-check explore --engine spark``: the shares of a search spread over the workers of a Spark master."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from rebalance_check.commands._search_line import search_line
from rebalance_check.commands._upgrade_option import was_given
from rebalance_check.model.checker.safety import Exploration
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.session import LOCAL_MASTER

MOST_SHARES: Final = 999

OF_THE_LOCAL_ENGINE: Final = {
    "threads": "--threads", "interpreted": "--interpreted", "max_memory": "--max-memory", "spill": "--spill",
    "checkpoint": "--checkpoint", "resume": "--resume", "walks": "--walks", "liveness": "--liveness",
    "goal": "--witness", "serve": "--serve", "broker": "--broker",
}  # fmt: skip
"""The options that this machine's search alone serves, by parameter."""


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Which engine searches, and what it needs to know where that is Spark: master, folder, number of shares."""

    engine: str
    master: str
    work: Path | None
    shares: int | None

    @property
    def is_chosen(self) -> bool:
        """Whether Spark searches.

        Raises: RebalanceCheckError where an option does not apply to the engine.
        """
        if self.engine == "spark":
            if given := [option for name, option in OF_THE_LOCAL_ENGINE.items() if was_given(name)]:
                raise RebalanceCheckError(
                    f"{', '.join(given)} does not go together with --engine spark, which checks invariants on every "
                    "state, has the threads and the memory of its master, and keeps what is done in --work DIR: leave "
                    "out one of the two"
                )
            return True
        if given := [f"--{name}" for name in ("master", "work", "shares") if was_given(name)]:
            raise RebalanceCheckError(f"{', '.join(given)} applies to Spark alone: give --engine spark, too")
        return False

    def explore(self, bounds: Bounds, mutant: str, *, symmetry: bool, limits: Limits) -> Exploration:
        """Explore on Spark, with a line on the terminal that shows how far it is.

        Raises: RebalanceCheckError without Java, Spark or llvmlite, and for a folder of another search.
        """
        try:
            from rebalance_check.pipeline.explore import explore_on_spark  # noqa: PLC0415 - needs an extra
        except ImportError as error:
            raise RebalanceCheckError(
                f"the compiled explorer needs {error.name}, which is not installed: run "
                "pip install 'rebalance-check[explore,spark]'"
            ) from error
        with search_line() as line:
            return explore_on_spark(
                bounds, mutant=mutant, symmetry=symmetry, master=self.master, work=self.work, shares=self.shares,
                limits=limits, progress=line,
            )  # fmt: skip


def spark_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options, and hand them to ``command`` as ``spark``, a `SparkOptions`."""

    @wraps(command)
    def with_spark(*, engine: str, master: str, work: Path | None, shares: int | None, **others: Any) -> Any:
        return command(spark=SparkOptions(engine, master, work, shares), **others)

    wrapped: Callable[..., Any] = with_spark
    for option in (
        click.option("--shares", type=click.IntRange(1, MOST_SHARES), metavar="N",
                     help="With --engine spark: in how many parts the states are kept.  [default: 2 for each core]"),
        click.option("--work", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
                     help="With --engine spark: keep the states in this folder, which every machine must see. The same "
                     "command goes on with what is there."),
        click.option("--master", default=LOCAL_MASTER, show_default=True, help="The Spark master."),
        click.option("--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True,
                     help="Who searches: threads of this machine, or the workers of Spark, for what one machine does "
                     "not hold."),
    ):  # fmt: skip
        wrapped = option(wrapped)
    return wrapped
