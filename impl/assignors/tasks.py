"""``tasks``: partitions of one number go together, and members learn who has which (as Kafka Streams assigns tasks).

A *task* is a partition number, with the partition of that number of every subscribed topic. A member says in its user
data at which address it is asked for its tasks, and which it had; the leader sends every member the tasks of each
address (``partitionsByHost`` of ``AssignmentInfo``), so that a query finds the member that holds its key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from rebalance_check.impl.assignors.assignor import Assignor, GroupSubscription, Racks, member_order, subscribed_topics
from rebalance_check.impl.protocol.consumer_protocol import Assignment
from rebalance_check.impl.protocol.topic_partition import TopicPartition


class SubscriptionInfo(msgspec.Struct, frozen=True):
    """The user data of a member: where it is asked, and the tasks of its last assignment."""

    address: str = ""
    tasks: tuple[int, ...] = ()


class AssignmentInfo(msgspec.Struct, frozen=True):
    """The user data of the leader: a member's tasks, and those of each address."""

    tasks: tuple[int, ...] = ()
    by_address: dict[str, tuple[int, ...]] = {}


_SAYS_NOTHING: Final = SubscriptionInfo()


class TaskAssignor(Assignor):
    """``address`` is where other members ask this one for the state of its tasks. EAGER, sticky, balanced within one.

    ``assignment`` is the leader's last one. User data that cannot be read say nothing.
    """

    name = "tasks"
    version = 1

    def __init__(self, address: str) -> None:
        self.address = address
        self.assignment = AssignmentInfo()

    def subscription_user_data(self, topics: Sequence[str]) -> bytes | None:  # noqa: ARG002 - part of the interface
        """The address, and the tasks of the last assignment."""
        return msgspec.json.encode(SubscriptionInfo(self.address, self.assignment.tasks))

    def assign(
        self,
        partitions_per_topic: Mapping[str, int],
        subscriptions: GroupSubscription,
        racks: Racks | None = None,  # noqa: ARG002 - part of the interface
    ) -> dict[str, Assignment]:
        """The tasks of each member, with the map of all addresses."""
        topics = subscribed_topics(partitions_per_topic, subscriptions)
        said = {member: _read(subscriptions[member].user_data) for member in member_order(subscriptions)}
        tasks = _shared(range(max((partitions_per_topic[topic] for topic in topics), default=0)), said)
        by_address: dict[str, tuple[int, ...]] = {}
        for member, share in tasks.items():
            address = said[member].address
            by_address[address] = tuple(sorted({*by_address.get(address, ()), *share}))
        return {
            member: Assignment(
                partitions=tuple(
                    TopicPartition(topic, task)
                    for topic in topics
                    for task in share
                    if task < partitions_per_topic[topic]
                ),
                user_data=msgspec.json.encode(AssignmentInfo(share, by_address)),
            )
            for member, share in tasks.items()
        }

    def on_assignment(self, assignment: Assignment, generation: int) -> None:  # noqa: ARG002 - part of the interface
        """Remember the tasks, and where all tasks are."""
        self.assignment = msgspec.json.decode(assignment.user_data or b"{}", type=AssignmentInfo)

    def address_of(self, task: int) -> str | None:
        """Where a task is, as the leader of the last assignment had it."""
        return next((where for where, tasks in self.assignment.by_address.items() if task in tasks), None)


def _read(user_data: bytes | None) -> SubscriptionInfo:
    try:
        return msgspec.json.decode(user_data or b"", type=SubscriptionInfo)
    except msgspec.DecodeError:
        return _SAYS_NOTHING


def _shared(tasks: Sequence[int], said: Mapping[str, SubscriptionInfo]) -> dict[str, tuple[int, ...]]:
    """A share for each member, no two differ by more than one: first its own, then those with the least take on."""
    shares: dict[str, list[int]] = {member: [] for member in said}
    least, larger = divmod(len(tasks), len(said))
    left = dict.fromkeys(tasks)
    for member, info in said.items():
        kept = [task for task in dict.fromkeys(info.tasks) if task in left][: least + (larger > 0)]
        larger -= len(kept) > least
        shares[member] += kept
        for task in kept:
            del left[task]
    for task in left:
        min(shares.values(), key=len).append(task)
    return {member: tuple(sorted(share)) for member, share in shares.items()}
