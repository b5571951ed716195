"""Each claim about a state is broken by a state made to break it, and by nothing in a new group."""

from collections.abc import Callable

import pytest

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.state import GroupStatus, MemberStatus, MessageKind, State
from rebalance_check.model.registry import MUTANTS
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.upgrade_paths import COOPERATIVE_STICKY, RANGE

COOPERATIVE = "cooperative?members=2&partitions=2&crashes=0&initial_delay=off"
EAGER = "eager?members=2&partitions=2&crashes=0&initial_delay=off"
UPGRADE = "eager?members=2&partitions=2&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=4"


def stable(bounds: Bounds, s: State) -> None:
    """Two stable members of generation 3, each with a partition."""
    s.status, s.generation, s.members, s.leader = GroupStatus.STABLE, 3, 0b11, 0
    for m, me in enumerate(s.member):
        me.status, me.has_id, me.generation = MemberStatus.STABLE, 1, 3
        me.owned = me.assignment = 1 << m
    if bounds.failovers:
        s.log.kind, s.log.generation, s.log.members, s.log.leader = 1, 3, 0b11, 0
        s.log.assignment[:] = [me.assignment for me in s.member]
    if bounds.upgrade:
        s.selected_protocol = RANGE.number


def two_owners(s: State) -> None:
    s.member[0].status = MemberStatus.SYNCING
    s.member[0].owned = 0b11


def ahead(s: State) -> None:
    s.member[0].generation = 4


def owner_that_joins(s: State) -> None:
    s.member[0].status = MemberStatus.JOINING


def owner_without_generation(s: State) -> None:
    s.member[0].generation = 0


def owner_of_something_else(s: State) -> None:
    s.member[0].owned = 0


def assigned_twice(s: State) -> None:
    s.member[0].assignment = s.member[0].owned = 0b10
    s.member[1].status = MemberStatus.DOWN


def pending_member(s: State) -> None:
    s.pending = 0b01


def foreign_leader(s: State) -> None:
    s.members = 0b10


def empty_with_members(s: State) -> None:
    s.status = GroupStatus.EMPTY


def parked_while_stable(s: State) -> None:
    s.joined = 0b01


def member_that_left_owes_a_sync(s: State) -> None:
    s.members, s.leader, s.pending_syncs = 0b10, 1, 0b01


def refused(s: State) -> None:
    s.member[0].net.kind, s.member[0].net.error = MessageKind.JOIN_REPLY, Error.INCONSISTENT_GROUP_PROTOCOL


def selected_by_one(s: State) -> None:
    s.member[0].list_index = 1
    s.selected_protocol = COOPERATIVE_STICKY.number


def both_prefer_another(s: State) -> None:
    for me in s.member:
        me.list_index = 1


def new_member_that_waits_for_nothing(s: State) -> None:
    s.new_members = 0b01


def below_the_log(s: State) -> None:
    s.status = GroupStatus.PREPARING
    s.log.generation = 4


def stable_and_not_on_record(s: State) -> None:
    s.log.assignment[0] = 0


def commits_what_is_lost(s: State) -> None:
    s.member[0].net.kind, s.member[0].net.partitions = MessageKind.COMMIT_REQUEST, 0b10


def two_in_one_slot(s: State) -> None:
    s.member[0].instance_peer, s.member[1].instance_peer = 1, 0


def replaced_member_owes_sync_while_completing(s: State) -> None:
    s.replaced_member_owes_sync, s.status, s.pending_syncs = 1, GroupStatus.COMPLETING, 0


def nobody_is_assigned_anything(s: State) -> None:
    for me in s.member:
        me.assignment = me.owned = 0


BREAKS: dict[str, tuple[str, Callable[[State], None]]] = {
    "no_double_ownership": (COOPERATIVE, two_owners),
    "member_generation_is_not_ahead": (COOPERATIVE, ahead),
    "eager_owns_nothing_while_joining": (EAGER, owner_that_joins),
    "member_without_generation_owns_nothing": (COOPERATIVE, owner_without_generation),
    "owned_equals_assigned": (COOPERATIVE, owner_of_something_else),
    "assignment_is_disjoint": (COOPERATIVE, assigned_twice),
    "pending_ids_are_not_members": (COOPERATIVE, pending_member),
    "leader_is_member": (COOPERATIVE, foreign_leader),
    "empty_group_is_clean": (COOPERATIVE, empty_with_members),
    "parked_requests_fit_the_status": (COOPERATIVE, parked_while_stable),
    "one_member_per_instance": (COOPERATIVE + "&static_members=2", two_in_one_slot),
    "replaced_id_owes_sync_only_while_stable": (
        COOPERATIVE + "&timeouts&static_members=2",
        replaced_member_owes_sync_while_completing,
    ),
    "eager_assignment_is_complete": (EAGER + "&static_members=2", nobody_is_assigned_anything),
    "pending_sync_members_are_members": (COOPERATIVE + "&timeouts", member_that_left_owes_a_sync),
    "generation_is_not_below_the_log": (COOPERATIVE + "&failovers=1", below_the_log),
    "stable_is_persisted": (COOPERATIVE + "&failovers=1", stable_and_not_on_record),
    "lost_is_not_committed": (COOPERATIVE + "&commits=1", commits_what_is_lost),
    "no_member_is_refused_for_its_protocols": (UPGRADE, refused),
    "selected_protocol_is_listed_by_all": (UPGRADE, selected_by_one),
    "stable_group_runs_the_voted_protocol": (UPGRADE, both_prefer_another),
    "new_members_are_parked": (COOPERATIVE + "&new_members", new_member_that_waits_for_nothing),
}


def test_every_claim_about_a_state_has_a_state_that_breaks_it() -> None:
    assert {claim.__name__ for claim in MODEL.invariants} == set(BREAKS)


@pytest.mark.parametrize("claim", BREAKS)
def test_the_claim_breaks__in_the_state_made_for_it(claim: str) -> None:
    address, spoil = BREAKS[claim]
    machine = Machine(MODEL, Bounds.from_address(address))
    state = machine.initial()
    stable(machine.bounds, state)
    assert machine.violated(state) == ""
    spoil(state)
    assert machine.violated(state) == claim


def test_every_claim_about_a_step_is_broken_by_a_mutant_or_here() -> None:
    caught = {mutant.caught_by for mutant in MUTANTS.values()}
    elsewhere = {
        "generation_monotonicity",  # here
        "one_assignment_per_generation",  # in test_failover
        "commit_is_by_the_owner",  # in test_commits
    }
    assert {claim.__name__ for claim in MODEL.step_invariants} - caught == elsewhere


@pytest.mark.parametrize(
    ("generation", "deletions", "broken"), [(2, 0, True), (5, 0, True), (4, 0, False), (0, 1, False)]
)
def test_the_generation_is_monotone_within_an_incarnation_of_the_group(
    generation: int, deletions: int, broken: bool
) -> None:
    machine = Machine(MODEL, Bounds.from_address(EAGER))
    before, after = machine.initial(), machine.initial()
    for state in (before, after):
        stable(machine.bounds, state)
    after.generation, after.deletions, after.status = generation, deletions, GroupStatus.COMPLETING
    assert (machine.violated_step(before, after) == "generation_monotonicity") is broken


def test_every_claim_says_in_a_sentence_what_it_claims() -> None:
    for claim in (*MODEL.invariants, *MODEL.step_invariants, *MODEL.reachable_states):
        assert claim.__doc__
        assert claim.__doc__.strip().endswith(".")
