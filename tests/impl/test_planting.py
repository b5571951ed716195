"""Mutants are edits of the source: each fits it, changes what runs while it is planted, and leaves nothing behind."""

from __future__ import annotations

import threading
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest

from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.mutants import IMPL_MUTANTS, Mutant, planted
from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.mutants.planting import edited_code
from rebalance_check.impl.protocol.consumer_protocol import Subscription
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import SimulatorSubject, churn_schedule, simulate
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.schedule import run

RANGE = "rebalance_check.impl.assignors.range"
TWICE = "range-boundary-given-twice"
EAGER = SimulationOptions(protocol=SimulatedProtocol.EAGER)


def dealt() -> int:
    """How many partitions range gives to two members; there are four."""
    members = {name: Subscription(topics=("t",)) for name in ("a", "b")}
    return sum(len(given) for given in RangeAssignor().assign({"t": 4}, members).values())


def edited(*edits: Edit) -> Mutant:
    return replace(IMPL_MUTANTS[TWICE], edits=edits)


def test_every_mutant_has_edits() -> None:
    assert all(mutant.edits for mutant in IMPL_MUTANTS.values())


@pytest.mark.parametrize("mutant", IMPL_MUTANTS.values(), ids=lambda mutant: mutant.name)
def test_the_edits_of_a_mutant_fit_the_source_and_change_what_runs(mutant: Mutant) -> None:
    before = [(function, function.__code__) for function, _ in edited_code(mutant)]
    with planted(mutant):
        assert all(function.__code__ is code for function, code in edited_code(mutant))
    assert all(function.__code__ is code for function, code in before)
    assert all(function.__code__ != code for function, code in edited_code(mutant))


def test_a_planted_mutant_changes_the_answer__and_back() -> None:
    with planted(TWICE):
        assert dealt() == 5
    assert dealt() == 4


def test_nothing_stays_planted_after_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), planted(TWICE):
        assert 1 // (dealt() - 5)
    assert dealt() == 4


def test_the_empty_name_plants_nothing() -> None:
    with planted(""):
        assert dealt() == 4


def test_a_mutant_may_be_planted_inside_itself() -> None:
    with planted(TWICE):
        with planted(TWICE):
            assert dealt() == 5
        assert dealt() == 5
    assert dealt() == 4


def test_a_second_mutant_inside_is_refused() -> None:
    with planted(TWICE):
        with pytest.raises(RebalanceCheckError, match=f"{TWICE} is planted: plant size-gate-open when"):
            planted("size-gate-open").__enter__()
        assert dealt() == 5
    assert dealt() == 4


def test_a_mutant_is_planted_for_all_threads() -> None:
    seen: list[int] = []
    with planted(TWICE):
        thread = threading.Thread(target=lambda: seen.append(dealt()))
        thread.start()
        thread.join()
    assert seen == [5]


def test_a_mutant_of_the_model_cannot_be_planted() -> None:
    with pytest.raises(RebalanceCheckError, match="is a mutant of the model: find it with 'rebalance-check explore"):
        planted("model/generation-is-reused").__enter__()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit(f"{RANGE}:_dealt", "for ", "while "), "reads 'for ', which occurs there 2 times"),
        (Edit(f"{RANGE}:_dealt", "nowhere", ""), "reads 'nowhere', which occurs there 0 times"),
        (Edit(f"{RANGE}:_gone", "for", ""), "_gone, which is defined 0 times"),
        (Edit(f"{RANGE}:_dealt", "topic: _Topic", "topic: _Topic, more: int"), "changes the parameters of _dealt"),
        (Edit(f"{RANGE}:_dealt", "yield", "yield  "), "changes nothing that _dealt runs"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused__with_the_function_and_the_text(edit: Edit, message: str) -> None:
    with pytest.raises(RebalanceCheckError, match=message) as caught, planted(edited(edit)):
        pass
    assert TWICE in str(caught.value)
    assert dealt() == 4


def test_methods_properties_and_super_are_edited_in_place() -> None:
    mutant = edited(
        Edit("rebalance_check.impl.simulator.nodes:Node.is_silent", "self.is_dead or self.is_paused", "True"),
        Edit("rebalance_check.impl.client.consumer:ConsumerCoordinator.register_metrics", "float(len(", "float(-len("),
    )
    assert [function.__name__ for function, _ in edited_code(mutant)] == ["is_silent", "register_metrics"]
    with planted(mutant):
        pass


def test_the_simulator_plants_the_mutant_of_its_options() -> None:
    options = replace(EAGER, mutant=TWICE)
    mutated = simulate(0, options)
    assert [replace(event, seq=0) for event in mutated[1:]] != [
        replace(event, seq=0) for event in simulate(0, EAGER)[1:]
    ]
    assert list(run(SimulatorSubject(options), churn_schedule(0, options))) == mutated
    assert dealt() == 4


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_worker_process_plants_it_for_itself(start: str) -> None:
    options = replace(EAGER, mutant=TWICE)
    with ProcessPoolExecutor(1, mp_context=get_context(start)) as pool:
        assert pool.submit(simulate, 0, options).result() == simulate(0, options)
