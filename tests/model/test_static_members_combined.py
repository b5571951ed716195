"""Static members whose coordinator fails over, that commit, and that are upgraded: what becomes of their seats."""

import pytest

from rebalance_check.model.checker.safety.witness import witness
from rebalance_check.model.classic.run import ModelRun
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, OffsetCommitted, RequestAnswered, RequestSent
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from tests.model.conftest import explored, of, play
from tests.model.pinned_paths import FORGOTTEN

ALONE = "eager/1m1p2g1c0l0x0d0z0i0r1s1o"
TWINS = "eager/2m1p2g0c0l0x0d0z0i0r2s1y1o"
UPGRADED = "eager/2m1p3g0c0l0x0d0z0i0r1u2b2s"
COMMITTING = "eager/2m1p2g0c0l0x0d0z0i0r2s1y1k"

COUNTS = [
    # bounds, distinct, generated, depth, what is met
    (ALONE, 410, 819, 18, {"member_is_fenced_by_its_own_past", "restarted_member_finds_its_seat_in_the_log"}),
    (TWINS, 1_787, 4_285, 25, {"join_meets_fenced_instance", "heartbeat_meets_fenced_instance"}),
    (COMMITTING, 447, 1_016, 17, {"commit_meets_fenced_instance"}),
    (UPGRADED, 1_197, 2_451, 34, {"bounced_member_keeps_its_seat", "bounced_member_changes_the_vote"}),
    ("cooperative/2m2p3g0c0l0x0d0z0i0r6u2b2s", 2_235, 4_541, 42, {"eager_and_cooperative_are_stable_together"}),
    ("cooperative/2m2p2g0c0l0x0d0z0i0r2s1y1o1t", 1_791, 4_289, 25, {"restarted_member_finds_its_seat_in_the_log"}),
]
LARGE = [
    ("eager/2m1p4g0c0l0x0d0z0i0r1u4b1s", 4_617, 9_426, 53, {"upgrade_is_over"}),
    ("eager/1m1p2g1c1l1x0d1z1i0r1s1o1k", 19_519, 43_743, 34, {"commit_meets_fenced_instance"}),
]


@pytest.mark.parametrize(("address", "distinct", "generated", "depth", "situations"), COUNTS)
def test_the_state_space_has_its_pinned_size__with_static_members_and_another_concern(
    address: str, distinct: int, generated: int, depth: int, situations: set[str]
) -> None:
    found = explored(address, distinct, generated, depth)
    assert {name for name in situations if not found.reachable_states[name]} == set()


@pytest.mark.nightly
@pytest.mark.parametrize(("address", "distinct", "generated", "depth", "situations"), LARGE)
def test_larger_state_spaces_have_their_pinned_size__with_static_members_and_other_concerns(
    address: str, distinct: int, generated: int, depth: int, situations: set[str]
) -> None:
    found = explored(address, distinct, generated, depth)
    assert {name for name in situations if not found.reachable_states[name]} == set()


def test_what_a_deposed_coordinator_tells_static_members_is_left_out() -> None:
    with pytest.raises(
        RebalanceCheckError, match="static_members is 1 with zombie_coordinators 1: choose 0 for one of them"
    ):
        Bounds(static_members=1, failovers=1, zombie_coordinators=1)


# ------------------------------------------------------------------------------------------------ scenarios

JOIN = (ActionKind.SEND_JOIN_GROUP, ActionKind.JOIN_GROUP, ActionKind.RECEIVE_JOIN_GROUP)
SYNC = (ActionKind.SYNC_GROUP, ActionKind.COMMIT_APPEND, ActionKind.RECEIVE_SYNC_GROUP)
FAIL_OVER = ((ActionKind.CRASH_COORDINATOR, 0), (ActionKind.LOAD_COORDINATOR, 0))


def errors(events: list[Event], api: str) -> list[str | None]:
    """What the requests of this kind were answered."""
    return [each.error for each in events if isinstance(each, RequestAnswered) and each.api == api]


def test_a_static_member_that_was_down_keeps_its_seat_and_assignment__under_the_next_coordinator() -> None:
    run = ModelRun(Bounds.from_address(ALONE))
    events = run.begin() + play(run, *of(0, *JOIN, *SYNC, ActionKind.CRASH), *FAIL_OVER)
    events += play(run, *of(0, ActionKind.RESTART, *JOIN))
    request = run.request(0)
    assert request
    assert (request.member_id, request.assignments) == ("i0-2", None)
    events += play(run, *of(0, ActionKind.SYNC_GROUP, ActionKind.RECEIVE_SYNC_GROUP))
    assert (run.status.name, run.state.generation, run.owned(0)) == ("STABLE", 1, ("t-0",))
    assert judge(events, CATALOGUE).counterexamples == ()


