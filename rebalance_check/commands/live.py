"""``rebalance-check live``: real clients on a broker, disturbed, recorded, judged."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import click

from rebalance_check.commands._campaign_options import CampaignOptions, KnownOptions, known_options, stop_option
from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._claim_options import ClaimOptions, claim_options
from rebalance_check.commands._console import Console, json_option
from rebalance_check.commands._fuzz_limits import endless_seeds, limits_of
from rebalance_check.commands._fuzz_result import entry_not_seen
from rebalance_check.commands._live_runs import CONNECT, STATUS, LiveRuns, live_document, live_runs, not_seen, show_live
from rebalance_check.commands._minutes import Minutes
from rebalance_check.commands._upgrade_option import path_option
from rebalance_check.commands.judge import results_of_files, verdict_of
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.integration.brokers import open_broker, open_cluster
from rebalance_check.integration.connect.churn import WorkerKind
from rebalance_check.integration.live.settings import ClientName, LiveProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.campaign import parse_seeds
from rebalance_check.properties.exit_codes import worst_exit_code
from rebalance_check.report.terminal import visible

BROKER_HELP = "embedded, local (jars and java), testcontainers (Docker), or the HOST:PORT of a running broker."


_Name = TypeVar("_Name", bound=StrEnum)


@click.command("live")
@click.option("--broker", default="embedded", show_default=True, help=BROKER_HELP)
@click.option("--protocol", type=click.Choice([*(p.value for p in LiveProtocol), STATUS, CONNECT]), default="eager",
              show_default=True,
              help="Consumers of a rebalance protocol, workers with status stores, or Connect workers.")  # fmt: skip
@click.option("--clients", default=ClientName.KAFKA_PYTHON.value, show_default=True, metavar="NAME,...",
              help=f"Dealt out to the consumers in turn: {', '.join(ClientName)}.")  # fmt: skip
@click.option("--assignors", default="", metavar="NAME,...",
              help="What each consumer offers, most wanted first; default: what all can, of aiokafka one.")  # fmt: skip
@click.option("--nodes", type=click.IntRange(min=1), default=1, show_default=True,
              help="3: a cluster (local, testcontainers) whose coordinator is killed, paused, moved.")  # fmt: skip
@click.option("--workers", default=WorkerKind.JAVA.value, show_default=True, metavar="KIND,...",
              help=f"Dealt out to the Connect workers in turn: {', '.join(WorkerKind)}.")  # fmt: skip
@click.option("--mode", type=click.Choice([each.value for each in ConnectMode]), default=ConnectMode.SESSIONED.value,
              show_default=True, help="The connect.protocol of Connect workers.")  # fmt: skip
@click.option("--scenario", default="", metavar="NAME",
              help="Instead of churn, a scenario of Connect workers, such as a known defect of Kafka.")  # fmt: skip
@path_option("Consumers are upgraded from one assignor to another by rolling restarts (kafka-python).")
@click.option("--members", type=int, default=3, show_default=True, help="Consumers, or workers.")
@click.option("--partitions", type=int, default=4, show_default=True, help="Of the consumers' topic.")
@click.option("--poll-timeout-ms", type=click.IntRange(1, 3_600_000), default=500, show_default=True,
              help="How long one poll of a consumer may take; short ones give up in the middle of a join.")  # fmt: skip
@click.option("--steps", type=int, default=12, show_default=True,
              help="Churn and fault injections, per run; for status stores, the writes of each.")  # fmt: skip
@click.option("--seeds", default="0:1", show_default=True, metavar="FIRST:LAST", help="A run per seed.")
@claim_options
@click.option(
    "--minutes",
    type=Minutes(zero=True),
    default=0.0,
    help="Begin no run after so many minutes; without --seeds, run seeds until then.",
)
@known_options
@stop_option
@click.option("--out", type=click.Path(path_type=Path), default=Path(".rebalance-check/live"), show_default=True,
              help="Where the histories are written, before they are judged.")  # fmt: skip
@ci_options(sarif=True)
@json_option
def command(*, broker: str, protocol: str, clients: str, assignors: str, path: str | None, members: int,
            partitions: int, steps: int, poll_timeout_ms: int, nodes: int, seeds: str, claims: ClaimOptions,
            workers: str, mode: str, scenario: str, out: Path, minutes: float, known: KnownOptions,
            stop_at_first: bool, ci: CiOptions,
            as_json: bool) -> int:  # fmt: skip
    """Run consumers of real client libraries, each a process, under joins, leaves, kills and pauses; or status stores.

    The stores of several Connect workers write to one compacted topic. All actions are drawn from the seed; what the
    clients then do is up to time and the operating system. What a release of a client is known to do is shown apart
    and counts for nothing; so is what the list of --known accounts for. With --strict both count. A run that breaks
    off, because a client crashes or the broker goes away, is judged up to there: it exits with 12, unless a claim is
    violated.
    """
    console = Console(as_json)
    asked = parse_clients(clients)
    offered = tuple(name.strip() for name in assignors.split(",") if name.strip())
    path = path or ""
    runs = LiveRuns(protocol, members, partitions, steps, poll_timeout_ms, asked, nodes, out, claims, path, offered,
                    parse_workers(workers), ConnectMode(mode), scenario, broker, known)  # fmt: skip
    seeds = endless_seeds(seeds, minutes)
    chosen = parse_seeds(seeds)
    with open_broker(broker) if nodes == 1 else open_cluster(broker, nodes) as opened:
        what = f"{runs.name}, seeds {seeds}, histories in {out}"
        console.say(visible(f"live on {opened.name} ({opened.bootstrap}): {what}"))
        judged = live_runs(console, opened, runs, chosen, limits_of(CampaignOptions(stop_at_first), minutes))
    for one in judged:
        show_live(console, one)
    for entry in not_seen(known, judged):
        console.say(entry_not_seen(entry))
    code = worst_exit_code(one.exit_code for one in judged)
    ci.write(console, "live", lambda: results_of_files(judged, []), code)
    console.say(verdict_of(judged))
    return console.finish(live_document(opened, judged, known), code)


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
