"""A diagnosis as one self-contained page: the answer as text, and below it lanes of the group over time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.pipeline.diagnose.clocks import Clock
from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, GroupDiagnosis
from rebalance_check.pipeline.diagnose.findings.finding import Finding, Severity, times
from rebalance_check.pipeline.diagnose.group import Group
from rebalance_check.pipeline.diagnose.timeline import Spread, known_gaps, latency_by_cause, rows
from rebalance_check.report.diagnosis.generation_lane import generation_lane, legend
from rebalance_check.report.diagnosis.member_lanes import colours_of, member_lanes
from rebalance_check.report.diagnosis.partition_lanes import partition_lanes
from rebalance_check.report.diagnosis.stretches import Lane, LanesDocument, LogLines, few_places
from rebalance_check.report.diagnosis.words import (
    ROW_HEADS,
    cause_of,
    clock_time,
    headline,
    is_shown,
    kind_of,
    others,
    rate_of,
    row_cells,
    since_of,
    source_text,
    spread_text,
    unowned_of,
)
from rebalance_check.report.pages.render import page

TITLE: Final = "rebalance-check diagnose"
SCRIPTS: Final = (
    "text.js", "columns.js", "timeline.js", "window.js", "scale.js", "lanes.js", "tooltip.js", "time_scale.js",
    "time_lanes.js", "diagnosed_group.js", "diagnosis.js",
)  # fmt: skip
VERDICTS: Final = {Severity.FAULT: "violated", Severity.COST: "undecided", Severity.NOTE: "untested"}
"""The badge of a severity, as page.css has it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a page holds: it stays usable, and says how much is left out."""

    groups: int = 50
    """Groups with lanes."""
    findings: int = 40
    """Findings of a group in full."""
    rebalances: int = 20_000
    """Rebalances of a group, the last ones."""
    weight: int = 60_000
    """Stretches and marks of all members of a group, and as many of all its partitions."""
    texts: int = 20_000
    """Lines of logs with their text."""


def diagnosis_page(diagnosis: Diagnosis, limits: Limits | None = None) -> str:
    """The page as HTML."""
    limits = limits or Limits()
    shown = [one for one in diagnosis.groups if is_shown(one)]
    lines = LogLines(limits.texts)
    groups = [_group(one, limits) for one in shown]
    data: dict[str, Any] = {}
    for place, one in enumerate(shown[: limits.groups]):
        document = _lanes(one, lines, limits)
        if document is not None:
            data[f"group-{place}"] = document
    data["lines"] = lines.document()
    notes = []
    if len(shown) > limits.groups:
        count = times(len(shown), "group")
        notes.append(f"lanes are drawn for {limits.groups} of {count}, those with the worst findings")
    if lines.left_out:
        notes.append(f"{times(lines.left_out, 'further line')} of logs stand here without their text")
    return page(
        TITLE, template="diagnosis.html.jinja", scripts=SCRIPTS, data=data, about=[_counts(diagnosis, shown), *notes],
        groups=groups, others=list(others(diagnosis, shown)), sources=_sources(diagnosis), row_heads=ROW_HEADS,
    )  # fmt: skip


def _counts(diagnosis: Diagnosis, shown: Sequence[GroupDiagnosis]) -> str:
    found = [sum(one.severity is severity for one in diagnosis.findings) for severity in Severity]
    counts = [times(count, severity.value) for count, severity in zip(found, Severity, strict=True)]
    sources = times(len(diagnosis.sources), "source")
    groups = times(len(shown), "group")
    return f"{', '.join(counts)} in {groups}, from {sources}; times are UTC where a source has a zone"


# ------------------------------------------------------------------------------------------------------- what is said


def _group(one: GroupDiagnosis, limits: Limits) -> dict[str, Any]:
    """The text of one group."""
    kept = one.findings[: limits.findings]
    left_out = len(one.findings) - len(kept)
    return {
        "name": one.group.name, "kind": kind_of(one), "headline": headline(one),
        "verdict": VERDICTS[one.findings[0].severity] if one.findings else "held",
        "severity": one.findings[0].severity.value if one.findings else "nothing",
        "findings": [_finding(finding) for finding in kept], "rebalances": len(one.group.rebalances),
        "left_out": f"{times(left_out, 'more finding')}, the less severe ones: --json has them" if left_out else "",
        "rate": rate_of(one) if one.group.rebalances else "", "unowned": unowned_of(one),
        "latencies": [_latency(cause, found) for cause, found in latency_by_cause(one.group).items()],
    }  # fmt: skip


def _finding(finding: Finding) -> dict[str, Any]:
    until = finding.until_ms if finding.until_ms is not None else finding.since_ms
    return {
        "verdict": VERDICTS[finding.severity], "severity": finding.severity.value, "rule": finding.rule.name,
        "title": finding.title, "cause": cause_of(finding), "since": since_of(finding), "since_ms": finding.since_ms,
        "until_ms": until, "to_do": finding.to_do, "more": finding.more, "consequences": finding.consequences,
        "evidence": [{"place": str(place), "text": place.text} for place in finding.evidence],
        "places": ", ".join(str(place) for place in finding.evidence),
    }  # fmt: skip


def _latency(cause: str, found: Spread) -> dict[str, str]:
    return {"cause": cause, "count": str(found.count), "took": spread_text(found)}


def _sources(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    clocks: dict[str, Clock] = {clock.source: clock for clock in diagnosis.clocks}
    return [
        {
            "name": source.name, "text": source_text(source, clocks.get(source.name)),
            "examples": [{"place": str(one.place), "text": one.place.text.strip()} for one in source.examples],
        }
        for source in diagnosis.sources
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------------ what is drawn


def _lanes(one: GroupDiagnosis, lines: LogLines, limits: Limits) -> dict[str, Any] | None:
    """The lanes of one group and the rows of its timeline; None for a group without times."""
    group = one.group
    span = group.span_ms
    if span is None or not group.rebalances:
        return None
    notes: list[str] = []
    drawn = group.rebalances[-limits.rebalances :]
    if len(drawn) < len(group.rebalances):
        notes.append(f"the last {len(drawn):,} of {len(group.rebalances):,} rebalances are shown")
    document = LanesDocument(span[0], lines)
    document.add(generation_lane(drawn))
    named = {member for finding in one.findings for member in finding.members}
    members = member_lanes(group)
    for lane in _chosen(members, lambda lane: (lane.name not in named, -lane.weight), limits.weight, "member", notes):
        document.add(lane)
    gaps = known_gaps(group)
    lost: dict[str, int] = {}
    for gap in gaps:
        lost[gap.partition] = lost.get(gap.partition, 0) + gap.length_ms
    partitions = partition_lanes(group, gaps, colours_of(members), span[1])
    for lane in _chosen(partitions, lambda lane: (-lost.get(lane.name, 0),), limits.weight, "partition", notes):
        document.add(lane)
    return {
        **document.document(), "length": max(1, span[1] - span[0]), "notes": notes, "heads": ROW_HEADS,
        "legend": legend(drawn), "rows": _rows(group, len(drawn), lines), "faults": _faults(one.findings, span[0]),
    }  # fmt: skip


def _chosen(
    lanes: Sequence[Lane], rank: Callable[[Lane], tuple[Any, ...]], most: int, what: str, notes: list[str]
) -> Iterable[Lane]:
    """The lanes that fit, by their rank, in the order in which they are given."""
    kept: set[int] = set()
    weight = 0
    for place in sorted(range(len(lanes)), key=lambda place: (*rank(lanes[place]), place)):
        weight += lanes[place].weight
        if weight > most and kept:
            break
        kept.add(place)
    if len(kept) < len(lanes):
        first = "that findings name or that change most" if what == "member" else "that were without owner longest"
        notes.append(f"{len(kept):,} of {times(len(lanes), what)} are drawn, those {first}")
    return [lane for place, lane in enumerate(lanes) if place in kept]


def _rows(group: Group, last: int, lines: LogLines) -> dict[str, list[Any]]:
    """The rows of the timeline: its cells, its time, and the lines that say the begin."""
    found = rows(group)[-last:]
    return {
        "cells": [[clock_time(row.time_ms, dated=True), *row_cells(row)[1:]] for row in found],
        "times": [row.time_ms for row in found],
        "lines": [[lines.number(place) for place in few_places(one.evidence)] for one in group.rebalances[-last:]],
    }


def _faults(findings: Collection[Finding], begin_ms: int) -> list[int]:
    """When faults began."""
    faults = [one.since_ms for one in findings if one.severity is Severity.FAULT]
    return sorted({since_ms - begin_ms for since_ms in faults if since_ms is not None})
