"""Mistakes with the assignment that a leader sends, and that others leave to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rebalance_check.impl.protocol.consumer_protocol import (
    Assignment,
    read_assignment,
    read_subscription,
    write_assignment,
)
from rebalance_check.impl.protocol.messages import (
    JoinGroupReply,
    MemberReply,
    MemberRequest,
    SyncAssignment,
    SyncGroupRequest,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.integration.kits.adapters.ours.slipping import Slip


def for_itself(sync: SyncGroupRequest) -> SyncGroupRequest:
    """The SyncGroup with an assignment of nothing to its sender."""
    own = SyncAssignment(sync.member_id, write_assignment(Assignment()))
    return replace(sync, assignments=(own,))


class FollowerAssigns(Slip):
    """It sends an assignment for itself although it follows."""

    def sync(self, sync: SyncGroupRequest) -> Sequence[MemberRequest]:
        """Where there are no assignments."""
        return [sync if sync.assignments else for_itself(sync)]


class AssignsAnyway(Slip):
    """As a leader that comes back and must skip the assignment it sends one."""

    _skips = False

    def gets(self, reply: MemberReply) -> MemberReply:
        """Remember whether the assignment is to be skipped."""
        if isinstance(reply, JoinGroupReply):
            self._skips = reply.skip_assignment
        return reply

    def sync(self, sync: SyncGroupRequest) -> Sequence[MemberRequest]:
        """Do not skip it."""
        return [for_itself(sync) if self._skips else sync]


class _Leads(Slip):
    """Alters the assignments that a leader sends."""

    def sync(self, sync: SyncGroupRequest) -> Sequence[MemberRequest]:
        """A follower's is sent as it is."""
        if not sync.assignments:
            return [sync]
        given = {each.member_id: list(read_assignment(each.assignment).partitions) for each in sync.assignments}
        self.alter(given)
        assignments = tuple(
            SyncAssignment(member, write_assignment(Assignment(partitions=tuple(partitions))))
            for member, partitions in given.items()
        )
        return [replace(sync, assignments=assignments)]

    def alter(self, given: dict[str, list[TopicPartition]]) -> None:
        """Make the mistake in each member's assignment."""


class AssignsToUnknown(_Leads):
    """As the leader it sends an assignment for a member that does not exist."""

    def alter(self, given: dict[str, list[TopicPartition]]) -> None:
        """Add one."""
        given["no-such-member"] = []


class AssignsTwice(_Leads):
    """As the leader it gives a partition of one member to another one, too."""

    def alter(self, given: dict[str, list[TopicPartition]]) -> None:
        """The first partition of the first member that has one; where it is the only one, it gets it twice."""
        owner = next(member for member in sorted(given) if given[member])
        other = next((member for member in sorted(given) if member != owner), owner)
        given[other] += given[owner][:1]


class DropsPartition(_Leads):
    """As the leader it leaves one partition out."""

    def alter(self, given: dict[str, list[TopicPartition]]) -> None:
        """The last one of the member that has most."""
        del max(given.values(), key=len)[-1:]


class GivesAwayEarly(_Leads):
    """As the leader it withholds nothing: what its owner must revoke first goes to the member with least at once."""

    def __init__(self) -> None:
        self._claimed: set[TopicPartition] = set()

    def gets(self, reply: MemberReply) -> MemberReply:
        """Remember all members' claims."""
        if isinstance(reply, JoinGroupReply) and reply.members:
            subscriptions = [read_subscription(member.metadata) for member in reply.members]
            self._claimed = {partition for each in subscriptions for partition in each.owned}
        return reply

    def alter(self, given: dict[str, list[TopicPartition]]) -> None:
        """Give away claimed partitions that were not given."""
        withheld = self._claimed.difference(*given.values())
        min(given.values(), key=len).extend(sorted(withheld))
