"""``rebalance-check compare embedded BROKER``: random requests, and two brokers whose answers must be equal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._compare_report import finish, say_compared, say_differences, with_commands
from rebalance_check.commands._console import Console, said_at_interruption
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.integration.comparison.requests.comparisons import (
    FRAMES,
    Comparison,
    open_comparison,
    open_live_and_virtual,
)
from rebalance_check.report.terminal import suggested


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The broker that is asked, the seeds, and how many requests of each; the other side is ``first``."""

    first: str
    broker: str
    seeds: range
    steps: int | None

    def command(self, seed: int) -> str:
        """The command that sends the requests of one seed again."""
        steps = ["--steps", self.steps] if self.steps else []
        return suggested("compare", self.first, self.broker, "--seeds", f"{seed}:{seed + 1}", *steps)

    @property
    def open(self) -> Callable[[str], AbstractContextManager[Comparison]]:
        """Opens both sides."""
        return open_live_and_virtual if self.first == "virtual" else open_comparison


def compare_requests(console: Console, options: RequestOptions, ci: CiOptions) -> int:
    """Send the requests of each seed to both brokers, and show where their answers differ first, shrunk.

    Raises: RebalanceCheckError when the broker cannot be had.
    """
    total: list[Compared] = []

    def so_far() -> str:
        requests = sum(each.counts["requests"] for each in total)
        shown = sum(len(each.differences) for each in total)
        return f"{requests:,} requests are compared, {shown} differences are shown above"

    with said_at_interruption(so_far), options.open(options.broker) as comparison, console.progress() as advance:
        for done, seed in enumerate(options.seeds, 1):
            run = comparison.run(seed, options.steps or FRAMES)
            run.differences = [comparison.shrunk(each) for each in run.differences]
            total.append(with_commands(run, lambda found: options.command(found.start)))
            say_differences(console, total[-1].differences)
            advance("seeds", done, len(options.seeds))
        result = Compared(comparison.terms.names, "random requests")
    for each in total:
        result.add(each)
    result.counts["seeds"] = len(options.seeds)
    say_compared(console, [result], shown=0)
    return finish(console, [result], ci)
