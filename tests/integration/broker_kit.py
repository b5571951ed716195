"""Shared by the tests of the broker kit: a run of the kit, and what it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.kits.broker.kit import BrokerKit
from rebalance_check.integration.kits.broker.target import Reproduces, Target
from rebalance_check.integration.kits.report import KitReport, KitRow
from rebalance_check.model.registry import path_of
from rebalance_check.model.vocabulary.progress import ignore_progress
from rebalance_check.properties.verdict import Outcome

REPRODUCES: Final = Reproduces(schedule=lambda schedule: path_of(schedule).address(), part=str)


def conform(broker: Broker, folder: Path, parts: Sequence[str]) -> KitReport:
    """The report on a broker; the command that shows a schedule again is its address, that of a part its name."""
    return BrokerKit(
        broker=broker, name=broker.name, parts=parts, out=folder, seed=0, minutes=5, reproduces=REPRODUCES,
        listener=lambda _: None, progress=ignore_progress,
    ).report()  # fmt: skip


def target_of(broker: Broker, folder: Path) -> Target:
    """The broker as the parts of the kit see it."""
    return Target(broker=broker, name=broker.name, out=folder, seed=0, reproduces=REPRODUCES)


def violated(report: KitReport) -> Mapping[str, KitRow]:
    """The rows of violated claims, by claim."""
    return {row.claim: row for row in report.violated}


def outcomes(report: KitReport, section: str) -> Mapping[Outcome, int]:
    """How many claims of a section came to each outcome."""
    return Counter(row.outcome for row in report.sections[section])
