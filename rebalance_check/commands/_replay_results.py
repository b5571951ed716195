"""The result of each schedule that was replayed, for CI systems, and the command that sends it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rebalance_check.commands._judged import Judged
from rebalance_check.integration.conformance.replay import ReplayResult
from rebalance_check.model.registry import path_of
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import REPLIES_AS_PREDICTED, ClaimResult, Place
from rebalance_check.report.terminal import suggested


def path_result(document: dict[str, Any]) -> ClaimResult:
    """A path of the model as one result, for CI systems."""
    broken = document["invariant"]
    return ClaimResult(
        subject="model", claim=document["address"], outcome=Outcome.VIOLATED if broken else Outcome.HELD,
        sentence=document["claim"], text=document["text"] if broken else "",
        command=suggested("replay", document["address"]),
    )  # fmt: skip


def replay_results(
    result: ReplayResult, judged: Sequence[Judged], broker: str, *, real_timers: bool
) -> list[ClaimResult]:
    """Each schedule, and each claim that its history breaks, for CI systems."""
    found: list[ClaimResult] = []
    for replayed, one in zip(result.replayed, judged, strict=True):
        differs = replayed.divergence is not None
        again = command_of(replayed.schedule, broker, real_timers=real_timers)
        schedule = ClaimResult(
            subject=f"{result.broker}, {replayed.history.name}", claim=REPLIES_AS_PREDICTED,
            outcome=Outcome.VIOLATED if differs else Outcome.HELD, text=str(replayed.divergence) if differs else "",
            command=again, place=Place(replayed.history, 1) if differs else None,
        )  # fmt: skip
        broken = [each for each in one.results() if each.outcome is Outcome.VIOLATED]
        found += [schedule, *(replace(each, subject=schedule.subject, command=again) for each in broken)]
    return found


def address_of(schedule: Schedule) -> str:
    """The address of a schedule, to replay it alone."""
    return path_of(schedule).address()


def command_of(schedule: Schedule, broker: str, *, real_timers: bool = False) -> str:
    """The command that sends the schedule to the broker again."""
    timers = ["--real-timers"] if real_timers else []
    return suggested("replay", "--broker", broker, *timers, address_of(schedule))
