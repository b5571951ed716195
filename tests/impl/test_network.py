"""The simulated network: order on a connection, unknown outcomes, strays and duplicates."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import pytest

from rebalance_check.impl.protocol.messages import (
    HeartbeatReply,
    HeartbeatRequest,
    JoinGroupRequest,
    MemberReply,
    MemberRequest,
)
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.faults import NO_FAULTS, FaultPlan
from rebalance_check.impl.simulator.network import (
    LATE_REQUEST_MS,
    REQUEST_TIMEOUT_MS,
    Connection,
    SimulatedNetwork,
    Token,
)


@dataclass
class Wire:
    """A network with one member, whose coordinator answers heartbeats at once unless it is set to be silent."""

    plan: FaultPlan
    seed: int = 0
    silent: bool = False
    clock: VirtualClock = field(default_factory=VirtualClock)
    served: list[tuple[Token | None, int]] = field(default_factory=list)
    received: list[tuple[int, MemberReply | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.network = SimulatedNetwork(self.clock, Random(self.seed), self.plan, self.serve)
        self.connection: Connection = self.network.connect(lambda number, reply: self.received.append((number, reply)))

    def serve(self, _node: int, token: Token | None, request: MemberRequest) -> None:
        assert isinstance(request, HeartbeatRequest | JoinGroupRequest)
        self.served.append((token, getattr(request, "generation_id", -1)))
        if not self.silent:
            self.network.answer(token, HeartbeatReply())

    def send(self, *numbers: int) -> None:
        for number in numbers:
            self.connection.send(number, heartbeat(number))

    def served_numbers(self) -> list[int]:
        return [number for _, number in self.served]


def heartbeat(number: int) -> HeartbeatRequest:
    """A heartbeat distinguished from others by its generation."""
    return HeartbeatRequest(group_id="g", generation_id=number, member_id="m")


def join(rebalance_timeout_ms: int) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g", session_timeout_ms=1, rebalance_timeout_ms=rebalance_timeout_ms, member_id="", protocol_type="c",
        protocols=(),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_requests_and_replies_of_a_connection_keep_their_order__however_late(seed: int) -> None:
    wire = Wire(FaultPlan(delay_ms=5_000), seed)

    wire.send(*range(20))
    wire.clock.run_until(11_000)

    assert list(range(20)) == wire.served_numbers()
    assert [(number, HeartbeatReply()) for number in range(20)] == wire.received


def test_a_dropped_message_is_an_unknown_outcome_when_the_request_times_out() -> None:
    wire = Wire(FaultPlan(drop=1.0))

    wire.send(0)
    wire.clock.run_until(REQUEST_TIMEOUT_MS - 1)
    assert wire.received == []
    wire.clock.run_until(REQUEST_TIMEOUT_MS)

    assert wire.received == [(0, None)]
    assert wire.served == []


def test_a_reply_that_comes_after_its_request_was_given_up_goes_nowhere() -> None:
    wire = Wire(NO_FAULTS, silent=True)
    wire.send(0)
    wire.clock.run_until(REQUEST_TIMEOUT_MS + 1)

    token, _ = wire.served[0]
    wire.network.answer(token, HeartbeatReply())
    wire.clock.run_until(2 * REQUEST_TIMEOUT_MS)

    assert wire.received == [(0, None)]


def test_a_join_waits_for_the_rebalance_timeout__and_other_requests_do_not() -> None:
    wire = Wire(NO_FAULTS, silent=True)
    wire.connection.send(0, join(rebalance_timeout_ms=60_000))

    wire.clock.run_until(64_999)
    assert wire.received == []
    wire.clock.run_until(65_000)

    assert wire.received == [(0, None)]


def test_a_break_leaves_every_waiting_request_unknown__and_the_next_is_answered() -> None:
    wire = Wire(NO_FAULTS)
    wire.send(0, 1)

    wire.connection.break_now()
    wire.send(2)
    wire.clock.run_until(100)

    assert [(0, None), (1, None), (2, HeartbeatReply())] == wire.received
    assert wire.served_numbers() == [2]


def test_a_late_request_overtaken_by_the_next_connection_is_served_but_answered_to_nobody() -> None:
    wire = Wire(FaultPlan(reorder=1.0), seed=1)
    wire.send(0)

    wire.connection.break_now()
    wire.send(1)
    wire.clock.run_until(LATE_REQUEST_MS + 10)

    assert wire.served_numbers() == [1, 0]
    assert wire.served[1][0] is None
    assert [(0, None), (1, HeartbeatReply())] == wire.received


def test_a_duplicate_is_served_twice_and_answered_once() -> None:
    wire = Wire(FaultPlan(duplicate=1.0))

    wire.send(0)
    wire.clock.run_until(LATE_REQUEST_MS + 10)

    assert wire.served_numbers() == [0, 0]
    assert [(0, HeartbeatReply())] == wire.received


def test_what_a_closed_connection_had_sent_still_arrives__and_nobody_gets_the_reply() -> None:
    wire = Wire(NO_FAULTS)
    wire.send(0)

    wire.connection.close()
    wire.clock.run_until(REQUEST_TIMEOUT_MS * 2)

    assert wire.served_numbers() == [0]
    assert wire.received == []


def test_every_request_ends_in_exactly_one_outcome__under_all_faults() -> None:
    plan = FaultPlan(delay_ms=500, drop=0.1, duplicate=0.1, disconnect=0.1, reorder=0.5)
    wire = Wire(plan, seed=7)
    for number in range(300):
        wire.clock.at(number * 50, lambda number=number: wire.send(number))  # type: ignore[misc]  # a bound default

    wire.clock.run_until(300 * 50 + 3 * REQUEST_TIMEOUT_MS)

    outcomes = [number for number, _ in wire.received]
    assert list(range(300)) == sorted(outcomes)
    assert {type(reply) for _, reply in wire.received} == {HeartbeatReply, type(None)}
    assert wire.served_numbers() != sorted(wire.served_numbers()), (
        "no late request overtook anything: the faults are too weak"
    )
