"""The options of ``rebalance-check fuzz`` as its command line spells them, or as the search of a mutant has them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Final

from rebalance_check.commands._options import was_given
from rebalance_check.impl.mutants import FuzzSearch, find_mutant
from rebalance_check.impl.runtime.options import (
    ALL_FAULTS,
    COMMON_FAULTS,
    ClusterMode,
    FaultKind,
    SimulatedProtocol,
    SimulationOptions,
)
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

DEFAULTS: Final = SimulationOptions()
FAULT_SETS: Final = {"common": COMMON_FAULTS, "all": ALL_FAULTS}


def options_of(
    *,
    protocol: str,
    mode: str,
    members: int,
    partitions: int,
    steps: int,
    faults: str,
    omit: str,
    actions: str | None,
    choices: str | None,
    path: str | None,
    mutant: str,
) -> SimulationOptions:
    """The options of the simulation as the command line spells them.

    Raises: RebalanceCheckError for a fault, an index or a mutant that is none, and for a size out of range.
    """
    try:
        kinds = faults_named(faults)
        omitted = tuple(int(index) for index in listed(omit))
    except ValueError as fault:
        raise RebalanceCheckError(
            f"{fault}: --faults takes {', '.join(FaultKind)}, common, all or none, and --omit numbers, parted by commas"
        ) from None
    if ClusterMode(mode) is not DEFAULTS.mode and protocol not in (SimulatedProtocol.CONNECT, SimulatedProtocol.MIXED):
        raise RebalanceCheckError(
            f"--mode {mode} is one of Connect workers, and the protocol is {protocol}: leave it out"
        )
    if mutant:
        find_mutant(mutant)  # refused here, before a process is started for it
    return SimulationOptions(
        protocol=SimulatedProtocol(protocol), mode=ClusterMode(mode), members=members, partitions=partitions,
        steps=steps, faults=kinds, omit=omitted, actions=None if actions is None else tuple(listed(actions)),
        choices=None if choices is None else tuple(listed(choices)), upgrade=path or "", mutant=mutant,
    )  # fmt: skip


def faults_named(text: str) -> tuple[FaultKind, ...]:
    """The kinds between commas, each once and in their order; ``common`` and ``all`` stand for several."""
    wanted = {kind for word in listed(text) for kind in FAULT_SETS.get(word) or (FaultKind(word),)}
    return tuple(kind for kind in FaultKind if kind in wanted)


def listed(text: str) -> list[str]:
    """The words between commas; ``none`` is no word."""
    return [] if text in ("none", "") else text.split(",")


def search_options(options: SimulationOptions) -> SimulationOptions:
    """The options under which the search of a mutant runs, with those named on the command line.

    They stay as they are without a mutant, where a protocol is named, and where something else than a simulation finds
    the mutant.
    """
    if not options.mutant or was_given("protocol"):
        return options
    find = find_mutant(options.mutant).find
    if not isinstance(find, FuzzSearch):
        return options
    names = [field.name for field in fields(options) if field.name not in ("protocol", "mutant")]
    named = {name: getattr(options, name) for name in names if was_given("path" if name == "upgrade" else name)}
    return replace(find.options, mutant=options.mutant, **named)


def search_seeds(mutant: str) -> str | None:
    """``FIRST:LAST``: the seeds of a mutant's search, where the command line names no protocol; None without one."""
    if not mutant or was_given("protocol"):
        return None
    find = find_mutant(mutant).find
    return f"{find.first}:{find.last}" if isinstance(find, FuzzSearch) else None
