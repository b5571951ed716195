"""``rebalance-check conform broker``: any broker that speaks Kafka's group protocol, held to the model and to Kafka."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from rebalance_check.commands._console import Console, said_at_interruption
from rebalance_check.commands._kit_report import KitFiles, finish_kit, kit_file_options
from rebalance_check.commands._options import Command, json_option, minutes_option, option, out_option, seed_option
from rebalance_check.integration.brokers import open_broker
from rebalance_check.integration.kits.broker.kit import PARTS, BrokerKit
from rebalance_check.integration.kits.broker.target import Reproduces
from rebalance_check.integration.kits.report import KitRow
from rebalance_check.model.registry import path_of
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.terminal import suggested, visible


@click.command("broker", cls=Command)
@click.argument("broker", metavar="BROKER")
@option("--part", "parts", multiple=True, type=click.Choice(list(PARTS)), help="Run this part alone; default: all.")
@seed_option
@minutes_option("Begin no part", default=10.0)
@option("--name", default="", help="The broker's name in reports; default: its known name, or its address.")
@out_option("the histories", default=Path(".rebalance-check/conform-broker"))
@kit_file_options
@json_option
def command(*, broker: str, parts: tuple[str, ...], seed: int, minutes: float, name: str, out: Path,
            files: KitFiles, as_json: bool) -> int:  # fmt: skip
    """Try BROKER: HOST:PORT of a running one, embedded, local (jars and java), or testcontainers (Docker).

    Schedules of the model, written scenarios, random requests and live clients each add rows to one report. A
    difference of the broker is a finding; the run goes on as long as the broker answers.

    Exit codes: 0 held, 10 or 11 violated, 12 the broker hung or died midway, 2 it is not there.
    """
    console = Console(as_json)
    kept = said_at_interruption(f"what was found is shown above; histories are kept in {out}")
    with open_broker(broker) as opened, kept, console.progress() as advance:
        console.say(visible(f"{name or opened.name} ({opened.bootstrap}), seed {seed}, histories in {out}"))
        report = BrokerKit(
            broker=opened,
            name=name or opened.name,
            parts=parts or list(PARTS),
            out=out,
            seed=seed,
            minutes=minutes,
            reproduces=Reproduces(schedule=partial(_replayed, broker), part=partial(_part_again, broker, seed)),
            listener=partial(_say, console),
            progress=advance,
        ).report()
    return finish_kit(console, "conform broker", report, files)


def _say(console: Console, row: KitRow) -> None:
    if row.outcome is Outcome.VIOLATED:
        console.say(visible(f"  violated: {row.claim} ({row.section}): {row.headline}"))


def _replayed(broker: str, schedule: Schedule) -> str:
    return suggested("compare", "model", broker, path_of(schedule).address())


def _part_again(broker: str, seed: int, part: str) -> str:
    return suggested("conform", "broker", broker, *(["--part", part] if part in PARTS else []), "--seed", seed)
