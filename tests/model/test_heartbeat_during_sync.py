"""Concern *heartbeat during sync*: pinned sizes, what a client makes of them, and what is observed."""

import pytest

from rebalance_check.model.checker.safety import explore
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.run import ModelRun
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import AssignmentCompleted, RequestAnswered, RequestSent
from tests.model.conftest import explored, of, play

EAGER = "eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&heartbeats_during_sync=1"

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    (EAGER, True, 1746, 4481, 23),
    (EAGER, False, 3486, 8953, 23),
    (
        "cooperative?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&heartbeats_during_sync=1",
        True,
        2806,
        6894,
        26,
    ),
]
LARGE = [
    (
        "eager?members=2&partitions=1&generations=3&crashes=0&expiries=1&duplicates=1&initial_delay=off&timeouts&heartbeats_during_sync=2",
        54762,
        181864,
        37,
    ),
    (
        "cooperative?members=2&partitions=2&generations=3&crashes=0&leaves=1&initial_delay=off&member_id_required&timeouts&heartbeats_during_sync=1",
        4082,
        8997,
        47,
    ),
]
SITUATIONS = (
    "heartbeat_succeeds_while_completing",
    "heartbeat_reports_a_rebalance_during_sync",
    "member_is_reset_during_sync",
)


@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), COUNTS)
def test_the_state_space_has_its_pinned_size__with_beats(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, symmetry=symmetry)


@pytest.mark.nightly
@pytest.mark.parametrize(("address", "distinct", "generated", "depth"), LARGE)
def test_larger_state_spaces_have_their_pinned_size__with_beats(
    address: str, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, compiled=True)


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_every_situation_is_met__and_none_without_the_concern(protocol: str) -> None:
    address = f"{protocol}?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off"
    found = explore(MODEL, Bounds.from_address(f"{address}&heartbeats_during_sync=1"), compiled=False)
    assert [witness for witness in SITUATIONS if found.reachable_states[witness]] == [*SITUATIONS]
    without = explore(MODEL, Bounds.from_address(address), compiled=False)
    assert not any(without.reachable_states[witness] for witness in SITUATIONS)


def test_heartbeats_during_a_sync_go_with_no_failovers_and_no_static_members() -> None:
    with pytest.raises(RebalanceCheckError, match="heartbeats_during_sync is 2 with failovers 1"):
        Bounds(heartbeats_during_sync=2, failovers=1)


JOINED = (ActionKind.SEND_JOIN_GROUP, ActionKind.JOIN_GROUP, ActionKind.RECEIVE_JOIN_GROUP)
BEAT = (ActionKind.HEARTBEAT_DURING_SYNC, ActionKind.RECEIVE_HEARTBEAT_DURING_SYNC)


def test_a_heartbeat_has_a_number_of_its_own__during_the_sync_that_is_answered_later() -> None:
    run = ModelRun(
        Bounds.from_address(
            "eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off&heartbeats_during_sync=1"
        )
    )
    events = play(run, *of(0, *JOINED, *BEAT, ActionKind.SYNC_GROUP, ActionKind.RECEIVE_SYNC_GROUP))
    sent = [(event.api, event.request) for event in events if isinstance(event, RequestSent)]
    answered = [(event.api, event.request, event.error) for event in events if isinstance(event, RequestAnswered)]
    assert sent == [("JoinGroup", 0), ("SyncGroup", 1), ("Heartbeat", 2)]
    assert answered == [("JoinGroup", 0, "NONE"), ("Heartbeat", 2, "NONE"), ("SyncGroup", 1, "NONE")]
    assert any(isinstance(event, AssignmentCompleted) for event in events)
