"""Upgrade paths in the model: the legal ones hold in every interleaving, each illegal one breaks as it is known to."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import width
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.checker.safety.search import Search
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.run import ModelRun
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import MemberCrashed, MemberJoined, MemberStarted
from rebalance_check.model.vocabulary.upgrade_paths import PATHS, path_number

LEGAL = [
    # bounds, distinct, generated, depth
    (
        "eager?members=2&partitions=1&generations=12&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=4",
        4150,
        8384,
        58,
    ),
    (
        "eager?members=2&partitions=2&generations=14&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=4",
        6236,
        12141,
        91,
    ),
    (
        "cooperative?members=2&partitions=1&generations=12&crashes=0&initial_delay=off&upgrade=downgrade&rolling_restarts=4",
        3636,
        7525,
        52,
    ),
    (
        "eager?members=2&partitions=2&generations=8&crashes=0&initial_delay=off&upgrade=from-default&rolling_restarts=2",
        2562,
        4879,
        75,
    ),
]
"""The whole path, all members on it; a change here is a change of the protocol."""

ILLEGAL = [
    # bounds, broken claim, steps of the shortest counterexample
    (
        "eager?members=2&partitions=1&crashes=0&initial_delay=off&upgrade=single-upgrade&rolling_restarts=2",
        "no_member_is_refused_for_its_protocols",
        12,
    ),
    (
        "eager?members=2&partitions=1&generations=6&crashes=0&initial_delay=off&upgrade=wrong-order&rolling_restarts=4",
        "no_member_is_refused_for_its_protocols",
        20,
    ),
    (
        "eager?members=2&partitions=1&generations=6&crashes=0&initial_delay=off&upgrade=impatient&rolling_restarts=4",
        "no_member_is_refused_for_its_protocols",
        29,
    ),
    (
        "cooperative?members=2&partitions=1&crashes=0&initial_delay=off&upgrade=single-downgrade&rolling_restarts=2",
        "no_member_is_refused_for_its_protocols",
        12,
    ),
    (
        "eager?partitions=1&crashes=0&initial_delay=off&upgrade=reused-name&rolling_restarts=1",
        "no_double_ownership",
        39,
    ),
]


@pytest.mark.parametrize(("address", "distinct", "generated", "depth"), LEGAL)
def test_a_legal_path_holds__at_every_step_and_interleaving(
    address: str, distinct: int, generated: int, depth: int
) -> None:
    found = explore(MODEL, Bounds.from_address(address), compiled=False)
    assert set(found.verdicts.values()) == {"held"}
    assert found.reachable_states["upgrade_is_complete"]
    assert found.reachable_states["eager_and_cooperative_are_stable_together"] or found.bounds.partitions == 1
    assert not found.reachable_states["join_meets_inconsistent_protocol"]
    assert (found.distinct, found.generated, found.depth) == (distinct, generated, depth)


@pytest.mark.parametrize(("address", "claim", "steps"), ILLEGAL)
def test_an_illegal_path_is_found__by_a_shortest_counterexample(address: str, claim: str, steps: int) -> None:
    found = explore(MODEL, Bounds.from_address(address), compiled=False)
    assert found.violated == claim
    assert found.counterexample is not None
    assert len(found.counterexample.actions) == steps


def test_a_reused_name_harms_no_group_of_two__because_only_its_own_restart_makes_the_old_leader_rebalance() -> None:
    found = explore(
        MODEL,
        Bounds.from_address(
            "eager?members=2&partitions=2&generations=7&crashes=0&initial_delay=off&upgrade=reused-name&rolling_restarts=2"
        ),
        compiled=False,
    )
    assert set(found.verdicts.values()) == {"held"}
    assert found.reachable_states["eager_and_cooperative_are_stable_together"]


@pytest.mark.parametrize(
    "address",
    [
        "eager?members=2&partitions=2&generations=5&crashes=0&initial_delay=off&upgrade=single-upgrade&rolling_restarts=2",
        "eager?members=2&partitions=1&generations=6&crashes=0&initial_delay=off&upgrade=wrong-order&rolling_restarts=4",
        "cooperative?members=2&partitions=2&generations=5&crashes=0&initial_delay=off&upgrade=single-downgrade&rolling_restarts=2",
    ],
)
def test_a_member_that_is_refused_harms_nobody__but_itself(address: str) -> None:
    others = tuple(claim for claim in MODEL.invariants if claim.__name__ != "no_member_is_refused_for_its_protocols")
    machine = Machine(replace(MODEL, invariants=others), Bounds.from_address(address))
    found = Search(machine, symmetry=True, limits=Limits()).run()
    assert found.complete
    assert not found.violated
    assert "join_meets_inconsistent_protocol" in found.met


def test_eager_and_cooperative_members_share_a_generation__in_the_second_rolling_restart() -> None:
    found = explore(
        MODEL,
        Bounds.from_address(
            "eager?members=2&partitions=2&generations=10&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=3"
        ),
        compiled=False,
    )
    assert found.reachable_states["eager_and_cooperative_are_stable_together"]
    assert found.reachable_states["cooperative_assignor_runs_among_eager_members"]


def test_members_without_lists_cost_nothing() -> None:
    off, on = (Bounds.from_address(f"eager?partitions=2{more}") for more in ("", "&upgrade=legal&rolling_restarts=2"))
    assert off.address() == "eager?partitions=2"
    assert on.address() == "eager?partitions=2&upgrade=legal&rolling_restarts=2"
    assert Bounds.from_address(on.address()) == on
    sizes = MODEL.sizes(off)
    assert width(MODEL.state, sizes) == 80
    assert width(MODEL.state, MODEL.sizes(on)) > 80


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"upgrade": len(PATHS) + 1}, f"upgrade is {len(PATHS) + 1}: choose a number from 0 to {len(PATHS)}"),
        ({"rolling_restarts": 2}, "rolling_restarts is 2 without an upgrade path: choose a path, too"),
        (
            {"upgrade": path_number("downgrade")},
            "the upgrade path downgrade begins with cooperative members, and the protocol is eager: choose cooperative",
        ),
    ],
)
def test_bounds_that_make_no_sense_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(RebalanceCheckError, match=said):
        Bounds(protocol=RebalanceProtocol.EAGER, **changes)


def test_an_unknown_path_is_refused_with_those_there_are() -> None:
    with pytest.raises(RebalanceCheckError, match="'sideways' is no upgrade path: choose one of legal, "):
        path_number("sideways")


def test_the_observer_tells_what_members_run_and_what_they_voted_for() -> None:
    found = explore(
        MODEL,
        Bounds.from_address(
            "eager?members=2&partitions=1&crashes=0&initial_delay=off&upgrade=single-upgrade&rolling_restarts=2"
        ),
        compiled=False,
    )
    assert found.counterexample is not None
    run = ModelRun(found.counterexample.bounds)
    events = run.begin()
    for action in found.counterexample.actions:
        events += run.step(action)
    assert [e.protocol for e in events if isinstance(e, MemberStarted)] == ["eager", "eager", "cooperative"]
    assert {e.protocol for e in events if isinstance(e, MemberJoined)} == {"range"}
    assert run.replies[0].error == "INCONSISTENT_GROUP_PROTOCOL"
    refused = next(a for a in run.enabled() if a.kind == "ReceiveError")
    assert [type(e) for e in run.step(refused)] == [MemberCrashed]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("address", "distinct"),
    [
        ("eager?partitions=1&generations=22&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=6", 373_642),
        (
            "eager?members=2&partitions=2&generations=14&crashes=0&expiries=1&initial_delay=off&upgrade=legal&rolling_restarts=4",
            49_343,
        ),  # a live member expires
        (
            "eager?members=2&partitions=2&generations=14&duplicates=1&initial_delay=off&member_id_required&upgrade=legal&rolling_restarts=4",
            3_284_345,
        ),  # a crash, a duplicate, ids required
    ],
)
def test_a_legal_path_holds__at_every_step_and_interleaving_of_larger_bounds(address: str, distinct: int) -> None:
    pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    found = explore(MODEL, Bounds.from_address(address))
    assert set(found.verdicts.values()) == {"held"}
    assert found.reachable_states["upgrade_is_complete"]
    assert found.distinct == distinct


def test_the_page_about_upgrades_tells_every_path() -> None:
    page = (Path(__file__).parents[2] / "docs" / "upgrade-path.md").read_text(encoding="utf-8")
    assert [path.name for path in PATHS if f"`{path.name}`" not in page] == []
