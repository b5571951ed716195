"""The options for CI systems, the same in every command that judges: ``--junit`` and ``--github``; ``--sarif``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final

import msgspec

from rebalance_check.commands._console import Console, json_line
from rebalance_check.commands._extras import needs
from rebalance_check.commands._options import FILE, Decorator, option
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import ClaimResult
from rebalance_check.report.github import summary, workflow_commands
from rebalance_check.report.sarif import sarif_log
from rebalance_check.report.terminal import visible

SUMMARY: Final = "GITHUB_STEP_SUMMARY"
WORKSPACE: Final = "GITHUB_WORKSPACE"


@dataclass(frozen=True, slots=True)
class CiOptions:
    """The output for CI systems: ``junit`` and ``sarif`` are files (None: not wanted), ``github`` is for a workflow."""

    junit: Path | None = None
    github: bool = False
    sarif: Path | None = None

    @property
    def wanted(self) -> bool:
        """Whether anything was asked for."""
        return self.github or self.junit is not None or self.sarif is not None

    def write(self, console: Console, title: str, results: Callable[[], Sequence[ClaimResult]], code: ExitCode) -> None:
        """Write the files asked for; ``results`` is called only then. ``title`` is the command, ``code`` how it ends.

        Raises: OSError when a file cannot be written.
        """
        if not self.wanted:
            return
        found = results()
        if self.github:
            self._tell_github(console, f"rebalance-check {title}: {_word(code)}", found)
        if self.sarif is not None:
            log = sarif_log(found, code, workspace())
            self._write(console, "SARIF", self.sarif, msgspec.json.format(json_line(log)) + b"\n")
        if self.junit is not None:
            self._write(console, "JUnit", self.junit, junit_of(found))

    def _tell_github(self, console: Console, title: str, found: Sequence[ClaimResult]) -> None:
        for line in workflow_commands(found, workspace()):
            console.say(line)
        if path := os.environ.get(SUMMARY):
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(summary(title, found))

    def _write(self, console: Console, what: str, path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        console.say(f"{what}: {visible(str(path))}")


def _word(code: ExitCode) -> str:
    return code.outcome.value if code.is_verdict else "not judged whole"


def workspace() -> Path:
    """The folder from which GitHub names files; outside a workflow, the present one."""
    return Path(os.environ.get(WORKSPACE) or Path.cwd())


def junit_of(results: Sequence[ClaimResult]) -> bytes:
    """The results as JUnit XML: a suite per subject, a case per claim."""
    from rebalance_check.report.junit import JUnitCase, JUnitSuite, junit_xml  # noqa: PLC0415 - needs an extra

    subjects: dict[str, list[JUnitCase]] = {}
    for each in results:
        case = JUnitCase(name=each.claim, outcome=each.outcome, text=each.text, properties=_properties(each))
        subjects.setdefault(each.subject, []).append(case)
    return junit_xml([JUnitSuite(name=subject, cases=cases) for subject, cases in subjects.items()])


def _properties(each: ClaimResult) -> Mapping[str, str]:
    given = {"outcome": each.outcome.value, "known": "\n".join(each.notes)}
    if each.outcome in (Outcome.VIOLATED, Outcome.UNDECIDED):
        given["command"] = each.command
    if each.place is not None:
        given |= {"file": str(each.place.path), "line": str(each.place.line)}
    return {name: value for name, value in {**given, **each.more}.items() if value}


def ci_options(*, sarif: bool = False, rare: bool = False) -> Decorator:
    """Add ``--junit`` and ``--github``, with ``sarif`` that option as well, and hand them over as ``ci``."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_ci(*, junit: Path | None, github: bool, sarif_file: Path | None = None, **others: Any) -> Any:
            return command(ci=CiOptions(junit, github, sarif_file), **others)

        wrapped: Callable[..., Any] = with_ci
        if sarif:
            what = "Write violations as SARIF 2.1.0, each at its line of a history file."
            wrapped = option("--sarif", "sarif_file", type=FILE, metavar="FILE", help=what)(wrapped)
        what = "Print annotations for a GitHub workflow, and write the summary of its step."
        wrapped = option("--github", is_flag=True, rare=rare, help=what)(wrapped)
        what = "Write the verdicts as JUnit XML."
        return option("--junit", type=FILE, metavar="FILE", callback=needs("junitparser"), help=what)(wrapped)

    return decorate
