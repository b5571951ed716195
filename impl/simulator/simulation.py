"""`simulate`: one seed in, one history out."""

from __future__ import annotations

from rebalance_check.impl.mutants import planted
from rebalance_check.impl.runtime.choices import Choices
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator.cluster import OtherCluster
from rebalance_check.impl.simulator.environment import Listener
from rebalance_check.impl.simulator.schedule import churn_schedule
from rebalance_check.impl.simulator.subject import SimulatorSubject
from rebalance_check.model.collecting import rarely_collected
from rebalance_check.model.vocabulary.events import Event


def simulate_into(
    seed: int,
    options: SimulationOptions,
    listener: Listener,
    other: OtherCluster | None = None,
    *,
    choices: Choices | None = None,
) -> None:
    """Run the simulation of ``seed`` and hand each event to ``listener`` as it is observed; ``choices`` note its own.

    A pure function of ``seed`` and ``options``: the events are the same on every machine, under every PYTHONHASHSEED,
    and after any other run. ``other`` is the cluster under a group where that is not ours.

    Raises `RebalanceCheckError` when the mutant is unknown.
    """
    subject = SimulatorSubject(options, listener, other, choices=choices)
    schedule = churn_schedule(seed, options)
    with planted(options.mutant), rarely_collected():
        subject.open(schedule.bounds, schedule.seed)
        for action in schedule.actions:
            subject.perform(action)
        subject.close()


def simulate(seed: int, options: SimulationOptions) -> list[Event]:
    """The history of ``seed`` under ``options``; see `simulate_into`."""
    history: list[Event] = []
    simulate_into(seed, options, history.append)
    return history
