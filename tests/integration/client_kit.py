"""Shared by the tests of the client kit: a correct program, and a run of the kit with it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from rebalance_check.integration.kits.client.kit import ClientKit
from rebalance_check.integration.kits.client.placeholders import INSTANCE, ClientCommand
from rebalance_check.integration.kits.client.run import ClientRun
from rebalance_check.integration.kits.client.scenarios import chosen_scenarios
from rebalance_check.integration.kits.report import KitReport
from rebalance_check.properties.laws.by_kip import BY_KIP
from rebalance_check.properties.verdict import Outcome

PROGRAMS: Final = Path(__file__).parent / "kits" / "programs"
PLACES: Final = ("{bootstrap}", "{group}", "{topic}")
OURS: Final = (sys.executable, str(PROGRAMS / "our_consumer.py"), *PLACES, "cooperative", INSTANCE)


def tried(
    words: Sequence[str], out: Path, *scenarios: str, listener: Callable[..., None] = lambda *_: None, **settings: Any
) -> KitReport:
    """The report on a program in these scenarios."""
    command = ClientCommand(tuple(words))
    run = ClientRun(
        command=command,
        scenarios=chosen_scenarios(scenarios, is_static=command.has(INSTANCE), has_faults="faults" in settings),
        kips=BY_KIP,
        out=out,
        **{"members": 2, **settings},
    )
    return ClientKit(run, lambda scenario: f"again {scenario}", listener).report()


def outcomes(report: KitReport) -> dict[str, Outcome]:
    """The outcome of each claim."""
    return {row.claim: row.outcome for row in report.rows}
