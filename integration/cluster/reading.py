"""The internal topics and the groups of a cluster, read by a plain consumer and by DescribeGroups.

The reader needs the ACLs Describe on the cluster (ListGroups) and on its groups, and Read and Describe on the topics
that it reads: ``__consumer_offsets``, and those of Connect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from rebalance_check.integration.live.kafka_python_api import KafkaAdminClient, KafkaConsumer, TopicPartition, errors
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

OFFSETS_TOPIC: Final = "__consumer_offsets"
POLL_MS: Final = 500
IDLE_POLLS: Final = 20
"""So many polls without a record, before its end, give a partition up."""


class RawRecord(NamedTuple):
    """A record as it stands in a topic; ``time_ms`` is its timestamp."""

    topic: str
    partition: int
    offset: int
    time_ms: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class LiveMember:
    """A member of a group as DescribeGroups shows it. ``assignment`` None: it is no consumer's, or hidden."""

    member: str
    instance: str
    client: str
    host: str
    assignment: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class LiveGroup:
    """A group as the cluster shows it now. ``kind`` is its type (KIP-848), empty before 3.8."""

    name: str
    state: str
    protocol_type: str
    kind: str = ""
    assignor: str = ""
    members: tuple[LiveMember, ...] = ()
    error: str = ""


@dataclass
class Cluster:
    """A connection. ``faults`` gathers what could not be read, a sentence each."""

    bootstrap: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def records(self, topics: Sequence[str]) -> Iterator[RawRecord]:
        """The records of these topics up to their present ends. A topic that one may not read is a fault.

        Raises:
            RebalanceCheckError: no broker answers.
        """
        consumer = self._opened(KafkaConsumer, group_id=None, enable_auto_commit=False, auto_offset_reset="earliest")
        try:
            for topic in topics:
                yield from self._topic(consumer, topic)
        finally:
            consumer.close()

    def _topic(self, consumer: Any, topic: str) -> Iterator[RawRecord]:
        try:
            numbers = consumer.partitions_for_topic(topic)
            if not numbers:
                self.faults.append(f"the topic {topic} does not exist, or may not be described")
                return
            partitions = [TopicPartition(topic, number) for number in sorted(numbers)]
            ends = consumer.end_offsets(partitions)
            consumer.assign(partitions)
            consumer.seek_to_beginning(*partitions)
            yield from _until(consumer, ends)
        except errors.KafkaError as error:
            self.faults.append(f"the topic {topic} cannot be read: {error}")

    def groups(self, only: Iterable[str] = ()) -> list[LiveGroup]:
        """The groups as the cluster shows them now.

        Raises:
            RebalanceCheckError: no broker answers.
        """
        admin = self._opened(KafkaAdminClient)
        try:
            listed = {str(one["group_id"]): one for one in admin.list_groups()}
            wanted = sorted(set(only) & set(listed) if only else listed)
            return [self._described(admin, name, listed[name]) for name in wanted]
        except errors.KafkaError as error:
            self.faults.append(f"the groups cannot be listed: {error}")
            return []
        finally:
            admin.close()

    def _described(self, admin: Any, name: str, listed: Mapping[str, Any]) -> LiveGroup:
        kind = str(listed.get("group_type") or "")
        about: dict[str, Any] = {
            "name": name, "protocol_type": str(listed.get("protocol_type") or ""), "kind": kind.lower(),
            "state": str(listed.get("group_state") or ""),
        }  # fmt: skip
        if about["kind"] not in {"", "classic"}:
            return LiveGroup(**about)
        try:
            found = admin.describe_groups([name]).get(name, {})
        except errors.KafkaError as error:
            return LiveGroup(**about, error=str(error))
        about["state"] = str(found.get("group_state") or about["state"])
        members = tuple(_member(one) for one in found.get("members") or ())
        return LiveGroup(
            **about, assignor=str(found.get("protocol_data") or ""), members=members, error=found.get("error") or ""
        )

    def _opened(self, kind: Any, **settings: Any) -> Any:
        try:
            return kind(
                bootstrap_servers=self.bootstrap, **{"client_id": "rebalance-check", **self.settings, **settings}
            )
        except (errors.KafkaError, OSError, ValueError, AssertionError) as error:
            raise RebalanceCheckError(
                f"no broker at {self.bootstrap} can be asked ({type(error).__name__}: {error}): check the address, and "
                "the security settings with --command-config"
            ) from error


def _until(consumer: Any, ends: Mapping[Any, int]) -> Iterator[RawRecord]:
    """The records below the ends. A compacted topic may have none just below its end: positions decide."""
    idle = 0
    while idle < IDLE_POLLS and any(consumer.position(partition) < end for partition, end in ends.items()):
        found = consumer.poll(timeout_ms=POLL_MS)
        idle = 0 if found else idle + 1
        for partition, records in found.items():
            for record in records:
                if record.offset < ends[partition]:
                    yield RawRecord(
                        record.topic, record.partition, record.offset, record.timestamp, record.key, record.value
                    )


def _member(found: Mapping[str, Any]) -> LiveMember:
    assignment = found.get("member_assignment")
    return LiveMember(
        str(found.get("member_id") or ""), str(found.get("group_instance_id") or ""), str(found.get("client_id") or ""),
        str(found.get("client_host") or "").lstrip("/"), _partitions(assignment),
    )  # fmt: skip


def _partitions(assignment: Any) -> tuple[str, ...] | None:
    """The partitions of a decoded assignment; kafka-python leaves one that is no consumer's as bytes."""
    if not isinstance(assignment, Mapping):
        return None
    topics = assignment.get("assigned_partitions") or assignment.get("partitions") or ()
    return tuple(f"{topic['topic']}-{number}" for topic in topics for number in topic.get("partitions") or ())
