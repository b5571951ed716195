"""Kafka's own coordinator held to the model: every transition of small bounds, and walks within bounds of any size."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from random import Random
from typing import Any, Final

from rebalance_check.impl.comparison.compare import compared, together
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference, shrunk
from rebalance_check.impl.comparison.to_model.in_process import ReferenceTransport
from rebalance_check.impl.comparison.to_model.outcome import MODEL
from rebalance_check.impl.comparison.to_model.predictions import Predictions
from rebalance_check.impl.comparison.to_model.run import ConformanceRun
from rebalance_check.impl.comparison.to_model.touring import Coordinator
from rebalance_check.impl.comparison.to_model.walk import Curiosity, Guide, Itinerary, Walk
from rebalance_check.integration.comparison.to_model.known import KNOWN
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.integration.virtual.transport import VirtualTransport
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.model.vocabulary.upgrade_paths import PATHS

CONFORMANCE: Final = "conformance"
"""The name of the claim that model, Kafka and ours do the same."""

OURS: Final = "ours"
WALKS_AT_ONCE: Final = 32
DEFAULT_STEPS: Final = 120
PROTOCOLS: Final = (RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE)

SIZES: Final = {
    "members": (1, 2, 2, 3, 3, 4), "partitions": (1, 2, 3), "generations": (4, 8, 12), "crashes": (0, 1, 2),
    "leaves": (0, 1, 2), "expiries": (0, 1, 2), "duplicates": (0, 1, 2), "deletions": (0, 1),
}  # fmt: skip


def virtual_coordinator(kafka: VirtualKafka) -> Coordinator:
    """Kafka's coordinator in virtual time, with its known differences; a seed decides its member ids."""
    return Coordinator(
        kafka.release.name, lambda seed: VirtualTransport(kafka, seed), kafka.flush, WALKS_AT_ONCE, KNOWN, kafka.release
    )


def random_bounds(random: Random) -> Bounds:
    """Bounds of any size, with any concerns that go together."""
    while True:
        try:
            return Bounds(protocol=random.choice(PROTOCOLS), **_sizes(random), **_concerns(random))
        except RebalanceCheckError:
            continue  # these do not go together


def _sizes(random: Random) -> dict[str, Any]:
    counts = {name: random.choice(choices) for name, choices in SIZES.items()}
    return {**counts, "initial_delay": random.random() < 0.5, "member_id_required": random.random() < 0.5}


def _concerns(random: Random) -> dict[str, Any]:
    """Each concern of the model is on in a third of all bounds."""
    defaults = Bounds()
    drawn: dict[str, Any] = {}
    for name in sorted(Bounds.concerns()):
        if random.random() < 1 / 3:
            count = random.randint(1, len(PATHS)) if name == "upgrade" else random.randint(1, 3)
            drawn[name] = True if isinstance(getattr(defaults, name), bool) else count
    return drawn


def walk_with_ours(kafka: VirtualKafka, bounds: Bounds, seed: int, guide: Guide) -> Walk:
    """A walk of the model, Kafka's coordinator, and ours, which follows Kafka's choices."""
    predictions = Predictions(bounds)
    run = virtual_coordinator(kafka).run(bounds, seed, predictions)
    return Walk(run, guide, ConformanceRun(ReferenceTransport(), bounds, predictions, name=OURS, seed=seed))


def walk_of(kafka: VirtualKafka, seed: int, steps: int = DEFAULT_STEPS) -> Walk:
    """The walk of a seed, at its beginning."""
    random = Random(f"guided/{seed}")
    return walk_with_ours(kafka, random_bounds(random), seed, Curiosity(random, steps))


def again(kafka: VirtualKafka, schedule: Schedule) -> Difference | None:
    """Do the actions of a schedule that are enabled."""
    return compared(walk_with_ours(kafka, schedule.bounds, schedule.seed, Itinerary(schedule.actions)))


def guided(
    kafka: VirtualKafka,
    seeds: Sequence[int],
    *,
    steps: int = DEFAULT_STEPS,
    stop_after: int = 3,
    progress: ProgressListener = ignore_progress,
) -> Compared:
    """The walks of ``seeds``, many at once, until ``stop_after`` differences are found that nothing explains.

    Each is made smaller. Of the ``walks``, so many were ``followed`` by ours to their end.
    """
    started, requests_before = time.monotonic(), kafka.requests
    coordinator = virtual_coordinator(kafka)
    result = Compared((MODEL, f"{coordinator.name} and {OURS}"), "random walks")
    walks: Iterator[Walk] = (walk_of(kafka, seed, steps) for seed in seeds)
    with closing(together(walks, kafka.flush, WALKS_AT_ONCE)) as over:
        for walk, found in over:
            result.counts.update(walks=1, steps=len(walk.steps), compared=walk.compared, followed=walk.follows)
            result.reached += walk.answers
            if found is not None:
                name = coordinator.explained(found) if found.sides[1] != OURS else ""
                result.note(found if name else smaller(kafka, found), name)
            progress("walks", result.counts["walks"], len(seeds))
            if len(result.differences) >= stop_after:
                break
    result.counts["requests"] = kafka.requests - requests_before
    result.seconds = time.monotonic() - started
    return result


def smaller(kafka: VirtualKafka, found: Difference) -> Difference:
    """The same difference with as few actions as leaving out can reach."""
    schedule: Schedule = found.start.schedule
    return shrunk(found, lambda actions: again(kafka, replace(schedule, actions=actions)))
