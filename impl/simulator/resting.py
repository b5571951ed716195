"""Looks at a settled group: what its members, its coordinator and everybody see of it, as events."""

from __future__ import annotations

from collections.abc import Callable

from rebalance_check.impl.protocol.consumer_protocol import PROTOCOL_TYPE, read_assignment, read_topics
from rebalance_check.impl.protocol.messages import DescribedGroup, DescribedMember
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.impl.simulator.environment import Environment
from rebalance_check.model.vocabulary.events import GroupRested


def look(environment: Environment) -> None:
    """Record one look at the group: each process that runs, what DescribeGroups shows, what the coordinator keeps."""
    for member in environment.members:
        member.look()
    described = environment.nodes.describe()
    environment.harness.emit(_group_rested(described))
    kept = environment.nodes.rested()
    if kept is not None:
        environment.coordinator.emit(kept)


def _group_rested(group: DescribedGroup) -> GroupRested:
    of_consumers = group.protocol_type == PROTOCOL_TYPE
    return GroupRested(
        status=group.state,
        protocol_type=group.protocol_type,
        protocol=group.protocol_name,
        instances=tuple((member.member_id, member.group_instance_id or "") for member in group.members),
        topics=_each(group, lambda member: read_topics(member.metadata)) if of_consumers else (),
        assignments=_each(group, _assigned) if of_consumers else (),
    )


def _each(
    group: DescribedGroup, read: Callable[[DescribedMember], tuple[str, ...]]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What the bytes of each member say; nothing of a member whose bytes cannot be read."""
    return tuple((member.member_id, tuple(sorted(_readable(read, member)))) for member in group.members)


def _readable(read: Callable[[DescribedMember], tuple[str, ...]], member: DescribedMember) -> tuple[str, ...]:
    try:
        return tuple(read(member))
    except MalformedBytes:
        return ()


def _assigned(member: DescribedMember) -> tuple[str, ...]:
    return tuple(partition.name for partition in read_assignment(member.assignment).partitions)
