"""A diagnosis as one JSON object. Times are milliseconds since 1970 in UTC, durations milliseconds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rebalance_check.pipeline.diagnose.clocks import Clock
from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, GroupDiagnosis
from rebalance_check.pipeline.diagnose.facts import Place
from rebalance_check.pipeline.diagnose.findings.finding import Finding
from rebalance_check.pipeline.diagnose.sources import Source
from rebalance_check.pipeline.diagnose.timeline import latency, latency_by_cause, per_hour, rows, without_owner


def diagnosis_document(diagnosis: Diagnosis) -> dict[str, Any]:
    """The whole."""
    clocks = {clock.source: clock for clock in diagnosis.clocks}
    return {
        "groups": [group_document(one) for one in diagnosis.groups],
        "sources": [_source(source, clocks.get(source.name)) for source in diagnosis.sources],
    }


def group_document(one: GroupDiagnosis) -> dict[str, Any]:
    """One group."""
    group = one.group
    known: dict[str, Any] = {
        "group": group.name, "protocol": group.modern_kind or ("connect" if group.is_connect else "classic"),
        "findings": [finding_document(finding) for finding in one.findings], "generations": one.generations,
    }  # fmt: skip
    if one.quiet is not None:
        return known
    return known | {
        "rebalances": [asdict(row) for row in rows(group)],
        "latency": asdict(latency(group)), "per_hour": per_hour(group),
        "latency_by_cause": {cause: asdict(found) for cause, found in latency_by_cause(group).items()},
        "without_owner": {partition: asdict(found) for partition, found in without_owner(group).items()},
    }  # fmt: skip


def finding_document(finding: Finding) -> dict[str, Any]:
    """One finding, its evidence as file and line."""
    document = asdict(finding) | {"rule": finding.rule.name, "remedy": finding.to_do}
    document["evidence"] = [_place(place) for place in finding.evidence]
    return document


def _place(place: Place) -> dict[str, Any]:
    return {"source": place.source, "line": place.number, "text": place.text}


def _source(source: Source, clock: Clock | None) -> dict[str, Any]:
    return {
        "name": source.name, "kind": source.kind, "lines": source.lines, "facts": source.count,
        "not_understood": source.not_understood, "examples": [_place(one.place) for one in source.examples],
        "fault": source.fault, "shift_ms": clock.shift_ms if clock else 0, "skew_ms": clock.skew_ms if clock else 0,
        "zone_assumed": bool(clock and clock.assumed), "untimed": bool(clock and clock.untimed),
    }  # fmt: skip
