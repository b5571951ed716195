"""A diagnosis on one screen: the answer first, then the timeline, then how the sources were read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from rebalance_check.pipeline.diagnose.clocks import NOTED_SKEW_MS, Clock
from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, GroupDiagnosis
from rebalance_check.pipeline.diagnose.findings.finding import Confidence, Finding, seconds, times
from rebalance_check.pipeline.diagnose.group import Group
from rebalance_check.pipeline.diagnose.sources import Source
from rebalance_check.pipeline.diagnose.timeline import (
    Row,
    Spread,
    latency,
    latency_by_cause,
    per_hour,
    rows,
    without_owner,
)

WIDTH: Final = 120
LABEL: Final = 9
FEW: Final = 6
"""So many rows of a long timeline are shown at its begin and at its end."""


MONOTONIC: Final = 100_000_000_000
"""Times below are those of a recorded history, which have no date."""


def clock_time(time_ms: int | None, *, dated: bool = False) -> str:
    """A time in UTC, with milliseconds; empty for none."""
    if time_ms is None:
        return ""
    if time_ms < MONOTONIC:
        return f"{time_ms / 1_000:.3f} s"
    try:
        moment = datetime.fromtimestamp(time_ms / 1_000, UTC)
    except (OverflowError, OSError, ValueError):
        return "?"
    return moment.strftime("%Y-%m-%d %H:%M:%S" if dated else "%H:%M:%S") + f".{time_ms % 1_000:03d}"


def lines(diagnosis: Diagnosis, *, whole: bool = False) -> Iterator[str]:
    """The whole text. ``whole`` shows every row of each timeline."""
    shown = [one for one in diagnosis.groups if _is_shown(one)]
    for place, one in enumerate(shown):
        if place:
            yield ""
        yield from group_lines(one, whole=whole)
    yield from _others(diagnosis, shown)
    yield ""
    yield from source_lines(diagnosis)


def _is_shown(one: GroupDiagnosis) -> bool:
    return one.quiet is None and bool(one.findings or one.group.rebalances) and not one.group.was_only_loaded


def _others(diagnosis: Diagnosis, shown: Sequence[GroupDiagnosis]) -> Iterator[str]:
    others = [one.group for one in diagnosis.groups if one not in shown and not one.quiet]
    quiet = [one for one in diagnosis.groups if one.quiet]
    if quiet:
        count = times(sum(one.generations for one in quiet), "rebalance")
        yield ""
        yield f"nothing wrong found in {times(len(quiet), 'group')} with {count}: {_names(one.group for one in quiet)}"
    modern = [group for group in others if group.modern_kind]
    for kind in sorted({group.modern_kind for group in modern}):
        names = sorted(group.name for group in modern if group.modern_kind == kind)
        kind_name = {"consumer": "of the new consumer protocol (KIP-848)"}.get(kind, f"of type {kind}")
        yield ""
        yield f"{times(len(names), 'group')} {kind_name}, counted and not judged: {', '.join(names[:8])}"
    rest = sorted(group.name for group in others if not group.modern_kind)
    if rest:
        yield ""
        yield f"{times(len(rest), 'group')} without a rebalance in these sources: {', '.join(rest[:8])}"


def _names(groups: Iterable[Group]) -> str:
    """Some of them."""
    return ", ".join(sorted(group.name for group in groups)[:8])


def group_lines(one: GroupDiagnosis, *, whole: bool = False) -> Iterator[str]:
    """One group: headline, findings, latencies, timeline."""
    group = one.group
    worst = one.findings[0] if one.findings else None
    kind = " (Connect)" if group.is_connect else f" ({group.modern_kind} protocol)" if group.modern_kind else ""
    yield f"group {group.name}{kind}: {worst.title if worst is not None else 'nothing wrong found'}"
    for finding in one.findings:
        yield ""
        yield from finding_lines(finding)
    if group.rebalances:
        yield ""
        yield from latency_lines(one)
        yield ""
        yield from timeline_lines(rows(group), whole=whole)


def finding_lines(finding: Finding) -> Iterator[str]:
    """One finding: title, when, cause, remedy, evidence, and the evidence that would tell more."""
    yield f"  {finding.severity.upper():<5} {finding.rule.name}: {finding.title}"
    since = clock_time(finding.since_ms, dated=True)
    until = clock_time(finding.until_ms) if finding.until_ms != finding.since_ms else ""
    if since:
        yield from _labelled(
            "since", f"{since}{_zone(finding.since_ms)}" + (f", until {until}" if until else "") + _generations(finding)
        )
    yield from _labelled(
        "cause",
        finding.cause + ("" if finding.confidence is Confidence.SHOWN else f" (deduced: {finding.deduced_from})"),
    )
    yield from _labelled("do", finding.to_do)
    if finding.evidence:
        yield from _labelled("see", ", ".join(str(place) for place in finding.evidence))
    for title in finding.consequences:
        yield from _labelled("so also", title)
    if finding.more:
        yield from _labelled("to know", finding.more)


def _zone(time_ms: int | None) -> str:
    return " UTC" if time_ms is not None and time_ms >= MONOTONIC else ""


def _generations(finding: Finding) -> str:
    found = finding.generations
    if not found:
        return ""
    return f", generation {found[0]}" if len(found) == 1 else f", generations {found[0]} to {found[-1]}"


def _labelled(label: str, text: str) -> Iterator[str]:
    head = " " * 8
    wrapped = textwrap.wrap(text, WIDTH - len(head) - LABEL, break_long_words=False, break_on_hyphens=False) or [""]
    yield f"{head}{label:<{LABEL}}{wrapped[0]}"
    for more in wrapped[1:]:
        yield f"{head}{'':<{LABEL}}{more}"


def latency_lines(one: GroupDiagnosis) -> Iterator[str]:
    """Counts and durations of rebalances by cause, and of the times without owner."""
    group = one.group
    rate = per_hour(group)
    total = latency(group)
    yield (
        f"  {times(len(group.rebalances), 'rebalance')}"
        + (f", {rate:.1f} per hour" if rate is not None else "")
        + (f"; {_spread(total)}" if total.count else "")
    )
    for cause, found in latency_by_cause(group).items():
        yield f"    {found.count:>4}  {cause:<52} {_spread(found)}"
    unowned = without_owner(group)
    if unowned:
        longest = max(unowned.values(), key=lambda found: found.maximum_ms)
        everything = sum(found.total_ms for found in unowned.values())
        yield (
            f"  {times(len(unowned), 'partition')} without owner at times: {seconds(everything)} in all, "
            f"at most {seconds(longest.maximum_ms)}"
        )


def _spread(found: Spread) -> str:
    if found.count == 1:
        return f"{seconds(found.maximum_ms)}"
    return f"median {seconds(found.median_ms)}, p95 {seconds(found.p95_ms)}, maximum {seconds(found.maximum_ms)}"


def timeline_lines(found: Sequence[Row], *, whole: bool = False) -> Iterator[str]:
    """The timeline as a table; a long one is cut in its middle."""
    yield f"  {'UTC':<12} {'gen':>6} {'took':>9}  {'members':<9} {'moved':>5}  cause"
    cut = not whole and len(found) > 2 * FEW + 1
    for place, row in enumerate(found):
        if cut and FEW <= place < len(found) - FEW:
            if place == FEW:
                yield f"  {'':<12} {'':>6} {len(found) - 2 * FEW} more: --timeline shows them"
            continue
        yield _row(row)


def _row(row: Row) -> str:
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
    return f"  {clock_time(row.time_ms):<12} {generation:>6} {took:>9}  {members:<9} {moved:>5}  {cause}"


# ------------------------------------------------------------------------------------------------------------- sources


def source_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """How each source was read, and how its clock was set."""
    yield "Sources:"
    clocks = {clock.source: clock for clock in diagnosis.clocks}
    for source in diagnosis.sources:
        yield f"  {source.name}: {_read(source)}{_clock(clocks.get(source.name))}"
        for example in source.examples:
            yield f"      {example.place}: not understood: {example.place.text.strip()[:100]}"


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
