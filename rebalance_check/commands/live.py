"""``rebalance-check live``: real clients on a broker, disturbed, recorded, judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from rebalance_check.commands._claim_options import ClaimOptions, claim_options
from rebalance_check.commands._console import Console, json_option
from rebalance_check.commands._upgrade_option import path_option
from rebalance_check.commands.judge import Judged, show_judged, verdict_of
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import churn_schedule
from rebalance_check.integration.brokers import Broker, open_broker, open_cluster
from rebalance_check.integration.connect.churn import ConnectRun, WorkerKind, run_connect
from rebalance_check.integration.live.clients import require_installed
from rebalance_check.integration.live.nodes import with_coordinator_faults
from rebalance_check.integration.live.recording import merge, reserve
from rebalance_check.integration.live.settings import ClientName, LiveOptions, LiveProtocol
from rebalance_check.integration.live.status_stores import StatusRun, run_status_stores
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.model.vocabulary.errors import INTERRUPTIONS, RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.model.vocabulary.schedule import run
from rebalance_check.pipeline.campaign import parse_seeds
from rebalance_check.properties.exit_codes import worst_exit_code
from rebalance_check.properties.history import recorded, write_history
from rebalance_check.properties.incarnations import with_incarnations
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.documents import judgement_document
from rebalance_check.report.terminal import visible

BROKER_HELP = "embedded, local (jars and java), testcontainers (Docker), or the HOST:PORT of a running broker."


_Name = TypeVar("_Name", bound=StrEnum)

STATUS: Final = "status"
CONNECT: Final = "connect"


@dataclass(frozen=True, slots=True)
class LiveRuns:
    """What is run: ``status`` stores or consumers of a protocol, how large, how often disturbed, where histories go."""

    protocol: str
    members: int
    partitions: int
    steps: int
    poll_timeout_ms: int
    clients: tuple[ClientName, ...]
    nodes: int
    out: Path
    claims: ClaimOptions
    path: str = ""
    assignors: tuple[str, ...] = ()
    workers: tuple[WorkerKind, ...] = (WorkerKind.JAVA,)
    mode: ConnectMode = ConnectMode.SESSIONED
    scenario: str = ""
    broker: str = ""

    def __post_init__(self) -> None:
        """Sizes and claims that do not serve are refused before a broker is started."""
        _ = self.claims.invariants()
        if self.protocol == CONNECT:
            _ = self.connect
            require_one_node(self.nodes, "Connect workers")
        elif self.protocol == STATUS:
            _ = self.stores
            require_one_node(self.nodes, "status stores")
        else:
            _ = self.churn, self.settings
            for client in self.clients:
                require_installed(client)

    @property
    def stores(self) -> StatusRun:
        """The run of status stores."""
        return StatusRun(workers=self.members, writes=self.steps)

    @property
    def connect(self) -> ConnectRun:
        """The run of Connect workers."""
        return ConnectRun(
            workers=self.workers, mode=self.mode, members=self.members, steps=self.steps, scenario=self.scenario
        )

    @property
    def churn(self) -> SimulationOptions:
        """The disturbances of the consumers."""
        return SimulationOptions(
            protocol=SimulatedProtocol(self.protocol),
            members=self.members,
            partitions=self.partitions,
            steps=self.steps,
            upgrade=self.path,
        )

    @property
    def name(self) -> str:
        """What the files of a run begin with."""
        return self.connect.name if self.protocol == CONNECT else self.path or self.protocol

    @property
    def settings(self) -> LiveOptions:
        """How the consumers are set up."""
        protocol = LiveProtocol(self.protocol)
        settings = LiveOptions(
            protocol=protocol,
            clients=self.clients,
            poll_timeout_ms=self.poll_timeout_ms,
            upgrade=self.path,
            assignors=self.assignors,
        )
        return settings.for_cluster() if self.nodes > 1 else settings

    def history(self, broker: Broker, seed: int, folder: Path) -> Iterable[Event]:
        """The events of one run, when it is over; until then the raw recordings grow in ``folder``."""
        if self.protocol == CONNECT:
            return run_connect(broker, self.broker, seed, self.connect, folder)
        if self.protocol == STATUS:
            return run_status_stores(broker.bootstrap, seed, self.stores, folder)
        subject = LiveSubject(broker, self.settings, folder)
        schedule = churn_schedule(seed, self.churn)
        return run(subject, with_coordinator_faults(schedule) if broker.cluster else schedule)


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
@click.option("--out", type=click.Path(path_type=Path), default=Path(".rebalance-check/live"), show_default=True,
              help="Where the histories are written, before they are judged.")  # fmt: skip
@json_option
def command(*, broker: str, protocol: str, clients: str, assignors: str, path: str | None, members: int,
            partitions: int, steps: int, poll_timeout_ms: int, nodes: int, seeds: str, claims: ClaimOptions,
            workers: str, mode: str, scenario: str, out: Path, as_json: bool) -> int:  # fmt: skip
    """Run consumers of real client libraries, each a process, under joins, leaves, kills and pauses; or status stores.

    The stores of several Connect workers write to one compacted topic. All actions are drawn from the seed; what the
    clients then do is up to time and the operating system.
    """
    console = Console(as_json)
    asked = parse_clients(clients)
    offered = tuple(name.strip() for name in assignors.split(",") if name.strip())
    path = path or ""
    runs = LiveRuns(protocol, members, partitions, steps, poll_timeout_ms, asked, nodes, out, claims, path, offered,
                    parse_workers(workers), ConnectMode(mode), scenario, broker)  # fmt: skip
    chosen = parse_seeds(seeds)
    with open_broker(broker) if nodes == 1 else open_cluster(broker, nodes) as opened:
        what = f"{runs.name}, seeds {seeds}, histories in {out}"
        console.say(visible(f"live on {opened.name} ({opened.bootstrap}): {what}"))
        judged = live_runs(console, opened, runs, chosen)
    for one in judged:
        show_judged(console, one)
    console.say(verdict_of(judged))
    return console.finish(live_document(opened, judged), worst_exit_code(one.judgement.exit_code for one in judged))


def require_one_node(nodes: int, what: str) -> None:
    """Refuse a cluster.

    Raises: RebalanceCheckError for more than one node.
    """
    if nodes > 1:
        raise RebalanceCheckError(f"{what} run on one node, and --nodes is {nodes}: leave it out, or choose consumers")


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


def live_runs(console: Console, broker: Broker, runs: LiveRuns, seeds: Sequence[int]) -> list[Judged]:
    """Run and judge each seed in turn; when that is interrupted, what was judged is shown."""
    judged: list[Judged] = []
    try:
        with console.progress() as advance:
            for number, seed in enumerate(seeds):
                advance("live runs", number, len(seeds))
                judged.append(live_run(broker, runs, seed))
    except INTERRUPTIONS:
        for one in judged:
            show_judged(console, one)
        raise
    return judged


def live_run(broker: Broker, runs: LiveRuns, seed: int) -> Judged:
    """One run: its history is on disk before it is judged. An interrupted run leaves the history up to there."""
    folder, path = reserve(runs.out, f"{runs.name}-{seed}")
    invariants, require_tested = runs.claims.invariants(), runs.claims.require_tested
    try:
        events = recorded(path, runs.history(broker, seed, folder))
        return Judged(path, judge(events, invariants, require_tested=require_tested))
    except INTERRUPTIONS:
        if not path.exists() or not path.stat().st_size:
            write_history(path, with_incarnations(list(merge(sorted(folder.glob("*.raw"))))))
        raise


def live_document(broker: Broker, judged: Sequence[Judged]) -> dict[str, Any]:
    """The JSON form of live runs."""
    worst = max(judged, key=lambda one: list(Outcome).index(one.judgement.outcome)).judgement
    return {
        **judgement_document(worst),
        "broker": broker.name,
        "runs": len(judged),
        "events": sum(one.judgement.events for one in judged),
        "histories": [{"file": str(one.path), **judgement_document(one.judgement)} for one in judged],
    }
