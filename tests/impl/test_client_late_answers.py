"""Answers that come when the member has moved on: to an older generation, after a reset, to one that led before."""

from __future__ import annotations

import pytest

from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.client.committing import CommitOutcome
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.generation import Generation, MemberState
from rebalance_check.impl.protocol.consumer_protocol import (
    Assignment,
    Subscription,
    write_assignment,
    write_subscription,
)
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    JoinedMember,
    JoinGroupReply,
    JoinGroupRequest,
    OffsetCommitReply,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import Error

T0 = TopicPartition("t", 0)
ME = JoinedMember("id", write_subscription(Subscription(topics=("t",))))
EMPTY = SyncGroupReply(assignment=write_assignment(Assignment()))


class Member(ConsumerCoordinator):
    """A static EAGER consumer of one topic; the test plays the coordinator, and time stands still."""

    def __init__(self) -> None:
        config = ClientConfig(group_id="g", group_instance_id="i")
        recorder = Recorder("g", "m0", lambda: 0, None)
        super().__init__(
            config, recorder, member="m0", topics=["t"], assignors=[RangeAssignor()], partitions_per_topic={"t": 1}
        )

    def sent(self, kind: type) -> int:
        """Polls, and gives the number of the one request that is sent, which is of this kind."""
        self.poll(0)
        ((number, request),) = self.take_requests()
        assert isinstance(request, kind)
        return number

    def settle(self, generation: int, *, leads: bool = False) -> None:
        """From the JoinGroup on the wire to a stable member of ``generation``."""
        self.receive(self.sent(JoinGroupRequest), joined(generation, leads=leads), 0)
        self.receive(self.sent(SyncGroupRequest), EMPTY, 0)
        self.poll(0)
        assert self.generation_if_stable() == Generation(generation, "id", "range")


def joined(generation: int, *, leads: bool = False) -> JoinGroupReply:
    leader, members = ("id", (ME,)) if leads else ("other", ())
    return JoinGroupReply(
        generation_id=generation, protocol_name="range", leader=leader, member_id="id", members=members
    )


def refused(error: Error) -> GroupReply:
    return OffsetCommitReply(partitions=((T0.topic, T0.partition, error),))


@pytest.fixture
def member() -> Member:
    """Stable in generation 1, as a follower."""
    made = Member()
    made.settle(1)
    return made


@pytest.mark.parametrize(
    ("rejoined", "outcome"),
    [(False, CommitOutcome.REBALANCE_IN_PROGRESS), (True, CommitOutcome.COMMIT_FAILED)],
)
def test_a_fenced_commit_of_an_older_generation_ends_nothing(
    member: Member, rejoined: bool, outcome: CommitOutcome
) -> None:
    commit = member.commit({T0: 5}, 0)
    ((number, _),) = member.take_requests()
    member.request_rejoin("test")
    member.settle(2)
    if not rejoined:
        member.request_rejoin("test")
        member.sent(JoinGroupRequest)
    member.receive(number, refused(Error.FENCED_INSTANCE_ID), 0)
    assert (commit.outcome, member.generation().generation_id) == (outcome, 2)
    member.poll(0)  # raises nothing


def test_a_join_that_succeeds_after_a_reset_is_not_taken__and_repeated_after_the_backoff(member: Member) -> None:
    member.commit({T0: 5}, 0)
    ((commit, _),) = member.take_requests()
    member.request_rejoin("test")
    join = member.sent(JoinGroupRequest)
    member.receive(commit, refused(Error.ILLEGAL_GENERATION), 0)
    assert member.state is MemberState.UNJOINED
    member.receive(join, joined(2), 0)
    member.poll(0)
    assert (member.take_requests(), member.generation()) == ([], Generation(-1, "id", None))
    assert member.next_poll() == member.config.retry_backoff_ms
    member.poll(member.config.retry_backoff_ms)
    ((_, request),) = member.take_requests()
    assert isinstance(request, JoinGroupRequest)


@pytest.mark.parametrize("leads", [False, True])
def test_one_that_led_before_watches_no_partitions__unless_it_leads_again(leads: bool) -> None:
    member = Member()
    member.settle(1, leads=True)
    member.request_rejoin("test")
    member.settle(2, leads=leads)
    member.update_metadata({"t": 2})
    assert member.rejoin_needed_or_pending() is leads
