"""A recorded history that was judged, and a file that could not be: the report of every command about histories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rebalance_check.commands._findings import findings_in
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.diagnose.findings.finding import Finding
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.falsify import Change, falsified
from rebalance_check.properties.files import readable_events
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.merging import MergedHistory
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import ClaimResult, JudgedFiles


@dataclass(frozen=True, slots=True)
class Judged:
    """A history file and the judge's verdict on it; of several parts of one run, ``merged`` is their history.

    ``changes`` has, for each invariant that held, the change that breaks it, where that was asked for.
    """

    path: Path
    judgement: Judgement
    parts: tuple[Path, ...] = ()
    merged: MergedHistory | None = None
    changes: Mapping[str, Change] = field(default_factory=dict)

    @property
    def files(self) -> tuple[Path, ...]:
        """The file, or the parts of the run."""
        return self.parts or (self.path,)

    @property
    def outcome(self) -> Outcome:
        """The outcome of all verdicts."""
        return self.judgement.outcome

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that stands for it."""
        return self.judgement.exit_code

    @property
    def name(self) -> str:
        """Its name in reports."""
        return " + ".join(map(str, self.files))

    def events(self) -> list[Event]:
        """Its events, read anew, or in the most probable order of the parts."""
        return list(self.merged.events if self.merged is not None else readable_events(self.path))

    def findings(self) -> list[Finding]:
        """The findings of a diagnosis, which are no part of the verdict."""
        return findings_in(self.events, self.judgement.events)

    def falsified(self) -> Judged:
        """The same history, where an invariant that no change of it can break is untested."""
        judgement, changes = falsified(self.judgement, self.events())
        return replace(self, judgement=judgement, changes=changes)

    def results(self) -> list[ClaimResult]:
        """The result of each claim, for CI systems."""
        history = self.events() if self.judgement.counterexamples else []
        return JudgedFiles(self.name, self.judgement, self.files, history).results()


@dataclass(frozen=True, slots=True)
class Refused:
    """A history file that cannot be judged at all, and why; ``exit_code`` says whether that is a fault of our own."""

    path: Path
    fault: str
    exit_code: ExitCode = ExitCode.USAGE
