"""From sources to a diagnosis: the groups, their rebalances, their findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.diagnose.clocks import Clock, aligned
from rebalance_check.pipeline.diagnose.findings import causes, connect, coordinators, identities, owners, rules, storms
from rebalance_check.pipeline.diagnose.findings.finding import Finding, Kind, Severity, Thresholds
from rebalance_check.pipeline.diagnose.group import Group, groups
from rebalance_check.pipeline.diagnose.histories import event_facts
from rebalance_check.pipeline.diagnose.sources import Source, expanded, missing, read_family

RULES: Final[tuple[Callable[[Group, Thresholds], Iterator[Finding]], ...]] = (
    owners.findings, storms.findings, causes.findings, identities.findings, coordinators.findings,
    connect.findings,
)  # fmt: skip
_RANK: Final = {Severity.FAULT: 0, Severity.COST: 1, Severity.NOTE: 2}
_FIRST: Final = {"two-owners": 0, "stuck": 1, "storm": 2}
FOLDED: Final = frozenset(
    {"flapping-member", "poll-timeout", "expired-member", "needless-rebalance", "refused-commits"}
)
"""Findings that a storm of the same members explains."""
OK: Final = 0
SAFETY_FAULT: Final = 10
STUCK_OR_STORM: Final = 11
NOTHING_READ: Final = 12


@dataclass(slots=True)
class GroupDiagnosis:
    """One group and its findings, the worst first."""

    group: Group
    findings: list[Finding] = field(default_factory=list)
    quiet: int | None = None
    """How many rebalances a group without findings has, where its facts were left behind."""

    @property
    def generations(self) -> int:
        """How many generations its sources show."""
        return len(self.group.rebalances) if self.quiet is None else self.quiet


@dataclass(slots=True)
class Diagnosis:
    """The answer: how each source was read, and each group's findings."""

    sources: list[Source]
    clocks: list[Clock]
    groups: list[GroupDiagnosis]

    @property
    def findings(self) -> list[Finding]:
        """All findings, those of one group together."""
        return [finding for one in self.groups for finding in one.findings]

    @property
    def generations(self) -> int:
        """How many generations the sources show."""
        return sum(one.generations for one in self.groups)

    @property
    def was_read(self) -> bool:
        """Whether any source says anything about a group."""
        return any(source.count for source in self.sources)

    def exit_code(self, fail_on: Severity = Severity.FAULT) -> int:
        """10 for a safety fault, 11 for a stuck group, a storm or another fault, 12 if nothing was read, else 0."""
        if any(finding.kind is Kind.SAFETY for finding in self.findings):
            return SAFETY_FAULT
        bad = [one for one in self.findings if _RANK[one.severity] <= _RANK[fail_on]]
        if bad:
            return STUCK_OR_STORM
        return OK if self.was_read else NOTHING_READ


def diagnose(paths: Sequence[Path], only: Iterable[str] = (), limits: Thresholds | None = None) -> Diagnosis:
    """The diagnosis of files and folders. ``only`` names groups; all if empty."""
    return of_sources(read_paths(paths), only, limits)


def findings_of(events: Iterable[Event], limits: Thresholds | None = None) -> list[Finding]:
    """The findings about a recorded history, to show with its verdict: a threshold never makes a verdict."""
    source = Source("history")
    source.take(event_facts(events))
    return of_sources([source], (), limits).findings


def read_paths(paths: Sequence[Path]) -> list[Source]:
    """The sources in files and folders; one that is not there is a source with a fault."""
    present = [path for path in paths if path.exists()]
    sources = [source for family in expanded(present) for source in read_family(family)]
    return sources + [missing(path) for path in paths if not path.exists()]


def of_sources(sources: Sequence[Source], only: Iterable[str] = (), limits: Thresholds | None = None) -> Diagnosis:
    """The diagnosis of sources that are read already."""
    facts, clocks = aligned({key: one.all_facts for key, one in zip(keys_of(sources), sources, strict=True)})
    found = [judged(group, limits or Thresholds()) for group in groups(facts, clocks, frozenset(only))]
    return Diagnosis(list(sources), clocks, worst_first(found))


def judged(group: Group, limits: Thresholds) -> GroupDiagnosis:
    """A group with its findings; one that was only loaded has none."""
    found = GroupDiagnosis(group)
    if not group.was_only_loaded:
        found.findings = _ordered(finding for rule in RULES for finding in rule(group, limits))
    return found


def worst_first(found: Iterable[GroupDiagnosis]) -> list[GroupDiagnosis]:
    """The groups with the worst findings first, then by name."""
    return sorted(
        found, key=lambda one: (min((_RANK[each.severity] for each in one.findings), default=3), one.group.name)
    )


def keys_of(sources: Sequence[Source]) -> list[str]:
    """A name for each source that no other has; files of different folders may share theirs."""
    same = Counter(source.name for source in sources)
    return [
        source.name if same[source.name] == 1 else f"{source.name} ({place + 1})"
        for place, source in enumerate(sources)
    ]


def _ordered(found: Iterable[Finding]) -> list[Finding]:
    """The worst first; findings that follow from a storm are folded under it."""
    ordered = sorted(
        found, key=lambda one: (_RANK[one.severity], _FIRST.get(one.rule.name, 9), one.since_ms or 0, one.title)
    )
    storm = next((one for one in ordered if one.rule is rules.STORM), None)
    if storm is None:
        return ordered
    folded = [one for one in ordered if one.rule.name in FOLDED and _is_explained(one, storm)]
    first = replace(storm, consequences=tuple(one.title for one in folded))
    return [first if one is storm else one for one in ordered if one not in folded]


def _is_explained(one: Finding, storm: Finding) -> bool:
    if not set(one.members) <= set(storm.members):
        return False
    return one.since_ms is None or storm.until_ms is None or one.since_ms <= storm.until_ms
