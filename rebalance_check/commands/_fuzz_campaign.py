"""What a campaign of ``rebalance-check fuzz`` runs: the simulator, scenarios, simulated groups, or the user's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rebalance_check.commands._claim_options import ClaimOptions
from rebalance_check.commands._fuzz_options import scenario_options
from rebalance_check.commands._fuzz_own import is_own, own_campaign
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import simulate as simulator
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.campaign import Pool, Simulate
from rebalance_check.pipeline.scenario_runs import KEPT, SUBJECT, scenario_command, simulate_scenario
from rebalance_check.pipeline.seed_run import replay_command
from rebalance_check.properties.catalogue import Claims

BROKER_SUBJECT: Final = "broker"
GROUPS_SUBJECT: Final = "groups"
SUBJECTS: Final = ("simulator", SUBJECT, BROKER_SUBJECT, GROUPS_SUBJECT)
"""The subjects that have a name."""


@dataclass(frozen=True, slots=True)
class AskedSeeds:
    """The seeds, and the words of a command line that ask for them."""

    seeds: range | Pool
    words: str

    @property
    def first(self) -> int:
        """The lowest seed that may run."""
        return self.seeds[0] if isinstance(self.seeds, range) else self.seeds.seeds[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzCampaign:
    """``simulate`` runs a seed under ``options``, ``names`` are the claims that judge it; ``header`` is the command as
    output begins with it, and ``replayed`` what the command that replays a seed says of the subject."""

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
        of_seed = scenario_command if self.subject == SUBJECT else replay_command
        return f"{of_seed(seed, self.options)} {self.replayed}".rstrip()


def campaign_on(
    subject: str, broker: str | None, seeds: AskedSeeds, options: SimulationOptions, claims: ClaimOptions
) -> FuzzCampaign:
    """The campaign on this subject.

    Raises: RebalanceCheckError when the subject cannot be had, or does not suit the options.
    """
    if subject == SUBJECT:
        return FuzzCampaign(
            subject=subject, simulate=simulate_scenario, options=scenario_options(options),
            names=_names(claims, KEPT), header=f"fuzz --subject {subject} {seeds.words}",
        )  # fmt: skip
    simulate: Simulate = simulator
    called, replayed = subject, ""
    if subject == GROUPS_SUBJECT:
        from rebalance_check.commands._fuzz_groups import groups_on  # noqa: PLC0415 - needs the extra 'brokers'

        simulate = groups_on(broker, options)
        called, replayed = f"{subject} on {broker}", f"--subject {subject} --broker {broker}"
    elif is_own(subject):
        simulate, options, claims = own_campaign(subject, options, claims, seeds.first)
        replayed = f"--subject {subject}"
    header = " ".join(filter(None, ("fuzz", seeds.words, options.command_line(), replayed)))
    return FuzzCampaign(
        subject=called, simulate=simulate, options=options, names=_names(claims), header=header, replayed=replayed
    )


def _names(claims: ClaimOptions, default: Claims | None = None) -> list[str]:
    return [invariant.name for invariant in claims.invariants(default)]
