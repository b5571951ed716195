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
from rebalance_check.integration.virtual import VirtualKafka, World
from rebalance_check.integration.virtual.codec import decoded, observed
from rebalance_check.integration.wire.templates import encoded
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

pytestmark = pytest.mark.virtual

GROUP = "g"
SESSION_MS = 10_000
MINUTE_MS = 60_000
WRITE_TIMEOUT_MS = 5_000


def ask(world: World, request: GroupRequest, node: int = 0) -> GroupReply | None:
    """The reply to a request, None while it is parked."""
    number = world.post(encoded(request), node)
    world.control("pending")
    bodies = dict(world.take_replies())
    body = bodies.pop(number, None)
    world.replies = [*bodies.items()]
    return None if body is None else decoded(request, body)


def heard(world: World, request: GroupRequest) -> GroupReply | None:
    """The reply that came for a parked request; there is at most one reply left in these tests."""
    replies = [body for _, body in world.take_replies() if body is not None]
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


def fetched(world: World, node: int = 0) -> int:
    reply = ask(world, FETCH, node)
    assert isinstance(reply, OffsetFetchReply)
    return reply.offsets[0].offset


def stable_member(world: World) -> str:
    """A group of one member that has its assignment; the member's id."""
    joined = ask(world, join())
    assert isinstance(joined, JoinGroupReply)
    assert error(ask(world, sync(joined.member_id, (joined.member_id, b"mine")))) is Error.NONE
    return joined.member_id


def state(world: World, node: int = 0) -> str:
    return str(inspect(world, node).described.state)


def inspect(world: World, node: int = 0) -> Any:
    body = world.answer(world.post_inspection(GROUP, node))
    return observed(body, scala=world.kafka.release.scala)


# ------------------------------------------------------------------------------------------------ requests


def test_a_member_joins_syncs_and_leaves(world: World) -> None:
    assert state(world) == "Dead"
    member = stable_member(world)
    assert member.startswith("m0-")
    assert state(world) == "Stable"
    assert (inspect(world).generation, inspect(world).leader) == (1, member)
    left = ask(world, LeaveGroupRequest(group_id=GROUP, version=5, members=(MemberIdentity(member),)))
    assert error(left) is Error.NONE
    assert state(world) == "Empty"


def test_offsets_are_committed_and_fetched__and_unknown_partitions_refused(world: World) -> None:
    member = stable_member(world)
    assert commit_error(ask(world, commit(member, 42))) is Error.NONE
    assert fetched(world) == 42
    unknown = OffsetCommitRequest(
        group_id=GROUP, version=8, generation_id=1, member_id=member, offsets=(CommittedOffset("nowhere", 0, 1),)
    )
    assert commit_error(ask(world, unknown)) is Error.UNKNOWN_TOPIC_OR_PARTITION


def test_a_stale_generation_may_not_commit(world: World) -> None:
    member = stable_member(world)
    assert commit_error(ask(world, commit(member, 1, generation=7))) is Error.ILLEGAL_GENERATION


def test_bytes_that_are_no_request_close_the_connection(world: World) -> None:
    number = world.post(b"\0\x0b\0\x63nonsense")
    world.control("pending")
    assert world.take_replies() == [(number, None)]


def test_a_command_that_nobody_knows_is_refused(world: World) -> None:
    with pytest.raises(RebalanceCheckError, match="unknown command dance"):
        world.control("dance")


# ------------------------------------------------------------------------------------------------ time


def test_a_session_ends_at_its_deadline__and_not_before(world: World) -> None:
    stable_member(world)
    world.control(f"advance {SESSION_MS - 1}")
    assert state(world) == "Stable"
    world.control("advance 1")
    assert state(world) == "Empty"


def test_a_heartbeat_prolongs_the_session(world: World) -> None:
    member = stable_member(world)
    for _ in range(10):
        world.control(f"advance {SESSION_MS - 1}")
        assert error(ask(world, heartbeat(member))) is Error.NONE
    assert state(world) == "Stable"


