"""Claims about member ids, generations and instance ids: what they accept, what excuses a client, what breaks them."""

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
    refused_a_join,
    settled,
)
from tests.properties.wire.on_the_wire import REBALANCE_MS, SESSION_MS, Wire

case = Cases()


@case("member_id_is_kept", VIOLATED)
def it_drops_its_id_for_an_old_generation(wire: Wire) -> None:
    settled(wire)
    for _ in range(REBALANCE_MS // SESSION_MS + 1):
        wire.wait(SESSION_MS - 100)
        wire.beats("p0", "m", 1)
    wire.beats("p0", "m", 1, "ILLEGAL_GENERATION")
    wire.joins("p0")


@case("member_id_is_kept", UNTESTED)
def it_is_refused_before_it_has_completed_its_join(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "ILLEGAL_GENERATION")
    wire.joins("p0")


@case("member_id_is_kept", UNTESTED)
def the_coordinator_forgot_it(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "UNKNOWN_MEMBER_ID")
    wire.joins("p0")


@case("member_id_is_kept", UNTESTED)
def it_may_not_have_received_its_id(wire: Wire) -> None:
    wire.starts("p0")
    wire.is_accepted("p0", wire.joins("p0"), "m", 1)
    wire.disconnects("p0")
    wire.joins("p0")


@case("member_id_is_kept", UNTESTED)
def a_reply_was_dropped_on_purpose(wire: Wire) -> None:
    wire.starts("p0")
    wire.is_accepted("p0", wire.joins("p0"), "m", 1, fault="close-after")
    wire.disconnects("p0", by="fault")
    wire.joins("p0")


@case("required_member_id_is_used", HELD)
def it_comes_back_with_it(wire: Wire) -> None:
    refused_a_join(wire)
    wire.enters("p0", "m", 1)


@case("required_member_id_is_used", VIOLATED)
def it_comes_back_too_late(wire: Wire) -> None:
    refused_a_join(wire)
    wire.wait(SESSION_MS + 1)
    wire.joins("p0", "m")


@case("required_member_id_is_used", HELD)
def it_may_not_have_received_the_id(wire: Wire) -> None:
    refused_a_join(wire)
    wire.disconnects("p0")
    wire.joins("p0")


@case("lost_partitions_are_not_claimed", HELD)
@case("lost_membership_is_not_used", HELD)
def it_joins_anew(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "UNKNOWN_MEMBER_ID")
    wire.asks("p0", "Heartbeat", "UNKNOWN_MEMBER_ID", member_id="m", request_generation=1)
    wire.joins("p0")


@case("lost_membership_is_not_used", VIOLATED)
def it_goes_on_with_heartbeats(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "UNKNOWN_MEMBER_ID")
    wire.wait(SESSION_MS + 1)
    wire.beats("p0", "m", 1, "UNKNOWN_MEMBER_ID")


@case("lost_membership_is_not_used", VIOLATED)
def it_goes_on_in_the_old_generation(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "ILLEGAL_GENERATION")
    wire.wait(SESSION_MS + 1)
    wire.beats("p0", "m", 1, "ILLEGAL_GENERATION")


@case("lost_membership_is_not_used", HELD)
def it_was_paused_when_it_lost_it(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "UNKNOWN_MEMBER_ID")
    wire.signals("p0", "pause")
    wire.wait(SESSION_MS + 1)
    wire.signals("p0", "resume")
    wire.asks("p0", "Heartbeat", "UNKNOWN_MEMBER_ID", member_id="m", request_generation=1)


@case("heartbeats_as_a_member", HELD)
@case("generation_is_the_last", HELD)
def it_speaks_for_its_generation(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1)


@case("generation_is_the_last", HELD)
def an_older_request_comes_over_another_connection(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.enters("p0", "m", 2)
    wire.connects("p0")
    wire.asks("p0", "OffsetCommit", "ILLEGAL_GENERATION", member_id="m", request_generation=1)


@case("generation_is_the_last", VIOLATED)
def it_speaks_for_an_older_one_again(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.enters("p0", "m", 2)
    wire.beats("p0", "m", 1, "ILLEGAL_GENERATION")


@case("generation_is_the_last", HELD)
def the_group_counts_from_the_start_again(wire: Wire) -> None:
    wire.starts("p0")
    wire.enters("p0", "m", 7)
    wire.beats("p0", "m", 7, "UNKNOWN_MEMBER_ID")
    wire.is_accepted("p0", wire.joins("p0"), "n", 1)
    wire.syncs("p0", "n", 1, assignments=(("n", ()),))
    wire.beats("p0", "n", 1)


@case("instance_id_is_sent", HELD)
def it_sends_its_instance_id(wire: Wire) -> None:
    settled(wire, instance_id="i0")


@case("instance_id_is_sent", HELD)
def the_version_has_no_place_for_it(wire: Wire) -> None:
    settled(wire, instance_id="i0")
    wire.beats("p0", "m", 1, version=2)


@case("static_restart", HELD)
def it_comes_back(wire: Wire) -> None:
    settled(wire, instance_id="i0")
    wire.closes("p0")
    wire.starts("p0", run=2)
    wire.joins("p0", instance_id="i0")


@case("static_restart", VIOLATED)
def it_comes_back_with_a_member_id(wire: Wire) -> None:
    settled(wire, instance_id="i0")
    wire.closes("p0")
    wire.starts("p0", run=2)
    wire.joins("p0", "m", instance_id="i0")


@case("static_member_stays", HELD)
def it_ends_without_leaving(wire: Wire) -> None:
    settled(wire, instance_id="i0")
    wire.closes("p0")


@case("static_member_stays", UNTESTED)
def it_removes_another_member(wire: Wire) -> None:
    settled(wire, instance_id="i0")
    wire.asks("p0", "LeaveGroup", leaving=(("n", "i1"),))


@case("fenced_member_stops", HELD)
def it_ends(wire: Wire) -> None:
    settled(wire, instance_id="i0")
    wire.beats("p0", "m", 1, "FENCED_INSTANCE_ID", instance_id="i0")
    wire.asks("p0", "Heartbeat", "FENCED_INSTANCE_ID", member_id="m", request_generation=1, instance_id="i0")
    wire.ends("p0", 1)


@case("fenced_member_stops", VIOLATED)
def it_joins_without_its_member_id(wire: Wire) -> None:
    settled(wire, instance_id="i0")
    wire.beats("p0", "m", 1, "FENCED_INSTANCE_ID", instance_id="i0")
    wire.joins("p0", instance_id="i0")


@case("fenced_member_stops", VIOLATED)
def it_goes_on(wire: Wire) -> None:
    settled(wire, instance_id="i0")
    wire.beats("p0", "m", 1, "FENCED_INSTANCE_ID", instance_id="i0")
    wire.wait(SESSION_MS + 1)
    wire.beats("p0", "m", 1, "FENCED_INSTANCE_ID", instance_id="i0")


@pytest.mark.parametrize(("claim", "outcome", "write"), case.all)
def test_what_a_claim_says(history: History, claim: str, outcome: Outcome, write: Case) -> None:
    check(history, claim, outcome, write)
