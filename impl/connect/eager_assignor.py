"""What the leader of a Connect group computes under the eager protocol (``EagerAssignor``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

from rebalance_check.impl.connect.config_topic import ConfigSnapshot
from rebalance_check.impl.protocol.connect_protocol import (
    CONFIG_MISMATCH,
    ConnectAssignment,
    ConnectorTask,
    WorkerState,
)
from rebalance_check.impl.protocol.java_order import utf16_key


def assign_eagerly(
    leader: str, leader_url: str, configs: ConfigSnapshot, config_offset: int, members: Sequence[str]
) -> dict[str, ConnectAssignment]:
    """Deal all connectors, then all tasks, over the sorted members in one circle that is never restarted.

    Stateless: what workers run at present does not matter, for all have stopped.
    """
    order = sorted(members, key=utf16_key)
    circle = cycle(order)
    connectors: dict[str, list[str]] = {member: [] for member in order}
    tasks: dict[str, list[ConnectorTask]] = {member: [] for member in order}
    names = sorted(configs.connectors, key=utf16_key)
    for name in names:
        connectors[next(circle)].append(name)
    for name in names:
        for number in range(configs.connectors[name]):
            tasks[next(circle)].append(ConnectorTask(name, number))
    return {
        member: ConnectAssignment(
            version=0,
            leader=leader,
            leader_url=leader_url,
            config_offset=config_offset,
            connectors=tuple(connectors[member]),
            tasks=tuple(tasks[member]),
        )
        for member in order
    }


def config_mismatch(leader: str, leader_url: str, states: Mapping[str, WorkerState]) -> dict[str, ConnectAssignment]:
    """Nothing is assigned: some worker has read further than the leader could. The assignment says how far."""
    offset = furthest(states)
    failed = ConnectAssignment(
        version=0, error=CONFIG_MISMATCH, leader=leader, leader_url=leader_url, config_offset=offset
    )
    return dict.fromkeys(states, failed)


def furthest(states: Mapping[str, WorkerState]) -> int:
    """The highest config offset that any worker reports."""
    return max(state.config_offset for state in states.values())
