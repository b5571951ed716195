"""What the explorer says about a walk: the state in words, what may happen next, and which claims hold."""

from __future__ import annotations

from typing import Any, Final

import pytest

from rebalance_check.browser.walks import walk_document
from rebalance_check.model.registry import MUTANTS, machine_for, path_at
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

SMALL: Final = "v1/cooperative?members=2&partitions=2&generations=2&initial_delay=off/"


def walked(*wanted: str, start: str = SMALL) -> dict[str, Any]:
    """The walk that takes these actions, by way of the addresses that are offered."""
    walk = walk_document(start)
    for action in wanted:
        walk = walk_document(next(each["address"] for each in walk["enabled"] if each["action"] == action))
    return walk


def field(state: dict[str, Any], name: str) -> list[str]:
    """The values of a field, of the group or of each member."""
    rows = {row[0]: list(row[1:]) for row in (*state["fields"], *state["members"])}
    found: list[str] = rows[name]
    return found


JOINED: Final = ("SendJoinGroup m0", "JoinGroup m0", "ReceiveJoinGroup m0", "SyncGroup m0", "ReceiveSyncGroup m0")


def test_a_walk__shows_names_and_not_numbers() -> None:
    state = walked(*JOINED)["state"]
    group = {row[0]: row[1] for row in state["fields"]}
    member = {row[0]: row[1:] for row in state["members"]}
    assert (group["status"], group["leader"], group["members"]) == ("STABLE", "m0", "m0")
    assert [member[name][0] for name in ("status", "owned", "assignment")] == ["STABLE", "0 1", "0 1"]
    assert [member[name][1] for name in ("status", "owned")] == ["UNJOINED", "-"]


def test_what_may_happen_next__is_what_the_model_enables() -> None:
    walk = walked(*JOINED)
    machine = machine_for(Bounds.from_address(walk["bounds"]))
    state = path_at(walk["address"]).run().states[-1]
    assert [each["action"] for each in walk["enabled"]] == list(map(str, machine.enabled(state)))
    assert all(each["heading"] for each in walk["enabled"])
    for each in walk["enabled"]:
        assert walk_document(each["address"])["actions"] == [*walk["actions"], each["action"]]


def test_a_walk__is_seen_after_any_of_its_steps() -> None:
    walk = walked(*JOINED)
    for at, address in enumerate(walk["addresses"]):
        seen, alone = walk_document(walk["address"], at), walk_document(address)
        assert seen["actions"] == list(JOINED)
        assert (seen["state"], seen["enabled"], seen["claims"]) == (alone["state"], alone["enabled"], alone["claims"])
    assert walk_document(walk["address"], 0)["before"] is None
    assert seen["before"] == walk_document(walk["address"], len(JOINED) - 1)["state"]


@pytest.mark.parametrize("protocol", [str(protocol) for protocol in RebalanceProtocol])
def test_every_model__can_be_walked(protocol: str) -> None:
    walk = walk_document(f"v1/{protocol}?members=2&partitions=2/")
    for _ in range(6):
        assert all(claim["holds"] for claim in walk["claims"])
        assert len(walk["state"]["members"][0]) == 3  # name, m0, m1
        walk = walk_document(walk["enabled"][-1]["address"])
    assert len(walk["actions"]) == 6


def test_a_step_that_breaks_a_claim__says_so_before_it_is_taken() -> None:
    """The step of a counterexample, of a planted defect, that is its last one."""
    mutant = MUTANTS["generation-is-reused"]
    address = f"v1/{mutant.bounds.address()}!{mutant.name}/"
    from rebalance_check.model.checker.safety import explore  # noqa: PLC0415 - no other test here searches
    from rebalance_check.model.registry import model_for  # noqa: PLC0415 - the same

    found = explore(model_for(mutant.bounds, mutant.name), mutant.bounds, compiled=False)
    assert found.counterexample is not None
    path = found.counterexample.address()
    assert path.startswith(address)
    walk = walk_document(path)
    before = walk_document(path, len(walk["actions"]) - 1)
    breaking = next(each for each in before["enabled"] if each["address"] == path)
    assert breaking["breaks"] == mutant.caught_by
    assert [claim["name"] for claim in before["claims"] if not claim["holds"]] == []
    broken = [claim for claim in walk["claims"] if not claim["holds"]]
    assert mutant.caught_by in {claim["name"] for claim in broken}
    assert all(claim["sentence"] for claim in broken)


def test_a_run_that_goes_on_for_ever__has_the_step_from_which_it_repeats() -> None:
    walk = walk_document("v1/eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off/0.0.0.0.0~0.0.0")
    assert walk["loop"] == 5
    assert walk["addresses"][-1].endswith("/0.0.0.0.0.0.0.0")


@pytest.mark.parametrize(
    ("address", "at", "fault"),
    [
        ("nonsense", None, "is no path"),
        (f"{SMALL}99", None, "only 4 actions are enabled"),
        ("v1/eager!no-such-mutant/", None, "there is no mutant"),
        ("v1/eager?members=99/", None, "members is 99"),
        (SMALL, 1, "the walk has 0 steps, and no step 1"),
        (SMALL + ".".join("0" * 3000), None, "more than 2,000 steps"),
    ],
)
def test_a_walk_that_cannot_be_shown__is_refused_in_a_sentence(address: str, at: int | None, fault: str) -> None:
    with pytest.raises(RebalanceCheckError, match=fault):
        walk_document(address, at)
