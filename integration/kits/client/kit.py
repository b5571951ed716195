"""The kit as a whole: a run of its scenarios becomes a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rebalance_check.integration.kits.client.lacking import lacking
from rebalance_check.integration.kits.client.run import ClientRun, Course, run_client_kit
from rebalance_check.integration.kits.client.verdicts import ScenarioResult, rows, violated_rows
from rebalance_check.integration.kits.report import KitReport, KitRow

Reproduces = Callable[[str], str]
"""The command that runs a scenario, given by name, again."""


@dataclass(frozen=True, slots=True)
class ClientKit:
    """Runs ``run`` and reports it.

    ``reproduces`` gives the command for a scenario; ``listener`` gets the result of each scenario when it is judged,
    with the claims that it is the first to show violated. ``falsifies``: a claim that no change of a history can break
    is untested.
    """

    run: ClientRun
    reproduces: Reproduces
    listener: Callable[[ScenarioResult, Sequence[KitRow]], None]
    falsifies: bool = False

    def report(self) -> KitReport:
        """Run the scenarios, and report their findings.

        Raises: NeverConnectedError when no process of the first scenario connects, and RebalanceCheckError when the
        broker cannot be had.
        """
        began = time.monotonic()
        shown: set[str] = set()

        def judged(result: ScenarioResult) -> None:
            new = {row.claim: row for row in violated_rows(result, self.run.kips, self.reproduces)}
            self.listener(result, [row for claim, row in new.items() if claim not in shown])
            shown.update(new)

        course = run_client_kit(self.run, judged)
        return self._report(course, time.monotonic() - began)

    def _report(self, course: Course, seconds: float) -> KitReport:
        untested = lacking(course.spoken, self.run.command)
        return KitReport(
            title=f"client conformance on {course.broker}",
            subject=self.run.subject or str(self.run.command),
            seed=self.run.seed,
            seconds=seconds,
            rows=tuple(rows(course.results, self.run.kips, self.reproduces, untested, falsifies=self.falsifies)),
            unfinished="; ".join(course.cuts),
        )
