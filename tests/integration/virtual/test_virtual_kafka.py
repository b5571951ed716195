"""Kafka's own coordinators in virtual time do what a broker does: requests, timers, held writes, failover."""

from typing import Any

import pytest

from rebalance_check.impl.protocol.messages import (
    CommittedOffset,
    GroupReply,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    OffsetCommitReply,
    OffsetCommitRequest,
    OffsetFetchReply,
    OffsetFetchRequest,
    SyncAssignment,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.integration.virtual import VirtualEnvironment, VirtualKafka
from rebalance_check.integration.virtual.codec import decoded, observed
from rebalance_check.integration.wire.templates import encoded
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

pytestmark = pytest.mark.virtual

GROUP = "g"
SESSION_MS = 10_000
MINUTE_MS = 60_000
WRITE_TIMEOUT_MS = 5_000


def ask(environment: VirtualEnvironment, request: GroupRequest, node: int = 0) -> GroupReply | None:
    """The reply to a request, None while it is parked."""
    number = environment.post(encoded(request), node)
    environment.control("pending")
    bodies = dict(environment.take_replies())
    body = bodies.pop(number, None)
    environment.replies = [*bodies.items()]
    return None if body is None else decoded(request, body)


def late_reply(environment: VirtualEnvironment, request: GroupRequest) -> GroupReply | None:
    """The reply that came for a parked request; there is at most one reply left in these tests."""
    replies = [body for _, body in environment.take_replies() if body is not None]
    return decoded(request, replies[0]) if replies else None


def join(member_id: str = "", client: str = "m0", version: int = 3) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=GROUP,
        version=version,
        client_id=client,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=MINUTE_MS,
        member_id=member_id,
        protocol_type="consumer",
        protocols=(JoinProtocol("range", b"\0\0\0\0\0\1\0\1t\xff\xff\xff\xff"),),
    )


def sync(member_id: str, *assignments: tuple[str, bytes], generation: int = 1) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=GROUP,
        version=5,
        generation_id=generation,
        member_id=member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=tuple(SyncAssignment(*each) for each in assignments),
    )


def heartbeat(member_id: str, generation: int = 1) -> HeartbeatRequest:
    return HeartbeatRequest(group_id=GROUP, version=4, generation_id=generation, member_id=member_id)


def commit(member_id: str, offset: int, generation: int = 1) -> OffsetCommitRequest:
    offsets = (CommittedOffset("t", 0, offset),)
    return OffsetCommitRequest(
        group_id=GROUP, version=8, generation_id=generation, member_id=member_id, offsets=offsets
    )


FETCH = OffsetFetchRequest(group_id=GROUP, version=7, partitions=(("t", 0),))


def error(reply: GroupReply | None) -> Error:
    assert reply is not None
    return reply.error


def commit_error(reply: GroupReply | None) -> Error:
    assert isinstance(reply, OffsetCommitReply)
    return reply.partitions[0][2]


def fetched(environment: VirtualEnvironment, node: int = 0) -> int:
    reply = ask(environment, FETCH, node)
    assert isinstance(reply, OffsetFetchReply)
    return reply.offsets[0].offset


def stable_member(environment: VirtualEnvironment) -> str:
    """A group of one member that has its assignment; the member's id."""
    joined = ask(environment, join())
    assert isinstance(joined, JoinGroupReply)
    assert error(ask(environment, sync(joined.member_id, (joined.member_id, b"mine")))) is Error.NONE
    return joined.member_id


def state(environment: VirtualEnvironment, node: int = 0) -> str:
    return str(inspect(environment, node).described.state)


def inspect(environment: VirtualEnvironment, node: int = 0) -> Any:
    result = environment.answer(environment.post_inspection(GROUP, node))
    return observed(result.inspected, scala=environment.kafka.release.scala)


# ------------------------------------------------------------------------------------------------ requests


def test_a_member_joins_syncs_and_leaves(environment: VirtualEnvironment) -> None:
    assert state(environment) == "Dead"
    member = stable_member(environment)
    assert member.startswith("m0-")
    assert state(environment) == "Stable"
    assert (inspect(environment).generation, inspect(environment).leader) == (1, member)
    left = ask(environment, LeaveGroupRequest(group_id=GROUP, version=5, members=(MemberIdentity(member),)))
    assert error(left) is Error.NONE
    assert state(environment) == "Empty"


def test_offsets_are_committed_and_fetched__and_unknown_partitions_refused(environment: VirtualEnvironment) -> None:
    member = stable_member(environment)
    assert commit_error(ask(environment, commit(member, 42))) is Error.NONE
    assert fetched(environment) == 42
    unknown = OffsetCommitRequest(
        group_id=GROUP, version=8, generation_id=1, member_id=member, offsets=(CommittedOffset("nowhere", 0, 1),)
    )
    assert commit_error(ask(environment, unknown)) is Error.UNKNOWN_TOPIC_OR_PARTITION


