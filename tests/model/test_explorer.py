"""The explorer: symmetry, what a listener receives, and what is refused."""

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
