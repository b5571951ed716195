"""The broker under test, as the parts of the kit see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.wire.kafka_python import errors
from rebalance_check.integration.wire.served import served_ranges
from rebalance_check.model.vocabulary.schedule import Schedule

DEADLINE_S: Final = 10.0
"""How long a reply that is due may take: a group's initial rebalance delay is 3 s by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduces:
    """The commands that show a finding again: for a schedule, and for a part of the kit, by its name."""

    schedule: Callable[[Schedule], str]
    part: Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The ``broker``, with the versions that it serves, called ``name``; histories go to the folder ``out``."""

    broker: Broker
    name: str
    out: Path
    seed: int
    reproduces: Reproduces


def is_there(bootstrap: str) -> bool:
    """Whether the broker answers at all."""
    try:
        served_ranges(bootstrap)
    except (OSError, errors.KafkaError):
        return False
    return True
