"""A run that does not converge says who waits without a timer."""

from dataclasses import replace

from rebalance_check.impl.mutants import FuzzSearch, find_mutant
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import RunEnded


def end_of(seed: int, options: SimulationOptions) -> RunEnded:
    end = simulate(seed, options)[-1]
    assert isinstance(end, RunEnded)
    return end


def test_a_member_whose_look_up_never_ends_has_no_timer() -> None:
    mutant = find_mutant("coordinator-lookup-future-leaked")
    assert isinstance(mutant.find, FuzzSearch)
    ends = [end_of(seed, replace(mutant.find.options, mutant=mutant.name)) for seed in range(20)]
    stuck = [end for end in ends if end.pending]
    assert stuck
    assert all(end.untimed for end in stuck)


def test_a_run_that_converges_names_nobody() -> None:
    end = end_of(0, SimulationOptions(protocol=SimulatedProtocol.EAGER, faults=(FaultKind.DROP,)))
    assert (end.pending, end.untimed) == ((), ())
