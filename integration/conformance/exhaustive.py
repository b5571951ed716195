"""Every transition of a bounded model, executed on virtual Kafka, and every answer compared with the model's.

A JVM's state cannot be copied, so the transitions are covered by walks from the empty group. Many walks go at once,
each in a environment of its own; their requests travel together.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Final

from rebalance_check.impl.conformance.action_kinds import COORDINATOR_STEPS
from rebalance_check.impl.conformance.exhaustive import DivergentSchedule, ExhaustiveResult
from rebalance_check.impl.conformance.outcome import Step
from rebalance_check.impl.conformance.predictions import Predictions
from rebalance_check.impl.conformance.run import ConformanceRun
from rebalance_check.integration.conformance.known_divergences import known
from rebalance_check.integration.conformance.pipelining import Rounds
from rebalance_check.integration.conformance.tour import Tour
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.integration.virtual.transport import VirtualTransport
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.model.vocabulary.schedule import Schedule

WALKS_AT_ONCE: Final = 32

SEEDS: Final = 16
"""How many seeds the walks share: enough for every leader to be chosen; messages that are equal are translated once."""


class _Walk:
    """One walk after another in one environment."""

    def __init__(self, transport: VirtualTransport, tour: Tour, predictions: Predictions, seeds: Iterator[int]) -> None:
        self.walks = self.steps = self.compared = self.unlisted = 0
        self.answers: set[tuple[str, str]] = set()
        self.divergences: list[DivergentSchedule] = []
        self._transport, self._tour, self._bounds = transport, tour, predictions.machine.bounds
        self._predictions = predictions
        self._seeds = seeds
        self._run: ConformanceRun | None = None
        self._at = b""
        self._plan: list[Action] = []
        self._actions: list[Action] = []

    def begin(self) -> bool:
        """Go on to the next step in which the coordinator has a part, and begin it; False when nothing is left."""
        while True:
            action = self._next_action()
            if action is None:
                return False
            assert self._run is not None
            if not self._run.begin(action):
                self._plan.clear()
            elif action.kind in COORDINATOR_STEPS:
                return True
            else:
                self._arrive(self._run.finish())

    def finish(self) -> _Walk:
        """Compare what the coordinator did, and go on."""
        assert self._run is not None
        step = self._run.finish()
        self.compared += 1
        self.answers.update((answer.api, answer.error) for answer in step.answers)
        self._arrive(step)
        return self

    def close(self) -> None:
        """Give the environment back."""
        self._transport.close()

    def _next_action(self) -> Action | None:
        if self._run is not None and not self._plan:
            self._plan = self._tour.onward(self._at)
            if not self._plan:
                self._run = None
        if self._run is None and not self._restart():
            return None
        if not self._plan:
            self._plan = self._tour.onward(self._at)
        return self._plan.pop(0)

    def _restart(self) -> bool:
        way = self._tour.way()
        if way is None:
            return False
        self.walks += 1
        self._transport.seed = next(self._seeds)
        self._run = ConformanceRun(self._transport, self._bounds, self._predictions)
        self._at = self._predictions.pack(self._run.state)
        self._plan, self._actions = way, []
        return True

    def _arrive(self, step: Step) -> None:
        """Where the step led: as planned, elsewhere, or to a divergence."""
        assert self._run is not None
        self.steps += 1
        self._actions.append(step.action)
        if step.divergence is not None:
            self._tour.close(self._at, step.action)
            schedule = Schedule(self._bounds, tuple(self._actions), self._transport.seed)
            self.unlisted += known(self._transport.kafka.release, step.divergence) is None
            self.divergences.append(DivergentSchedule(schedule, step.divergence))
            self._run, self._plan = None, []
            return
        after = self._predictions.pack(step.after)
        self._tour.take(self._at, step.action, after)
        self._at = after


def conform(
    kafka: VirtualKafka,
    bounds: Bounds,
    *,
    seed: int = 0,
    stop_after: int = 10,
    walks_at_once: int = WALKS_AT_ONCE,
    progress: ProgressListener = ignore_progress,
) -> ExhaustiveResult:
    """Execute every transition within ``bounds``, or until there are ``stop_after`` divergences that are not listed.

    ``seed`` is the first of those that the walks take turns with, so that other members lead.
    """
    started = time.monotonic()
    tour, predictions = Tour(bounds), Predictions(bounds)
    requests_before = kafka.requests
    seeds = itertools.cycle(range(seed, seed + SEEDS))
    walks = [_Walk(VirtualTransport(kafka), tour, predictions, seeds) for _ in range(walks_at_once)]
    waiting = iter(walks)
    rounds = Rounds(kafka, lambda count: itertools.islice(waiting, count), _Walk.finish, lambda _: None, walks_at_once)
    while rounds.go() and sum(walk.unlisted for walk in walks) < stop_after:
        progress("transitions", tour.taken, tour.transitions)
    rounds.stop()
    for walk in walks:
        walk.close()
    return ExhaustiveResult(
        bounds=bounds,
        coordinator=kafka.release.name,
        states=tour.states,
        transitions=tour.transitions,
        executed=tour.taken,
        never_taken=len(tour.never_taken),
        walks=sum(walk.walks for walk in walks),
        steps=sum(walk.steps for walk in walks),
        compared=sum(walk.compared for walk in walks),
        requests=kafka.requests - requests_before,
        seconds=time.monotonic() - started,
        answers=frozenset().union(*(walk.answers for walk in walks)),
        divergences=tuple(found for walk in walks for found in walk.divergences),
    )
