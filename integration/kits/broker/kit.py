"""The broker kit as a whole: its parts on one broker become a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.exchange.nodes import require_one_node
from rebalance_check.integration.kits.broker.live_rows import live_rows
from rebalance_check.integration.kits.broker.request_rows import request_rows
from rebalance_check.integration.kits.broker.scenario_rows import scenario_rows
from rebalance_check.integration.kits.broker.target import Reproduces, Target
from rebalance_check.integration.kits.broker.transitions import transition_rows
from rebalance_check.integration.kits.broker.version_rows import probe_versions, version_rows, working
from rebalance_check.integration.kits.report import KitReport, KitRow
from rebalance_check.integration.wire.kafka_python import errors
from rebalance_check.integration.wire.served import served_ranges
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener

Part = Callable[[Target, ProgressListener], Iterator[KitRow]]

PARTS: Final[Mapping[str, Part]] = {
    "transitions": transition_rows,
    "scenarios": scenario_rows,
    "requests": request_rows,
    "live": live_rows,
}
"""The parts of the kit by name, in the order in which they run."""

_FAILURES: Final = (RebalanceCheckError, OSError, errors.KafkaError)

TITLE: Final = "broker conformance"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerKit:
    """Runs ``parts`` on ``broker``, which the report calls ``name``; histories go to the folder ``out``, which is made.

    No part begins after ``minutes``. ``listener`` gets each row as soon as it is there, ``progress`` how far a part is.
    """

    broker: Broker
    name: str
    parts: Sequence[str]
    out: Path
    seed: int
    minutes: float
    reproduces: Reproduces
    listener: Callable[[KitRow], None]
    progress: ProgressListener

    def report(self) -> KitReport:
        """Run the parts, and report their findings.

        Raises: RebalanceCheckError for a broker with several nodes; OSError, RebalanceCheckError or a protocol error of
        kafka-python when the broker answers nothing at all.
        """
        began = time.monotonic()
        require_one_node(self.broker.bootstrap)
        ranges = served_ranges(self.broker.bootstrap)
        probed = probe_versions(self.broker.bootstrap, ranges)
        self.out.mkdir(parents=True, exist_ok=True)
        broker = replace(self.broker, served=working(probed, ranges))
        target = Target(broker=broker, name=self.name, out=self.out, seed=self.seed, reproduces=self.reproduces)
        rows = [*version_rows(target, probed)]
        for row in rows:
            self.listener(row)
        unfinished = self._run(target, rows, began + 60 * self.minutes)
        return KitReport(
            title=TITLE,
            subject=self.name,
            seed=self.seed,
            seconds=time.monotonic() - began,
            rows=tuple(rows),
            unfinished=unfinished,
        )

    def _run(self, target: Target, rows: list[KitRow], deadline: float) -> str:
        """Add the rows of each part until the broker fails or the time is over; which of these ended the run, if any
        did."""
        for part in self.parts:
            if time.monotonic() > deadline:
                return f"{self.minutes:g} minutes were over before the part {part!r}"
            try:
                for row in PARTS[part](target, self.progress):
                    rows.append(row)
                    self.listener(row)
                served_ranges(target.broker.bootstrap)
            except _FAILURES as failure:
                return f"the broker failed in the part {part!r}: {str(failure) or type(failure).__name__}"
        return ""
