"""SARIF 2.1.0: violations as results whose place is a line of a history file.

The format is that of OASIS, `Static Analysis Results Interchange Format (SARIF) Version 2.1.0`. A claim is a rule, a
violation a result, the reasons are related locations. An undecided claim is a notification of the tool, as a log
without results would otherwise look like a pass.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from rebalance_check.model.version import __version__
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import ClaimResult, Place
from rebalance_check.report.github import named
from rebalance_check.report.terminal import PROGRAM, visible, visible_lines

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
FINISHED: Final = frozenset({ExitCode.HELD, ExitCode.SAFETY, ExitCode.LIVENESS})
"""The exit codes of a command that came to a verdict."""


def sarif_log(results: Sequence[ClaimResult], code: ExitCode, workspace: Path) -> dict[str, Any]:
    """The log of one run of a command; files below ``workspace`` are named from there."""
    broken = [each for each in results if each.outcome is Outcome.VIOLATED]
    rules = list({each.claim: each for each in broken}.values())
    places = {rule.claim: number for number, rule in enumerate(rules)}
    open_ones = [each for each in results if each.outcome is Outcome.UNDECIDED]
    run = {
        "tool": {"driver": {"name": PROGRAM, "version": __version__, "rules": [_rule(each) for each in rules]}},
        "invocations": [
            {
                "executionSuccessful": code in FINISHED,
                "exitCode": int(code),
                "toolExecutionNotifications": [_notification(each) for each in open_ones],
            }
        ],
        "results": [_result(each, places[each.claim], workspace) for each in broken],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(each: ClaimResult) -> dict[str, Any]:
    return {"id": each.claim, "shortDescription": _message(each.sentence or each.claim)}


def _result(each: ClaimResult, rule: int, workspace: Path) -> dict[str, Any]:
    command, explanation = visible(each.command), visible_lines(each.text)
    found = {
        "ruleId": each.claim,
        "ruleIndex": rule,
        "level": "error",
        "message": _message(each.headline),
        "properties": {"subject": visible(each.subject), "command": command, "explanation": explanation},
    }
    if each.place is not None:
        found["locations"] = [_location(each.place, workspace)]
        found["relatedLocations"] = [
            {"id": number, "message": _message(text), **_location(place, workspace)}
            for number, (text, place) in enumerate(each.steps, 1)
        ]
    return found


def _notification(each: ClaimResult) -> dict[str, Any]:
    text = f"{each.claim} is undecided for {each.subject}: {each.text}"
    return {"level": "error", "message": _message(text)}


def _location(place: Place, workspace: Path) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(os.fsencode(named(place.path, workspace)))},
            "region": {"startLine": place.line},
        }
    }


def _message(text: str) -> dict[str, str]:
    return {"text": visible_lines(text)}
