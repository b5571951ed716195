"""``rebalance-check broker``: the embedded broker as a tool, for any client in any language."""

from __future__ import annotations

from pathlib import Path

import click

from rebalance_check.commands._broker_run import BrokerOrder, run_broker
from rebalance_check.commands._console import Console
from rebalance_check.commands._options import FILE, Command, json_option, minutes_option, option
from rebalance_check.integration.embedded.options import LOOPBACK, MAX_NODES
from rebalance_check.integration.embedded.topic_names import wrong_name
from rebalance_check.integration.exchange.fault_file import read_faults
from rebalance_check.integration.exchange.faults import FaultPlan
from rebalance_check.integration.interrupts import stop_requests
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@click.command("broker", cls=Command)
@option("--port", type=click.IntRange(0, 65_535), default=9092, show_default=True,
        help="Of the first node, the others follow; 0: any that are free.")  # fmt: skip
@option("--nodes", type=click.IntRange(1, MAX_NODES), default=1, show_default=True,
        help="How many nodes clients see, each with a port of its own.")  # fmt: skip
@option("--host", default=LOOPBACK, show_default=True,
        help="Where to listen; 0.0.0.0 is every address of this machine.")  # fmt: skip
@option("--topics", default="", metavar="NAME:PARTITIONS,...", help="Topics that are there from the start.")
@option("--partitions", type=click.IntRange(0, 1000), metavar="N", default=4, show_default=True,
        help="Of a topic that is created because a client asks for it; 0: create none.")  # fmt: skip
@option("--fault-file", type=FILE, metavar="FILE", help="The faults to inject, one on each line.")
@option("--record", type=FILE, metavar="FILE",
        help="Write the history of everything that crosses the wire, and of the coordinator.")  # fmt: skip
@option("--judge", "is_judged", is_flag=True, help="Judge it as it happens, and in the end.")
@minutes_option("End by itself")
@json_option
def command(*, port: int, nodes: int, host: str, topics: str, partitions: int, fault_file: Path | None,
            record: Path | None, is_judged: bool, minutes: float | None, as_json: bool) -> int:  # fmt: skip
    """Run a broker that speaks Kafka's protocol, in memory, until it is interrupted: for tests of any client.

    It prints which members join, which generations there are, and who leaves or is removed. With --judge the first
    violation is printed when it happens; `judge` on the record chooses invariants and writes reports for CI. Exits
    with 0 when the tested claims held (or none was judged), 10, 11 or 12 as `judge`, 2 when a port is in use or a file
    cannot be read.
    """
    plan = FaultPlan() if fault_file is None else read_faults(fault_file)
    wanted = {"topics": parse_topics(topics), "nodes": nodes, "host": host, "port": port, "auto_create": partitions}
    order = BrokerOrder(broker=wanted, faults=plan, record=record, is_judged=is_judged, minutes=minutes)
    with stop_requests() as stop:
        return run_broker(Console(as_json), order, stop)


def parse_topics(text: str) -> dict[str, int]:
    """``a:3,b:6`` as names and partition counts.

    Raises: RebalanceCheckError for a name that is no topic, or named twice.
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
