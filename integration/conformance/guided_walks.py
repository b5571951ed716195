"""Model-guided fuzzing: the model says what may happen, one of Kafka's coordinators and ours do it, all three compared.

A seed decides the bounds, with whatever concerns the model has, and the walk through their state graph, which prefers
what it has done least. Bounds may be far too large to be explored: a walk looks no further than the next step.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Final

from rebalance_check.impl.conformance.action_kinds import COORDINATOR_STEPS
from rebalance_check.impl.conformance.in_process import ReferenceTransport
from rebalance_check.impl.conformance.outcome import Divergence, Step
from rebalance_check.impl.conformance.predictions import Predictions
from rebalance_check.impl.conformance.run import ConformanceRun
from rebalance_check.integration.conformance.known_divergences import known
from rebalance_check.integration.conformance.pipelining import Rounds
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.integration.virtual.transport import VirtualTransport
from rebalance_check.model.checker.walks import Curious
from rebalance_check.model.registry import path_of
from rebalance_check.model.shrink import ddmin
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.model.vocabulary.upgrade_paths import PATHS

CONFORMANCE: Final = "conformance"
"""What a walk can show: that model, Kafka and ours do not do the same."""

WALKS_AT_ONCE: Final = 32
DEFAULT_STEPS: Final = 120
SHRINK_RUNS: Final = 300

PROTOCOLS: Final = (RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE)
SIZES: Final = {
    "members": (1, 2, 2, 3, 3, 4), "partitions": (1, 2, 3), "generations": (4, 8, 12), "crashes": (0, 1, 2),
    "leaves": (0, 1, 2), "expiries": (0, 1, 2), "duplicates": (0, 1, 2), "deletions": (0, 1),
}  # fmt: skip
Choose = Callable[[Sequence[Action]], Action | None]
"""Which of the enabled actions is next; None ends the walk."""


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


@dataclass(frozen=True, slots=True)
class Found:
    """A schedule that ends in a divergence, and between whom."""

    name: ClassVar = CONFORMANCE

    between: str
    schedule: Schedule
    divergence: Divergence

    def __str__(self) -> str:
        """The divergence, and how to see it again."""
        address = path_of(self.schedule).address()
        return f"[{self.name}, {self.between}, seed {self.schedule.seed}]\n{self.divergence}\n  schedule  {address}"


@dataclass(frozen=True, slots=True)
class Guided:
    """What a campaign of walks did: steps, those that the coordinator had a part in, how many walks ended in a
    divergence that is listed, how many were done on ours to their end, and what was found."""

    coordinator: str
    walks: int
    steps: int
    compared: int
    requests: int
    listed: int
    followed: int
    seconds: float
    answers: frozenset[tuple[str, str]]
    found: tuple[Found, ...]

    def __str__(self) -> str:
        """One line of figures."""
        return (
            f"{self.walks:,} walks on {self.coordinator}: {self.steps:,} steps, {self.compared:,} compared, "
            f"{self.requests:,} requests, {self.listed} end in a listed divergence, ours followed {self.followed:,} "
            f"to the end; {self.seconds:.1f} s ({self.requests / self.seconds:,.0f} requests/s), "
            f"{len(self.found)} findings"
        )


class GuidedWalk:
    """One walk: the model, Kafka's coordinator in its own environment, and ours, which follows what Kafka chose."""

    def __init__(
        self, kafka: VirtualKafka, bounds: Bounds, seed: int, choose: Choose, steps: int,
    ) -> None:  # fmt: skip
        self.bounds, self.seed = bounds, seed
        self.actions: list[Action] = []
        self.answers: set[tuple[str, str]] = set()
        self.compared = 0
        self.follows = True
        self._kafka = kafka
        self._transport = VirtualTransport(kafka, seed)
        self._predictions = Predictions(bounds)
        self._run = ConformanceRun(self._transport, bounds, self._predictions)
        self._ours = ConformanceRun(ReferenceTransport(), bounds, self._predictions)
        self._choose = choose
        self._left = steps
        self._variants: list[Action] = []

    def close(self) -> None:
        """Give the environment back."""
        self._transport.close()

    def begin(self) -> bool:
        """Go on to the next step in which the coordinator has a part, and begin it; False at the end of the walk.

        Raises `RebalanceCheckError` when the model does not do what it said may happen.
        """
        while self._left and (actions := self._run.enabled()):
            self._left -= 1
            action = self._choose(actions)
            if action is None:
                break
            self.actions.append(action)
            self._variants = [action, *(each for each in actions if each[:2] == action[:2] and each != action)]
            if not self._run.begin(action):
                raise RebalanceCheckError(f"the model says that {action} may happen, and does not do it")
            if action.kind in COORDINATOR_STEPS:
                return True
            self._follow(self._run.finish())
        self._transport.close()
        return False

    def finish(self) -> Found | None:
        """Compare what the coordinator did, and let ours do it; with a divergence the walk is over."""
        step = self._run.finish()
        self.compared += 1
        self.answers.update((answer.api, answer.error) for answer in step.answers)
        if step.divergence is not None:
            return self._end(self._kafka.release.name, step.divergence)
        divergence = self._follow(step)
        return None if divergence is None else self._end("ours", divergence)

    def _follow(self, step: Step) -> Divergence | None:
        """Ours chooses as Kafka did where it can be steered; where it cannot, it goes its own way from there."""
        if not self.follows:
            return None
        predictions, wanted = self._predictions, self._predictions.pack(step.after)
        for action in self._variants:
            after = predictions.after(self._ours.state, action)
            if after is not None and predictions.pack(after) == wanted:
                done = self._ours.perform(action)
                assert done is not None
                self.follows = predictions.pack(self._ours.state) == wanted
                return done.divergence
        self.follows = False
        return None

    def _end(self, between: str, divergence: Divergence) -> Found:
        self._transport.close()
        return Found(f"model and {between}", Schedule(self.bounds, tuple(self.actions), self.seed), divergence)


