"""The state machine of a whole group: ours holds, planted defects of clients are found, and the run can be repeated."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from rebalance_check import MemberMachine, Violation
from rebalance_check.cli import run
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.runtime.choices import written
from rebalance_check.impl.simulator import SimulatedProtocol, SimulationOptions, simulate
from rebalance_check.impl.simulator.simulation import simulate_into
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.machines.members import ALL_STEPS
from rebalance_check.properties.machines.strikes import STRIKES, Strike, StruckChoices

OF_CONSUMERS = frozenset({ActionKind.CHANGE_SUBSCRIPTION, ActionKind.CHANGE_TOPICS})
UNSHRUNK = settings(
    max_examples=200, stateful_step_count=20, derandomize=True, database=None, deadline=None, phases=[Phase.generate]
)


class WholeGroup(MemberMachine):
    """Members of ours and our coordinator."""


class Workers(MemberMachine):
    """Connect workers with herders, running work and statuses."""

    protocols = (SimulatedProtocol.CONNECT,)


@pytest.mark.parametrize(("machine", "kinds"), [(WholeGroup, ALL_STEPS), (Workers, ALL_STEPS - OF_CONSUMERS)])
def test_a_group_of_ours_holds__and_takes_nearly_all_kinds_of_step(
    machine: type[MemberMachine], kinds: frozenset[ActionKind], record_property: Callable[[str, object], None]
) -> None:
    examples = max(settings.default.max_examples if settings.default else 0, 60)
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples, stateful_step_count=20, phases=[Phase.generate])
    )
    record_property("steps", f"{machine.__name__} took {machine.taken}")
    assert len(machine.taken.counts.keys() & kinds) >= len(kinds) - 2


class Consumers(MemberMachine):
    """Consumers alone."""

    protocols = (SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE)


@pytest.mark.parametrize("mutant", ["closing-member-loses", "additions-ignored-by-owners"])
def test_a_planted_defect_is_found__and_the_run_repeated(mutant: str, capsys: pytest.CaptureFixture[str]) -> None:
    with planted(mutant), pytest.raises(Violation) as raised:
        run_state_machine_as_test(Consumers, settings=UNSHRUNK)

    (replay,) = (note for note in raised.value.__notes__ if note.startswith("replay   rebalance-check "))
    assert run([*shlex.split(replay.removeprefix("replay   rebalance-check ")), "--mutant", mutant]) == 10
    assert raised.value.counterexample.headline in capsys.readouterr().out


class LosesNothing(Consumers):
    """Fails where a message of m1 was lost."""

    def teardown(self) -> None:
        super().teardown()
        lost = [address for address in self.choices.made if address.startswith("m1:") and address.endswith(".lost")]
        assert not lost, f"struck: {', '.join(self.choices.made)}"


def test_faults_shrink_one_by_one__to_the_one_that_matters() -> None:
    shrunk = settings(UNSHRUNK, stateful_step_count=10, phases=[Phase.generate, Phase.shrink])
    with pytest.raises(AssertionError, match=r"^struck: m1:\d+(-reply)?\.lost\n"):
        run_state_machine_as_test(LosesNothing, settings=shrunk)


@pytest.mark.parametrize("strike", STRIKES, ids=repr)
def test_each_strike_hits__and_what_was_made_repeats_the_run(strike: Strike) -> None:
    for seed in range(40):
        options = SimulationOptions(protocol=SimulatedProtocol.EAGER, faults=tuple(strike.kinds), steps=5)
        choices, history = StruckChoices(), list[Event]()
        choices.strike("m0", strike)
        simulate_into(seed, options, history.append, choices=choices)
        if choices.made:
            break
    made = written(choices.made)
    assert len(made) == 1
    assert strike.hits("m0", made[0].partition("=")[0])
    assert simulate(seed, replace(options, choices=made)) == history
