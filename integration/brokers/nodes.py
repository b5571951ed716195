"""A cluster of nodes that coordinate groups: which node coordinates a group, and the faults that nodes can be given.

`Cluster` knows the protocol; a `Node` is a process or a container that can be sent signals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, errors, metadata
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

OFFSETS_TOPIC: Final = "__consumer_offsets"
CALL_TIMEOUT_S: Final = 2.0
CHANGE_TIMEOUT_S: Final = 120.0
CHECK_S: Final = 0.1

FIND_VERSION: Final = 2
METADATA_VERSION: Final = 7
REASSIGN_VERSION: Final = 0
ELECT_VERSION: Final = 1
PREFERRED: Final = 0

T = TypeVar("T")


class Node(Protocol):
    """One node as its operator sees it."""

    @property
    def bootstrap(self) -> str:
        """``127.0.0.1:PORT``; the same after a restart."""
        ...

    def kill(self) -> None:
        """End it at once; its files stay."""
        ...

    def start(self) -> None:
        """Start it again on its disk; returns before it is ready."""
        ...

    def pause(self) -> None:
        """Stop it where it stands; its connections stay open."""
        ...

    def resume(self) -> None:
        """Let it run on."""
        ...

    def death(self) -> str | None:
        """Why waiting for it is in vain, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Coordinator:
    """The leader of a group's log: the node, and the leader epoch, which counts the coordinators of that log."""

    node: int
    epoch: int


