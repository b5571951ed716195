"""``rebalance-check fuzz --broker virtual``: random scenarios for Kafka's own coordinator and for ours."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.impl.scenarios.random_lines import DEFAULT_STEPS
from rebalance_check.impl.scenarios.random_scenarios import timeless_scenario
from rebalance_check.integration.brokers import open_broker
from rebalance_check.integration.brokers.counterpart import virtual_counterpart
from rebalance_check.integration.conformance.guided_walks import CONFORMANCE, Found, Guided, guided
from rebalance_check.integration.conformance.guided_walks import DEFAULT_STEPS as WALK_STEPS
from rebalance_check.integration.differential import hold_equal
from rebalance_check.integration.differential.campaign import Campaign, Finding, campaign
from rebalance_check.integration.differential.side_by_side import DIFFERENTIAL, NAMES
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.virtual import VirtualKafka, find_release
from rebalance_check.integration.virtual.release import is_virtual
from rebalance_check.model.registry import path_of
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.exit_codes import exit_code_of
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import ClaimResult

TOPIC: Final = ("t", 2)
"""The topic of the scenarios, with its partitions."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a campaign should do: ``steps`` lines of a scenario or actions of a walk, by default what each takes;
    ``names`` are claims, `differential` or `CONFORMANCE`, by default all, each given up after ``variants`` findings;
    ``minutes``: go on with further seeds until they are over."""

    seeds: range
    steps: int | None = None
    names: tuple[str, ...] = ()
    variants: int = 1
    minutes: float = 0.0


def fuzz_broker(console: Console, broker: str, wanted: Wanted, ci: CiOptions) -> int:
    """Tell scenarios to Kafka's coordinator and walk with it through the model, and show what was found, shrunk.

    A broker that is not virtual runs timeless scenarios, and so does the virtual Kafka of its release.

    Raises `RebalanceCheckError` when a name is no invariant of this judge.
    """
    if not is_virtual(broker):
        return compare_live_and_virtual(console, broker, wanted.seeds, wanted.steps or DEFAULT_STEPS, ci)
    names = wanted.names or (*NAMES, CONFORMANCE)
    unknown = [name for name in names if name not in (*NAMES, CONFORMANCE)]
    if unknown:
        known = ", ".join((*NAMES, CONFORMANCE))
        raise RebalanceCheckError(f"a broker is not judged by {unknown[0]!r}: choose among {known}")
    found: list[Finding | Found] = []
    rounds: list[Campaign | Guided] = []
    with VirtualKafka(find_release(broker)) as kafka:
        for seeds in rounds_of(wanted):
            left = [name for name in names if all(each.name != name for each in found)]
            for done in one_round(console, kafka, seeds, left, wanted):
                rounds.append(done)
                found += done.found
                for each in done.found:
                    console.say(f"\n{each}\n")
                console.say(str(done))
    outcome = Outcome.VIOLATED if found else Outcome.HELD
    code = exit_code_of(outcome)
    ci.write(console, "fuzz", lambda: results_of(broker, names, found), code)
    steps = sum(each.steps for each in rounds)
    console.say(verdict_line(outcome, [each.name for each in found], f"{steps:,} steps compared or judged"))
    return console.finish(document_of(rounds, found), code)


def results_of(broker: str, names: Sequence[str], found: Sequence[Finding | Found]) -> list[ClaimResult]:
    """Each finding, and each name without one, for CI systems."""
    broken = [ClaimResult(subject=broker, claim=each.name, outcome=Outcome.VIOLATED, text=str(each)) for each in found]
    whole = [name for name in names if name not in {each.name for each in found}]
    return broken + [ClaimResult(subject=broker, claim=name, outcome=Outcome.HELD) for name in whole]


def rounds_of(wanted: Wanted) -> Iterator[range]:
    """The seeds; with minutes, as many further ones until these are over."""
    deadline = time.monotonic() + 60 * wanted.minutes
    seeds = wanted.seeds
    yield seeds
    while time.monotonic() < deadline:
        seeds = range(seeds.stop, seeds.stop + max(1, len(seeds)))
        yield seeds


def one_round(
    console: Console, kafka: VirtualKafka, seeds: range, names: Sequence[str], wanted: Wanted
) -> Iterator[Campaign | Guided]:
    """The scenarios and the walks of some seeds."""
    scenarios = [name for name in names if name != CONFORMANCE]
    with console.progress() as advance:
        if scenarios:
            yield campaign(
                kafka, seeds, steps=wanted.steps or DEFAULT_STEPS, names=scenarios, variants=wanted.variants,
                progress=advance,
            )  # fmt: skip
        if CONFORMANCE in names:
            yield guided(
                kafka, seeds, steps=wanted.steps or WALK_STEPS,
                progress=advance,
            )  # fmt: skip


def compare_live_and_virtual(console: Console, broker: str, seeds: range, steps: int, ci: CiOptions) -> int:
    """Run the same scenarios on a live broker and on the virtual Kafka of its release, and show where they differ."""
    with open_broker(broker) as opened, VirtualKafka(virtual_counterpart(opened)) as kafka:
        create_topic(opened.bootstrap, *TOPIC)
        result = hold_equal(opened, kafka, [timeless_scenario(seed, steps=steps) for seed in seeds])
    for parted in result.parted:
        console.say(f"\n{parted}\n")
    console.say(str(result))
    outcome = Outcome.VIOLATED if result.parted else Outcome.HELD
    code = exit_code_of(outcome)
    one = ClaimResult(subject=broker, claim=DIFFERENTIAL, outcome=outcome, text="\n".join(map(str, result.parted)))
    ci.write(console, "fuzz", lambda: [one], code)
    same = result.scenarios - len(result.parted)
    names = [DIFFERENTIAL] if result.parted else []
    console.say(verdict_line(outcome, names, f"{same:,} of {result.scenarios:,} scenarios have the same replies"))
    return console.finish(asdict(result), code)


def document_of(rounds: Sequence[Campaign | Guided], found: Sequence[Finding | Found]) -> dict[str, Any]:
    """The JSON form of a campaign."""
    campaigns = [each for each in rounds if isinstance(each, Campaign)]
    walks = [each for each in rounds if isinstance(each, Guided)]
    return {
        "broker": rounds[0].coordinator,
        "scenarios": sum(each.scenarios for each in campaigns),
        "walks": sum(each.walks for each in walks),
        "steps": sum(each.steps for each in rounds),
        "requests": sum(each.requests for each in rounds),
        "seconds": round(sum(each.seconds for each in rounds), 3),
        "findings": [finding_document(each) for each in found],
    }


def finding_document(found: Finding | Found) -> dict[str, Any]:
    """A scenario, or the address of a schedule."""
    if isinstance(found, Finding):
        return {"name": found.name, "seed": found.seed, "scenario": list(found.scenario), "shown": list(found.shown)}
    path = path_of(found.schedule)
    return {"name": found.name, "seed": found.schedule.seed, "address": path.address(), "shown": str(found.divergence)}
