"""The lanes of partitions: their owners over time by the clients' logs, and the times without owner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.pipeline.diagnose.facts import ClientFact, Fact
from rebalance_check.pipeline.diagnose.group import Group
from rebalance_check.pipeline.diagnose.ownership import Gap, Span, by_partition
from rebalance_check.pipeline.diagnose.pseudonyms import natural
from rebalance_check.report.diagnosis.member_lanes import client_of
from rebalance_check.report.diagnosis.stretches import NOTHING, PARTITION, Lane, Stretch, Tone, few_places

UNOWNED: Final = Tone(("violated",), 35, narrow=True)
UNSEEN: Final = 30
"""The shade of an owner whose log has ended without an end of its ownership."""


@dataclass(frozen=True, slots=True)
class _Owned:
    """A span with the end that is drawn. ``sure_ms`` is the last line of its client before it: later it is a guess."""

    span: Span
    owner: str
    sure_ms: int
    end_ms: int


def partition_lanes(group: Group, known: Sequence[Gap], colours: Mapping[str, str], end_ms: int) -> list[Lane]:
    """The lanes of all partitions. ``known`` are the gaps in which no client without a log may own the partition."""
    last_lines = _last_lines(group.facts)
    gaps = {(gap.partition, gap.begin_ms) for gap in known}
    lanes: list[Lane] = []
    for partition, spans in sorted(by_partition(group.spans).items(), key=lambda item: natural(item[0])):
        owned = [_owned(group, span, spans, last_lines, end_ms) for span in spans]
        lane = Lane(PARTITION, partition)
        lane.stretches = list(_stretches(owned, gaps, colours, end_ms))
        lanes.append(lane)
    return lanes


def _last_lines(facts: Sequence[Fact]) -> dict[tuple[str, str], int]:
    """The time of the last line of each client in each source."""
    return {
        (fact.place.source, fact.client): fact.time_ms
        for fact in facts
        if isinstance(fact, ClientFact) and fact.time_ms is not None
    }


def _owned(
    group: Group, span: Span, spans: Sequence[Span], last_lines: Mapping[tuple[str, str], int], until_ms: int
) -> _Owned:
    member = group.members.by_id.get(span.member)
    owner = client_of(member) if member is not None else span.client
    if span.end_ms is not None:
        return _Owned(span, owner, span.end_ms, span.end_ms)
    sure_ms = last_lines.get((span.source, span.client), span.begin_ms)
    later = [each.begin_ms for each in spans if each.begin_ms > span.begin_ms]
    ended = [member.ended_ms] if member is not None and member.ended_ms is not None else []
    end_ms = max(span.begin_ms, min([*later, *ended, until_ms]))
    return _Owned(span, owner, min(max(sure_ms, span.begin_ms), end_ms), end_ms)


def _stretches(
    owned: Sequence[_Owned], gaps: set[tuple[str, int]], colours: Mapping[str, str], until_ms: int
) -> Iterator[Stretch]:
    """The owners at each time at which one begins, ends or becomes a guess."""
    times = sorted({time_ms for one in owned for time_ms in (one.span.begin_ms, one.sure_ms, one.end_ms)})
    active: list[_Owned] = []
    place, ended = 0, list[_Owned]()
    for time_ms in times:
        gone = [one for one in active if one.end_ms <= time_ms]
        ended = gone or ended
        active = [one for one in active if one.end_ms > time_ms]
        while place < len(owned) and owned[place].span.begin_ms <= time_ms:
            if owned[place].end_ms > time_ms:
                active.append(owned[place])
            place += 1
        if active:
            yield _of_owners(time_ms, active, colours)
        elif time_ms < until_ms:
            yield _of_none(time_ms, ended, owned[place] if place < len(owned) else None, gaps)


def _of_owners(time_ms: int, active: Sequence[_Owned], colours: Mapping[str, str]) -> Stretch:
    names = list(dict.fromkeys(one.owner for one in active))
    guessed = all(one.sure_ms <= time_ms < one.end_ms for one in active)
    text = " + ".join(names)
    return Stretch(
        time_ms, f"{text}: its log says no more" if guessed else text,
        Tone(tuple(colours.get(name, "holds") for name in names), UNSEEN if guessed else 100, narrow=len(names) > 1),
        few_places(fact for one in active for fact in (one.span.begun_by, one.span.ended_by)),
        "" if guessed else "; ".join(f"{one.owner}: {one.span.stop}" for one in active if one.span.end_ms is not None),
    )  # fmt: skip


def _of_none(time_ms: int, ended: Sequence[_Owned], after: _Owned | None, gaps: set[tuple[str, int]]) -> Stretch:
    ends = [one.span.ended_by or one.span.begun_by for one in ended]
    places = few_places([*ends, after.span.begun_by if after is not None else None])
    if after is None:
        return Stretch(time_ms, "no owner until the end of the logs", NOTHING, places)
    if any(one.span.end_ms is not None and (one.span.partition, one.span.end_ms) not in gaps for one in ended):
        return Stretch(time_ms, "perhaps owned by a client whose log is not here", NOTHING, places)
    return Stretch(time_ms, "no owner", UNOWNED, places)