class Cluster:
    """Nodes by their number, and which of them are down. Nodes that are down are not asked."""

    def __init__(self, nodes: Mapping[int, Node]) -> None:
        self.nodes = dict(nodes)
        self.killed: set[int] = set()
        self.paused: set[int] = set()

    @property
    def bootstrap(self) -> str:
        """The addresses of all nodes, with commas between them."""
        return ",".join(node.bootstrap for node in self.nodes.values())

    @property
    def running(self) -> list[int]:
        """The nodes that are up."""
        return [number for number in self.nodes if number not in self.killed | self.paused]

    # ---------------------------------------------------------------------------------------- who coordinates

    def coordinator(self, group: str, *, timeout_s: float = CHANGE_TIMEOUT_S) -> Coordinator:
        """The leader of the group's log, by the metadata that the running nodes agree on."""
        return self._await(lambda: self._agreed(group), f"the running nodes do not agree who coordinates {group!r}",
                           timeout_s)  # fmt: skip

    def seen_coordinator(self, group: str) -> Coordinator | None:
        """The newest coordinator that any running node knows of now; None when none is known."""
        seen = [self._of(number, group) for number in self.running]
        return max((each for each in seen if each is not None), key=lambda each: each.epoch, default=None)

    def ask_coordinator(self, group: str, request: ApiMessage, version: int) -> Any:
        """The answer of the newest coordinator that is known; None when there is none, or it does not answer."""
        seen = self.seen_coordinator(group)
        return self._ask(seen.node, request, version) if seen is not None and seen.node in self.running else None

    def await_coordinates(self, group: str, number: int) -> None:
        """Return when the node answers for the group: it has loaded the log."""

        def answers() -> bool | None:
            found = self._ask(number, metadata.FindCoordinatorRequest(key=group, key_type=0), FIND_VERSION)
            if found is None or found.error_code or found.node_id != number:
                return None
            described = self._ask(number, admin.DescribeGroupsRequest(groups=[group]), 1)
            return True if described is not None and not described.groups[0].error_code else None

        self._await(answers, f"node {number} does not coordinate {group!r}", CHANGE_TIMEOUT_S)

    def _agreed(self, group: str) -> Coordinator | None:
        seen = {self._of(number, group) for number in self.running}
        (only, *others) = seen
        return only if not others and only is not None and only.node in self.running else None

    def _of(self, number: int, group: str) -> Coordinator | None:
        topic = self._offsets_topic(number)
        if topic is None or topic.error_code or not topic.partitions:
            return None
        index = partition_of(group, len(topic.partitions))
        found = next(p for p in topic.partitions if p.partition_index == index)
        return Coordinator(found.leader_id, found.leader_epoch) if found.leader_id >= 0 else None

    def _offsets_topic(self, number: int) -> Any:
        topics: list[Any] = [metadata.MetadataRequest.MetadataRequestTopic(name=OFFSETS_TOPIC)]
        answer = self._ask(
            number, metadata.MetadataRequest(topics=topics, allow_auto_topic_creation=False), METADATA_VERSION
        )
        return None if answer is None else answer.topics[0]

    # ---------------------------------------------------------------------------------------- faults

    def kill(self, number: int) -> None:
        """Kill a node."""
        self.nodes[number].kill()
        self.killed.add(number)
        self.paused.discard(number)

    def pause(self, number: int) -> None:
        """Pause a node."""
        self.nodes[number].pause()
        self.paused.add(number)

    def resume(self, number: int) -> None:
        """Let a paused node run on."""
        self.nodes[number].resume()
        self.paused.discard(number)

    def start(self, number: int) -> None:
        """Start a killed node again."""
        self.nodes[number].start()
        self.killed.discard(number)

    def move(self, group: str, to: int | None = None) -> Coordinator:
        """Give the group's log to another node in good order, and return when all nodes know it.

        ``to`` is the number of that node, by default the first other one that runs. The replicas are put into another
        order, and the first of them is elected.

        Raises `RebalanceCheckError` when no other node runs.
        """
        before = self.coordinator(group)
        others = [number for number in self.running if number != before.node]
        if not others:
            raise RebalanceCheckError(f"node {before.node} is the only one that runs: the coordinator cannot be moved")
        others.sort(key=lambda number: number != to)
        replicas = [*others, before.node, *sorted(self.killed | self.paused)]
        index = self._partition(group)
        self._reassign(index, replicas)
        self._await(lambda: self._elect(index), f"no leader was elected for {OFFSETS_TOPIC}-{index}", CHANGE_TIMEOUT_S)

        def moved() -> Coordinator | None:
            now = self._agreed(group)
            return now if now is not None and now.epoch > before.epoch else None

        return self._await(moved, f"the coordinator of {group!r} stays on node {before.node}", CHANGE_TIMEOUT_S)

    def heal(self) -> None:
        """Let every node run, and return when all are whole again: each replica of the offsets topic is in sync."""
        for number in sorted(self.paused):
            self.resume(number)
        for number in sorted(self.killed):
            self.start(number)
        self.await_whole()

    def await_whole(self) -> None:
        """Return when every node knows of every replica of the offsets topic that it is in sync."""

        def whole() -> bool | None:
            for number in self.nodes:
                topic = self._offsets_topic(number)
                if topic is None or topic.error_code or not topic.partitions:
                    return None
                if any(len(p.isr_nodes) < len(self.nodes) or p.leader_id < 0 for p in topic.partitions):
                    return None
            return True

        self._await(
            whole, "the cluster does not become whole: a node is missing from the offsets topic", CHANGE_TIMEOUT_S
        )

    def _partition(self, group: str) -> int:
        topic = self._await(
            lambda: next((t for t in map(self._offsets_topic, self.running) if t is not None and t.partitions), None),
            f"no node knows the topic {OFFSETS_TOPIC}",
            CHANGE_TIMEOUT_S,
        )
        return partition_of(group, len(topic.partitions))

    def _reassign(self, index: int, replicas: list[int]) -> None:
        topic_of = admin.AlterPartitionReassignmentsRequest.ReassignableTopic
        partition = topic_of.ReassignablePartition(partition_index=index, replicas=replicas)
        request = admin.AlterPartitionReassignmentsRequest(
            timeout_ms=10_000, topics=[topic_of(name=OFFSETS_TOPIC, partitions=[partition])]
        )
        answer = self._await(
            lambda: self._ask_any(request, REASSIGN_VERSION), "no node answers a reassignment", CHANGE_TIMEOUT_S
        )
        codes = [answer.error_code, *(p.error_code for topic in answer.responses for p in topic.partitions)]
        failed = next((code for code in codes if code), 0)
        if failed:
            raise RebalanceCheckError(
                f"{OFFSETS_TOPIC}-{index} cannot be given the replicas {replicas}: {errors.for_code(failed).__name__}"
            )

    def _elect(self, index: int) -> bool | None:
        """Whether the preferred replica leads now; the reassignment may still be under way."""
        partitions = admin.ElectLeadersRequest.TopicPartitions(topic=OFFSETS_TOPIC, partitions=[index])
        request = admin.ElectLeadersRequest(election_type=PREFERRED, topic_partitions=[partitions], timeout_ms=10_000)
        answer = self._ask_any(request, ELECT_VERSION)
        if answer is None or answer.error_code:
            return None
        codes = [p.error_code for topic in answer.replica_election_results for p in topic.partition_result]
        return True if not any(codes) else None

    # ---------------------------------------------------------------------------------------- asking

    def _ask_any(self, request: ApiMessage, version: int) -> Any:
        return next(
            (a for a in (self._ask(number, request, version) for number in self.running) if a is not None), None
        )

    def _ask(self, number: int, request: ApiMessage, version: int) -> Any:
        """The node's answer; None when it has none."""
        try:
            with Connection(self.nodes[number].bootstrap, timeout_s=CALL_TIMEOUT_S) as connection:
                return connection.call(request, version)
        except (OSError, errors.KafkaError):
            return None

    def _await(self, reached: Callable[[], T | None], otherwise: str, timeout_s: float) -> T:
        def probe() -> T | NotYet:
            found = reached()
            deaths = [self.nodes[number].death() for number in self.running] if found is None else []
            if reason := next((death for death in deaths if death is not None), None):
                raise RebalanceCheckError(reason)
            return NotYet() if found is None else found

        return await_until(probe, timeout_s=timeout_s, pause_s=CHECK_S, otherwise=otherwise, hint="see the nodes' logs")


def partition_of(group: str, partitions: int) -> int:
    """The partition of the offsets topic that holds a group: Java's hash of its name, without the sign.

    Source: ``Utils.abs(groupId.hashCode()) % partitions`` (GroupMetadataManager.partitionFor), where the absolute value
    of the least integer is 0.
    """
    value = 0
    for unit in _utf16(group):
        value = (31 * value + unit) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >> 31 else value
    return 0 if signed == -(1 << 31) else abs(signed) % partitions


def _utf16(text: str) -> list[int]:
    data = text.encode("utf-16-be")
    return [data[at] << 8 | data[at + 1] for at in range(0, len(data), 2)]
