"""Claims about what is claimed and assigned: what they accept, what excuses a client, what breaks them."""

from __future__ import annotations

from typing import Any

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
    replied,
    settled,
)
from tests.properties.wire.on_the_wire import COOPERATIVE, SESSION_MS, Wire

case = Cases()


def rejoins_with(wire: Wire, owned: tuple[str, ...], **fields: Any) -> None:
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.joins("p0", "m", owned=owned, owned_generation=1 if owned else -1, **COOPERATIVE, **fields)


@case("claims_are_the_assignment", HELD)
def it_claims_what_it_was_assigned(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    rejoins_with(wire, ("t-0",))


@case("claims_are_the_assignment", VIOLATED)
def it_claims_less(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    wire.asks("p0", "OffsetFetch", partitions=("t-0",))
    rejoins_with(wire, ())


@case("claims_are_the_assignment", HELD)
def it_has_not_taken_its_assignment_up(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    rejoins_with(wire, ())


@case("claims_are_the_assignment", HELD)
def it_does_not_want_the_topic_any_more(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    wire.asks("p0", "OffsetFetch", partitions=("t-0",))
    rejoins_with(wire, (), topics=("u",))


@case("claims_are_the_assignment", UNTESTED)
def it_lost_its_membership(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    wire.beats("p0", "m", 1, "ILLEGAL_GENERATION")
    wire.joins("p0", "m", **COOPERATIVE)


@case("claims_are_the_assignment", UNTESTED)
def the_connection_broke_behind_its_assignment(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    wire.disconnects("p0", by="fault")
    rejoins_with(wire, ())


@case("claims_are_the_assignment", UNTESTED)
def it_was_assigned_what_it_does_not_want(wire: Wire) -> None:
    wire.starts("p0")
    wire.enters("p0", "m", 1, ("u-0",), leader="n", **COOPERATIVE)
    wire.joins("p0", "m", **COOPERATIVE)


@case("claims_are_the_assignment", HELD)
def it_wanted_less_before_its_assignment_arrived(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    join = wire.joins("p0", "m", owned=("t-0",), owned_generation=1, **{**COOPERATIVE, "topics": ("t", "u")})
    wire.is_accepted("p0", join, "m", 2, leader="n", protocol="cooperative-sticky")
    wire.syncs("p0", "m", 2, ("u-0",))
    wire.joins("p0", "m", owned=("t-0",), owned_generation=2, **COOPERATIVE)


@case("claims_are_the_assignment", HELD)
def its_join_group_was_lost_with_its_connection(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    wire.asks("p0", "OffsetFetch", partitions=("t-0",))
    rejoins_with(wire, ("t-0",))
    wire.disconnects("p0", by="fault")
    wire.joins("p0", "m", **COOPERATIVE)


@case("claims_are_the_assignment", UNTESTED)
def it_was_paused_and_gave_all_up(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    wire.asks("p0", "OffsetFetch", partitions=("t-0",))
    wire.signals("p0", "pause")
    wire.signals("p0", "resume")
    rejoins_with(wire, ())


@case("lost_partitions_are_not_claimed", VIOLATED)
def it_claims_under_an_id_that_was_never_accepted(wire: Wire) -> None:
    refused_a_join(wire)
    wire.joins("p0", "m", owned=("t-0",), owned_generation=1, **COOPERATIVE)


@case("lost_partitions_are_not_claimed", VIOLATED)
def it_claims_what_it_had_before_its_sync_group_was_refused(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    join = wire.joins("p0", "m", owned=("t-0",), owned_generation=1, **COOPERATIVE)
    wire.is_accepted("p0", join, "m", 2, leader="n")
    wire.asks("p0", "SyncGroup", "ILLEGAL_GENERATION", member_id="m", request_generation=2)
    wire.joins("p0", "m", owned=("t-0",), owned_generation=1, **COOPERATIVE)


@case("lost_partitions_are_not_claimed", HELD)
def it_offers_range_and_claims_nothing(wire: Wire) -> None:
    settled(wire)


@case("revoked_partitions_are_handed_over", VIOLATED)
def it_goes_on_without_them(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.enters("p0", "m", 2, (), owned=("t-0",), owned_generation=1, leader="n", **COOPERATIVE)
    for _ in range(6):
        wire.wait(SESSION_MS - 100)
        wire.beats("p0", "m", 2)


@case("generation_is_the_last", HELD)
def it_claims_for_the_generation_of_its_assignment(wire: Wire) -> None:
    it_claims_what_it_was_assigned(wire)


@case("generation_is_the_last", HELD)
def it_claims_for_a_later_one_whose_assignment_it_did_not_get(wire: Wire) -> None:
    settled(wire, **COOPERATIVE)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    join = wire.joins("p0", "m", owned=("t-0",), owned_generation=1, **COOPERATIVE)
    wire.is_accepted("p0", join, "m", 2, leader="n")
    wire.asks("p0", "SyncGroup", "REBALANCE_IN_PROGRESS", member_id="m", request_generation=2)
    wire.joins("p0", "m", owned=("t-0",), owned_generation=2, **COOPERATIVE)


@case("generation_is_the_last", HELD)
def the_coordinator_went_back_to_an_earlier_one(wire: Wire) -> None:
    wire.starts("p0")
    wire.enters("p0", "m", 5, ("t-0",), leader="n", **COOPERATIVE)
    wire.beats("p0", "m", 5, "REBALANCE_IN_PROGRESS")
    join = wire.joins("p0", "m", owned=("t-0",), owned_generation=5, **COOPERATIVE)
    wire.is_accepted("p0", join, "m", 4, leader="n")
    wire.asks("p0", "SyncGroup", "REBALANCE_IN_PROGRESS", member_id="m", request_generation=4)
    wire.joins("p0", "m", owned=("t-0",), owned_generation=4, **COOPERATIVE)


@case("generation_is_the_last", HELD)
def the_subscription_has_no_place_for_it(wire: Wire) -> None:
    settled(wire, subscription_version=1, **COOPERATIVE)
    wire.beats("p0", "m", 1, "REBALANCE_IN_PROGRESS")
    wire.joins("p0", "m", owned=("t-0",), subscription_version=1, **COOPERATIVE)


BOTH = (("m", ""), ("n", ""))


def two(wire: Wire, given: dict[str, tuple[str, ...]], protocol: str = "range", **claims: Any) -> None:
    """Two members of generation 2, of whom m leads and gives to each what is written here."""
    wire.starts("p0")
    wire.asks("p0", "Metadata", topics=("t",))
    wire.events[-1] = replied(wire, partitions=("t-0", "t-1"))
    wire.starts("p1")
    first = wire.joins("p0", "m", protocols=(protocol,))
    second = wire.joins("p1", "n", protocols=(protocol,), **claims)
    wire.is_accepted("p1", second, "n", 2, leader="m", members=(), protocol=protocol)
    wire.is_accepted("p0", first, "m", 2, leader="m", members=BOTH, protocol=protocol)
    wire.syncs("p0", "m", 2, given.get("m", ()), assignments=tuple(given.items()))


@case("skipped_assignment_is_empty", HELD)
def it_follows(wire: Wire) -> None:
    wire.starts("p0")
    wire.enters("p0", "m", 1, leader="n")


@case("skipped_assignment_is_empty", HELD)
def it_skips_the_assignment(wire: Wire) -> None:
    wire.starts("p0")
    wire.is_accepted("p0", wire.joins("p0", instance_id="i0"), "m", 1, skip_assignment=True)
    wire.syncs("p0", "m", 1, instance_id="i0")


@case("leader_assigns_its_members", HELD)
@case("assignment_is_disjoint", HELD)
@case("leader_assigns_all_partitions", HELD)
def it_assigns_all_to_its_members(wire: Wire) -> None:
    two(wire, {"m": ("t-0",), "n": ("t-1",)})


@case("leader_assigns_its_members", VIOLATED)
def it_leaves_a_member_out(wire: Wire) -> None:
    two(wire, {"m": ("t-0", "t-1")})


@case("leader_assigns_its_members", VIOLATED)
def it_assigns_what_a_member_does_not_want(wire: Wire) -> None:
    two(wire, {"m": ("t-0", "t-1"), "n": ("u-0",)})


@case("leader_assigns_all_partitions", UNTESTED)
def its_metadata_changed_meanwhile(wire: Wire) -> None:
    wire.starts("p0")
    join = wire.joins("p0", "m")
    wire.asks("p0", "Metadata", topics=("t",))
    wire.events[-1] = replied(wire, partitions=("t-0", "t-1"))
    wire.is_accepted("p0", join, "m", 1)
    wire.syncs("p0", "m", 1, ("t-0",), assignments=(("m", ("t-0",)),))


@case("cooperative_hand_over", HELD)
@case("leader_assigns_all_partitions", HELD)
def it_withholds_what_another_member_claims(wire: Wire) -> None:
    two(wire, {"m": ("t-0",), "n": ()}, "cooperative-sticky", owned=("t-1",), owned_generation=1)


@case("cooperative_hand_over", VIOLATED)
def it_gives_away_what_another_member_claims(wire: Wire) -> None:
    two(wire, {"m": ("t-0", "t-1"), "n": ()}, "cooperative-sticky", owned=("t-1",), owned_generation=1)


@case("cooperative_hand_over", HELD)
def the_claim_is_of_an_older_generation(wire: Wire) -> None:
    wire.starts("p0")
    wire.starts("p1")
    first = wire.joins("p0", "m", owned_generation=1, **COOPERATIVE)
    second = wire.joins("p1", "n", owned=("t-1",), owned_generation=0, **COOPERATIVE)
    wire.is_accepted("p1", second, "n", 2, leader="m", members=(), protocol="cooperative-sticky")
    wire.is_accepted("p0", first, "m", 2, members=BOTH, protocol="cooperative-sticky")
    wire.syncs("p0", "m", 2, ("t-1",), assignments=(("m", ("t-1",)), ("n", ())))


@pytest.mark.parametrize(("claim", "outcome", "write"), case.all)
def test_what_a_claim_says(history: History, claim: str, outcome: Outcome, write: Case) -> None:
    check(history, claim, outcome, write)
