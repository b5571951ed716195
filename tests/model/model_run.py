"""One run of the classic model, stepped action by action, and the events of each step: for tests and scenarios."""

from __future__ import annotations

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.observer.memory import TOPIC
from rebalance_check.model.classic.observer.observer import Observer
from rebalance_check.model.classic.state import GroupStatus, State, has
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RequestAnswered
from rebalance_check.model.vocabulary.ids import Partition, partition


class ModelRun:
    """``state`` is the present state, changed in place by `step`; ``replies`` are the coordinator's of the last step."""

    def __init__(self, bounds: Bounds, *, model: Model = MODEL) -> None:
        self.machine = Machine(model, bounds)
        self.bounds = bounds
        self.state: State = self.machine.initial()
        self.observer = Observer(self.machine.config, bounds, model.mutant, "group")
        self.replies: list[RequestAnswered] = []

    def begin(self) -> list[Event]:
        """The events of a run that starts, before the first step."""
        return self.observer.begin()

    def enabled(self) -> list[Action]:
        """The actions that may happen now."""
        return self.machine.enabled(self.state)

    def choices(self, kind: ActionKind, member: int = 0) -> list[int]:
        """The choices with which this action may happen now; empty when it may not."""
        return [a.choice for a in self.enabled() if a.kind is kind and a.member == member]

    def step(self, action: Action) -> list[Event]:
        """Perform an action; the events that it causes, in order."""
        before = self.machine.copy(self.state)
        if not self.machine.step(self.state, action):
            listed = ", ".join(map(str, self.enabled())) or "none"
            raise RebalanceCheckError(f"{action} is not enabled in this state of the model; enabled are: {listed}")
        events = self.observer.observe(action, before, self.state)
        self.replies = [event for event in events if isinstance(event, RequestAnswered) and event.error is not None]
        return events

    @property
    def status(self) -> GroupStatus:
        """The coordinator's status of the group."""
        return GroupStatus(self.state.status)

    def is_parked(self, member: int) -> bool:
        """Whether the coordinator holds back an answer under the member's id."""
        return has(self.state.joined | self.state.synced, member)

    def owned(self, member: int) -> tuple[Partition, ...]:
        """The partitions that the process owns by its own view."""
        mask = self.state.member[member].owned
        return tuple(partition(TOPIC, p) for p in range(self.bounds.partitions) if has(mask, p))
