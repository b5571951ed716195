"""``rebalance-check live``: real clients on a broker, disturbed, recorded, judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from rebalance_check.commands.judge import Judged, combined_exit_code, tell
from rebalance_check.face import Face, json_option
from rebalance_check.impl.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import churn_schedule
from rebalance_check.integration.cluster import Broker, open_broker
from rebalance_check.integration.live.settings import LiveProtocol, LiveSettings
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.model.subject import run
from rebalance_check.pipeline.campaign import parse_seeds
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.history import recorded
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.documents import judgement_document

BROKER_HELP = "embedded, local (jars and java), testcontainers (Docker), or the HOST:PORT of a running broker."


@dataclass(frozen=True, slots=True)
class LiveRuns:
    """What is run: how members are set up, how large the group is, how often it is disturbed, where histories go."""

    settings: LiveSettings
    options: SimulationOptions
    out: Path
    invariants: tuple[Invariant, ...]


@click.command("live")
@click.option("--broker", default="embedded", show_default=True, help=BROKER_HELP)
@click.option("--protocol", type=click.Choice([p.value for p in LiveProtocol]), default="eager", show_default=True)
@click.option("--members", type=int, default=3, show_default=True)
@click.option("--partitions", type=int, default=4, show_default=True)
@click.option("--steps", type=int, default=12, show_default=True, help="Actions that disturb, per run.")
@click.option("--seeds", default="0:1", show_default=True, metavar="FIRST:LAST", help="A run per seed.")
@click.option("--invariant", "names", multiple=True, metavar="NAME", help="An invariant or a family; default: all.")
@click.option("--out", type=click.Path(path_type=Path), default=Path(".rebalance-check/live"), show_default=True,
              help="Where the histories are written, before they are judged.")  # fmt: skip
@json_option
def command(*, broker: str, protocol: str, members: int, partitions: int, steps: int, seeds: str,
            names: tuple[str, ...], out: Path, as_json: bool) -> int:  # fmt: skip
    """Run kafka-python consumers, each in a process of its own, under joins, leaves, kills and pauses.

    What disturbs them is drawn from the seed; what they then do is up to time and the operating system.
    """
    face = Face(as_json)
    runs = LiveRuns(
        settings=LiveSettings(protocol=LiveProtocol(protocol)),
        options=SimulationOptions(
            protocol=SimulatedProtocol(protocol), members=members, partitions=partitions, steps=steps
        ),
        out=out,
        invariants=select(names),
    )
    with open_broker(broker) as opened:
        face.say(f"live on {opened.name} ({opened.bootstrap}): {protocol}, seeds {seeds}, histories in {out}")
        judged = live_runs(face, opened, runs, parse_seeds(seeds))
    for one in judged:
        tell(face, one)
    return face.finish(live_document(opened, judged), combined_exit_code(judged))


def live_runs(face: Face, broker: Broker, runs: LiveRuns, seeds: Sequence[int]) -> list[Judged]:
    """Run and judge each seed in turn."""
    judged: list[Judged] = []
    with face.progress() as advance:
        for number, seed in enumerate(seeds):
            advance("live runs", number, len(seeds))
            judged.append(live_run(broker, runs, seed))
    return judged


def live_run(broker: Broker, runs: LiveRuns, seed: int) -> Judged:
    """One run: its history is on disk before it is judged."""
    path = runs.out / f"{runs.settings.protocol}-{seed}.jsonl"
    subject = LiveSubject(broker, runs.settings)
    history = recorded(path, run(subject, churn_schedule(seed, runs.options)))
    return Judged(path, judge(history, runs.invariants))


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
