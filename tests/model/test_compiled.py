"""The compiled explorer finds what the interpreted one finds, state by state, with any number of threads."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.compiled import cache_directory, compile_model, digest
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.checker.safety.search import Outcome, Search
from rebalance_check.model.checker.safety.worker import SLACK, Worker
from rebalance_check.model.checker.safety.workers import ParallelSearch
from rebalance_check.model.checker.specification import Edit, mutated
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.parts.assignment import target_table  # after the check for the extra
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds

SMALL = [
    ("cooperative?partitions=2&generations=2&crashes=0&initial_delay=off", True),
    ("cooperative?partitions=2&generations=2&crashes=0&initial_delay=off", False),
    ("eager?partitions=1&generations=1&crashes=0&leaves=1&duplicates=1&initial_delay=off", True),
    ("cooperative?partitions=1&generations=1&duplicates=1&initial_delay=off", False),
    ("eager?partitions=1&generations=2&initial_delay=off&timeouts&static_members=2&shared_instances=1", True),
    pytest.param(
        "eager?members=2&partitions=1&generations=2&crashes=0&leaves=1&expiries=1&initial_delay=off&member_id_required&new_members&heartbeats_during_sync=1",
        True,
        marks=pytest.mark.nightly,
    ),
]


class Witnessed(ParallelSearch):
    """A search that keeps every packed state of every frontier."""

    def states(self) -> tuple[Outcome, list[bytes]]:
        size = len(self.packed_initial)
        turn, kept = Worker.turn, list[bytes]()

        def turn_and_keep(worker: Worker) -> int:
            count = turn(worker)
            kept.extend(bytes(row.tobytes()[:size]) for row in worker.this.words[:count])
            return count

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Worker, "turn", turn_and_keep)
            return self.run(), kept


@pytest.mark.parametrize(("address", "symmetry"), SMALL)
def test_both_backends_reach_the_same_states_and_tell_the_same_scenario(address: str, symmetry: bool) -> None:
    bounds = Bounds.from_address(address)
    machine = Machine(MODEL, bounds)
    reference = Search(machine, symmetry=symmetry, limits=Limits())
    expected = reference.run()
    search = Witnessed(compile_model(MODEL, bounds), machine, symmetry=symmetry, threads=2, limits=Limits())
    found, states = search.states()
    assert len(states) == len(set(states))
    assert set(states) == set(reference.seen)
    for what in ("distinct", "generated", "cut", "depth", "violated", "met", "complete"):
        assert getattr(found, what) == getattr(expected, what), what
    assert {kind: n for kind, n in found.fired.items() if n} == expected.fired


BIG = [
    # protocol, symmetry, distinct, generated, depth
    ("eager", False, 222_846, 686_311, 46),
    ("eager", True, 37_487, 115_457, 46),
    ("cooperative", False, 1_925_802, 5_494_627, 64),
    ("cooperative", True, 322_096, 918_963, 64),
]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("protocol", "symmetry", "distinct", "generated", "depth"), BIG)
def test_three_members_three_partitions_four_generations_and_a_crash_are_exhausted(
    protocol: str, symmetry: bool, distinct: int, generated: int, depth: int, threads: int
) -> None:
    bounds = Bounds.from_address(f"{protocol}")
    found = explore(MODEL, bounds, symmetry=symmetry, threads=threads)
    assert (found.distinct, found.generated, found.depth) == (distinct, generated, depth)
    assert found.complete
    assert set(found.verdicts.values()) == {"held"}


def test_a_limit_ends_the_search_early() -> None:
    found = explore(MODEL, Bounds.from_address("cooperative"), limits=Limits(states=50_000))
    assert not found.complete
    assert found.distinct >= 50_000


def test_a_missed_generation_makes_a_zombie__and_not_a_second_owner() -> None:
    bounds = Bounds.from_address(
        "cooperative?partitions=2&generations=3&crashes=0&expiries=1&duplicates=1&member_id_required"
    )
    found = explore(MODEL, bounds, limits=Limits(states=400_000))
    assert set(found.verdicts.values()) <= {"held", "undecided"}
    assert found.reachable_states["duplicate_replaces_the_parked_request"]


def test_the_buffer_holds_the_successors_of_any_state__of_the_largest_bounds() -> None:
    start, _ = target_table(6, 6)
    most_targets = max(after - before for before, after in pairwise(start))
    others = 6 * len(MODEL.rules) * 6  # every other rule, for every member, with a next leader to choose
    assert most_targets == 1_800
    assert 6 * most_targets + others <= SLACK


def test_the_cache_has_another_name__when_one_line_of_the_model_changes() -> None:
    edit = Edit("rebalance_check.model.classic.parts.join_phase", "    s.generation += 1", "    s.generation += 2")
    assert digest(MODEL) != digest(mutated(MODEL, "two-generations", edit))


TWO_PROGRAMS = """
import sys, numpy, llvmlite
from pathlib import Path
from rebalance_check.model.checker.safety.compiled import jit
long = "    x = (x * 31 + r.b) ^ (x >> 3)\\n" * 200  # so long that it stays a function of its own
source = f"def read(r, x):\\n{long}    return x\\ndef entry(rec): return read(rec[0], read(rec[0], 1))"
for fields in sys.argv[2:]:
    space = {"__name__": "rebalance_check.model"}
    exec(compile(source, __file__, "exec"), space)  # Numba caches functions of files only
    entry = jit(llvmlite, space, ("entry",), Path(sys.argv[1]) / fields)["entry"]
    print(entry(numpy.array([tuple(range(len(fields)))], [(name, "i8") for name in fields])))
"""


def test_programs_that_two_processes_cached_do_not_mix__in_a_third(tmp_path: Path) -> None:
    script = tmp_path / "two_programs.py"
    script.write_text(TWO_PROGRAMS, encoding="utf-8")
    alone, other, both = [
        subprocess.run(
            [sys.executable, script, tmp_path, *programs], capture_output=True, text=True, check=True, timeout=120
        ).stdout.split()
        for programs in (["ab"], ["acb"], ["ab", "acb"])
    ]
    assert alone != other
    assert both == alone + other


def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert str(cache_directory()) == "/somewhere/rebalance-check"


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["older-ownership-wins", "double-ownership-is-honoured", "leader-does-not-withhold"])
def test_a_mutant_deep_in_the_state_space_is_found(name: str) -> None:
    from rebalance_check.model.registry import MUTANTS  # noqa: PLC0415 - only these need it

    mutant = MUTANTS[name]
    found = explore(model_for(mutant.bounds, name), mutant.bounds)
    assert found.violated == mutant.caught_by
