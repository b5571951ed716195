"""``rebalance-check broker``: the embedded broker as a tool, for any client in any language."""

from __future__ import annotations

from pathlib import Path

import click

from rebalance_check.commands._broker_run import BrokerOrder, run_broker
from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._claim_options import ClaimOptions, claim_options
from rebalance_check.commands._console import Console, json_option
from rebalance_check.integration.embedded.options import LOOPBACK, MAX_NODES
from rebalance_check.integration.embedded.topic_names import wrong_name
from rebalance_check.integration.exchange.fault_file import read_faults
from rebalance_check.integration.exchange.faults import FaultPlan
from rebalance_check.integration.interrupts import stop_requests
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("broker")
@click.option("--port", type=click.IntRange(0, 65_535), default=9092, show_default=True,
              help="Of the first node, the others follow; 0: any that are free.")  # fmt: skip
@click.option("--nodes", type=click.IntRange(1, MAX_NODES), default=1, show_default=True,
              help="How many nodes clients see, each with a port of its own.")  # fmt: skip
@click.option("--host", default=LOOPBACK, show_default=True,
              help="Where to listen; 0.0.0.0 is every address of this machine.")  # fmt: skip
@click.option("--topics", default="", metavar="NAME:PARTITIONS,...", help="Topics that are there from the start.")
@click.option("--auto-create/--no-auto-create", default=True, show_default=True,
              help="Create a topic when a client asks for it.")  # fmt: skip
@click.option("--partitions", type=click.IntRange(1, 1000), default=4, show_default=True,
              help="Of a topic that is created so.")  # fmt: skip
@click.option("--faults", type=FILE, metavar="FILE", help="What goes wrong, a fault on each line.")
@click.option("--record", type=FILE, metavar="FILE",
              help="Write the history of everything that crosses the wire, and of the coordinator.")  # fmt: skip
@click.option("--judge", "is_judged", is_flag=True, help="Judge it as it happens, and in the end.")
@click.option("--seconds", type=click.FloatRange(0), help="End by itself after so long.")
@claim_options
@ci_options(sarif=True)
@json_option
def command(*, port: int, nodes: int, host: str, topics: str, auto_create: bool, partitions: int, faults: Path | None,
            record: Path | None, is_judged: bool, seconds: float | None, claims: ClaimOptions, ci: CiOptions,
            as_json: bool) -> int:  # fmt: skip
    """Run a broker that speaks Kafka's protocol, in memory, until it is interrupted: for tests of any client.

    It prints which members join, which generations there are, and who leaves or is removed. With --judge the first
    violation is printed when it happens. Exits with 0 when what was tested held (or nothing was judged), 10, 11 or 12
    as `judge`, 2 when a port is in use or a file cannot be read.
    """
    plan = FaultPlan() if faults is None else read_faults(faults)
    order = BrokerOrder(
        broker={
            "topics": parse_topics(topics), "nodes": nodes, "host": host, "port": port,
            "auto_create": partitions if auto_create else 0,
        },
        faults=plan, record=record, claims=claims if is_judged else None, seconds=seconds, ci=ci,
    )  # fmt: skip
    with stop_requests() as stop:
        return run_broker(Console(as_json), order, stop)


def parse_topics(text: str) -> dict[str, int]:
    """``a:3,b:6`` as names and partition counts.

    Raises: RebalanceCheckError for what is no topic, or named twice.
    """
    topics: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, count = part.rpartition(":")
        if wrong_name(name) or not count.isdecimal() or int(count) < 1:
            raise RebalanceCheckError(f"{part!r} is no topic: write NAME:PARTITIONS, such as orders:6")
        if name in topics:
            raise RebalanceCheckError(f"the topic {name!r} is named twice: write it once")
        topics[name] = int(count)
    return topics
