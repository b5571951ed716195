"""A diagnosis on one screen: the answer first, then the timeline, then how the sources were read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, GroupDiagnosis
from rebalance_check.pipeline.diagnose.findings.finding import Finding
from rebalance_check.pipeline.diagnose.timeline import Row, latency_by_cause, rows
from rebalance_check.report.diagnosis.words import (
    ROW_HEADS,
    cause_of,
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

WIDTH: Final = 120
LABEL: Final = 9
FEW: Final = 6
"""So many rows of a long timeline are shown at its begin and at its end."""


def lines(diagnosis: Diagnosis, *, whole: bool = False) -> Iterator[str]:
    """The whole text. ``whole`` shows every row of each timeline."""
    shown = [one for one in diagnosis.groups if is_shown(one)]
    for place, one in enumerate(shown):
        if place:
            yield ""
        yield from group_lines(one, whole=whole)
    for sentence in others(diagnosis, shown):
        yield from ("", sentence)
    yield ""
    yield from source_lines(diagnosis)


def group_lines(one: GroupDiagnosis, *, whole: bool = False) -> Iterator[str]:
    """One group: headline, findings, latencies, timeline."""
    group = one.group
    yield f"group {group.name}{kind_of(one)}: {headline(one)}"
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
    if since := since_of(finding):
        yield from _labelled("since", since)
    yield from _labelled("cause", cause_of(finding))
    yield from _labelled("do", finding.to_do)
    if finding.evidence:
        yield from _labelled("see", ", ".join(str(place) for place in finding.evidence))
    for title in finding.consequences:
        yield from _labelled("so also", title)
    if finding.more:
        yield from _labelled("to know", finding.more)


def _labelled(label: str, text: str) -> Iterator[str]:
    head = " " * 8
    wrapped = textwrap.wrap(text, WIDTH - len(head) - LABEL, break_long_words=False, break_on_hyphens=False) or [""]
    yield f"{head}{label:<{LABEL}}{wrapped[0]}"
    for more in wrapped[1:]:
        yield f"{head}{'':<{LABEL}}{more}"


def latency_lines(one: GroupDiagnosis) -> Iterator[str]:
    """Counts and durations of rebalances by cause, and of the times without owner."""
    yield f"  {rate_of(one)}"
    for cause, found in latency_by_cause(one.group).items():
        yield f"    {found.count:>4}  {cause:<52} {spread_text(found)}"
    if unowned := unowned_of(one):
        yield f"  {unowned}"


def timeline_lines(found: Sequence[Row], *, whole: bool = False) -> Iterator[str]:
    """The timeline as a table; a long one is cut in its middle."""
    yield _row(ROW_HEADS)
    cut = not whole and len(found) > 2 * FEW + 1
    for place, row in enumerate(found):
        if cut and FEW <= place < len(found) - FEW:
            if place == FEW:
                yield f"  {'':<12} {'':>6} {len(found) - 2 * FEW} more: --timeline shows them"
            continue
        yield _row(row_cells(row))


def _row(cells: Sequence[str]) -> str:
    time, generation, took, members, moved, cause = cells
    return f"  {time:<12} {generation:>6} {took:>9}  {members:<9} {moved:>5}  {cause}"


# ------------------------------------------------------------------------------------------------------------- sources


def source_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """How each source was read, and how its clock was set."""
    yield "Sources:"
    clocks = {clock.source: clock for clock in diagnosis.clocks}
    for source in diagnosis.sources:
        yield f"  {source.name}: {source_text(source, clocks.get(source.name))}"
        for example in source.examples:
            yield f"      {example.place}: not understood: {example.place.text.strip()[:100]}"
