"""``rebalance-check replay``: schedules of the model on a broker, every answer held against the model's."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._console import Console, json_option, verdict_line
from rebalance_check.commands._judged import Judged
from rebalance_check.commands._replay_results import address_of, command_of, path_result, replay_results
from rebalance_check.commands._upgrade_option import path_option
from rebalance_check.commands.explore import chosen as chosen_sizes
from rebalance_check.commands.explore import size_options
from rebalance_check.commands.judge import show_judged
from rebalance_check.commands.live import BROKER_HELP
from rebalance_check.integration.brokers import Broker, BrokerSpec, open_broker
from rebalance_check.integration.conformance.replay import ReplayResult, replay
from rebalance_check.integration.conformance.schedules import DEFAULT_STEPS, walks
from rebalance_check.model.checker.safety import Path as ModelPath
from rebalance_check.model.execution import execute
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.bounds import GROUP_PROTOCOLS, Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.exit_codes import ExitCode, worst_exit_code
from rebalance_check.properties.history import read_history
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.documents import judgement_document
from rebalance_check.report.paths import path_document
from rebalance_check.report.terminal import visible

VIRTUAL_HELP = "Or virtual, virtual:4.3.1, virtual:3.9.2, virtual:3.9.2-scala: Kafka's coordinator in virtual time."

WALKED = {"members": 3, "partitions": 2, "crashes": 2, "leaves": 1, "expiries": 1, "duplicates": 1}
"""The bounds of the walks, where no option says otherwise; smaller than those of `explore`, with more disturbance."""


@click.command("replay")
@click.argument("addresses", nargs=-1, metavar="[ADDRESS]...")
@click.option("--broker", metavar="BROKER", help=f"{BROKER_HELP} {VIRTUAL_HELP} Default: embedded; none for ADDRESS.")
@click.option("--schedules", type=click.IntRange(1, 1_000_000), default=200, show_default=True, help="How many walks.")
@click.option(
    "--steps", type=click.IntRange(1, 10_000), default=DEFAULT_STEPS, show_default=True, help="Actions per walk."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Where the walks go.")
@click.option("--protocol", type=click.Choice(["eager", "cooperative"]), default="eager", show_default=True)
@size_options(**WALKED)
@path_option("Walk where members are upgraded from one assignor to another.")
@click.option("--real-timers", is_flag=True, help="Let sessions run out instead of leaving in the member's name.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Keep the histories there.")
@ci_options(sarif=True)
@json_option
def command(*, addresses: tuple[str, ...], broker: str | None, schedules: int, steps: int, seed: int, protocol: str,
            path: str | None, real_timers: bool, out: Path | None, ci: CiOptions, as_json: bool,
            **sizes: int) -> int:  # fmt: skip
    """Send schedules of the model to a broker as raw requests and compare every answer with the model's.

    Without ADDRESS, walks through the model's state graph that prefer what no walk has done yet. With one (as
    `explore` prints it), that path: on the model alone, or on --broker.
    """
    console = Console(as_json)
    paths = [path_at(address) for address in addresses]
    if paths and broker is None:
        ci.require_files(False, "replay on a --broker")
        return show(console, paths, ci)
    ci.require_files(out, "add --out DIR")
    bounds = Bounds(initial_delay=False, member_id_required=False, **chosen_sizes(sizes, protocol, path))
    on_socket = not (broker or "").startswith(BrokerSpec.VIRTUAL)
    broker_named = open_broker(
        broker or "embedded", or_virtual=True
    )  # refuses what names no broker; nothing starts yet
    chosen = [schedule_of(path, on_socket=on_socket) for path in paths]
    chosen = chosen or list(walks(bounds, schedules, seed=seed, steps=steps))
    with ExitStack() as stack:
        folder = out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rebalance-check-replay-")))
        opened = stack.enter_context(broker_named)
        what = f"{len(paths)} paths" if paths else f"{schedules} schedules of {bounds.address()}, seed {seed}"
        console.say(visible(f"replay on {opened.name} ({opened.bootstrap}): {what}"))
        result = replay_watched(console, opened, chosen, folder, real_timers=real_timers)
        judged = judge_replayed(result)
        return finish(console, result, judged, broker or "embedded", ci, real_timers=real_timers)


def show(console: Console, paths: Sequence[ModelPath], ci: CiOptions) -> int:
    """The paths on the model alone: what happens, and whether a claim breaks at the end."""
    documents = []
    for path in paths:
        document = run_document(path)
        console.say(document["text"])
        documents.append(document)
    codes = {
        ExitCode.SAFETY if path.loop is None else ExitCode.LIVENESS
        for path, document in zip(paths, documents, strict=True)
        if document["invariant"]
    }
    code = worst_exit_code(codes)
    ci.write(console, "replay", lambda: [path_result(document) for document in documents], code)
    broken = [document["invariant"] for document in documents]
    console.say(verdict_line(code.outcome, broken, f"{broken.count('')} of {len(paths)} paths break nothing"))
    return console.finish({"paths": documents}, code)


def run_document(path: ModelPath) -> dict[str, Any]:
    """The JSON form of a path, executed once."""
    run = execute(path)
    if path.loop is None:
        return path_document(run, run.broken())
    from rebalance_check.report.lassos import lasso_document  # noqa: PLC0415 - needs an extra

    return lasso_document(run)


def schedule_of(path: ModelPath, *, on_socket: bool) -> Schedule:
    """A path as a schedule for a broker; `RebalanceCheckError` when a broker cannot follow it."""
    if (path.bounds.initial_delay and on_socket) or path.bounds.protocol not in GROUP_PROTOCOLS:
        raise RebalanceCheckError(
            f"a broker cannot follow {path.bounds.address()}: explore with --no-initial-delay and a group protocol"
        )
    return Schedule(path.bounds, path.actions)


def replay_watched(
    console: Console, broker: Broker, schedules: Sequence[Schedule], folder: Path, *, real_timers: bool = False
) -> ReplayResult:
    """Replay with a progress bar on a terminal."""
    with console.progress() as advance:
        return replay(
            broker, schedules, folder, real_timers=real_timers,
            progress=advance,
        )  # fmt: skip


def judge_replayed(result: ReplayResult) -> list[Judged]:
    """Judge the history of each schedule."""
    return [Judged(path, judge(read_history(path), CATALOGUE)) for path in result.histories]


def finish(
    console: Console, result: ReplayResult, judged: Sequence[Judged], broker: str, ci: CiOptions, *, real_timers: bool
) -> int:
    """Divergences first, then violations, then the figures."""
    for schedule, divergence in result.divergences[:5]:
        console.say(f"\ndivergence on {result.broker}: {divergence}")
        console.say(f"  replay    {command_of(schedule, broker, real_timers=real_timers)}")
    for one in judged:
        if one.judgement.outcome is Outcome.VIOLATED:
            show_judged(console, one)
    speed = result.schedules / result.seconds if result.seconds else 0
    console.say(
        f"{result.schedules} schedules, {result.requests:,} requests, {result.seconds:.1f} s ({speed:.0f} schedules/s)"
    )
    console.say(f"{len(result.divergences)} schedules differ, {violated(judged)} histories break a claim")
    code = ExitCode.SAFETY if result.divergences else safety_of(judged)
    broken = [found.invariant for one in judged for found in one.judgement.counterexamples]
    names = [*(["divergence"] if result.divergences else []), *broken]
    ci.write(console, "replay", lambda: replay_results(result, judged, broker, real_timers=real_timers), code)
    same = result.schedules - len(result.divergences)
    console.say(verdict_line(code.outcome, names, f"{same:,} of {result.schedules:,} schedules as the model predicts"))
    return console.finish(replay_document(result, judged), code)


def violated(judged: Sequence[Judged]) -> int:
    """How many histories break a claim."""
    return sum(one.judgement.outcome is Outcome.VIOLATED for one in judged)


def safety_of(judged: Sequence[Judged]) -> ExitCode:
    """The exit code of the histories. A schedule may end in the middle of a rebalance, so nothing open is a doubt."""
    return worst_exit_code(one.judgement.exit_code for one in judged if one.judgement.outcome is Outcome.VIOLATED)


def replay_document(result: ReplayResult, judged: Sequence[Judged]) -> dict[str, Any]:
    """The JSON form of a replay."""
    broken = [one for one in judged if one.judgement.outcome is Outcome.VIOLATED]
    return {
        "broker": result.broker,
        "schedules": result.schedules,
        "requests": result.requests,
        "skipped": sum(each.skipped for each in result.replayed),
        "seconds": round(result.seconds, 3),
        "events": sum(one.judgement.events for one in judged),
        "verdict": "violated" if result.divergences or broken else "held",
        "divergences": [
            {
                "address": address_of(schedule),
                "step": divergence.step,
                "action": str(divergence.action),
                "predicted": [str(outcome) for outcome in divergence.predicted],
                "observed": str(divergence.observed),
            }
            for schedule, divergence in result.divergences
        ],
        "violations": [{"file": str(one.path), **judgement_document(one.judgement)} for one in broken],
    }
