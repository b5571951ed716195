"""The runs of campaigns of ``rebalance-check fuzz``: the simulator, virtual Kafka, or the user's own subject;
and their seeds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import click

from rebalance_check.commands._claim_options import ClaimOptions
from rebalance_check.commands._fuzz_options import search_seeds
from rebalance_check.commands._options import Decorator, option
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import simulate as simulator
from rebalance_check.impl.simulator.schedule import STORES
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.campaign import MOST_SEEDS, Simulate, parse_seeds
from rebalance_check.pipeline.own_subject import own_options, own_subject
from rebalance_check.pipeline.seed_run import replay_command

SIMULATOR: Final = "simulator"
DEFAULT_RUNS: Final = 100
_OWN: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_VIRTUAL: Final = re.compile(r"virtual(:\d.*)?")


def subject_option(what: str) -> Decorator:
    """The option ``--subject``."""

    def checked(_context: click.Context, _option: click.Parameter, value: str) -> str:
        if not (draws_groups(value) or is_own(value)):
            raise click.BadParameter(f"{value!r} is no subject: write {SIMULATOR}, virtual, or MODULE:FUNCTION")
        return value

    metavar = f"[{SIMULATOR}|virtual|MODULE:FUNCTION]"
    return option("--subject", default=SIMULATOR, show_default=True, metavar=metavar, callback=checked, help=what)


def is_own(subject: str) -> bool:
    """Whether it names a function of a module."""
    return _OWN.fullmatch(subject) is not None and not _VIRTUAL.fullmatch(subject)


def draws_groups(subject: str) -> bool:
    """Whether the seed draws protocol and faults."""
    return subject == SIMULATOR or _VIRTUAL.fullmatch(subject) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzCampaign:
    """``simulate`` runs a seed under ``options``, ``names`` are the claims that judge it; ``header`` is the command as
    output begins with it, and ``replayed`` the subject in the command that replays a seed."""

    subject: str
    simulate: Simulate
    options: SimulationOptions
    names: list[str]
    header: str
    replayed: str = ""

    def run(self, seed: int) -> Iterable[Event]:
        """The history of a seed."""
        return self.simulate(seed, self.options)

    def command(self, seed: int) -> str:
        """The command that repeats the run of a seed."""
        return f"{replay_command(seed, self.options)} {self.replayed}".rstrip()


def campaign_on(subject: str, seeds: range, options: SimulationOptions, claims: ClaimOptions) -> FuzzCampaign:
    """The campaign on this subject.

    Raises: RebalanceCheckError when the subject cannot be had, or does not suit the options.
    """
    simulate: Simulate = simulator
    called, replayed = subject, ""
    if is_own(subject):
        own = own_subject(subject, claims.without)
        made = own.make(seeds[0])
        simulate, options, claims = own, own_options(options, made.actions), replace(claims, without=made.without)
    elif subject != SIMULATOR:
        simulate, called = groups_on(subject, options), f"groups on {subject}"
    if subject != SIMULATOR:
        replayed = f"--subject {subject}"
    words = f"fuzz --seeds {seeds.start}:{seeds.stop}"
    header = " ".join(filter(None, (words, options.command_line(), replayed)))
    names = [invariant.name for invariant in claims.invariants()]
    return FuzzCampaign(
        subject=called, simulate=simulate, options=options, names=names, header=header, replayed=replayed
    )


def groups_on(subject: str, options: SimulationOptions) -> Simulate:
    """Simulated groups of our members on Kafka's own coordinator.

    Raises: RebalanceCheckError when that cannot be had, or the protocol has no group.
    """
    from rebalance_check.integration.jvm.release import find_release  # noqa: PLC0415 - rarely needed
    from rebalance_check.integration.virtual.groups import VirtualGroups  # noqa: PLC0415 - rarely needed

    if options.protocol in STORES:
        raise RebalanceCheckError(
            f"the stores of --protocol {options.protocol} have no group: choose another one with --subject {subject}"
        )
    find_release(subject)
    return VirtualGroups(subject)


def asked_seeds(seeds: str | None, minutes: float | None, options: SimulationOptions) -> range:
    """The seeds that are named, or those of the search of a mutant; else 100, or as many as ``minutes`` have time for.

    Raises: RebalanceCheckError for seeds that are no range.
    """
    named = seeds or search_seeds(options.mutant)
    return parse_seeds(named) if named else range(MOST_SEEDS if minutes else DEFAULT_RUNS)
