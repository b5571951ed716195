"""The classic model as a run: one run, stepped action by action on the interpreted model, and the events of each step.

`model.classic.subject` runs schedules on it, and scenarios of the model are written against it. Events name members
(``m0``) and the model's own member ids (``m0-2``: the second of m0).
"""

from __future__ import annotations

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.observer.memory import TOPIC
from rebalance_check.model.classic.observer.observer import Observer
from rebalance_check.model.classic.state import GroupStatus, State, has
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RequestAnswered
from rebalance_check.model.vocabulary.ids import Partition, partition


class ModelRun:
    """One run of the classic model, or of a mutant of it. ``group`` names the group in events."""

    def __init__(self, bounds: Bounds, *, model: Model = MODEL, group: str = "group") -> None:
        if bounds.protocol is RebalanceProtocol.STATUS or model.name != MODEL.name:
            raise RebalanceCheckError(f"a run speaks the protocol eager or cooperative, and not {bounds.protocol}")
        self.machine = Machine(model, bounds)
        self.bounds = bounds
        self.state: State = self.machine.initial()
        self.observer = Observer(self.machine.config, bounds, model.mutant, group)
        self.replies: list[RequestAnswered] = []

    def begin(self) -> list[Event]:
        """The events of a run that starts: call it once, before the first step, if the events are wanted."""
        return self.observer.begin()

    def enabled(self) -> list[Action]:
        """The actions that may happen now, within the bounds; always in the same order."""
        return self.machine.enabled(self.state)

    def choices(self, kind: ActionKind, member: int = 0) -> list[int]:
        """The choices with which this action may happen now; empty when it may not."""
        return [a.choice for a in self.enabled() if a.kind is kind and a.member == member]

    def step(self, action: Action) -> list[Event]:
        """Perform an action; the events that it causes, in order. ``replies`` are those of the coordinator.

        `RebalanceCheckError` when the action isn't enabled; nothing has changed then.
        """
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

    def members(self) -> list[int]:
        """The slots whose ids are members of the group."""
        return [m for m in range(self.bounds.members) if has(self.state.members, m)]

    @property
    def leader(self) -> int | None:
        """The slot that leads the group, None if it has no members."""
        return None if self.state.leader == NIL else self.state.leader

    def owned(self, member: int) -> tuple[Partition, ...]:
        """The partitions that the process owns."""
        return self.partitions(self.state.member[member].owned)

    def partitions(self, mask: int) -> tuple[Partition, ...]:
        """The names of a set of partitions."""
        return partitions_of(mask, self.bounds.partitions)


def partitions_of(mask: int, count: int) -> tuple[Partition, ...]:
    """The names of a set of partitions, in order."""
    return tuple(partition(TOPIC, p) for p in range(count) if has(mask, p))