def test_one_session_alone_can_be_fired__the_others_are_late(world: World) -> None:
    first = stable_member(world)
    assert ask(world, join(client="m1")) is None
    assert error(ask(world, heartbeat(first))) is Error.REBALANCE_IN_PROGRESS
    world.control(f"session {GROUP} {first}")
    second = heard(world, join(client="m1"))
    assert isinstance(second, JoinGroupReply)
    assert (second.error, second.generation_id, second.leader) == (Error.NONE, 2, second.member_id)
    assert error(ask(world, heartbeat(first, 2))) is Error.UNKNOWN_MEMBER_ID


def test_firing_a_session_is_the_same_as_letting_it_run_out(world: World) -> None:
    seen = []
    for command in (f"session {GROUP} ", "advance 10000 "):
        world.reset(1, {"t": 2}, {"group.initial.rebalance.delay.ms": "0"})
        member = stable_member(world)
        world.control(command + member if "session" in command else command.strip())
        seen.append((state(world), inspect(world).generation, error(ask(world, heartbeat(member)))))
    assert seen[0] == seen[1]
    assert seen[0] == ("Empty", 2, Error.UNKNOWN_MEMBER_ID)


def test_the_initial_delay_is_waited_for(world: World) -> None:
    world.reset(1, {"t": 2}, {"group.initial.rebalance.delay.ms": "3000"})
    assert ask(world, join()) is None
    world.control("advance 2999")
    assert heard(world, join()) is None
    world.control("advance 1")
    assert error(heard(world, join())) is Error.NONE


def test_steps_fire_one_timer_each__in_the_order_of_their_deadlines(world: World) -> None:
    world.reset(1, {"t": 2}, {"group.initial.rebalance.delay.ms": "3000"})
    assert ask(world, join()) is None
    deadlines = [int(line.split()[-1]) for line in world.control("timers").splitlines()]
    assert len(deadlines) >= 2
    assert world.control("step") == "fired"
    assert error(heard(world, join())) is Error.NONE


# ------------------------------------------------------------------------------------------------ writes


def test_a_commit_waits_for_the_high_watermark(world: World) -> None:
    member = stable_member(world)
    world.control("acknowledge off")
    assert ask(world, commit(member, 42)) is None
    world.control("acknowledge on")
    assert commit_error(heard(world, commit(member, 42))) is Error.NONE


def test_a_leaders_sync_waits_for_its_record__followers_with_it(world: World) -> None:
    joined = ask(world, join())
    assert isinstance(joined, JoinGroupReply)
    mine = sync(joined.member_id, (joined.member_id, b"mine"))
    world.control("acknowledge off")
    assert ask(world, mine) is None
    world.control("acknowledge on")
    reply = heard(world, mine)
    assert isinstance(reply, SyncGroupReply)
    assert reply.assignment == b"mine"


def test_a_write_that_is_never_acknowledged_times_out(world: World) -> None:
    member = stable_member(world)
    world.control("acknowledge off")
    assert ask(world, commit(member, 42)) is None
    world.control(f"advance {WRITE_TIMEOUT_MS}")
    told = Error.REQUEST_TIMED_OUT if world.kafka.release.scala else Error.COORDINATOR_NOT_AVAILABLE
    assert commit_error(heard(world, commit(member, 42))) is told


def test_a_failing_append_is_told__and_nothing_is_committed(world: World) -> None:
    member = stable_member(world)
    world.control("fail NOT_ENOUGH_REPLICAS")
    assert commit_error(ask(world, commit(member, 42))) is Error.COORDINATOR_NOT_AVAILABLE
    world.control("fail")
    assert fetched(world) == -1


# ------------------------------------------------------------------------------------------------ failover


def fail_over(world: World, lost: int = 0, clean: str = "clean") -> None:
    """Node 1 takes over with a replica of node 0's journal."""
    world.control(f"replica 0 {lost} {clean}", node=1)
    world.control("elect 1", node=1)


