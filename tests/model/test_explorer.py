"""The explorer, interpreted: pinned counts, symmetry, limits, and what a result says."""

import subprocess
import sys

import pytest

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.limits import Coverage, Limits
from rebalance_check.model.checker.safety.search import Search
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    ("eager?members=2&partitions=2&generations=3", True, 844, 1874, 26),
    ("eager?members=2&partitions=2&generations=3", False, 1682, 3731, 26),
    ("cooperative?members=2&partitions=2&generations=3", True, 1955, 4018, 38),
    ("cooperative?members=2&partitions=2&generations=3", False, 3904, 8019, 38),
    ("cooperative?members=2&partitions=2&crashes=0&initial_delay=off", True, 209, 383, 33),
    (
        "eager?members=2&partitions=1&generations=3&crashes=0&duplicates=1&initial_delay=off",
        True,
        839,
        1900,
        35,
    ),  # a duplicate
    (
        "cooperative?members=2&partitions=2&generations=3&crashes=0&expiries=1&initial_delay=off",
        True,
        2208,
        4486,
        39,
    ),  # a live member expires
    (
        "eager?members=2&partitions=1&generations=3&crashes=0&leaves=1&deletions=1&member_id_required",
        True,
        2098,
        4253,
        41,
    ),  # a leave, a deletion, ids required
    ("eager?partitions=2&generations=2&crashes=0&initial_delay=off", True, 919, 2448, 27),
    ("eager?partitions=2&generations=2&crashes=0&initial_delay=off", False, 5408, 14359, 27),
]
"""A change here is a change of the protocol: say in the commit which, and why."""


@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), COUNTS)
def test_the_state_space_has_its_pinned_size(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    found = explore(MODEL, Bounds.from_address(address), symmetry=symmetry, compiled=False)
    assert (found.distinct, found.generated, found.depth) == (distinct, generated, depth)
    assert found.complete
    assert set(found.verdicts.values()) == {"held"}
    assert found.counterexample is None


@pytest.mark.parametrize(
    "address",
    [
        "eager?members=2&partitions=1&generations=3&crashes=0&duplicates=1&initial_delay=off",
        "cooperative?partitions=1&generations=2&crashes=0&initial_delay=off",
    ],
)
def test_the_orbits_of_the_representatives_are_all_states(address: str) -> None:
    machine = Machine(MODEL, Bounds.from_address(address))
    reduced, full = (Search(machine, symmetry=symmetry, limits=Limits()) for symmetry in (True, False))
    reduced.run()
    full.run()
    orbits = [machine.orbit(machine.unpack(state)) for state in reduced.seen]
    assert sum(map(len, orbits)) == len(full.seen)
    assert set().union(*orbits) == set(full.seen)


def test_what_a_bound_can_show_is_met__and_what_it_cannot_is_not() -> None:
    found = explore(
        MODEL, Bounds.from_address("eager?members=2&partitions=1&duplicates=1&initial_delay=off"), compiled=False
    )
    assert found.reachable_states["all_members_are_stable"]
    assert found.reachable_states["sync_meets_illegal_generation"]
    assert found.reachable_states["duplicate_replaces_the_parked_request"]
    assert not found.reachable_states["revoking_member_rejoins"]  # cooperative only
    assert not found.reachable_states["join_meets_member_id_required"]
    assert found.actions["DeliverDuplicate"] > 0
    assert found.actions["SendLeaveGroup"] == 0


def test_a_zombie_owns_next_to_the_owner__when_a_live_member_expires() -> None:
    found = explore(
        MODEL,
        Bounds.from_address("cooperative?members=2&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off"),
        compiled=False,
    )
    assert found.reachable_states["stale_owner_overlaps_a_current_owner"]
    assert found.verdicts["no_double_ownership"] == "held"


def test_the_second_cooperative_round_happens__when_partitions_move() -> None:
    found = explore(
        MODEL,
        Bounds.from_address("cooperative?members=2&partitions=2&generations=3&crashes=0&initial_delay=off"),
        compiled=False,
    )
    assert found.reachable_states["revoking_member_rejoins"]
    assert found.reachable_states["partition_is_withheld"]


def test_a_limit_leaves_the_claims_undecided() -> None:
    found = explore(
        MODEL,
        Bounds.from_address("eager?members=2&partitions=2&generations=3"),
        compiled=False,
        limits=Limits(states=100),
    )
    assert not found.complete
    assert 100 <= found.distinct < 400
    assert set(found.verdicts.values()) == {"undecided"}


class Listener:
    """Keeps what a search reports."""

    def __init__(self) -> None:
        self.received: list[Coverage] = []

    def compiling(self, seconds: float) -> None:
        assert seconds > 0

    def searching(self, coverage: Coverage) -> None:
        self.received.append(coverage)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_listener_receives_what_is_covered_after_each_level__and_within_a_long_one(compiled: bool) -> None:
    listener = Listener()
    found = explore(
        MODEL,
        Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off"),
        compiled=compiled,
        progress=listener,
    )
    assert sorted({each.depth for each in listener.received}) == list(range(1, found.depth + 1))
    assert [each.states for each in listener.received] == sorted(each.states for each in listener.received)
    last = listener.received[-1]
    assert (last.states, last.transitions, last.frontier) == (found.distinct, found.generated, 0)
    assert next(each for each in listener.received if each.depth == 6).frontier > 0


def test_bad_arguments_are_refused_with_the_next_move() -> None:
    with pytest.raises(RebalanceCheckError, match="threads is 0: choose a number from 1 to 64"):
        explore(MODEL, Bounds(), threads=0)
    with pytest.raises(RebalanceCheckError, match="no mutant 'nonsense' of the model: choose one of "):
        explore(model_for(Bounds(), "nonsense"), Bounds())


WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"numpy", "llvmlite", "networkx"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.classic.model import MODEL
bounds = Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off")
print(explore(MODEL, bounds, compiled=False).complete)
try:
    explore(MODEL, bounds)
except RebalanceCheckError as error:
    print(error)
"""


def test_the_interpreter_needs_the_standard_library_alone__and_the_compiler_says_what_it_needs() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True, timeout=120)
    interpreted, compiled = done.stdout.splitlines()
    assert interpreted == "True"
    assert compiled.startswith("the compiled explorer needs ")
    assert "pip install 'rebalance-check[explore]'" in compiled
