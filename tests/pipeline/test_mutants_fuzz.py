"""Every planted defect is caught by the invariant it names, and the clean build breaks none: else no pass counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.impl.mutants import IMPL_MUTANTS, FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.model.vocabulary.events import GroupDescribed, ReplyReceived
from rebalance_check.pipeline.seed_run import replay_command, run_seed
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.verdict import Outcome

FUZZED = [mutant for mutant in IMPL_MUTANTS.values() if isinstance(mutant.find, FuzzSearch)]
COMMON = (SimulatedProtocol.EAGER, SimulatedProtocol.CONNECT)
PROTOCOLS = [protocol for protocol in SimulatedProtocol if protocol is not SimulatedProtocol.MIXED]


def is_violated(seed: int, mutant: Mutant, planted: str) -> bool:
    assert isinstance(mutant.find, FuzzSearch)
    options = replace(mutant.find.options, mutant=planted)
    return run_seed(seed, options, select([mutant.caught_by])).counterexample is not None


@pytest.mark.parametrize("mutant", FUZZED, ids=lambda mutant: mutant.name)
def test_the_mutant_is_caught_by_the_invariant_it_names__which_holds_without_it(mutant: Mutant) -> None:
    assert isinstance(mutant.find, FuzzSearch)
    seeds = range(mutant.find.first, mutant.find.last)
    caught = next((seed for seed in seeds if is_violated(seed, mutant, mutant.name)), None)
    assert caught is not None
    assert not is_violated(caught, mutant, "")


def clean(protocol: SimulatedProtocol, seeds: range) -> dict[int, str]:
    """The seeds in whose run a claim of the catalogue is violated or undecided, each with what was said."""
    options = SimulationOptions(protocol=protocol)
    found = {}
    for seed in seeds:
        result = run_seed(seed, options)
        fine = {Outcome.HELD, Outcome.UNTESTED}
        wrong = {name: verdict for name, verdict in result.verdicts.items() if verdict.outcome not in fine}
        if wrong or result.pending:
            found[seed] = f"{replay_command(seed, options)}: {wrong} {result.pending}"
    return found


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_clean_build_holds_every_invariant(protocol: SimulatedProtocol) -> None:
    assert clean(protocol, range(100)) == {}


@pytest.mark.nightly
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_clean_build_holds_every_invariant__in_many_more_runs(protocol: SimulatedProtocol) -> None:
    assert clean(protocol, range(100, 10_000)) == {}


SILENT = {
    "only_empty_groups_are_deleted",  # no group is deleted in the simulator; scenarios delete some, and are judged, too
    "wire_cooperative_hand_over",  # this and what follows is seen on the wire alone
    "wire_fenced_member_stops",
    "wire_instance_id_is_sent",
    "wire_leader_assigns_all_partitions",
    "wire_leader_assigns_its_members",
    "wire_metadata_is_readable",
    "wire_skipped_assignment_is_empty",
    "wire_static_restart",
}
OF_STEPS = frozenset({GroupDescribed, ReplyReceived})
ELSEWHERE = [
    one for one in CATALOGUE
    if one.name in SILENT or all(way[0] <= OF_STEPS for way in one.needs)
]  # fmt: skip
"""Those that read what is not simulated: the group as a scenario describes it after each step, or a wire."""


MANY: Final = 300
"""So many seeds are tried for what few runs put to the test: a LeaveGroup that waits for a write, say."""


def test_every_invariant_has_something_to_say__on_clean_runs() -> None:
    silent = [invariant for invariant in CATALOGUE if invariant not in ELSEWHERE]
    for seed in range(MANY):
        for protocol in PROTOCOLS if seed < 10 else COMMON:
            if silent:
                verdicts = run_seed(seed, SimulationOptions(protocol=protocol), silent).verdicts
                silent = [one for one in silent if not getattr(verdicts[one.name], "checked_events", 0)]
    assert [invariant.name for invariant in silent] == []


def test_an_invariant_for_other_runs_has_nothing_to_say__on_clean_runs() -> None:
    for seed in range(10):
        for protocol in PROTOCOLS:
            verdicts = run_seed(seed, SimulationOptions(protocol=protocol), ELSEWHERE).verdicts
            assert not any(getattr(verdict, "checked_events", 0) for verdict in verdicts.values())