def test_a_seat_that_was_taken_in_a_stable_group_is_on_record__its_new_id_is_known_after_a_failover() -> None:
    run = ModelRun(Bounds.from_address(ALONE))
    play(run, *of(0, *JOIN, *SYNC, ActionKind.CRASH, ActionKind.RESTART, *JOIN[:2]), *FAIL_OVER)
    events = play(run, *of(0, JOIN[2], ActionKind.SYNC_GROUP))
    assert errors(events, "SyncGroup") == ["NONE"]


def test_a_restarted_static_member_is_fenced_by_its_own_past__if_only_its_old_id_is_in_the_log() -> None:
    path = witness(Bounds.from_address(ALONE), "member_is_fenced_by_its_own_past")
    assert path is not None
    assert path.address() == FORGOTTEN["member_is_fenced_by_its_own_past"]
    run = ModelRun(path.bounds)
    events = run.begin() + [event for action in path.actions for event in run.step(action)]
    assert errors(events, "SyncGroup")[-1] == "FENCED_INSTANCE_ID"
    events += play(run, *of(0, ActionKind.RECEIVE_ERROR))
    assert run.choices(ActionKind.RESTART, 0) == []
    assert judge(events, CATALOGUE).counterexamples == ()


def test_the_commit_of_a_process_whose_seat_another_has_is_fenced__and_ends_it() -> None:
    run = ModelRun(Bounds.from_address(COMMITTING))
    play(run, *of(0, *JOIN, ActionKind.SYNC_GROUP, ActionKind.RECEIVE_SYNC_GROUP), *of(1, *JOIN[:2]))
    events = play(run, *of(0, ActionKind.SEND_OFFSET_COMMIT, ActionKind.OFFSET_COMMIT, ActionKind.RECEIVE_ERROR))
    assert errors(events, "OffsetCommit") == ["FENCED_INSTANCE_ID"]
    assert [each.error for each in events if isinstance(each, OffsetCommitted)] == ["FENCED_INSTANCE_ID"]
    assert (run.owned(0), run.choices(ActionKind.RESTART, 0)) == ((), [])


BOUNCE = (ActionKind.ROLLING_RESTART, ActionKind.RESTART)
SYNC_AT_ONCE = (ActionKind.SYNC_GROUP, ActionKind.RECEIVE_SYNC_GROUP)


def test_a_static_member_is_bounced_without_a_rebalance__as_long_as_the_vote_stays() -> None:
    run = ModelRun(Bounds.from_address(UPGRADED))
    events = run.begin() + play(run, *of(0, *JOIN[:2]), *of(1, *JOIN[:2]), *of(0, JOIN[2]))
    events += play(run, *of(0, ActionKind.SYNC_GROUP, ActionKind.RECEIVE_ERROR, *JOIN[:2]), *of(1, JOIN[2]))
    events += play(run, *of(0, JOIN[2], *SYNC_AT_ONCE), *of(1, *SYNC_AT_ONCE))
    assert (run.status.name, run.state.generation) == ("STABLE", 2)
    left = play(run, *of(0, ActionKind.ROLLING_RESTART))
    assert [each for each in left if isinstance(each, RequestSent)] == []
    events += left + play(run, *of(0, ActionKind.RESTART, *JOIN, *SYNC_AT_ONCE))
    assert (run.status.name, run.state.generation, run.owned(0)) == ("STABLE", 2, ("t-0",))
    events += play(run, *of(1, *BOUNCE, *JOIN[:2]))
    assert run.status.name == "PREPARING"
    assert judge(events, CATALOGUE).counterexamples == ()


def test_a_static_member_is_refused_by_its_own_old_list__if_the_new_one_has_nothing_of_it() -> None:
    run = ModelRun(Bounds.from_address("eager/1m1p2g0c0l0x0d0z0i0r2u1b1s"))
    play(run, *of(0, *JOIN, *SYNC_AT_ONCE, *BOUNCE, *JOIN[:1]))
    assert errors(play(run, *of(0, JOIN[1])), "JoinGroup") == ["INCONSISTENT_GROUP_PROTOCOL"]
