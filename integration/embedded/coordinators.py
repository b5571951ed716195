"""The coordinators of the embedded broker: one for each partition of the offsets topic, and a node that leads it.

As in Kafka a group belongs to a partition by the hash of its id. When that partition gets another leader, the old one
answers NOT_COORDINATOR to parked requests, and the new one reads the groups from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.protocol import messages as msg
from rebalance_check.impl.protocol.java_order import string_hash
from rebalance_check.integration.embedded.groups import Groups
from rebalance_check.integration.exchange.refusals import refused
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

OFFSETS_PARTITIONS: Final = 50
"""Kafka's default of ``offsets.topic.num.partitions``; a broker with one node has one, as nothing could move."""

_SIGN: Final = 1 << 31


class Coordinators:
    """The coordinators of a broker with these ``nodes``; ``new_groups`` makes one that has no group yet."""

    def __init__(self, new_groups: Callable[[], Groups], nodes: Sequence[int]) -> None:
        self._new_groups = new_groups
        self._nodes = nodes
        self._partitions = 1 if len(nodes) == 1 else OFFSETS_PARTITIONS
        self._led: dict[int, Groups] = {}
        self._leaders = {partition: nodes[partition % len(nodes)] for partition in range(self._partitions)}

    @property
    def config(self) -> GroupConfig:
        """The broker's settings for groups."""
        return self.of("").coordinator.config

    def node_of(self, group_id: str) -> int:
        """The node that coordinates a group."""
        return self._leaders[self._partition(group_id)]

    def of(self, group_id: str) -> Groups:
        """The coordinator of a group."""
        partition = self._partition(group_id)
        if partition not in self._led:
            self._led[partition] = self._new_groups()
        return self._led[partition]

    async def reply(self, request: msg.GroupRequest, node: int) -> msg.GroupReply:
        """The reply to a request that a client sent to ``node``, as soon as there is one."""
        if self.node_of(request.group_id) != node:
            return refused(request, Error.NOT_COORDINATOR)
        return await self.of(request.group_id).reply(request)

    def move(self, group_id: str, node: int) -> None:
        """Let ``node`` coordinate the group, and with it the others of its partition.

        Raises: RebalanceCheckError where there is no such node.
        """
        if node not in self._nodes:
            known = ", ".join(map(str, self._nodes))
            raise RebalanceCheckError(f"there is no node {node} to move {group_id!r} to: the nodes are {known}")
        if self.node_of(group_id) != node:
            self._leaders[self._partition(group_id)] = node
            self.of(group_id).fail_over()

    # ----------------------------------------------------------------------------------- questions of admins

    def describe(self, group_id: str) -> msg.DescribedGroup:
        """DescribeGroups for one group."""
        return self.of(group_id).coordinator.describe(group_id)

    def list_groups(self, states: Collection[str] = (), types: Collection[str] = ()) -> tuple[msg.ListedGroup, ...]:
        """ListGroups over all nodes, sorted by group id."""
        listed = [group for each in self._coordinators() for group in each.list_groups(states, types)]
        return tuple(sorted(listed, key=lambda group: group.group_id))

    def delete(self, group_id: str) -> Error:
        """DeleteGroups for one group."""
        return self.of(group_id).coordinator.delete(group_id)

    def forget_topic(self, topic: str) -> None:
        """A topic was deleted: no group has offsets of it any more."""
        for each in self._coordinators():
            each.forget_topic(topic)

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        """The marker of a producer's transaction reaches every partition of the offsets topic."""
        for each in self._coordinators():
            each.end_transaction(producer_id, is_committed=is_committed)

    def _coordinators(self) -> Iterable[GroupCoordinator]:
        return (groups.coordinator for groups in self._led.values())

    # ----------------------------------------------------------------------------------- time

    def stop(self) -> None:
        """No timer fires any more; parked requests stay unanswered."""
        for groups in self._led.values():
            groups.stop()

    def advance(self) -> None:
        """Let the timers fire that are due."""
        for groups in self._led.values():
            groups.advance()

    def _partition(self, group_id: str) -> int:
        """``Utils.abs(groupId.hashCode()) % partitions``; the one number without a positive counterpart is 0."""
        number = string_hash(group_id)
        return (min(number, 2 * _SIGN - number) % _SIGN) % self._partitions