def test_the_successor_of_a_crashed_coordinator_knows_members_and_offsets(world: World) -> None:
    member = stable_member(world)
    assert commit_error(ask(world, commit(member, 42))) is Error.NONE
    world.control("crash")
    fail_over(world)
    assert (state(world, 1), inspect(world, 1).generation) == ("Stable", 1)
    assert fetched(world, 1) == 42
    assert error(ask(world, heartbeat(member), 1)) is Error.NONE
    assert ask(world, heartbeat(member)) is None


def test_a_coordinator_that_resigned_sends_members_away(world: World) -> None:
    member = stable_member(world)
    world.control("resign 1")
    fail_over(world)
    assert error(ask(world, heartbeat(member))) is Error.NOT_COORDINATOR
    assert error(ask(world, heartbeat(member), 1)) is Error.NONE


def test_a_parked_join_is_told_when_its_coordinator_resigns(world: World) -> None:
    stable_member(world)
    assert ask(world, join(client="m1")) is None
    world.control("resign 1")
    assert error(heard(world, join(client="m1"))) is Error.NOT_COORDINATOR


def test_a_zombie_coordinator_still_answers_heartbeats__and_cannot_commit(world: World) -> None:
    member = stable_member(world)
    world.control("acknowledge off")
    fail_over(world)
    assert error(ask(world, heartbeat(member))) is Error.NONE
    assert ask(world, commit(member, 42)) is None
    assert fetched(world, 1) == -1
    world.control("resign 1")
    assert commit_error(heard(world, commit(member, 42))) is Error.NOT_COORDINATOR


def test_a_generation_that_was_never_written_is_given_out_again(world: World) -> None:
    member = stable_member(world)
    assert ask(world, join(client="m1")) is None
    number = world.post(encoded(join(member)))
    world.control("pending")
    assert number in dict(world.take_replies())
    assert inspect(world).generation == 2
    world.control("crash")
    fail_over(world)
    assert inspect(world, 1).generation == 1


def test_a_lost_log_tail_takes_a_commit_with_it__if_the_election_was_unclean(world: World) -> None:
    member = stable_member(world)
    assert commit_error(ask(world, commit(member, 42))) is Error.NONE
    world.control("crash")
    world.control("replica 0 1 clean", node=1)
    world.control("replica 0 1 unclean", node=2)
    world.control("elect 1", node=1)
    world.control("elect 1", node=2)
    assert (fetched(world, 1), fetched(world, 2)) == (42, -1)


def test_a_coordinator_that_loads_says_so(world: World) -> None:
    stable_member(world)
    world.control("crash")
    world.control("replica 0 0 clean", node=1)
    world.control("hold-load", node=1)
    world.control("elect 1", node=1)
    loading = ask(world, commit("m", 1), 1)
    assert commit_error(loading) is Error.COORDINATOR_LOAD_IN_PROGRESS
    world.control("release-load", node=1)
    assert state(world, 1) == "Stable"


# ------------------------------------------------------------------------------------------------ worlds


def test_worlds_do_not_hear_of_each_other(kafka: VirtualKafka, world: World) -> None:
    other = kafka.world()
    other.reset(1, {"t": 2}, {"group.initial.rebalance.delay.ms": "0"})
    member = stable_member(world)
    assert state(other) == "Dead"
    other.control(f"advance {MINUTE_MS}")
    assert state(world) == "Stable"
    assert stable_member(other) == member
    kafka.give_back(other)


def test_a_reset_leaves_nothing_behind(world: World) -> None:
    stable_member(world)
    assert ask(world, join(client="m1")) is None
    world.reset(1, {"t": 2}, {"group.initial.rebalance.delay.ms": "0"})
    assert state(world) == "Dead"
    assert world.control("journal") == ""
    assert world.control("pending") == ""
