"""The classic model as a subject: a schedule of protocol steps in, events out."""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_check.model.checker.specification import Model
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.observer.memory import HARNESS
from rebalance_check.model.classic.run import ModelRun
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RunEnded


class ModelSubject:
    """Runs one schedule on the interpreted model, or on a mutant of it; `model_run` is the run, open or just ended."""

    def __init__(self, model: Model = MODEL) -> None:
        self._model = model
        self._run: ModelRun | None = None

    @property
    def name(self) -> str:
        """``model``."""
        return "model"

    @property
    def actions(self) -> frozenset[ActionKind]:
        """The kinds of the classic model."""
        return frozenset(rule.kind for rule in MODEL.rules)

    @property
    def model_run(self) -> ModelRun:
        """The run; `RebalanceCheckError` when none was opened."""
        if self._run is None:
            raise RebalanceCheckError("no run of the model is open: call open(bounds, seed) first")
        return self._run

    def open(self, bounds: Bounds, seed: int) -> Sequence[Event]:
        """Start a run. The model is deterministic: the seed changes nothing."""
        del seed
        self._run = ModelRun(bounds, model=self._model)
        return self._run.begin()

    def perform(self, action: Action) -> Sequence[Event]:
        """Perform one action; `RebalanceCheckError` when it is not enabled."""
        return self.model_run.step(action)

    def close(self) -> Sequence[Event]:
        """End the run."""
        if self._run is None:
            return []
        return [self._run.observer.stamp(RunEnded(source=HARNESS))]