def test_a_stale_generation_may_not_commit(environment: VirtualEnvironment) -> None:
    member = stable_member(environment)
    assert commit_error(ask(environment, commit(member, 1, generation=7))) is Error.ILLEGAL_GENERATION


def test_bytes_that_are_no_request_close_the_connection(environment: VirtualEnvironment) -> None:
    number = environment.post(b"\0\x0b\0\x63nonsense")
    environment.control("pending")
    assert environment.take_replies() == [(number, None)]


def test_a_command_that_nobody_knows_is_refused(environment: VirtualEnvironment) -> None:
    with pytest.raises(RebalanceCheckError, match="unknown command dance"):
        environment.control("dance")


# ------------------------------------------------------------------------------------------------ time


def test_a_session_ends_at_its_deadline__and_not_before(environment: VirtualEnvironment) -> None:
    stable_member(environment)
    environment.control(f"advance {SESSION_MS - 1}")
    assert state(environment) == "Stable"
    environment.control("advance 1")
    assert state(environment) == "Empty"


def test_a_heartbeat_prolongs_the_session(environment: VirtualEnvironment) -> None:
    member = stable_member(environment)
    for _ in range(10):
        environment.control(f"advance {SESSION_MS - 1}")
        assert error(ask(environment, heartbeat(member))) is Error.NONE
    assert state(environment) == "Stable"


def test_one_session_alone_can_be_fired__the_others_are_late(environment: VirtualEnvironment) -> None:
    first = stable_member(environment)
    assert ask(environment, join(client="m1")) is None
    assert error(ask(environment, heartbeat(first))) is Error.REBALANCE_IN_PROGRESS
    environment.control(f"session {GROUP} {first}")
    second = late_reply(environment, join(client="m1"))
    assert isinstance(second, JoinGroupReply)
    assert (second.error, second.generation_id, second.leader) == (Error.NONE, 2, second.member_id)
    assert error(ask(environment, heartbeat(first, 2))) is Error.UNKNOWN_MEMBER_ID


def test_firing_a_session_is_the_same_as_letting_it_run_out(environment: VirtualEnvironment) -> None:
    seen = []
    for command in (f"session {GROUP} ", "advance 10000 "):
        environment.reset(1, {"t": 2}, {"group.initial.rebalance.delay.ms": "0"})
        member = stable_member(environment)
        environment.control(command + member if "session" in command else command.strip())
        seen.append((state(environment), inspect(environment).generation, error(ask(environment, heartbeat(member)))))
    assert seen[0] == seen[1]
    assert seen[0] == ("Empty", 2, Error.UNKNOWN_MEMBER_ID)


def test_the_initial_delay_is_waited_for(environment: VirtualEnvironment) -> None:
    environment.reset(1, {"t": 2}, {"group.initial.rebalance.delay.ms": "3000"})
    assert ask(environment, join()) is None
    environment.control("advance 2999")
    assert late_reply(environment, join()) is None
    environment.control("advance 1")
    assert error(late_reply(environment, join())) is Error.NONE


# ------------------------------------------------------------------------------------------------ writes


def test_a_commit_waits_for_the_high_watermark(environment: VirtualEnvironment) -> None:
    member = stable_member(environment)
    environment.control("acknowledge off")
    assert ask(environment, commit(member, 42)) is None
    environment.control("acknowledge on")
    assert commit_error(late_reply(environment, commit(member, 42))) is Error.NONE


def test_a_leaders_sync_waits_for_its_record__followers_with_it(environment: VirtualEnvironment) -> None:
    joined = ask(environment, join())
    assert isinstance(joined, JoinGroupReply)
    mine = sync(joined.member_id, (joined.member_id, b"mine"))
    environment.control("acknowledge off")
    assert ask(environment, mine) is None
    environment.control("acknowledge on")
    reply = late_reply(environment, mine)
    assert isinstance(reply, SyncGroupReply)
    assert reply.assignment == b"mine"


def test_a_write_that_is_never_acknowledged_times_out(environment: VirtualEnvironment) -> None:
    member = stable_member(environment)
    environment.control("acknowledge off")
    assert ask(environment, commit(member, 42)) is None
    environment.control(f"advance {WRITE_TIMEOUT_MS}")
    expected = Error.REQUEST_TIMED_OUT if environment.kafka.release.scala else Error.COORDINATOR_NOT_AVAILABLE
    assert commit_error(late_reply(environment, commit(member, 42))) is expected


