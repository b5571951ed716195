"""Mistakes with partitions: a consumer's claims, callbacks and commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rebalance_check.impl.protocol.consumer_protocol import read_assignment
from rebalance_check.impl.protocol.messages import (
    CommittedOffset,
    JoinGroupRequest,
    JoinProtocol,
    MemberReply,
    MemberRequest,
    OffsetCommitRequest,
    SyncGroupReply,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.integration.kits.adapters.ours.slipping import Slip, subscription_of, with_subscription
from rebalance_check.model.vocabulary.errors import Error

NO_PARTITION: Final = 99
"""The number of a partition that the topic does not have."""


class _Remembers(Slip):
    """Remembers what it was assigned last."""

    assigned: tuple[TopicPartition, ...] = ()

    def gets(self, reply: MemberReply) -> MemberReply:
        """The assignment in a reply to SyncGroup."""
        if isinstance(reply, SyncGroupReply) and reply.error is Error.NONE:
            self.assigned = read_assignment(reply.assignment).partitions
        return reply


class ClaimsLess(Slip):
    """It claims all but one of its partitions."""

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """Leave the first one out."""
        subscription = subscription_of(join)
        return [with_subscription(join, replace(subscription, owned=subscription.owned[1:]))]


class ClaimsLost(_Remembers):
    """It claims what it was assigned before it lost its membership."""

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """In a JoinGroup without a member id."""
        claims = self.assigned if not join.member_id else subscription_of(join).owned
        return [with_subscription(join, replace(subscription_of(join), owned=claims))]


class EagerClaims(_Remembers):
    """It claims what it was assigned last although it offers an eager assignor."""

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """In each JoinGroup."""
        return [with_subscription(join, replace(subscription_of(join), owned=self.assigned))]


class KeepsRevoked(Slip):
    """It does not join again after it was assigned less than it claimed."""

    def rejoins(self, reason: str) -> bool:
        """For other reasons it does."""
        return "revoke" not in reason


class OldClaims(Slip):
    """It claims its partitions for the generation before the one in which it got them."""

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """Alter the generation of claims."""
        subscription = subscription_of(join)
        if not subscription.owned or subscription.generation is None:
            return [join]
        return [with_subscription(join, replace(subscription, generation=subscription.generation - 1))]


class CutsSubscription(Slip):
    """It offers one protocol more, with a subscription that ends before its last field."""

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """Cut the bytes."""
        cut = JoinProtocol("cut", join.protocols[0].metadata[:-1])
        return [replace(join, protocols=(*join.protocols, cut))]


class CommitsForeign(Slip):
    """It commits an offset of a partition that it does not own."""

    def commit(self, commit: OffsetCommitRequest) -> Sequence[MemberRequest]:
        """Add an offset."""
        foreign = CommittedOffset(commit.offsets[0].topic, NO_PARTITION, 1)
        return [replace(commit, offsets=(*commit.offsets, foreign))]
