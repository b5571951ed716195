"""A cluster that runs as a source of `diagnose`: its internal topics and its groups as facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rebalance_check.integration.cluster.reading import OFFSETS_TOPIC, Cluster, LiveGroup
from rebalance_check.integration.cluster.security import client_settings
from rebalance_check.pipeline.diagnose.dumps.records import record_facts
from rebalance_check.pipeline.diagnose.facts import (
    Fact,
    GroupDescribed,
    MemberRowDescribed,
    ModernGroupSeen,
    NotUnderstood,
    Place,
    ProtocolTypeSeen,
)
from rebalance_check.pipeline.diagnose.sources import Source

MODERN: Final = ("consumer", "share", "streams")


def cluster_sources(bootstrap: str, config: Path | None, topics: Sequence[str], only: Sequence[str]) -> list[Source]:
    """The offsets topic, the named topics and the groups of a cluster, each a source."""
    cluster = Cluster(bootstrap, client_settings(config))
    groups = Source(f"groups of {bootstrap}", kind="DescribeGroups")
    for group in cluster.groups(only):
        groups.take(_group_facts(group, groups.name))
        groups.lines += 1
    found = [groups]
    for topic in (OFFSETS_TOPIC, *topics):
        source = Source(f"topic {topic}", kind="topic")
        for record in cluster.records([topic]):
            source.lines += 1
            place = f"{topic}-{record.partition}"
            partition = record.partition if topic == OFFSETS_TOPIC else None
            facts = record_facts(record.key, record.value, source=place, offset=record.offset, time_ms=record.time_ms,
                                 partition=partition)  # fmt: skip
            source.take(one for one in facts if _is_wanted(one, only))
        found.append(source)
    for fault in cluster.faults:
        found.append(Source("cluster", fault=fault))
    return found


def _is_wanted(one: Fact | NotUnderstood, only: Sequence[str]) -> bool:
    return not only or isinstance(one, NotUnderstood) or not one.group or one.group in only


def _group_facts(group: LiveGroup, source: str) -> Iterator[Fact]:
    place = Place(source, 0, f"{group.name} {group.state} {group.protocol_type}")
    if group.kind in MODERN:
        yield ModernGroupSeen(place=place, time_ms=None, group=group.name, kind=group.kind)  # type: ignore[arg-type]  # one of MODERN
        return
    if group.protocol_type:
        yield ProtocolTypeSeen(place=place, time_ms=None, group=group.name, protocol_type=group.protocol_type)
    yield GroupDescribed(
        place=place,
        time_ms=None,
        group=group.name,
        state=group.state,
        members=len(group.members),
        assignor=group.assignor,
    )
    for member in group.members:
        yield MemberRowDescribed(
            place=place, time_ms=None, group=group.name, member=member.member, instance=member.instance,
            client=member.client, host=member.host, partitions=member.assignment,
            count=None if member.assignment is None else len(member.assignment),
        )  # fmt: skip