def walk_of(kafka: VirtualKafka, seed: int, steps: int = DEFAULT_STEPS) -> GuidedWalk:
    """The walk of a seed, at its beginning."""
    random = Random(f"guided/{seed}")
    bounds, curious = random_bounds(random), Curious()
    return GuidedWalk(kafka, bounds, seed, lambda actions: curious.choose(actions, random), steps)


def walked(walk: GuidedWalk) -> Found | None:
    """Walk to the end; the divergence that it ends in, if it does."""
    while walk.begin():
        found = walk.finish()
        if found is not None:
            return found
    return None


def guided(
    kafka: VirtualKafka,
    seeds: Sequence[int],
    *,
    steps: int = DEFAULT_STEPS,
    stop_after: int = 3,
    progress: ProgressListener = ignore_progress,
) -> Guided:
    """The walks of ``seeds``, many at once, until there are ``stop_after`` findings; each is made shorter."""
    started, requests_before = time.monotonic(), kafka.requests
    tally = _Tally(kafka)
    waiting = iter(seeds)

    def begun(count: int) -> Iterator[GuidedWalk]:
        return (walk_of(kafka, seed, steps) for seed in itertools.islice(waiting, count))

    def finish(walk: GuidedWalk) -> GuidedWalk | None:
        found = walk.finish()
        if found is not None:
            tally.add(walk, found)
        return walk if found is None else None

    rounds = Rounds(kafka, begun, finish, lambda walk: tally.add(walk, None), WALKS_AT_ONCE)
    while rounds.go() and len(tally.found) < stop_after:
        progress("walks", tally.walks, len(seeds))
    for walk in rounds.stop():
        walk.close()
    return Guided(
        kafka.release.name, tally.walks, tally.steps, tally.compared, kafka.requests - requests_before, tally.listed,
        tally.followed, time.monotonic() - started, frozenset(tally.answers), tuple(tally.found),
    )  # fmt: skip


class _Tally:
    """Adds up what walks did."""

    def __init__(self, kafka: VirtualKafka) -> None:
        self.walks = self.steps = self.compared = self.listed = self.followed = 0
        self.answers: set[tuple[str, str]] = set()
        self.found: list[Found] = []
        self._kafka = kafka

    def add(self, walk: GuidedWalk, found: Found | None) -> None:
        """A walk is over."""
        self.walks += 1
        self.steps += len(walk.actions)
        self.compared += walk.compared
        self.followed += walk.follows
        self.answers |= walk.answers
        if found is None:
            return
        if found.between != "model and ours" and known(self._kafka.release, found.divergence) is not None:
            self.listed += 1
        else:
            self.found.append(shorter(self._kafka, found))


def shorter(kafka: VirtualKafka, found: Found) -> Found:
    """The same divergence (one that ends in the same kind of action) with actions left out as far as that works."""
    schedule, last = found.schedule, found.schedule.actions[-1].kind

    def still_differs(actions: tuple[Action, ...]) -> Found | None:
        smaller = again(kafka, Schedule(schedule.bounds, actions, schedule.seed))
        same = smaller is not None and smaller.between == found.between and smaller.schedule.actions[-1].kind is last
        return smaller if same else None

    return ddmin(found, lambda one: one.schedule.actions, still_differs, SHRINK_RUNS)


def again(kafka: VirtualKafka, schedule: Schedule) -> Found | None:
    """Do what a schedule says, without what is not enabled."""
    waiting = list(schedule.actions)

    def next_of(actions: Sequence[Action]) -> Action | None:
        while waiting:
            action = waiting.pop(0)
            if action in actions:
                return action
        return None

    return walked(GuidedWalk(kafka, schedule.bounds, schedule.seed, next_of, len(waiting)))
