"""A coordinator under test as a `Subject`: actions in, events out, differences kept as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.impl.comparison.to_model.action_kinds import COORDINATOR_STEPS
from rebalance_check.impl.comparison.to_model.answers import Answer
from rebalance_check.impl.comparison.to_model.outcome import Step
from rebalance_check.impl.comparison.to_model.requests import GROUP_ID
from rebalance_check.impl.comparison.to_model.run import ConformanceRun
from rebalance_check.impl.comparison.to_model.transport import Transport
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.observer.member_ids import slots_by_prefix
from rebalance_check.model.classic.observer.memory import COORDINATOR, HARNESS
from rebalance_check.model.classic.observer.observer import Observer
from rebalance_check.model.classic.reachable import all_members_are_stable
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RequestAnswered, RunEnded, RunStarted

ACTIONS = frozenset(rule.kind for rule in MODEL.rules)
"""The actions of such a subject: the protocol steps of the classic model."""


class ConformanceSubject:
    """The coordinator behind ``transport``, called ``name``, driven by the model's clients.

    Events of members are the model's, which the members are; answers are those that the coordinator gave. Where
    ``recorded`` is the list that the coordinator's recorder fills, its other events are in the history, too.
    ``difference`` is where the run left the model: from there on nothing is performed. ``skipped`` counts actions
    that were not enabled any more because the coordinator had chosen another leader than the schedule.
    """

    def __init__(self, name: str, transport: Transport, recorded: list[Event] | None = None) -> None:
        self.name = name
        self.actions = ACTIONS
        self.skipped = 0
        self._transport = transport
        self._recorded = [] if recorded is None else recorded
        self._run: ConformanceRun | None = None
        self._seed = 0

    @property
    def conformance(self) -> ConformanceRun:
        """The run that is open. Raises `RebalanceCheckError` when no run is open."""
        if self._run is None:
            raise RebalanceCheckError(f"no run is open on {self.name}: open one before actions are performed")
        return self._run

    @property
    def difference(self) -> Difference | None:
        """Where model and coordinator disagreed, if they did."""
        return None if self._run is None else self._run.difference

    def open(self, bounds: Bounds, seed: int) -> Sequence[Event]:
        """Start a run; ``seed`` is noted in its first event and decides nothing."""
        self._recorded.clear()
        self.skipped = 0
        self._run = ConformanceRun(self._transport, bounds, name=self.name, seed=seed)
        self._observer = Observer(self._run.machine.config, bounds, "", GROUP_ID)
        begun = self._observer.begin()
        return [replace(e, subject=self.name, seed=seed) if isinstance(e, RunStarted) else e for e in begun]

    def perform(self, action: Action) -> Sequence[Event]:
        """Do one action; its events. Nothing happens once there is a difference, or when it is not enabled."""
        if self.difference is not None:
            return []
        step = self.conformance.perform(action)
        if step is None:
            self.skipped += 1
            return []
        return self._events(step)

    def close(self) -> Sequence[Event]:
        """End the run. `RunEnded` follows only where the group came to rest: elsewhere the schedule stopped too early
        to say whether it would have, so claims of progress stay undecided."""
        if self._run is None:
            return []
        self._run.close()
        at_rest = all_members_are_stable(self._run.machine.config, self._run.state)
        return (
            [self._observer.stamp(RunEnded(source=HARNESS, pending=()))] if at_rest and self.difference is None else []
        )

    def _events(self, step: Step) -> list[Event]:
        """The events of the coordinator, then its answers; or those of the member."""
        if step.action.kind not in COORDINATOR_STEPS:
            return self._observer.observe(step.action, step.before, step.after)
        recorded = [replace(event, source=COORDINATOR) for event in self._recorded]
        self._recorded.clear()
        if step.action.kind is ActionKind.HEARTBEAT_DURING_SYNC:  # member and coordinator both have a part in it
            self._observer.memory.steps += 1
            both = self._observer.heartbeat_during_sync(step.action.member, step.before, step.after)
            return [self._observer.stamp(event) for event in [*recorded, *both]]
        slots = slots_by_prefix(step.after)
        answered = [self._answered(answer, slots) for answer in step.answers if answer.member in self._members]
        self._note(step)
        return [self._observer.stamp(event) for event in [*recorded, *answered]]

    def _note(self, step: Step) -> None:
        """Let the observer remember the step, whose events are the model's and not wanted here."""
        numbers = dict(self._observer.memory.seq)
        self._observer.observe(step.action, step.before, step.after)
        self._observer.memory.seq = numbers

    @property
    def _members(self) -> frozenset[str]:
        return frozenset(f"m{m}" for m in range(self._observer.config.members))

    def _answered(self, answer: Answer, slots: Mapping[str, int]) -> RequestAnswered:
        return RequestAnswered(
            source=COORDINATOR,
            member=answer.member,
            api=answer.api,
            request=self._observer.memory.outstanding[int(answer.member[1:])],
            error=answer.error,
            generation=answer.generation,
            leader=f"m{slots[answer.leader]}" if answer.leader in slots else answer.leader,
            protocol=answer.protocol,
            members=tuple(sorted((f"m{slots[claim.member]}", claim.partitions) for claim in answer.claims)),
            assignment=answer.assignment,
        )
