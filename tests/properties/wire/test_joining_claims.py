"""Claims about the steps of a rebalance: what they accept, what excuses a client, what breaks them."""

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
    replied,
    settled,
)
from tests.properties.wire.on_the_wire import COOPERATIVE, REBALANCE_MS, SESSION_MS, Wire

case = Cases()


@case("joins_one_at_a_time", HELD)
def one_after_the_other(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.enters("p0", "m", 2)


@case("joins_one_at_a_time", HELD)
def the_first_is_on_a_connection_that_broke(wire: Wire) -> None:
    wire.starts("p0")
    wire.joins("p0")
    wire.disconnects("p0")
    wire.joins("p0")


@case("joins_one_at_a_time", VIOLATED)
def it_gives_its_join_up_before_the_rebalance_timeout(wire: Wire) -> None:
    wire.starts("p0")
    wire.joins("p0", "m")
    wire.wait(REBALANCE_MS - 1_000)
    wire.disconnects("p0", by="client")
    wire.joins("p0", "m")


@case("joins_one_at_a_time", HELD)
def it_waits_for_its_rebalance_timeout(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.joins("p0", "m")
    wire.wait(REBALANCE_MS)
    wire.disconnects("p0", by="client")
    wire.joins("p0", "m")


@case("joins_one_at_a_time", HELD)
def the_first_was_given_up(wire: Wire) -> None:
    wire.starts("p0")
    wire.joins("p0")
    wire.wait(REBALANCE_MS + 1)
    wire.joins("p0")


@case("joins_one_at_a_time", HELD)
def it_left_meanwhile(wire: Wire) -> None:
    wire.starts("p0")
    wire.joins("p0", "m")
    wire.asks("p0", "LeaveGroup", leaving=(("m", ""),))
    wire.joins("p0")


@case("member_id_is_kept", HELD)
@case("rejoins_when_rebalancing", HELD)
def it_joins_in_time(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    for _ in range(3):
        wire.wait(SESSION_MS - 100)
        wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.enters("p0", "m", 2)


@case("rejoins_when_rebalancing", VIOLATED)
def it_falls_silent_while_others_go_on(wire: Wire) -> None:
    settled(wire, session_timeout_ms=2 * REBALANCE_MS)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.wait(REBALANCE_MS + 1)
    wire.starts("p1")
    wire.joins("p1")


@case("rejoins_when_rebalancing", UNTESTED)
def it_leaves_instead(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.wait(SESSION_MS // 2)
    wire.asks("p0", "LeaveGroup", leaving=(("m", ""),))
    wire.wait(REBALANCE_MS)
    wire.asks("p0", "Metadata")


@case("rejoins_when_rebalancing", UNTESTED)
def a_static_member_falls_silent(wire: Wire) -> None:
    settled(wire, instance_id="i0")
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS", instance_id="i0")
    wire.wait(REBALANCE_MS + 1)
    wire.starts("p1")
    wire.joins("p1")


@case("rejoins_when_rebalancing", UNTESTED)
def its_process_is_unknown(wire: Wire) -> None:
    wire.connects("")
    wire.enters("", "m", 1, ("t-0",))
    wire.beats("", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.wait(REBALANCE_MS + 1)
    wire.beats("", "m", 1, "REBALANCE_IN_PROGRESS")


@case("rejoins_when_rebalancing", HELD)
def it_is_paused_for_long(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.signals("p0", "pause")
    wire.wait(2 * REBALANCE_MS)
    wire.signals("p0", "resume")
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.joins("p0", "m")


@case("rejoins_when_rebalancing", UNTESTED)
def the_heartbeat_was_sent_before_its_join_group(wire: Wire) -> None:
    settled(wire)
    beat = wire.sends("p0", "Heartbeat", member_id="m", request_generation=1)
    wire.asks("p0", "OffsetCommit", "REBALANCE_IN_PROGRESS", member_id="m", request_generation=1)
    join = wire.joins("p0", "m")
    wire.replies("p0", beat, "Heartbeat", error="REBALANCE_IN_PROGRESS")
    wire.is_accepted("p0", join, "m", 2)
    wire.syncs("p0", "m", 2, assignments=(("m", ()),))
    for _ in range(10):
        wire.wait(SESSION_MS - 100)
        wire.beats("p0", "m", 2)


@case("sync_follows_join", HELD)
def it_syncs(wire: Wire) -> None:
    settled(wire)


@case("sync_follows_join", VIOLATED)
def it_only_sends_heartbeats(wire: Wire) -> None:
    wire.starts("p0")
    wire.is_accepted("p0", wire.joins("p0", "m"), "m", 1)
    for _ in range(6):
        wire.wait(SESSION_MS - 100)
        wire.beats("p0", "m", 1)


@case("sync_follows_join", UNTESTED)
def its_process_ends_first(wire: Wire) -> None:
    wire.starts("p0")
    wire.is_accepted("p0", wire.joins("p0", "m"), "m", 1)
    wire.signals("p0", "kill")
    wire.ends("p0", -9)
    wire.wait(REBALANCE_MS + 1)
    wire.starts("p1")
    wire.joins("p1")


@case("no_needless_join", HELD)
def it_was_refused(wire: Wire) -> None:
    settled(wire)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.joins("p0", "m")


@case("no_needless_join", HELD)
def a_topic_has_more_partitions(wire: Wire) -> None:
    wire.starts("p0")
    wire.asks("p0", "Metadata", topics=("t",))
    wire.events[-1] = replied(wire, partitions=("t-0",))
    wire.enters("p0", "m", 1, ("t-0",))
    wire.asks("p0", "Metadata", topics=("t",))
    wire.events[-1] = replied(wire, partitions=("t-0", "t-1"))
    wire.joins("p0", "m")


@case("no_needless_join", VIOLATED)
def the_metadata_is_as_before(wire: Wire) -> None:
    wire.starts("p0")
    for _ in range(2):
        wire.asks("p0", "Metadata", topics=("t",))
        wire.events[-1] = replied(wire, partitions=("t-0",))
        if not any(getattr(event, "api", "") == "JoinGroup" for event in wire.events):
            wire.enters("p0", "m", 1, ("t-0",))
    wire.joins("p0", "m")


@case("no_needless_join", HELD)
def it_wants_another_topic(wire: Wire) -> None:
    settled(wire)
    wire.joins("p0", "m", topics=("t", "u"))


@case("revoked_partitions_are_handed_over", HELD)
@case("no_needless_join", HELD)
def it_hands_over_what_it_revoked(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.enters("p0", "m", 2, (), owned=("t-0",), owned_generation=1, leader="n", **COOPERATIVE)
    wire.joins("p0", "m", owned_generation=2, **COOPERATIVE)


@case("no_needless_join", HELD)
def it_was_paused(wire: Wire) -> None:
    settled(wire)
    wire.signals("p0", "pause")
    wire.signals("p0", "resume")
    wire.joins("p0", "m")


@case("no_needless_join", HELD)
def its_session_may_have_expired(wire: Wire) -> None:
    settled(wire)
    wire.asks("p0", "Heartbeat", "COORDINATOR_LOAD_IN_PROGRESS", member_id="m", request_generation=1)
    wire.wait(SESSION_MS - 100)
    wire.asks("p0", "Heartbeat", "COORDINATOR_LOAD_IN_PROGRESS", member_id="m", request_generation=1)
    wire.wait(SESSION_MS - 100)
    wire.joins("p0", "m")


@case("no_needless_join", UNTESTED)
def the_process_is_started_again(wire: Wire) -> None:
    settled(wire)
    wire.signals("p0", "kill")
    wire.ends("p0", -9)
    wire.starts("p0", run=2)
    wire.joins("p0")


@case("looks_up_the_coordinator", HELD)
def it_goes_on_at_the_new_coordinator(wire: Wire) -> None:
    settled(wire)
    wire.moves()
    wire.beats("p0", "m", 1, "NOT_COORDINATOR")
    wire.asks("p0", "FindCoordinator")
    wire.connects("p0")
    wire.beats("p0", "m", 1)


@case("no_needless_join", VIOLATED)
def it_joins_because_the_connection_broke(wire: Wire) -> None:
    settled(wire)
    wire.disconnects("p0", by="fault")
    wire.joins("p0", "m")


@case("no_needless_join", HELD)
def the_new_coordinator_asks_for_it(wire: Wire) -> None:
    settled(wire)
    wire.disconnects("p0", by="fault")
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.joins("p0", "m")


@pytest.mark.parametrize(("claim", "outcome", "write"), case.all)
def test_what_a_claim_says(history: History, claim: str, outcome: Outcome, write: Case) -> None:
    check(history, claim, outcome, write)
