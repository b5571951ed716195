"""The same walk on Kafka's own coordinator in virtual time: its replies next to those of the model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from rebalance_check.browser.errors import RequestRefused
from rebalance_check.impl.conformance.action_kinds import COORDINATOR_STEPS
from rebalance_check.impl.conformance.answers import Answer, predicted_answers
from rebalance_check.impl.conformance.outcome import Divergence, Step
from rebalance_check.impl.conformance.predictions import Predictions
from rebalance_check.impl.conformance.run import ConformanceRun
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.classic.model import MODEL as CLASSIC
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.ids import NO_GENERATION

if TYPE_CHECKING:
    from rebalance_check.integration.virtual import VirtualKafka

VIRTUAL: Final = "virtual"
"""The release that is taken where none is named."""

ENDS_WITHIN_S: Final = 5.0
"""How long the end waits for a walk that goes on."""

SEEDS: Final = range(32)
"""Kafka's hash order, which a seed decides, chooses leaders: of so many seeds one may choose as the walk does."""


@dataclass(frozen=True, slots=True)
class _Followed:
    """How far Kafka went along a walk: a step for each action, None where an earlier choice of Kafka left it behind."""

    seed: int
    steps: Sequence[Step | None]
    divergence: Divergence | None

    @property
    def is_whole(self) -> bool:
        """Whether Kafka took every step as the walk has it."""
        return self.divergence is None and None not in self.steps


class KafkaWalks:
    """A virtual Kafka, started at the first walk and kept; ``spec`` is ``virtual``, ``virtual:3.9.2`` and the like."""

    def __init__(self, spec: str = VIRTUAL) -> None:
        self._spec = spec
        self._lock = threading.Lock()  # its process serves one thread
        self._kafka: VirtualKafka | None = None

    def close(self) -> None:
        """End the process; one that is still on its way, such as to jars that are fetched, ends with this program."""
        if self._lock.acquire(timeout=ENDS_WITHIN_S):
            try:
                self._end()
            finally:
                self._lock.release()

    def _end(self) -> None:
        if self._kafka is not None:
            self._kafka.close()
            self._kafka = None

    def follow(self, address: str) -> dict[str, Any]:
        """The replies of Kafka to the walk of an address, and those of the model.

        Raises: RebalanceCheckError when Kafka cannot be had, or the walk is no consumer group's.
        """
        path = path_at(address)
        if path.model.name != CLASSIC.name:
            raise RebalanceCheckError(
                f"Kafka follows walks of consumer groups, and these bounds are of {path.bounds.protocol}: choose eager "
                "or cooperative"
            )
        with self._lock:
            try:
                return _document(path, self._follow(path), self._started().release.name)
            except Exception:  # the process may have ended: the next walk begins with a new one
                self._end()
                raise

    def _started(self) -> VirtualKafka:
        """The process.

        Raises: RequestRefused where there is no JDK, there are no jars, or the extra is not installed.
        """
        if self._kafka is None:
            try:
                from rebalance_check.integration.virtual import VirtualKafka, find_release  # noqa: PLC0415 - an extra

                self._kafka = VirtualKafka(find_release(self._spec))
            except ModuleNotFoundError as fault:
                needs = "Kafka in virtual time needs the extra 'brokers': pip install 'rebalance-check[brokers]'"
                raise RequestRefused(HTTPStatus.SERVICE_UNAVAILABLE, needs) from fault
            except RebalanceCheckError as fault:
                raise RequestRefused(HTTPStatus.SERVICE_UNAVAILABLE, str(fault)) from fault
        return self._kafka

    def _follow(self, path: Path) -> _Followed:
        """The first seed with which Kafka follows to the end, or else the one with which it follows furthest."""
        best: _Followed | None = None
        for seed in SEEDS:
            followed = self._run(path, seed)
            if followed.is_whole or followed.divergence is not None:
                return followed
            if best is None or followed.steps.index(None) > best.steps.index(None):
                best = followed
        assert best is not None
        return best

    def _run(self, path: Path, seed: int) -> _Followed:
        from rebalance_check.integration.virtual import VirtualTransport  # noqa: PLC0415 - needs an extra

        run = ConformanceRun(VirtualTransport(self._started(), seed), path.bounds, Predictions(path.bounds, path.model))
        steps: list[Step | None] = []
        try:
            for action in path.actions:
                steps.append(run.perform(action))
                if steps[-1] is None or run.divergence is not None:
                    break
        finally:
            run.close()
        steps += [None] * (len(path.actions) - len(steps))
        return _Followed(seed, steps, run.divergence)


def _document(path: Path, followed: _Followed, name: str) -> dict[str, Any]:
    """Each step with the replies of the model and of Kafka; those of Kafka are null from where it was left behind."""
    predicted = _predicted(path)
    divergence = followed.divergence
    return {
        "name": name,
        "seed": followed.seed,
        "whole": followed.is_whole,
        "divergence": str(divergence) if divergence else "",
        "diverged": divergence.step if divergence else None,
        "steps": [
            {
                "action": str(action),
                "coordinator": action.kind in COORDINATOR_STEPS,
                "model": list(map(words_of, answers)),
                "kafka": None if step is None else list(map(words_of, step.answers)),
            }
            for action, answers, step in zip(path.actions, predicted, followed.steps, strict=True)
        ],
    }


def _predicted(path: Path) -> list[tuple[Answer, ...]]:
    """The replies that the model gives at each step; a step of a member has none."""
    states, config = path.run().states, path.machine.config
    return [
        predicted_answers(action, before, after, config, path.bounds) if action.kind in COORDINATOR_STEPS else ()
        for action, (before, after) in zip(path.actions, pairwise(states), strict=True)
    ]


def words_of(answer: Answer) -> str:
    """A reply in words: ``m0: JoinGroup NONE, generation 1, leader m0``."""
    said = [f"{answer.api} {answer.error}"]
    if answer.generation != NO_GENERATION:
        said.append(f"generation {answer.generation}")
    if answer.leader:
        said.append(f"leader {answer.leader}")
    said += [f"{claim.member} owns {' '.join(claim.partitions) or 'nothing'}" for claim in answer.claims]
    if answer.assignment:
        said.append(f"assigned {' '.join(answer.assignment)}")
    return f"{answer.member}: {', '.join(said)}"
