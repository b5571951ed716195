"""Identifiers in Kafka's spelling, each with a type of its own.

A *member* is a process that takes part in a group (``m0``, ``consumer-a``); it owns partitions. A *member id* is what
the coordinator generates for one membership of a process: a process that was removed and joins again gets a new one.
"""

from __future__ import annotations

from typing import Final, NewType

Member = NewType("Member", str)
MemberId = NewType("MemberId", str)
GroupId = NewType("GroupId", str)
InstanceId = NewType("InstanceId", str)
WorkerId = NewType("WorkerId", str)

Partition = NewType("Partition", str)
"""A topic partition as Kafka prints it: ``topic-0``; the number stands behind the last hyphen."""

TaskId = NewType("TaskId", str)
"""A connector task as Kafka prints it: ``connector-0``."""

NO_GENERATION: Final = -1
"""The generation of a client that belongs to none (``AbstractCoordinator.Generation.NO_GENERATION``)."""


def partition(topic: str, index: int) -> Partition:
    """The name of partition ``index`` (from 0) of ``topic``, as ``TopicPartition.toString`` prints it."""
    return Partition(f"{topic}-{index}")
