"""The words of a diagnosis, the same in text and on a page: times, findings, rows of the timeline, sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from rebalance_check.pipeline.diagnose.clocks import NOTED_SKEW_MS, Clock
from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, GroupDiagnosis
from rebalance_check.pipeline.diagnose.findings.finding import Confidence, Finding, seconds, times
from rebalance_check.pipeline.diagnose.sources import Source
from rebalance_check.pipeline.diagnose.timeline import Row, Spread, latency, per_hour, without_owner

MONOTONIC: Final = 100_000_000_000
"""Times below are those of a recorded history, which have no date."""


def clock_time(time_ms: int | None, *, dated: bool = False) -> str:
    """A time in UTC, with milliseconds; empty for none."""
    if time_ms is None:
        return ""
    if time_ms < MONOTONIC:
        return f"{time_ms / 1_000:.3f} s"
    try:
        when = datetime.fromtimestamp(time_ms / 1_000, UTC)
    except (OverflowError, OSError, ValueError):
        return "?"
    return when.strftime("%Y-%m-%d %H:%M:%S" if dated else "%H:%M:%S") + f".{time_ms % 1_000:03d}"


def is_shown(one: GroupDiagnosis) -> bool:
    """Whether there is something to say of a group."""
    return one.quiet is None and bool(one.findings or one.group.rebalances) and not one.group.was_only_loaded


def others(diagnosis: Diagnosis, shown: Sequence[GroupDiagnosis]) -> Iterator[str]:
    """A sentence for each kind of groups of which nothing is said."""
    others = [one.group for one in diagnosis.groups if one not in shown and not one.quiet]
    quiet = [one for one in diagnosis.groups if one.quiet]
    if quiet:
        count = times(sum(one.generations for one in quiet), "rebalance")
        names = sorted(one.group.name for one in quiet)
        yield f"nothing wrong found in {times(len(quiet), 'group')} with {count}: {', '.join(names[:8])}"
    modern = [group for group in others if group.modern_kind]
    for kind in sorted({group.modern_kind for group in modern}):
        names = sorted(group.name for group in modern if group.modern_kind == kind)
        kind_name = {"consumer": "of the new consumer protocol (KIP-848)"}.get(kind, f"of type {kind}")
        yield f"{times(len(names), 'group')} {kind_name}, counted and not judged: {', '.join(names[:8])}"
    rest = sorted(group.name for group in others if not group.modern_kind)
    if rest:
        yield f"{times(len(rest), 'group')} without a rebalance in these sources: {', '.join(rest[:8])}"


def headline(one: GroupDiagnosis) -> str:
    """The answer in a line."""
    return one.findings[0].title if one.findings else "nothing wrong found"


def kind_of(one: GroupDiagnosis) -> str:
    """The kind of a group that is none of consumers with the classic protocol, in brackets."""
    group = one.group
    return " (Connect)" if group.is_connect else f" ({group.modern_kind} protocol)" if group.modern_kind else ""


# ------------------------------------------------------------------------------------------------------------- findings


def since_of(finding: Finding) -> str:
    """When a finding begins and ends, and in which generations; empty where no source says it."""
    since = clock_time(finding.since_ms, dated=True)
    until = clock_time(finding.until_ms) if finding.until_ms != finding.since_ms else ""
    if not since:
        return ""
    return f"{since}{_zone(finding.since_ms)}" + (f", until {until}" if until else "") + _generations(finding)


def cause_of(finding: Finding) -> str:
    """The cause, with the assumption where it is deduced."""
    return finding.cause + ("" if finding.confidence is Confidence.SHOWN else f" (deduced: {finding.deduced_from})")


def _zone(time_ms: int | None) -> str:
    return " UTC" if time_ms is not None and time_ms >= MONOTONIC else ""


def _generations(finding: Finding) -> str:
    found = finding.generations
    if not found:
        return ""
    return f", generation {found[0]}" if len(found) == 1 else f", generations {found[0]} to {found[-1]}"


# ------------------------------------------------------------------------------------------------------------- timeline


def rate_of(one: GroupDiagnosis) -> str:
    """How many rebalances a group has, and how long they take."""
    group = one.group
    rate, total = per_hour(group), latency(group)
    return (
        times(len(group.rebalances), "rebalance")
        + (f", {rate:.1f} per hour" if rate is not None else "")
        + (f"; {spread_text(total)}" if total.count else "")
    )


def unowned_of(one: GroupDiagnosis) -> str:
    """How long its partitions were without owner; empty where no source says it."""
    unowned = without_owner(one.group)
    if not unowned:
        return ""
    longest = max(unowned.values(), key=lambda found: found.maximum_ms)
    everything = sum(found.total_ms for found in unowned.values())
    return (
        f"{times(len(unowned), 'partition')} without owner at times: {seconds(everything)} in all, "
        f"at most {seconds(longest.maximum_ms)}"
    )


def spread_text(found: Spread) -> str:
    """Durations in words."""
    if found.count == 1:
        return f"{seconds(found.maximum_ms)}"
    return f"median {seconds(found.median_ms)}, p95 {seconds(found.p95_ms)}, maximum {seconds(found.maximum_ms)}"


ROW_HEADS: Final = ("UTC", "gen", "took", "members", "moved", "cause")


def row_cells(row: Row) -> tuple[str, str, str, str, str, str]:
    """The cells of a row of the timeline, by `ROW_HEADS`."""
    members = "" if row.after is None else f"{row.after}" if row.before is None else f"{row.before} > {row.after}"
    took = seconds(row.duration_ms) if row.duration_ms is not None else ""
    said = f' "{row.words[:60]}"' if row.words and row.words not in row.cause else ""
    waited = (
        f"; waited {seconds(row.waited_ms or 0)} for {row.waited_for}"
        if row.waited_for and (row.waited_ms or 0) >= 500
        else ""
    )
    outcome = f" [{row.outcome}]" if row.outcome else ""
    generation = "?" if row.generation is None else str(row.generation)
    moved = "" if row.moved is None else str(row.moved)
    cause = f"{row.cause}{': ' + row.member if row.member else ''}{said}{waited}{outcome}"
    return clock_time(row.time_ms), generation, took, members, moved, cause


# ------------------------------------------------------------------------------------------------------------- sources


def source_text(source: Source, clock: Clock | None) -> str:
    """How a source was read, and how its clock was set."""
    return _read(source) + _clock(clock)


def _read(source: Source) -> str:
    if source.fault:
        return f"{source.kind + ', ' if source.kind and source.kind != 'nothing' else ''}{source.fault}"
    missed = f", {times(source.not_understood, 'line')} about groups not understood" if source.not_understood else ""
    return f"{source.kind}, {times(source.lines, 'line')}, {times(source.count, 'fact')}{missed}"


def _clock(clock: Clock | None) -> str:
    if clock is None:
        return ""
    if clock.untimed:
        return "; has no times"
    if clock.assumed:
        return "; names no time zone, taken for UTC"
    if clock.shift_ms:
        return f"; its times moved by {_hours(clock.shift_ms)}, by {times(clock.bound_by, 'generation')} that it shares"
    if abs(clock.skew_ms) > NOTED_SKEW_MS:
        return f"; its clock differs by {seconds(abs(clock.skew_ms))}"
    return ""


def _hours(shift_ms: int) -> str:
    if abs(shift_ms) > 48 * 3_600_000:
        return "whole days"
    minutes = round(abs(shift_ms) / 60_000)
    return f"{'-' if shift_ms < 0 else '+'}{minutes // 60}:{minutes % 60:02d} h"
