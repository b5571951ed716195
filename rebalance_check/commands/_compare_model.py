"""``rebalance-check compare model BROKER``: walks, or paths of the model, on a broker; every answer held against it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rebalance_check.commands._bounds_options import chosen_bounds
from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._compare_report import DIFFERENCE, document_of, say_compared, with_commands
from rebalance_check.commands._console import Console, said_at_interruption, verdict_line
from rebalance_check.commands._judged import Judged
from rebalance_check.commands.judge import show_judged
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.impl.comparison.to_model.outcome import MODEL
from rebalance_check.integration.brokers import Broker, BrokerSpec, open_broker
from rebalance_check.integration.comparison.to_model.replay import ReplayResult, replay
from rebalance_check.integration.comparison.to_model.schedules import DEFAULT_STEPS, walks
from rebalance_check.model.registry import path_at, path_of
from rebalance_check.model.vocabulary.bounds import GROUP_PROTOCOLS, Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.exit_codes import ExitCode, worst_exit_code
from rebalance_check.properties.history import read_history
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import REPLIES_AS_PREDICTED, ClaimResult, Place
from rebalance_check.report.documents import judgement_document
from rebalance_check.report.terminal import suggested, visible

WALKED: Final = {
    "members": 3, "partitions": 2, "crashes": 2, "leaves": 1, "expiries": 1, "duplicates": 1, "initial_delay": False,
}  # fmt: skip
"""The bounds of the walks, where no option says otherwise; smaller than those of `explore`, with more disturbance."""


def compare_walks(console: Console, broker: str, options: Mapping[str, Any], ci: CiOptions) -> int:
    """Send schedules of the model to a broker as raw requests, and compare every answer with the model's.

    They are walks through its state graph that prefer actions that no walk has done yet, or the paths that are named.

    Raises: RebalanceCheckError for a broker that is none, and a path that a broker cannot follow.
    """
    opening = open_broker(broker, or_virtual=True)  # refuses a text that names no broker; nothing starts yet
    on_socket = not broker.startswith(BrokerSpec.VIRTUAL)
    if options["addresses"]:
        paths = [path_at(address) for address in options["addresses"]]
        for path in paths:
            require_followed(path.bounds, on_socket=on_socket)
        chosen, what = [Schedule(path.bounds, path.actions) for path in paths], f"{len(paths)} paths"
    else:
        bounds = chosen_bounds(options["protocol"], options["bounds"], options["path"], WALKED)
        require_followed(bounds, on_socket=on_socket)
        steps = options["steps"] or DEFAULT_STEPS
        chosen = list(walks(bounds, options["walks"], seed=options["seed"], steps=steps))
        what = f"{len(chosen)} walks in {bounds.address()}, seed {options['seed']}"
    timers = options["real_timers"]
    with ExitStack() as stack:
        folder = options["out"] or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rebalance-check-")))
        opened = stack.enter_context(opening)
        console.say(visible(f"compare model and {opened.name} ({opened.bootstrap}): {what}"))
        result = replay_watched(console, opened, chosen, folder, real_timers=timers)
        return finish(console, result, judge_replayed(result), broker, ci, real_timers=timers)


def require_followed(bounds: Bounds, *, on_socket: bool) -> None:
    """Check that a broker can follow the paths within these bounds.

    Raises: RebalanceCheckError when it cannot.
    """
    if (bounds.initial_delay and on_socket) or bounds.protocol not in GROUP_PROTOCOLS:
        raise RebalanceCheckError(
            f"a broker cannot follow {bounds.address()}: write initial_delay=off, and a group protocol"
        )


def replay_watched(
    console: Console, broker: Broker, schedules: Sequence[Schedule], folder: Path, *, real_timers: bool = False
) -> ReplayResult:
    """Replay with a progress bar on a terminal."""

    def so_far() -> str:
        return f"{len(list(folder.glob('*.jsonl'))):,} of {len(schedules):,} schedules have a history in {folder}"

    with said_at_interruption(so_far), console.progress() as advance:
        return replay(broker, schedules, folder, real_timers=real_timers, progress=advance)


def judge_replayed(result: ReplayResult) -> list[Judged]:
    """Judge the history of each schedule."""
    return [Judged(path, judge(read_history(path), CATALOGUE)) for path in result.histories]


def finish(
    console: Console, result: ReplayResult, judged: Sequence[Judged], broker: str, ci: CiOptions, *, real_timers: bool
) -> int:
    """Differences first, then violations, then the figures."""

    def command(found: Difference) -> str:
        return command_of(found.start.schedule, broker, real_timers=real_timers)

    compared = with_commands(compared_by(result), command)
    broken = violated(judged)
    for one in broken:
        show_judged(console, one)
    say_compared(console, [compared])
    console.say(f"{len(broken)} histories break a claim")
    code = ExitCode.SAFETY if compared.differences else safety_of(judged)
    names = [found.invariant for one in judged for found in one.judgement.counterexamples]
    names = [*([DIFFERENCE] if compared.differences else []), *names]
    ci.write(console, "compare", lambda: replay_results(result, judged, broker, real_timers=real_timers), code)
    same = result.schedules - len(result.differences)
    console.say(verdict_line(code.outcome, names, f"{same:,} of {result.schedules:,} schedules as the model predicts"))
    return console.finish(replay_document(compared, judged), code)


def compared_by(result: ReplayResult) -> Compared:
    """The figures of a replay."""
    compared = Compared((MODEL, result.broker), "schedules", differences=list(result.differences))
    skipped = sum(each.skipped for each in result.replayed)
    compared.counts.update(schedules=result.schedules, requests=result.requests, skipped=skipped)
    compared.seconds = result.seconds
    return compared


def violated(judged: Sequence[Judged]) -> list[Judged]:
    """The histories that break a claim. A schedule may end in the middle of a rebalance: nothing open is a doubt."""
    return [one for one in judged if one.judgement.outcome is Outcome.VIOLATED]


def safety_of(judged: Sequence[Judged]) -> ExitCode:
    """The exit code of the histories."""
    return worst_exit_code(one.judgement.exit_code for one in violated(judged))


def replay_document(compared: Compared, judged: Sequence[Judged]) -> dict[str, Any]:
    """The JSON form of a replay."""
    broken = violated(judged)
    return document_of([compared]) | {
        "events": sum(one.judgement.events for one in judged),
        "verdict": "violated" if compared.differences or broken else "held",
        "violations": [{"file": str(one.path), **judgement_document(one.judgement)} for one in broken],
    }


def replay_results(
    result: ReplayResult, judged: Sequence[Judged], broker: str, *, real_timers: bool
) -> list[ClaimResult]:
    """Each schedule, and each claim that its history breaks, for CI systems."""
    found: list[ClaimResult] = []
    for replayed, one in zip(result.replayed, judged, strict=True):
        differs = replayed.difference is not None
        again = command_of(replayed.schedule, broker, real_timers=real_timers)
        schedule = ClaimResult(
            subject=f"{result.broker}, {replayed.history.name}", claim=REPLIES_AS_PREDICTED,
            outcome=Outcome.VIOLATED if differs else Outcome.HELD, text=str(replayed.difference) if differs else "",
            command=again, place=Place(replayed.history, 1) if differs else None,
        )  # fmt: skip
        broken = [each for each in one.results() if each.outcome is Outcome.VIOLATED]
        found += [schedule, *(replace(each, subject=schedule.subject, command=again) for each in broken)]
    return found


def command_of(schedule: Schedule, broker: str, *, real_timers: bool = False) -> str:
    """The command that sends the schedule to the broker again."""
    timers = ["--real-timers"] if real_timers else []
    return suggested("compare", "model", broker, *timers, path_of(schedule).address())
