"""The reports of brokers that a page shows: the kit runs on each, and facts of one run alone are left out.

    python -m rebalance_check.integration.kits.broker_reports docs/brokers.md kfake local

writes docs/brokers/kfake.json and docs/brokers/kafka-4.3.1.json, and the scoreboard of the page from all reports there.
A name is one of ``rebalance_check.integration.kits.brokers_of_others``, or embedded, local or testcontainers.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from rebalance_check.integration.brokers import BrokerSpec
from rebalance_check.integration.kits.brokers_of_others.known import other_broker
from rebalance_check.integration.kits.brokers_of_others.other_broker import running
from rebalance_check.integration.kits.scoreboard import main as write_scoreboard
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.verdict import Outcome

TOPICS: Final = {"t": 4}
STARTED_BY_THE_KIT: Final = (BrokerSpec.EMBEDDED, BrokerSpec.LOCAL, BrokerSpec.TESTCONTAINERS)
EMBEDDED: Final = "rebalance-check's embedded broker"
"""Its name on the page."""

_ADDRESS: Final = re.compile(r"127\.0\.0\.1:\d+")

Document = dict[str, Any]
"""The output of ``conform broker --json``."""


def report_of(name: str) -> Document:
    """The report on the broker of that name, which is started for it.

    Raises: RebalanceCheckError where the broker cannot be had, or the kit prints no report.
    """
    if name in STARTED_BY_THE_KIT:
        return _printed(name)
    broker = other_broker(name)
    with running(broker, TOPICS) as address:
        return _printed(address, "--name", broker.title)


def published(document: Document) -> Document:
    """The report without addresses, and without the files of claims that are not violated."""
    tidy: Document = msgspec.json.decode(_ADDRESS.sub("HOST:PORT", msgspec.json.encode(document).decode()))
    for row in tidy["rows"]:
        if row["outcome"] != Outcome.VIOLATED:
            row["history"] = ""
    return tidy | {"subject": _title(tidy["subject"])}


def file_of(name: str, subject: str) -> str:
    """The name of the file for a broker: that of Kafka says which release it is."""
    return f"{subject.lower().replace(' ', '-') if subject.startswith('Kafka ') else name}.json"


def _title(subject: str) -> str:
    if subject == BrokerSpec.EMBEDDED:
        return EMBEDDED
    return f"Kafka {subject.removeprefix('kafka ')}" if subject.startswith("kafka ") else subject


def _printed(*arguments: str) -> Document:
    command = [sys.executable, "-m", "rebalance_check", "conform", "broker", *arguments, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    document: Document = msgspec.json.decode(done.stdout or b"{}")
    if "rows" not in document:
        raise RebalanceCheckError(f"the kit printed no report of {arguments[0]}: see above")
    return document


def main(arguments: Sequence[str]) -> int:
    """Write the report of each broker that is named behind the page, and the scoreboard of the page."""
    page, folder = Path(arguments[0]), Path(arguments[0]).with_suffix("")
    for name in arguments[1:]:
        document = published(report_of(name))
        file = folder / file_of(name, document["subject"])
        file.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
        print(f"{file}: {document['verdict']}")
    return write_scoreboard([str(page), *map(str, sorted(folder.glob("*.json")))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
