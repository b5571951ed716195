"""``rebalance-check fuzz --broker BROKER --wire``: random requests, and two brokers whose answers must be equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.integration.wire_random.comparisons import FRAMES, Comparison, open_comparison
from rebalance_check.integration.wire_random.run import WireDifference, WireRun, shortened
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.exit_codes import exit_code_of
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import ClaimResult
from rebalance_check.report.terminal import visible

CLAIM: Final = "answers_are_equal"
SHOWN_CHARACTERS: Final = 1_000
"""So much is printed of a request or an answer; the JSON has all of it."""


@dataclass(frozen=True, slots=True)
class WireOptions:
    """Which broker is asked, which seeds, how many requests of each, and whether differences are made smaller."""

    broker: str | None
    seeds: range
    frames: int | None
    is_shrinking: bool

    def command(self, seed: int) -> str:
        """The command that sends the requests of one seed again."""
        frames = self.frames or FRAMES
        return f"rebalance-check fuzz --broker {self.broker} --wire --seeds {seed}:{seed + 1} --frames {frames}"


def fuzz_wire(console: Console, options: WireOptions, ci: CiOptions) -> int:
    """Send the requests of each seed to both brokers, and show where their answers differ first.

    Raises: RebalanceCheckError without a broker, or when it cannot be had.
    """
    if options.broker is None:
        raise RebalanceCheckError("--wire compares the answers of a broker: add --broker BROKER, such as virtual")
    total = WireRun()
    with open_comparison(options.broker) as comparison, console.progress() as advance:
        for done, seed in enumerate(options.seeds, 1):
            run = comparison.run(seed, options.frames or FRAMES)
            if options.is_shrinking:
                run.differences = [comparison.shrunk(each) for each in run.differences]
            for each in run.differences:
                console.say(explained(comparison, each, options.command(seed)))
            total.add(run)
            advance("seeds", done, len(options.seeds))
    return _report(console, comparison, total, options, ci)


def explained(comparison: Comparison, found: WireDifference, replay: str) -> str:
    """A difference: the requests where they are few, the answers, and the command that shows it again."""
    few = (
        [f"  {_cut(str(each))}" for each in found.sent] if len(found.sent) <= 10 else [f"  {_cut(str(found.request))}"]
    )
    lines = [
        f"seed {found.seed}, request {found.number} of {len(found.sent)}",
        *few,
        f"  {comparison.reference}: {_cut(shortened(found.reference))}",
        f"  {comparison.follower}: {_cut(shortened(found.follower))}",
        f"  replay: {replay}",
    ]
    return "\n".join(map(visible, lines))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def _report(console: Console, comparison: Comparison, total: WireRun, options: WireOptions, ci: CiOptions) -> int:
    console.say(
        f"{total.requests:,} requests of {len(options.seeds):,} seeds to {comparison.name}: {total.replies:,} answers "
        f"compared, {total.spared:,} requests spared whose answers are known to differ"
    )
    console.say(f"{total.seconds:.1f} s ({total.requests / (total.seconds or 1):,.0f} requests/s)")
    outcome = Outcome.VIOLATED if total.differences else Outcome.HELD
    code = exit_code_of(outcome)
    ci.write(console, "fuzz", lambda: _results(comparison, total, options), code)
    console.say(verdict_line(outcome, [], f"{len(total.differences):,} differences"))
    return console.finish(_document(comparison, total, options), code)


def _results(comparison: Comparison, total: WireRun, options: WireOptions) -> list[ClaimResult]:
    if not total.differences:
        return [ClaimResult(subject=comparison.name, claim=CLAIM, outcome=Outcome.HELD)]
    return [
        ClaimResult(
            subject=comparison.name,
            claim=CLAIM,
            outcome=Outcome.VIOLATED,
            text=explained(comparison, each, options.command(each.seed)),
            command=options.command(each.seed),
        )
        for each in total.differences
    ]


def _document(comparison: Comparison, total: WireRun, options: WireOptions) -> dict[str, Any]:
    return {
        "broker": options.broker,
        "compared": [comparison.reference, comparison.follower],
        "seeds": len(options.seeds),
        "requests": total.requests,
        "answers": total.replies,
        "spared": total.spared,
        "seconds": round(total.seconds, 3),
        "verdict": "violated" if total.differences else "held",
        "differences": [
            {
                "seed": each.seed,
                "request": str(each.request),
                "answers": [each.reference, each.follower],
                "sent": [{"frame": one.frame.hex(), "pass_ms": one.pass_ms} for one in each.sent],
                "replay": options.command(each.seed),
            }
            for each in total.differences
        ],
    }