def test_a_failing_append_is_answered__and_nothing_is_committed(environment: VirtualEnvironment) -> None:
    member = stable_member(environment)
    environment.control("fail NOT_ENOUGH_REPLICAS")
    assert commit_error(ask(environment, commit(member, 42))) is Error.COORDINATOR_NOT_AVAILABLE
    environment.control("fail")
    assert fetched(environment) == -1


# ------------------------------------------------------------------------------------------------ failover


def fail_over(environment: VirtualEnvironment, lost: int = 0, clean: str = "clean") -> None:
    """Node 1 takes over with a replica of node 0's journal."""
    environment.control(f"replica 0 {lost} {clean}", node=1)
    environment.control("elect 1", node=1)


def test_the_successor_of_a_crashed_coordinator_knows_members_and_offsets(environment: VirtualEnvironment) -> None:
    member = stable_member(environment)
    assert commit_error(ask(environment, commit(member, 42))) is Error.NONE
    environment.control("crash")
    fail_over(environment)
    assert (state(environment, 1), inspect(environment, 1).generation) == ("Stable", 1)
    assert fetched(environment, 1) == 42
    assert error(ask(environment, heartbeat(member), 1)) is Error.NONE
    assert ask(environment, heartbeat(member)) is None


def test_a_coordinator_that_resigned_sends_members_away(environment: VirtualEnvironment) -> None:
    member = stable_member(environment)
    environment.control("resign 1")
    fail_over(environment)
    assert error(ask(environment, heartbeat(member))) is Error.NOT_COORDINATOR
    assert error(ask(environment, heartbeat(member), 1)) is Error.NONE


def test_a_parked_join_is_answered_when_its_coordinator_resigns(environment: VirtualEnvironment) -> None:
    stable_member(environment)
    assert ask(environment, join(client="m1")) is None
    environment.control("resign 1")
    assert error(late_reply(environment, join(client="m1"))) is Error.NOT_COORDINATOR


def test_a_zombie_coordinator_still_answers_heartbeats__and_cannot_commit(environment: VirtualEnvironment) -> None:
    member = stable_member(environment)
    environment.control("acknowledge off")
    fail_over(environment)
    assert error(ask(environment, heartbeat(member))) is Error.NONE
    assert ask(environment, commit(member, 42)) is None
    assert fetched(environment, 1) == -1
    environment.control("resign 1")
    assert commit_error(late_reply(environment, commit(member, 42))) is Error.NOT_COORDINATOR


def test_a_generation_that_was_never_written_is_given_out_again(environment: VirtualEnvironment) -> None:
    member = stable_member(environment)
    assert ask(environment, join(client="m1")) is None
    number = environment.post(encoded(join(member)))
    environment.control("pending")
    assert number in dict(environment.take_replies())
    assert inspect(environment).generation == 2
    environment.control("crash")
    fail_over(environment)
    assert inspect(environment, 1).generation == 1


def test_a_lost_log_tail_takes_a_commit_with_it__if_the_election_was_unclean(environment: VirtualEnvironment) -> None:
    member = stable_member(environment)
    assert commit_error(ask(environment, commit(member, 42))) is Error.NONE
    environment.control("crash")
    environment.control("replica 0 1 clean", node=1)
    environment.control("replica 0 1 unclean", node=2)
    environment.control("elect 1", node=1)
    environment.control("elect 1", node=2)
    assert (fetched(environment, 1), fetched(environment, 2)) == (42, -1)


def test_a_coordinator_that_loads_says_so(environment: VirtualEnvironment) -> None:
    stable_member(environment)
    environment.control("crash")
    environment.control("replica 0 0 clean", node=1)
    environment.control("hold-load", node=1)
    environment.control("elect 1", node=1)
    loading = ask(environment, commit("m", 1), 1)
    assert commit_error(loading) is Error.COORDINATOR_LOAD_IN_PROGRESS
    environment.control("release-load", node=1)
    assert state(environment, 1) == "Stable"


# ------------------------------------------------------------------------------------------------ environments


def test_environments_do_not_affect_each_other(kafka: VirtualKafka, environment: VirtualEnvironment) -> None:
    other = kafka.environment()
    other.reset(1, {"t": 2}, {"group.initial.rebalance.delay.ms": "0"})
    member = stable_member(environment)
    assert state(other) == "Dead"
    other.control(f"advance {MINUTE_MS}")
    assert state(environment) == "Stable"
    assert stable_member(other) == member
    kafka.give_back(other)


def test_a_reset_leaves_nothing_behind(environment: VirtualEnvironment) -> None:
    stable_member(environment)
    assert ask(environment, join(client="m1")) is None
    environment.reset(1, {"t": 2}, {"group.initial.rebalance.delay.ms": "0"})
    assert state(environment) == "Dead"
    assert environment.control("journal") == ""
    assert environment.control("pending") == ""
