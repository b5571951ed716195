"""State spaces of all models: what ``tests/data/model/state_spaces.txt`` says of each is what exploring finds.

A line has bounds, and then either the distinct states, the transitions and the depth of a search in which every claim
holds (``-``: not pinned), or ``breaks``, a claim, and the steps of a shortest counterexample. Behind that may stand

- ``all``: without symmetry; ``compiled``: by the compiled explorer; ``nightly``: at night only;
- ``+NAME`` and ``-NAME``: a state or step that must be reached, or a kind of action that must be taken, and one that
  must not;
- ``graph`` and four numbers: the states explored, the states and steps of the graph of fault-free steps, and its fair
  components; every liveness property holds on it.

A number that changes is a change of the protocol: say in the commit which, and why.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from rebalance_check.model.checker.safety import Exploration, explore
from rebalance_check.model.registry import MODELS, model_for, path_at
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.upgrade_paths import PATHS
from rebalance_check.model.vocabulary.worker_modes import MODE_PATHS

TABLE = Path(__file__).parents[1] / "data" / "model" / "state_spaces.txt"


@dataclass(frozen=True)
class Space:
    """A line."""

    line: str
    address: str
    expected: tuple[str, ...]
    flags: frozenset[str]
    reached: tuple[str, ...]
    missed: tuple[str, ...]
    graph: tuple[int, ...]

    @classmethod
    def of(cls, line: str) -> Self:
        address, one, other, third, *words = line.split()
        at = words.index("graph") if "graph" in words else len(words)
        graph, words = words[at + 1 : at + 5], words[:at] + words[at + 5 :]
        plus, minus = (tuple(word[1:] for word in words if word[0] == sign) for sign in "+-")
        flags = frozenset(word for word in words if word[0] not in "+-")
        assert flags <= {"all", "compiled", "nightly"}, line
        return cls(line, address, (one, other, third), flags, plus, minus, tuple(map(int, graph)))

    @property
    def bounds(self) -> Bounds:
        return Bounds.from_address(self.address)

    @property
    def breaks(self) -> bool:
        return self.expected[0] == "breaks"

    def explored(self) -> Exploration:
        compiled = "compiled" in self.flags
        if compiled:
            pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
        return explore(model_for(self.bounds), self.bounds, symmetry="all" not in self.flags, compiled=compiled)


SPACES = [Space.of(line) for line in TABLE.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]


def in_turn(spaces: list[Space]) -> Iterator[Any]:
    for each in spaces:
        yield pytest.param(each, id=each.line, marks=[pytest.mark.nightly] if "nightly" in each.flags else [])


def numbers(found: Exploration) -> tuple[object, ...]:
    """The numbers of a search that a line pins."""
    if found.counterexample is None:
        return (found.distinct, found.generated, found.depth)
    return ("breaks", found.violated, len(found.counterexample.actions))


@pytest.mark.parametrize("space", [*in_turn(SPACES)])
def test_a_state_space_is_as_the_table_says(space: Space) -> None:
    found = space.explored()
    seen = [str(one) if wanted != "-" else "-" for one, wanted in zip(numbers(found), space.expected, strict=True)]
    assert tuple(seen) == space.expected
    if found.counterexample is not None:
        assert path_at(found.counterexample.address()) == found.counterexample
    assert space.breaks or set(found.verdicts.values()) == {"held"}
    met = {name for counts in (found.reachable_states, found.actions) for name, count in counts.items() if count}
    assert [name for name in space.reached if name not in met] == []
    assert [name for name in space.missed if name in met] == []


@pytest.mark.parametrize("space", [*in_turn([space for space in SPACES if space.graph])])
def test_every_run_makes_progress_once_faults_cease(space: Space) -> None:
    check_liveness = pytest.importorskip("rebalance_check.model.checker.liveness").check_liveness
    found = check_liveness(model_for(space.bounds), space.bounds, compiled="compiled" in space.flags)
    assert (found.undecided, found.counterexamples) == ("", {})
    assert set(found.verdicts.values()) == {"held"}
    assert (found.reached, found.states, found.steps, found.components) == space.graph


def test_whatever_a_model_must_reach_is_reached_by_some_line() -> None:
    for protocol, model in MODELS.items():
        lines = [space for space in SPACES if MODELS[space.bounds.protocol] is model]
        claims = {claim.__name__ for claim in (*model.reachable_states, *model.reachable_steps)}
        assert claims - {name for space in lines for name in space.reached} == set(), protocol


@pytest.mark.parametrize(
    ("what", "legal"),
    [("upgrade", [path.legal for path in PATHS]), ("modes", [path.legal for path in MODE_PATHS])],
    ids=["upgrades", "modes"],
)
def test_every_path_from_one_mode_to_another_is_explored__and_the_illegal_ones_break(
    what: str, legal: list[bool]
) -> None:
    broken = {getattr(space.bounds, what) for space in SPACES if space.breaks} - {0}
    held = {getattr(space.bounds, what) for space in SPACES if not space.breaks}
    assert held | broken >= set(range(1, len(legal) + 1))
    assert broken == {number for number, is_legal in enumerate(legal, 1) if not is_legal}
