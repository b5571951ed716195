"""An install that was compiled makes the same histories, gives the same verdicts, and catches the same mutants."""

import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from types import FunctionType, GetSetDescriptorType
from typing import Any

import pytest

from rebalance_check.impl.mutants import IMPL_MUTANTS, planted
from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.choices import Choices
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulation
from rebalance_check.impl.simulator.subject import run_churn
from rebalance_check.model.vocabulary.event_checks import MalformedEvent
from rebalance_check.model.vocabulary.events import Event, PartitionsAssigned, PartitionsRevoked, RunEnded, RunStarted
from rebalance_check.pipeline.seed_run import breaks
from rebalance_check.properties import judge as judging
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.history import decode, encode
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.kinds import Fold, Memory
from tests.compiled.verdicts_of_seeds import verdicts_of

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]
SEEDS = range(40)
SEEDS_OF_A_PROTOCOL = range(6)
EACH = 9
"""Of so many mutants that a fuzz search finds, in the order of the list, one is searched for."""


def history(run: Callable[..., None], seed: int, options: SimulationOptions) -> list[Event]:
    observed: list[Event] = []
    run(seed, options, observed.append, None, None)
    return observed


def compiled() -> Callable[..., None]:
    found = simulation.compiled_run()
    assert found is not None, "nothing is compiled: install with REBALANCE_CHECK_COMPILE=1"
    return found


def test_judge_and_simulator_are_machine_code_and_what_mutants_edit_is_python() -> None:
    assert not str(judging.__file__).endswith(".py")
    assert not isinstance(compiled(), FunctionType)
    assert isinstance(run_churn, FunctionType)


def test_python_code_may_extend_what_is_open() -> None:
    class Known(Memory):
        """Remembers nothing."""

    class Named(Fold):
        """Never broken."""

        needs = ((RunEnded,),)

    class Quiet(Judge):
        """As its base class."""

    assert isinstance(Known.among({}), Known)
    assert Named(CATALOGUE[0], {RunStarted: print}).lacks({RunStarted: 1}) == "the history holds no RunEnded"
    assert not Quiet().judgement().events


EVENT = PartitionsAssigned(member="m0", generation=1, partitions=("t-0",), seq=3)


def test_events_are_compiled_classes_and_behave_as_those_of_python() -> None:
    assert isinstance(vars(Event)["seq"], GetSetDescriptorType)
    assert EVENT == replace(EVENT, seq=3) != replace(EVENT, seq=4)
    assert hash(EVENT) == hash(copy.copy(EVENT))
    assert pickle.loads(pickle.dumps(EVENT)) == EVENT
    assert decode(encode(EVENT)) == EVENT
    assert repr(EVENT).startswith("PartitionsAssigned(group='', source='', seq=3, time_ms=0, member='m0'")
    with pytest.raises(FrozenInstanceError):
        EVENT.seq = 4  # type: ignore[misc]  # that it is frozen is the point
    with pytest.raises(MalformedEvent, match=r"write partitions=\('t-0',\)"):
        PartitionsAssigned(member="m0", generation=1, partitions="t-0")  # type: ignore[arg-type]  # a mistake that is explained


def test_the_fields_of_events_have_the_types_of_python() -> None:
    assert {field.name: field.type for field in fields(PartitionsRevoked)} == {
        "group": "str", "source": "str", "seq": "int", "time_ms": "int", "member": "str", "generation": "int",
        "member_id": "str", "incarnation": "int", "partitions": "tuple[str, ...]",
        "positions": "tuple[tuple[str, int], ...]",
    }  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_histories_are_those_of_python(seed: int) -> None:
    options = SimulationOptions()
    assert history(compiled(), seed, options) == history(run_churn, seed, options)


@pytest.mark.parametrize("protocol", SimulatedProtocol)
def test_histories_of_each_protocol_with_all_faults_are_those_of_python(protocol: SimulatedProtocol) -> None:
    options = SimulationOptions(protocol=protocol, faults=tuple(FaultKind))
    for seed in SEEDS_OF_A_PROTOCOL:
        assert history(compiled(), seed, options) == history(run_churn, seed, options), seed


def test_choices_that_are_noted_are_those_of_python() -> None:
    for seed in SEEDS_OF_A_PROTOCOL:
        noted: list[Any] = []
        for run in (compiled(), run_churn):
            choices = Choices()
            run(seed, SimulationOptions(), noted.append, None, choices)
            noted.append(choices.made)
        middle = len(noted) // 2
        assert noted[:middle] == noted[middle:], seed


def test_verdicts_are_those_of_python() -> None:
    """Another process judges with the sources of the checkout, which nothing has compiled."""
    python = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "compiled" / "verdicts_of_seeds.py"), str(len(SEEDS))],
        check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT,
    )  # fmt: skip
    said = json.loads(python.stdout)
    assert said["judge"] == str(ROOT / "rebalance_check" / "properties" / "judge.py")
    assert verdicts_of(SEEDS) == said["verdicts"]


SOUGHT = [mutant for mutant in IMPL_MUTANTS.values() if isinstance(mutant.find, FuzzSearch)][::EACH]


@pytest.mark.parametrize("mutant", SOUGHT, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    find = mutant.find
    assert isinstance(find, FuzzSearch)
    (claim,) = select([mutant.caught_by])
    with planted(mutant):
        assert any(breaks(seed, find.options, claim) for seed in range(find.first, find.last))


def test_python_runs_while_a_mutant_is_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("the compiled simulator was asked for")

    monkeypatch.setattr(simulation, "compiled_run", refuse)
    with planted(SOUGHT[0]):
        assert simulation.simulate(0, SimulationOptions())
    with pytest.raises(AssertionError, match="was asked for"):
        simulation.simulate(0, SimulationOptions())
