"""Inputs modelled on public reports, and Connect clusters whose problems were caused on purpose: the right answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, diagnose
from rebalance_check.pipeline.diagnose.findings.finding import Finding, Thresholds

DATA: Final = Path("tests/data/diagnose")
FIELD: Final = DATA / "field"


@dataclass(frozen=True)
class Report:
    """The files that a reporter has, the findings with a word of their causes, and the exit code."""

    files: tuple[str, ...]
    findings: tuple[tuple[str, str, str], ...]
    code: int = 0
    max_skew_ms: int | None = None


REPORTS: Final = {
    "a leader joins again without end": Report(
        ("ch33433.jsonl",),
        (("storm", "fault", "60 of 60 because a member joined again: ClickHouse-host-db-table-cab0"),),
        11,
    ),
    "a member holds the group up": Report(
        ("dotnet1271.jsonl",), (("held-up", "cost", "rdkafka-old did not join again"),)
    ),
    "the same in the broker's log": Report(("broker.log",), (("held-up", "cost", "no source says which"),)),
    "a task on two workers": Report(
        ("strimzi-w0.jsonl", "strimzi-w1.jsonl"), (("work-runs-twice", "fault", "w0 ran on"),), 10,
        max_skew_ms=5_000,
    ),
    "the same with clocks that nothing aligns": Report(
        ("strimzi-w0.jsonl", "strimzi-w1.jsonl"), (("work-runs-twice", "cost", "w0 ran on"),)
    ),
    "a describe of a group that rebalances": Report(("describe.txt",), ()),
    "a status of Connect": Report(("connect-status.json",), (("work-unassigned", "cost", "no worker has started it"),)),
    "two lines of a client": Report(("knative4179.log",), ()),
}  # fmt: skip


def shown(diagnosis: Diagnosis) -> list[Finding]:
    return [finding for one in diagnosis.groups for finding in one.findings]


@pytest.mark.parametrize("name", REPORTS)
def test_a_public_report_gets_its_answer(name: str) -> None:
    report = REPORTS[name]
    diagnosis = diagnose([FIELD / file for file in report.files], (), Thresholds(max_skew_ms=report.max_skew_ms))
    found = shown(diagnosis)
    assert [(one.rule.name, one.severity.value) for one in found] == [(rule, how) for rule, how, _ in report.findings]
    assert all(words in one.cause for one, (_, _, words) in zip(found, report.findings, strict=True))
    assert diagnosis.exit_code() == report.code
    assert all(source.facts and not source.not_understood for source in diagnosis.sources)


CONNECT: Final = {"3.9.2": "13.2 s", "4.3.1": "12.2 s"}
"""How long two workers ran the same tasks, by the stopwatch of the run."""


@pytest.mark.parametrize("release", CONNECT)
def test_a_frozen_worker_runs_its_tasks_while_others_do(release: str) -> None:
    workers = sorted((DATA / "logs/connect" / release).glob("w*.log"))
    broker = DATA / "logs/connect" / release / "broker.log"
    statuses = sorted((DATA / f"dumps/connect-{release}").glob("console-pipes-status*"))
    diagnosis = diagnose([*workers, *([broker] if broker.exists() else []), *statuses], ["pipes"])
    rules = {finding.rule.name: finding for finding in shown(diagnosis)}
    assert rules["work-runs-twice"].title == f"two, two-0, two-1 on w2 and w1 at one time, up to {CONNECT[release]}"
    assert rules["work-failed"].title == "demo-1 failed"
    assert rules["scheduled-delay"].title.startswith("the work of lost workers waited up to 8.0 s")
    assert "rounds-without-change" not in rules
    assert diagnosis.exit_code() == 10


def test_a_stop_that_is_given_up__may_run_on() -> None:
    diagnosis = diagnose(sorted((DATA / "logs/connect/ungraceful").glob("w*.log")), ["pipes"])
    (finding,) = [one for one in shown(diagnosis) if one.rule.name == "work-runs-twice"]
    assert "task.shutdown.graceful.timeout.ms" in finding.cause
    assert (finding.confidence.value, diagnosis.exit_code()) == ("deduced", 11)
