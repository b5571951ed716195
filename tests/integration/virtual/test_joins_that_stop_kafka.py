"""JoinGroups after which Kafka's coordinators never end the join phase, and ours does.

An exception in the timer of the join phase is logged, the timer does not run again, and no member is answered until its
session ends. One member of a group can do that to all others (TRACK_RECORD.md). These are the requests that
`rebalance_check.integration.comparison.requests` spares.
"""

from dataclasses import replace

import pytest

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    GroupRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    SyncGroupRequest,
)
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.integration.virtual import VirtualEnvironment, VirtualKafka
from rebalance_check.integration.virtual.codec import decoded
from rebalance_check.integration.wire.templates import encoded
from rebalance_check.model.vocabulary.errors import Error

pytestmark = pytest.mark.virtual


def join(*protocols: JoinProtocol) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        version=3,
        client_id="m0",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        member_id="",
        protocol_type="consumer",
        protocols=protocols,
    )


TWICE = join(JoinProtocol("range", b"1"), JoinProtocol("range", b"2"))
UNREADABLE = join(JoinProtocol("range", b"z" * 500))


@pytest.mark.parametrize("request_", [pytest.param(TWICE, id="twice"), pytest.param(UNREADABLE, id="unreadable")])
def test_a_protocol_listed_twice_or_a_subscription_that_cannot_be_read_leaves_the_join_unanswered(
    kafka: VirtualKafka, environment: VirtualEnvironment, request_: JoinGroupRequest
) -> None:
    environment.post(encoded(request_))
    environment.control("pending")
    assert environment.take_replies() == []
    if kafka.release.scala:  # the Java coordinators report what they throw to their log alone
        assert environment.thrown
    environment.thrown.clear()


@pytest.mark.parametrize("request_", [pytest.param(TWICE, id="twice"), pytest.param(UNREADABLE, id="unreadable")])
def test_ours_answers_it(request_: JoinGroupRequest) -> None:
    config = GroupConfig(initial_rebalance_delay_ms=0)
    ours = InProcess(config, new_member_id=lambda prefix: f"{prefix}-1")
    ((_, reply),) = ours.handle(1, request_, 0)
    assert isinstance(reply, JoinGroupReply)
    assert (reply.error, reply.generation_id, reply.protocol_name) == (Error.NONE, 1, "range")


def test_a_join_that_ends_the_join_phase_itself_is_answered_with_a_server_error(
    kafka: VirtualKafka, environment: VirtualEnvironment
) -> None:
    def ask(request: GroupRequest) -> GroupReply:
        environment.post(encoded(request))
        environment.control("pending")
        ((_, answer),) = environment.take_replies()
        assert answer is not None
        return decoded(request, answer)

    joined = ask(join(JoinProtocol("range", b"")))
    assert isinstance(joined, JoinGroupReply)
    ask(SyncGroupRequest(group_id="g", version=3, generation_id=1, member_id=joined.member_id))
    again = replace(UNREADABLE, member_id=joined.member_id)
    assert ask(again).error is Error.UNKNOWN_SERVER_ERROR
    environment.thrown.clear()
