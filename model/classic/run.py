"""The classic model as a run: one run, stepped action by action on the interpreted model, and the events of each step.

`model.classic.subject` runs schedules on it, and scenarios of the model are written against it. Events name members
(``m0``) and the model's own member ids (``m0-2``: the second of m0).

The model itself only has states: which member is in the group, which message is in flight. Its events come from an
`Observer`, which compares the states before and after each step. So the model is judged by the same invariants on
events as the simulator and real brokers. Exploration does not use this module: it needs no events, and is faster
without them (`model.checker.safety`).
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
from rebalance_check.model.vocabulary.bounds import GROUP_PROTOCOLS, Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RequestAnswered
from rebalance_check.model.vocabulary.ids import Partition, partition


class ModelRun:
    """One run of the classic model, or of a mutant of it. ``group`` names the group in events.

    ``state`` is the present state, changed in place by `step`; ``replies`` are the coordinator's replies of the last
    step. `enabled` lists what may happen next, and `step` performs one of those actions.

    Raises `RebalanceCheckError` for bounds of a protocol of Connect, and for a model other than the classic one: the
    observer reads the classic state.
    """

    def __init__(self, bounds: Bounds, *, model: Model = MODEL, group: str = "group") -> None:
        if bounds.protocol not in GROUP_PROTOCOLS or model.name != MODEL.name:
            raise RebalanceCheckError(f"a run speaks the protocol eager or cooperative, and not {bounds.protocol}")
        self.machine = Machine(model, bounds)
        self.bounds = bounds
        self.state: State = self.machine.initial()
        self.observer = Observer(self.machine.config, bounds, model.mutant, group)
        self.replies: list[RequestAnswered] = []

    def begin(self) -> list[Event]:
        """The events of a run that starts: call it once, before the first step, if the events are wanted.

        They say which model and bounds run, and that each process has started.
        """
        return self.observer.begin()

    def enabled(self) -> list[Action]:
        """The actions that may happen now, within the bounds; always in the same order.

        The order is that of the rules, then members, then choices. Paths depend on it: an address writes each action as
        its index in this list.
        """
        return self.machine.enabled(self.state)

    def choices(self, kind: ActionKind, member: int = 0) -> list[int]:
        """The choices with which this action may happen now; empty when it may not.

        A choice resolves what the protocol leaves open: which member leads, which legal assignment the leader computes.
        """
        return [a.choice for a in self.enabled() if a.kind is kind and a.member == member]

    def step(self, action: Action) -> list[Event]:
        """Perform an action; the events that it causes, in order. ``replies`` are those of the coordinator.

        ``replies`` leaves out requests that end without a reply (``error`` is None: a connection broke).

        Raises `RebalanceCheckError` when the action isn't enabled; nothing has changed then.
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
        """Whether the coordinator holds back an answer under the member's id.

        It does for a JoinGroup until the join phase ends, and for a SyncGroup until the leader's arrives.
        """
        return has(self.state.joined | self.state.synced, member)

    def members(self) -> list[int]:
        """The slots whose ids are members of the group, in order.

        The coordinator's view: the process of a slot may have crashed, or may not know yet that it is a member.
        """
        return [m for m in range(self.bounds.members) if has(self.state.members, m)]

    @property
    def leader(self) -> int | None:
        """The slot that leads the group, None if it has no members."""
        return None if self.state.leader == NIL else self.state.leader

    def owned(self, member: int) -> tuple[Partition, ...]:
        """The partitions that the process owns: its own view, which may lag behind the coordinator's assignment."""
        return self.partitions(self.state.member[member].owned)

    def partitions(self, mask: int) -> tuple[Partition, ...]:
        """The names of a set of partitions, given as the model has it: a bit mask, bit p for partition p."""
        return partitions_of(mask, self.bounds.partitions)


def partitions_of(mask: int, count: int) -> tuple[Partition, ...]:
    """The names of a set of partitions, in order.

    ``mask`` has bit p set for partition p; ``count`` is the number of partitions of the topic, not of the set.
    """
    return tuple(partition(TOPIC, p) for p in range(count) if has(mask, p))
