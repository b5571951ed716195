"""Names and their meanings: the model of each protocol, its mutants, and the paths that addresses name.

A mutant is a one-line edit of a model's source. It proves that a claim can fail: exploring it in its bounds finds a
shortest counterexample to exactly that claim. The checker knows none of these names: it takes a model.

This is the only module that knows every model and every mutant; a new model is added to ``MODELS``, new mutants to
the tables that ``MUTANTS`` reads, and then the command line, replays and reports know them.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.mutant import ModelMutant, mutants_of
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.checker.specification import Model, mutated
from rebalance_check.model.classic.model import MODEL as CLASSIC
from rebalance_check.model.connect.config.model import MODEL as CONFIG
from rebalance_check.model.connect.exactly_once.model import MODEL as EXACTLY_ONCE
from rebalance_check.model.connect.status.model import MODEL as STATUS
from rebalance_check.model.connect.workers.model import MODEL as WORKERS
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.schedule import Schedule

MODELS: Final = {
    RebalanceProtocol.EAGER: CLASSIC,
    RebalanceProtocol.COOPERATIVE: CLASSIC,
    RebalanceProtocol.STATUS: STATUS,
    RebalanceProtocol.CONNECT_EAGER: WORKERS,
    RebalanceProtocol.CONNECT_INCREMENTAL: WORKERS,
    RebalanceProtocol.CONNECT_CONFIG: CONFIG,
    RebalanceProtocol.CONNECT_EXACTLY_ONCE: EXACTLY_ONCE,
}
"""The model of each protocol."""

MUTANTS: Final[dict[str, ModelMutant]] = {
    mutant.name: mutant
    for table in ("classic.mutants", "connect.mutants")
    for mutant in mutants_of(files("rebalance_check.model").joinpath(table).read_text(encoding="utf-8"))
}
"""Every mutant of a model, by name."""


def mutant_named(name: str) -> ModelMutant:
    """The mutant of this name; `RebalanceCheckError` lists the names when there is none."""
    if name not in MUTANTS:
        raise RebalanceCheckError(
            f"there is no mutant {name!r} of the model: choose one of {', '.join(sorted(MUTANTS))}"
        )
    return MUTANTS[name]


@cache
def _mutant_of(protocol: RebalanceProtocol, name: str) -> Model:
    return mutated(MODELS[protocol], name, mutant_named(name).edit)


def model_for(bounds: Bounds, mutant: str = "") -> Model:
    """The model of the protocol of ``bounds``, with the defect ``mutant`` where one is named.

    Raises `RebalanceCheckError` for an unknown mutant, and for one of another protocol's model.
    """
    return _mutant_of(bounds.protocol, mutant) if mutant else MODELS[bounds.protocol]


def machine_for(bounds: Bounds, mutant: str = "") -> Machine:
    """The interpreted model of the protocol of ``bounds``, at these bounds; ``mutant`` as for `model_for`."""
    return Machine(model_for(bounds, mutant), bounds)


def path_of(schedule: Schedule) -> Path:
    """The actions of a schedule as a path of the model, whose address replays it."""
    return Path(model_for(schedule.bounds), schedule.bounds, schedule.actions)


def path_at(address: str) -> Path:
    """The path that an address names; `RebalanceCheckError` tells where it cannot be followed."""
    return Path.from_address(address, model_for)
