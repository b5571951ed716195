"""``rebalance-check compare ours virtual``: random scenarios for Kafka's own coordinator and for ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._compare_report import finish, say_compared
from rebalance_check.commands._console import Console, said_at_interruption
from rebalance_check.commands._options import over_after
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.impl.comparison.to_model.outcome import Disagreement
from rebalance_check.impl.scenarios.random_lines import DEFAULT_STEPS
from rebalance_check.integration.comparison.scenarios.campaign import campaign
from rebalance_check.integration.comparison.scenarios.run import NAMES
from rebalance_check.integration.comparison.to_model.kafka import CONFORMANCE, guided
from rebalance_check.integration.comparison.to_model.kafka import DEFAULT_STEPS as WALK_STEPS
from rebalance_check.integration.virtual import VirtualKafka, find_release
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@dataclass(frozen=True, slots=True)
class Wanted:
    """The campaign to run: ``steps`` lines of a scenario or actions of a walk, by default what each takes;
    ``names`` are claims, `differential` or `CONFORMANCE`, by default all, each given up after a finding;
    ``minutes``: go on with further seeds until they are over."""

    seeds: range
    steps: int | None = None
    names: tuple[str, ...] = ()
    minutes: float | None = None


def compare_with_virtual(console: Console, broker: str, wanted: Wanted, ci: CiOptions) -> int:
    """Tell scenarios to Kafka's coordinator and walk with it through the model, and show the findings, shrunk.

    Raises `RebalanceCheckError` when a name is no invariant of this judge.
    """
    names = wanted.names or (*NAMES, CONFORMANCE)
    unknown = [name for name in names if name not in (*NAMES, CONFORMANCE)]
    if unknown:
        known = ", ".join((*NAMES, CONFORMANCE))
        raise RebalanceCheckError(f"a coordinator is not judged by {unknown[0]!r} here: choose among {known}")
    parts: list[Compared] = []

    def so_far() -> str:
        steps = sum(each.counts["steps"] for each in parts)
        return (
            f"{steps:,} steps are compared, {sum(len(each.differences) for each in parts)} differences are shown above"
        )

    with said_at_interruption(so_far), VirtualKafka(find_release(broker)) as kafka:
        for seeds in rounds_of(wanted):
            found = {claim_of(each) for part in parts for each in part.differences}
            for done in one_round(console, kafka, seeds, [name for name in names if name not in found], wanted):
                parts.append(done)
                say_compared(console, [done])
    return finish(console, summed(parts), ci, claims=names, named=claim_of)


def claim_of(found: Difference) -> str:
    """`CONFORMANCE`, `differential`, or the invariant that Kafka violates."""
    name: str = CONFORMANCE if isinstance(found.start, Disagreement) else found.start.name
    return name


def summed(parts: Sequence[Compared]) -> list[Compared]:
    """Scenarios and walks, each with the figures of all rounds."""
    found: dict[str, Compared] = {}
    for part in parts:
        found.setdefault(part.about, Compared(part.sides, part.about)).add(part)
    return list(found.values())


def rounds_of(wanted: Wanted) -> Iterator[range]:
    """The seeds; with minutes, as many further ones until these are over."""
    is_over = over_after(wanted.minutes)
    seeds = wanted.seeds
    yield seeds
    while wanted.minutes is not None and not is_over():
        seeds = range(seeds.stop, seeds.stop + max(1, len(seeds)))
        yield seeds


def one_round(
    console: Console, kafka: VirtualKafka, seeds: range, names: Sequence[str], wanted: Wanted
) -> Iterator[Compared]:
    """The scenarios and the walks of some seeds."""
    scenarios = [name for name in names if name != CONFORMANCE]
    with console.progress() as advance:
        if scenarios:
            yield campaign(kafka, seeds, steps=wanted.steps or DEFAULT_STEPS, names=scenarios, progress=advance)
        if CONFORMANCE in names:
            yield guided(kafka, seeds, steps=wanted.steps or WALK_STEPS, progress=advance)
