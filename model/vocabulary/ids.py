"""Identifiers in Kafka's spelling, each with a type of its own.

A *member* is a process that takes part in a group (``m0``, ``consumer-a``); it owns partitions. A *member id* is what
the coordinator generates for one membership of a process: a process that was removed and joins again gets a new one.
"""

from __future__ import annotations

from typing import Final, NewType

Member = NewType("Member", str)
"""A process, by the name that the harness gave it; it keeps the name across restarts."""

MemberId = NewType("MemberId", str)
"""``member.id``: client id or instance id, a hyphen, and a UUID (in the model a counter)."""

GroupId = NewType("GroupId", str)
"""``group.id``; a group that is deleted and created again has the same one, and another incarnation."""

InstanceId = NewType("InstanceId", str)
"""``group.instance.id`` of a static member (KIP-345): the identity that survives a restart."""

WorkerId = NewType("WorkerId", str)
"""A Connect worker as statuses name it: its advertised host and port."""

Partition = NewType("Partition", str)
"""A topic partition as Kafka prints it: ``topic-0``; the number stands behind the last hyphen."""

TaskId = NewType("TaskId", str)
"""A connector task as Kafka prints it: ``connector-0``."""

NO_GENERATION: Final = -1
"""The generation of a client that belongs to none (``AbstractCoordinator.Generation.NO_GENERATION``)."""


def partition(topic: str, index: int) -> Partition:
    """The name of partition ``index`` (from 0) of ``topic``, as ``TopicPartition.toString`` prints it."""
    return Partition(f"{topic}-{index}")


def topic_of(name: str) -> str:
    """The topic of a partition, by the partition's name."""
    return name.rpartition("-")[0]
