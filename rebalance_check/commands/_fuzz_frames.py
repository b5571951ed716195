"""``rebalance-check fuzz --subject broker``: random frames at the embedded broker."""

from __future__ import annotations

from typing import Any, Final

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.integration.frame_fuzz.in_process import fuzz_in_process
from rebalance_check.integration.frame_fuzz.result import SERVED_WITHIN_MS, FrameRun
from rebalance_check.integration.frame_fuzz.sockets import fuzz_over_sockets
from rebalance_check.properties.exit_codes import exit_code_of
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import ClaimResult
from rebalance_check.report.terminal import visible

SUBJECT: Final = "broker"
WAYS: Final = {"in-process": fuzz_in_process, "sockets": fuzz_over_sockets}

MAX_FINDINGS: Final = 20
"""So many are printed; the others are counted."""


def fuzz_frames(console: Console, seeds: range, frames: int, over: str, ci: CiOptions) -> int:
    """Send a new broker the ``frames`` frames of each seed, and report what must not happen."""
    total = FrameRun()
    with console.progress() as advance:
        for done, seed in enumerate(seeds, 1):
            run = WAYS[over](seed, frames)
            for finding in run.findings[: max(MAX_FINDINGS - len(total.findings), 0)]:
                console.say(f"{visible(finding.text)}\n  replay: {command(finding.seed, frames, over)}")
            total.add(run)
            advance("seeds", done, len(seeds))
    return _report(console, total, seeds, over, ci)


def command(seed: int, frames: int, over: str) -> str:
    """The command that sends the frames of one seed again."""
    return f"rebalance-check fuzz --subject {SUBJECT} --seeds {seed}:{seed + 1} --frames {frames} --over {over}"


def _report(console: Console, total: FrameRun, seeds: range, over: str, ci: CiOptions) -> int:
    fates = ", ".join(f"{count:,} {fate}" for fate, count in sorted(total.fates.items()) if count)
    p99, longest = total.served_ms(0.99), total.served_ms(1)
    console.say(f"{total.frames:,} frames of {len(seeds):,} seeds {over.replace('-', ' ')}: {fates}")
    console.say(f"{total.seconds:.1f} s ({total.frames / (total.seconds or 1):,.0f} frames/s)")
    console.say(
        f"a well-behaved client waited {p99:.1f} ms in 99% of {len(total.latencies_ms):,} requests, {longest:.1f} ms "
        f"at most; the longest turn of the event loop took {total.longest_turn_ms:.1f} ms"
    )
    if p99 > SERVED_WITHIN_MS:
        console.say(f"note: the 99th percentile is over {SERVED_WITHIN_MS:.0f} ms; measure on a machine that is idle")
    outcome = Outcome.VIOLATED if total.findings else Outcome.HELD
    code = exit_code_of(outcome)
    text = "\n".join(each.text for each in total.findings)
    one = ClaimResult(subject=f"frames {over}", claim="frames_are_served", outcome=outcome, text=text)
    ci.write(console, "fuzz", lambda: [one], code)
    console.say(verdict_line(outcome, [], f"{len(total.findings):,} findings"))
    return console.finish(_document(total, seeds, over), code)


def _document(total: FrameRun, seeds: range, over: str) -> dict[str, Any]:
    return {
        "subject": SUBJECT,
        "over": over,
        "seeds": len(seeds),
        "frames": total.frames,
        "fates": {fate.value: count for fate, count in sorted(total.fates.items())},
        "seconds": round(total.seconds, 3),
        "p99_ms": round(total.served_ms(0.99), 3),
        "longest_turn_ms": round(total.longest_turn_ms, 3),
        "verdict": "violated" if total.findings else "held",
        "findings": [
            {"seed": each.seed, "frame": each.frame, "what": each.what, "sent": each.sent.hex()}
            for each in total.findings
        ],
    }
