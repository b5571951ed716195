"""Claims about commits, heartbeats, the end and the coordinator: what they accept, excuse, and what breaks them."""

from __future__ import annotations

import pytest

from rebalance_check.properties.verdict import Outcome
from tests.properties.wire.cases import (
    HELD,
    UNTESTED,
    VIOLATED,
    Case,
    Cases,
    History,
    check,
    settled,
)
from tests.properties.wire.on_the_wire import COOPERATIVE, SESSION_MS, Wire

case = Cases()


@case("commits_what_it_owns", HELD)
def it_commits_its_own(wire: Wire) -> None:
    settled(wire)
    wire.asks("p0", "OffsetCommit", member_id="m", request_generation=1, offsets=(("t-0", 5),))


@case("commits_what_it_owns", HELD)
def it_commits_what_it_is_about_to_revoke(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.enters("p0", "m", 2, (), owned=("t-0",), owned_generation=1, leader="n", **COOPERATIVE)
    wire.asks("p0", "OffsetCommit", member_id="m", request_generation=2, offsets=(("t-0", 5),))
    wire.joins("p0", "m", owned_generation=2, **COOPERATIVE)


@case("commits_what_it_owns", UNTESTED)
def a_commit_outside_of_the_group(wire: Wire) -> None:
    settled(wire)
    wire.asks("p0", "OffsetCommit", offsets=(("u-0", 5),))


@case("leaves_on_close", HELD)
def it_leaves(wire: Wire) -> None:
    settled(wire)
    wire.signals("p0", "terminate")
    wire.asks("p0", "LeaveGroup", member_id="m", leaving=(("m", ""),))
    wire.ends("p0")


@case("leaves_on_close", UNTESTED)
def it_dies_of_the_signal(wire: Wire) -> None:
    settled(wire)
    wire.signals("p0", "terminate")
    wire.ends("p0", -15)


@case("leaves_on_close", UNTESTED)
def it_does_not_reach_its_coordinator(wire: Wire) -> None:
    settled(wire)
    wire.signals("p0", "terminate")
    wire.disconnects("p0", by="fault")
    wire.ends("p0")


@case("leaves_on_close", UNTESTED)
def it_waits_in_a_rebalance(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.joins("p0", "m")
    wire.closes("p0")


@case("heartbeats_as_a_member", UNTESTED)
def the_recording_begins_in_the_middle(wire: Wire) -> None:
    wire.starts("p0")
    wire.beats("p0", "m", 4)


@case("heartbeats_as_a_member", VIOLATED)
def it_lost_its_id_and_sends_none(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "UNKNOWN_MEMBER_ID")
    wire.beats("p0", "", 1, "UNKNOWN_MEMBER_ID")


@case("heartbeats_as_a_member", VIOLATED)
def it_uses_an_id_that_was_not_accepted_yet(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "UNKNOWN_MEMBER_ID")
    wire.replies("p0", wire.joins("p0"), "JoinGroup", error="MEMBER_ID_REQUIRED", assigned_member_id="n")
    wire.beats("p0", "n", 1, "UNKNOWN_MEMBER_ID")


@case("no_heartbeat_while_joining", HELD)
def one_heartbeat_was_on_its_way(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.joins("p0", "m")
    wire.connects("p0")
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")


@case("no_heartbeat_while_joining", VIOLATED)
def it_goes_on_over_another_connection(wire: Wire) -> None:
    one_heartbeat_was_on_its_way(wire)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")


@case("heartbeats_keep_the_session", HELD)
def it_goes_on_with_heartbeats_in_time(wire: Wire) -> None:
    settled(wire)
    for _ in range(5):
        wire.wait(SESSION_MS - 100)
        wire.beats("p0", "m", 1)


@case("heartbeats_keep_the_session", VIOLATED)
def it_is_silent_while_another_client_speaks(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1)
    wire.starts("p1")
    wire.wait(SESSION_MS + 1)
    wire.joins("p1")


@case("heartbeats_keep_the_session", HELD)
def it_waits_for_a_late_reply(wire: Wire) -> None:
    settled(wire)
    beat = wire.sends("p0", "Heartbeat", member_id="m", request_generation=1)
    wire.wait(2 * SESSION_MS)
    wire.asks("p0", "Metadata")
    wire.replies("p0", beat, "Heartbeat", fault="delay")
    wire.beats("p0", "m", 1)


@case("heartbeats_keep_the_session", HELD)
def it_is_paused(wire: Wire) -> None:
    settled(wire)
    wire.signals("p0", "pause")
    wire.wait(2 * SESSION_MS)
    wire.signals("p0", "resume")
    wire.beats("p0", "m", 1)


@case("heartbeats_keep_the_session", UNTESTED)
def its_process_is_unknown_and_may_have_been_paused(wire: Wire) -> None:
    wire.connects("")
    wire.enters("", "m", 1, ("t-0",))
    wire.wait(2 * SESSION_MS)
    wire.beats("", "m", 1)


@case("heartbeats_keep_the_session", HELD)
def it_has_no_connection(wire: Wire) -> None:
    settled(wire)
    wire.disconnects("p0")
    wire.wait(2 * SESSION_MS)
    wire.asks("p0", "Metadata")
    wire.beats("p0", "m", 1)


@case("looks_up_the_coordinator", VIOLATED)
def it_goes_on_at_the_old_coordinator(wire: Wire) -> None:
    settled(wire)
    for _ in range(3):
        wire.wait(SESSION_MS - 100)
        wire.beats("p0", "m", 1, "NOT_COORDINATOR")


@case("looks_up_the_coordinator", UNTESTED)
def the_node_becomes_the_coordinator_again(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "NOT_COORDINATOR")
    for _ in range(3):
        wire.beats("p0", "m", 1)
        wire.wait(SESSION_MS - 100)


@case("pauses_after_refusals", HELD)
def it_pauses(wire: Wire) -> None:
    wire.starts("p0")
    for _ in range(20):
        wire.replies("p0", wire.joins("p0"), "JoinGroup", error="COORDINATOR_LOAD_IN_PROGRESS")
        wire.wait(100)


@pytest.mark.parametrize(("claim", "outcome", "write"), case.all)
def test_what_a_claim_says(history: History, claim: str, outcome: Outcome, write: Case) -> None:
    check(history, claim, outcome, write)
