"""The model steps, the coordinator under test follows, and every difference is reported."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any

from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.impl.comparison.to_model.action_kinds import BREAKS_THE_CONNECTION, COORDINATOR_STEPS, FAILOVER
from rebalance_check.impl.comparison.to_model.answers import Answer, member_of, observed_answer
from rebalance_check.impl.comparison.to_model.outcome import Disagreement, Step, StepOutcome
from rebalance_check.impl.comparison.to_model.predictions import Allowed, Predictions
from rebalance_check.impl.comparison.to_model.requests import RequestWriter
from rebalance_check.impl.comparison.to_model.steered_transport import SteeredTransport
from rebalance_check.impl.comparison.to_model.transport import SIDE_CONNECTION, Transport
from rebalance_check.impl.comparison.to_model.view import observed_view
from rebalance_check.impl.protocol.messages import GroupRequest
from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.classic.observer.member_ids import id_prefix_of, slots_by_prefix
from rebalance_check.model.classic.parts.network import is_error_reply
from rebalance_check.model.vocabulary.actions import AT_ZOMBIE, Action, ActionKind
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.schedule import Schedule


@dataclass(frozen=True, slots=True)
class _Begun:
    """An action between its halves: the states around it as wished, each outcome allowed with the states around it
    (none for the members' own steps), and the answers, if they are there already."""

    action: Action
    before: Any
    after: Any
    allowed: tuple[Allowed, ...] = ()
    answers: tuple[Answer, ...] | None = None


class ConformanceRun:
    """Steps the model of ``bounds`` and holds the coordinator behind ``transport`` to each of its predictions.

    Where Kafka's answer depends on hash order (who leads next), any of the model's outcomes is accepted, and the run
    goes on from the one that the coordinator took. Where an observer cannot see which one that was (a broker on a
    socket does not show its leader), all that fit the observation stay possible until an answer tells them apart.
    ``predictions`` are shared by runs of the same bounds that go the same ways; they may be those of a mutant of the
    model. ``name`` is the coordinator's in differences, ``seed`` is noted in its schedule.
    """

    def __init__(
        self,
        transport: Transport,
        bounds: Bounds,
        predictions: Predictions | None = None,
        *,
        name: str = "the coordinator",
        seed: int = 0,
    ) -> None:
        self.predictions = predictions or Predictions(bounds)
        self.machine = self.predictions.machine
        self.state: Any = self.predictions.initial()
        self._also_possible: list[Any] = []
        self.transport = transport
        self.name, self.seed = name, seed
        self.actions: list[Action] = []
        self.difference: Difference | None = None
        self._requests = RequestWriter(bounds)
        self._duplicate: GroupRequest | None = None
        self._shares_transport = False
        self._begun: _Begun | None = None
        if bounds.failovers and not isinstance(transport, SteeredTransport):
            raise RebalanceCheckError(
                f"the coordinator behind {type(transport).__name__} cannot be made to fail over: choose bounds without "
                f"failovers, or virtual Kafka"
            )
        transport.open(bounds)

    def enabled(self) -> list[Action]:
        """The actions that may happen next, always in the same order."""
        return self.predictions.enabled(self.state)

    def perform(self, action: Action) -> Step | None:
        """Do one action; None, and nothing done, when it is not enabled (a coordinator may have chosen otherwise).

        After a `Difference` nothing more can be predicted, and `RebalanceCheckError` says so.
        """
        return self.finish() if self.begin(action) else None

    def begin(self, action: Action) -> bool:
        """The first half of `perform`, up to where an answer is waited for; `finish` is the second.

        Runs that share a process can all begin before the first one waits. False when the action is not enabled.

        Raises `RebalanceCheckError` when the run has ended.
        """
        if self.difference is not None:
            raise RebalanceCheckError(f"the run is over: {self.difference}\nstart a new run")
        after = self.predictions.after
        stepped = [(state, then) for state in self._possible if (then := after(state, action)) is not None]
        if not stepped:
            return False
        self.actions.append(action)
        if action.kind in COORDINATOR_STEPS:
            self._begun = self._challenge(action, *stepped[0])
            return True
        self._own_step(action, *stepped[0])
        self.state, *self._also_possible = [after for _, after in stepped]
        self._begun = _Begun(action, *stepped[0])
        return True

    def finish(self) -> Step:
        """The second half of `perform`: wait for the answers, and compare.

        Raises `RebalanceCheckError` when no action has begun.
        """
        begun, self._begun = self._begun, None
        if begun is None:
            raise RebalanceCheckError("no action has begun: call begin before finish")
        return self._compare(begun) if begun.allowed else Step(begun.action, (), begun.before, begun.after)

    def fork(self) -> ConformanceRun:
        """An independent copy of this run, coordinator included; the transport must be one that can be copied.

        Both share the coordinator until one of them touches it, since most steps are the members' own.
        """
        self._shares_transport = True
        copied = copy(self)
        copied._requests = self._requests.copy()
        copied.actions = [*self.actions]
        return copied

    def _take_transport(self) -> None:
        """Before the coordinator is touched: have one of one's own."""
        if self._shares_transport:
            self.transport = deepcopy(self.transport)
            self._shares_transport = False

    def close(self) -> None:
        """Give back the transport's resources."""
        self.transport.close()

    @property
    def _possible(self) -> list[Any]:
        """The states that agree with all that was seen; the one that the run goes by first."""
        return [self.state, *self._also_possible]

    # ------------------------------------------------------------------------------------------ the model's own

    def _own_step(self, action: Action, before: Any, after: Any) -> None:
        """The effect of a step of a member, or of the network, on its connection and its member id."""
        m = action.member
        if action.kind is ActionKind.DUPLICATE_REQUEST:
            self._duplicate = self._requests.request(m, before)
            return
        unanswered = action.kind is ActionKind.RECEIVE_ERROR and not is_error_reply(before.member[m].net)
        if unanswered or action.kind in BREAKS_THE_CONNECTION:
            self._take_transport()
            self.transport.disconnect(m)
        self._requests.learn(m, has_id=bool(after.member[m].has_id))

    # ------------------------------------------------------------------------------------------ the coordinator's

    def _challenge(self, action: Action, before: Any, wished: Any) -> _Begun:
        """Predict the outcomes, and let the coordinator begin with its part."""
        allowed = tuple(each for state in self._possible for each in self.predictions.allowed(state, action))
        self._take_transport()
        if wished.leader != NIL:
            self.transport.prefer_leader(id_prefix_of(wished, wished.leader))
        if wished.append.kind > before.append.kind:
            self._steered.hold_writes()
        return _Begun(action, before, wished, allowed, self._provoke(action, before))

    def _compare(self, begun: _Begun) -> Step:
        """Find the outcomes of the model that the coordinator agrees with."""
        action, before, allowed = begun.action, begun.before, begun.allowed
        answers = self._collect(begun) if begun.answers is None else begun.answers
        patience = 0
        while True:
            seen = StepOutcome(answers, observed_view(self.transport.observe()))
            agreed = [(b, a) for outcome, b, a in allowed if outcome.agrees_with(seen)]
            if agreed:
                return self._agree(action, answers, agreed)
            if not self.transport.may_change(patience):
                break
            patience += 1
            answers = tuple(sorted([*answers, *self._answers(0, begun)]))
        outcomes = tuple(dict.fromkeys(outcome for outcome, _, _ in allowed))
        schedule = Schedule(self.machine.bounds, tuple(self.actions), self.seed)
        self.difference = Disagreement(schedule, outcomes, seen).difference(self.name)
        return Step(action, answers, before, begun.after, self.difference)

    def _agree(self, action: Action, answers: tuple[Answer, ...], agreed: list[tuple[Any, Any]]) -> Step:
        """Go on from the first pair of states (before, after) that agrees, and remember the others that do."""
        before, self.state = agreed[0]
        distinct = {self.predictions.pack(after): after for _, after in reversed(agreed)}
        self._also_possible = [after for after in distinct.values() if after is not self.state]
        return Step(action, answers, before, self.state)

    @property
    def _steered(self) -> SteeredTransport[Any]:
        assert isinstance(self.transport, SteeredTransport)
        return self.transport

    def _fail_over(self, action: Action) -> None:
        """Do a step of `FAILOVER` to the coordinator; a choice other than 0 loses the record under way."""
        match action.kind:
            case ActionKind.COMMIT_APPEND:
                self._steered.release_writes()
            case ActionKind.CRASH_COORDINATOR:
                self._steered.crash_coordinator(action.choice)
            case ActionKind.RESIGN_COORDINATOR:
                self._steered.resign_coordinator(action.choice)
            case ActionKind.ELECT_COORDINATOR:
                self._steered.elect_coordinator()
            case ActionKind.LOAD_COORDINATOR:
                self._steered.load_coordinator()
            case ActionKind.DEPOSE_COORDINATOR:
                self._steered.depose_coordinator()
            case _:
                self._steered.resign_zombie()

    def _provoke(self, action: Action, before: Any) -> tuple[Answer, ...] | None:
        """Do ``action`` to the coordinator; the answers, where they are there at once."""
        m = action.member
        match action.kind:
            case ActionKind.EXPIRE_SESSION:
                self.transport.expire(self._member_id(m, id_prefix_of(before, m)))
            case ActionKind.EXPIRE_INITIAL_DELAY:
                self.transport.expire_initial_delay()
            case ActionKind.EXPIRE_REBALANCE:
                self.transport.expire_rebalance()
            case ActionKind.EXPIRE_SYNC:
                self.transport.expire_sync()
            case ActionKind.DELETE_GROUP:
                return (Answer("", Api.DELETE_GROUPS, self.transport.delete_group().name),)
            case ActionKind.COMMIT_DURING_JOIN:
                self.transport.request(
                    SIDE_CONNECTION, self._requests.commit_during_join(m, before.member[m].generation)
                )
            case ActionKind.HEARTBEAT_DURING_SYNC:
                self.transport.request(SIDE_CONNECTION, self._requests.heartbeat(m, before.member[m].generation))
            case ActionKind.COMMIT_WITHOUT_GROUP:
                self.transport.request(SIDE_CONNECTION, self._requests.outside_commit())
            case kind if kind in AT_ZOMBIE:
                self._steered.request_zombie(m, self._requests.request(m, before))
            case kind if kind in FAILOVER:
                self._fail_over(action)
            case ActionKind.DELIVER_DUPLICATE if self._duplicate is not None:
                self.transport.request(SIDE_CONNECTION, self._duplicate)
            case ActionKind.DELIVER_DUPLICATE:
                raise RebalanceCheckError(
                    "the model delivers a copy that was never made: this is a defect of the conformance run"
                )
            case _:
                self.transport.request(m, self._requests.request(m, before))
        return None

    def _collect(self, begun: _Begun) -> tuple[Answer, ...]:
        """The answers that the coordinator gives, sorted.

        The answer to a copy counts only where the model can tell, that is for a stale one.
        """
        answers = self._answers(max(len(outcome.answers) for outcome, _, _ in begun.allowed), begun)
        if begun.action.kind is ActionKind.DELIVER_DUPLICATE:
            self.transport.disconnect(SIDE_CONNECTION)
            if not begun.before.duplicate.stale:
                return tuple(answer for answer in answers if answer.member != f"m{SIDE_CONNECTION}")
        return answers

    def _answers(self, expected: int, begun: _Begun) -> tuple[Answer, ...]:
        replies = self.transport.answers(expected)
        slots = slots_by_prefix(begun.after)
        for m, reply in replies:
            if m != SIDE_CONNECTION:
                self._requests.note_reply(m, reply, slots)
        return tuple(sorted(observed_answer(m, reply) for m, reply in replies))

    def _member_id(self, m: int, prefix: str) -> str:
        """The id under which the coordinator knows ``m``: a process that crashed may never have learned it."""
        observation = self.transport.observe()
        known = () if observation is None else observation.described.members
        ids = [member.member_id for member in known if member_of(member.member_id) == prefix]
        return ids[0] if ids else self._requests.newest_id(m)
