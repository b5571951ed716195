"""``rebalance-check live``: real clients on a broker, disturbed, recorded, judged."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import click

from rebalance_check.commands._bounds_options import path_option
from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._claim_options import ClaimOptions, claim_options, known_findings, known_option
from rebalance_check.commands._console import Console
from rebalance_check.commands._fuzz_result import entry_not_seen
from rebalance_check.commands._live_runs import CONNECT, STATUS, LiveRuns, live_document, live_runs, not_seen, show_live
from rebalance_check.commands._options import (
    Command,
    json_option,
    minutes_option,
    option,
    out_option,
    stop_option,
    verbose_option,
)
from rebalance_check.commands.judge import results_of_files, verdict_of
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.integration.brokers import open_broker, open_cluster
from rebalance_check.integration.connect.workers.churn import WorkerKind
from rebalance_check.integration.live.settings import ClientName, LiveProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.campaign import MOST_SEEDS, parse_seeds
from rebalance_check.pipeline.limits import Limits
from rebalance_check.properties.exit_codes import worst_exit_code
from rebalance_check.report.terminal import visible

BROKER_HELP = "embedded, local (jars and java), testcontainers (Docker), or the HOST:PORT of a running broker."


_Name = TypeVar("_Name", bound=StrEnum)


@click.command("live", cls=Command)
@option("--broker", default="embedded", show_default=True, help=BROKER_HELP)
@option("--protocol", type=click.Choice([*(p.value for p in LiveProtocol), STATUS, CONNECT]), default="eager",
        show_default=True,
        help="Consumers of a rebalance protocol, workers with status stores, or Connect workers.")  # fmt: skip
@option("--clients", default="", metavar="NAME,...",
        help=f"Dealt out to the members in turn: {', '.join(ClientName)} (default: kafka-python); Connect workers are "
        f"{', '.join(WorkerKind)} (default: java).")  # fmt: skip
@option("--assignors", default="", metavar="NAME,...",
        help="The assignors of each consumer, preferred first; default: all common ones, of aiokafka one.")  # fmt: skip
@option("--nodes", type=click.IntRange(min=1), default=1, show_default=True,
        help="3: a cluster (local, testcontainers) whose coordinator is killed, paused, moved.")  # fmt: skip
@option("--mode", type=click.Choice([each.value for each in ConnectMode]), default=ConnectMode.SESSIONED.value,
        show_default=True, help="The connect.protocol of Connect workers.")  # fmt: skip
@option("--scenario", default="", metavar="NAME",
        help="Instead of churn, a scenario of Connect workers, such as a known defect of Kafka.")  # fmt: skip
@path_option("Consumers are upgraded from one assignor to another by rolling restarts (kafka-python).")
@option("--members", type=int, metavar="N", default=3, show_default=True, help="Consumers, or workers.")
@option("--partitions", type=int, metavar="N", default=4, show_default=True, help="Of the consumers' topic.")
@option("--steps", type=int, metavar="N", default=12, show_default=True,
        help="Churn and fault injections, per run; for status stores, the writes of each.")  # fmt: skip
@option("--seeds", metavar="FIRST:LAST", help="A run per seed (default: the seed 0).")
@minutes_option("Begin no run, and without --seeds run seeds until then,")
@claim_options
@known_option
@out_option("histories, before they are judged,", default=Path(".rebalance-check/live"))
@stop_option
@ci_options(rare=True)
@verbose_option(rare=True)
@json_option
def command(*, broker: str, protocol: str, clients: str, assignors: str, nodes: int, mode: str, scenario: str,
            path: str | None, members: int, partitions: int, steps: int, seeds: str | None, minutes: float | None,
            claims: ClaimOptions, known: Path | None, out: Path, stop_at_first: bool, ci: CiOptions,
            as_json: bool) -> int:  # fmt: skip
    """Run consumers of real client libraries, each a process, under joins, leaves, kills and pauses; or status stores.

    The stores of several Connect workers write to one compacted topic. All actions are drawn from the seed; the
    clients' behaviour is up to time and the operating system. The known findings of a client's release are shown apart
    and count for nothing (`judge` on the same history excuses nothing); so are those in the list of --known. A
    run that breaks off, because a client crashes or the broker goes away, is judged up to there: it exits with 12,
    unless a claim is violated.
    """
    console, is_connect = Console(as_json), protocol == CONNECT
    offered = tuple(name.strip() for name in assignors.split(",") if name.strip())
    runs = LiveRuns(
        protocol=protocol, members=members, partitions=partitions, steps=steps, nodes=nodes, out=out, claims=claims,
        clients=() if is_connect else parse_clients(clients or ClientName.KAFKA_PYTHON.value),
        workers=parse_workers(clients or WorkerKind.JAVA.value) if is_connect else (),
        path=path or "", assignors=offered, mode=ConnectMode(mode), scenario=scenario, broker=broker,
        known=known_findings(known),
    )  # fmt: skip
    named = seeds or (f"0:{MOST_SEEDS}" if minutes else "0:1")
    chosen, limits = parse_seeds(named), Limits(stop_at_first, minutes and 60 * minutes)
    with open_broker(broker) if nodes == 1 else open_cluster(broker, nodes) as opened:
        what = f"{runs.name}, seeds {named}, histories in {out}"
        console.say(visible(f"live on {opened.name} ({opened.bootstrap}): {what}"))
        judged = live_runs(console, opened, runs, chosen, limits)
    for one in judged:
        show_live(console, one)
    for entry in not_seen(runs.known, judged):
        console.say(entry_not_seen(entry))
    code = worst_exit_code(one.exit_code for one in judged)
    ci.write(console, "live", lambda: results_of_files(judged, []), code)
    console.say(verdict_of(judged))
    return console.finish(live_document(opened, judged, runs.known), code)


def parse_workers(text: str) -> tuple[WorkerKind, ...]:
    """The kinds of ``ours,java``.

    Raises: RebalanceCheckError for a kind that is none.
    """
    return _members_of(WorkerKind, text, "kind of worker")


def parse_clients(text: str) -> tuple[ClientName, ...]:
    """The clients of ``kafka-python,aiokafka``.

    Raises: RebalanceCheckError for a name that is none.
    """
    return _members_of(ClientName, text, "client")


def _members_of(names: type[_Name], text: str, what: str) -> tuple[_Name, ...]:
    given = [name.strip() for name in text.split(",")]
    unknown = [name for name in given if name not in set(names)]
    if unknown:
        raise RebalanceCheckError(f"{unknown[0]!r} is no {what}: choose from {', '.join(names)}")
    return tuple(names(name) for name in given)
