"""Static members whose coordinator fails over, that commit, and that are upgraded: what each keeps."""

import pytest

from rebalance_check.model.checker.safety.witness import witness
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.run import ModelRun
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RequestAnswered
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from tests.model.conftest import explored, of, play
from tests.model.pinned_paths import FORGOTTEN

ALONE = "eager?members=1&partitions=1&generations=2&initial_delay=off&static_members=1&failovers=1"
SHARED = "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&static_members=2&shared_instances=1&failovers=1"
UPGRADED = "eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2&static_members=2"
COMMITTING = "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&static_members=2&shared_instances=1&commits=1"

COUNTS = [
    # bounds, distinct, generated, depth, what is met
    (
        ALONE,
        410,
        819,
        18,
        {"static_member_is_fenced_by_its_former_id", "static_member_rejoins_after_failover_without_rebalance"},
    ),
    (SHARED, 1_787, 4_285, 25, {"join_meets_fenced_instance", "heartbeat_meets_fenced_instance"}),
    (COMMITTING, 447, 1_016, 17, {"commit_meets_fenced_instance"}),
    (
        UPGRADED,
        1_197,
        2_451,
        34,
        {"upgraded_static_member_rejoins_without_rebalance", "upgraded_static_member_changes_the_vote"},
    ),
    (
        "cooperative?members=2&partitions=2&generations=3&crashes=0&initial_delay=off&upgrade=downgrade&rolling_restarts=2&static_members=2",
        2_235,
        4_541,
        42,
        {"eager_and_cooperative_are_stable_together"},
    ),
    (
        "cooperative?members=2&partitions=2&generations=2&crashes=0&initial_delay=off&timeouts&static_members=2&shared_instances=1&failovers=1",
        1_791,
        4_289,
        25,
        {"static_member_rejoins_after_failover_without_rebalance"},
    ),
]
LARGE = [
    (
        "eager?members=2&partitions=1&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=4&static_members=1",
        4_617,
        9_426,
        53,
        {"upgrade_is_complete"},
    ),
    (
        "eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&deletions=1&static_members=1&failovers=1&commits=1",
        19_519,
        43_743,
        34,
        {"commit_meets_fenced_instance"},
    ),
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


def errors(events: list[Event], api: str) -> list[str | None]:
    """What the requests of this kind were answered."""
    return [each.error for each in events if isinstance(each, RequestAnswered) and each.api == api]


def test_a_restarted_static_member_is_fenced_by_its_own_past__if_only_its_old_id_is_in_the_log() -> None:
    path = witness(MODEL, Bounds.from_address(ALONE), "static_member_is_fenced_by_its_former_id")
    assert path is not None
    assert path.address() == FORGOTTEN["static_member_is_fenced_by_its_former_id"]
    run = ModelRun(path.bounds)
    events = run.begin() + [event for action in path.actions for event in run.step(action)]
    assert errors(events, "SyncGroup")[-1] == "FENCED_INSTANCE_ID"
    events += play(run, *of(0, ActionKind.RECEIVE_ERROR))
    assert run.choices(ActionKind.RESTART, 0) == []
    assert judge(events, CATALOGUE).counterexamples == ()
