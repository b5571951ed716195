"""The model steps, the coordinator under test follows, and every difference is told."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from rebalance_check.impl.lockstep.answers import Answer, member_of, observed_answer, predicted_answers
from rebalance_check.impl.lockstep.speech import Speech
from rebalance_check.impl.lockstep.transport import STRAY, FailingTransport, Transport
from rebalance_check.impl.lockstep.view import View, observed_view, predicted_view
from rebalance_check.impl.messages import GroupRequest
from rebalance_check.model.actions import AT_ZOMBIE, Action, ActionKind
from rebalance_check.model.bounds import Bounds
from rebalance_check.model.classic_network import is_error_reply
from rebalance_check.model.errors import RebalanceCheckError
from rebalance_check.model.layout import NIL
from rebalance_check.model.machine import Call, Machine, positional
from rebalance_check.model.seats import seat_of, slots_by_seat
from rebalance_check.model.specification import Model, model_for

REQUESTS: Final = frozenset(
    {
        ActionKind.JOIN_GROUP,
        ActionKind.SYNC_GROUP,
        ActionKind.HEARTBEAT,
        ActionKind.LEAVE_GROUP,
        ActionKind.OFFSET_COMMIT,
    }
)
"""The actions in which a request of a member arrives."""

BREAKS_THE_CONNECTION: Final = frozenset({ActionKind.CRASH, ActionKind.SEND_LEAVE_GROUP, ActionKind.DROP_CONNECTION})
"""The steps of a member or the network after which nobody hears what is parked."""

FAILOVER: Final = frozenset(
    {
        ActionKind.COMMIT_APPEND,
        ActionKind.CRASH_COORDINATOR,
        ActionKind.RESIGN_COORDINATOR,
        ActionKind.ELECT_COORDINATOR,
        ActionKind.LOAD_COORDINATOR,
        ActionKind.DEPOSE_COORDINATOR,
        ActionKind.ZOMBIE_RESIGNS,
    }
)
"""What happens to the coordinator itself. The choice of these is not its own but ours."""

COORDINATOR_STEPS: Final = (
    REQUESTS
    | AT_ZOMBIE
    | FAILOVER
    | {
        ActionKind.EXPIRE_SESSION,
        ActionKind.EXPIRE_INITIAL_DELAY,
        ActionKind.EXPIRE_REBALANCE,
        ActionKind.EXPIRE_SYNC,
        ActionKind.DELETE_GROUP,
        ActionKind.DELIVER_DUPLICATE,
        ActionKind.COMMIT_WITHOUT_GROUP,
        ActionKind.COMMIT_BESIDE,
    }
)
"""The actions in which the coordinator under test has a part; all others are the model's own."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step of the coordinator leads to: the answers it gives, sorted, and the group afterwards."""

    answers: tuple[Answer, ...]
    view: View

    def agrees_with(self, seen: Outcome) -> bool:
        """Whether the answers are the same, and the group wherever both show it."""
        return self.answers == seen.answers and self.view.agrees_with(seen.view)

    def __str__(self) -> str:
        """The answers, then the group."""
        return f"{', '.join(map(str, self.answers)) or 'no answer'}; {self.view}"


@dataclass(frozen=True, slots=True)
class Difference:
    """Model and coordinator disagree: each outcome that the model allows, and the one that was seen."""

    step: int
    action: Action
    predicted: tuple[Outcome, ...]
    observed: Outcome

    def __str__(self) -> str:
        """A few lines that can stand in a report."""
        allowed = "\n  or        ".join(map(str, self.predicted))
        return f"step {self.step}, {self.action}\n  predicted {allowed}\n  observed  {self.observed}"


@dataclass(frozen=True, slots=True)
class Step:
    """One action performed: the answers that came back, the model's states around it, and the difference, if any."""

    action: Action
    answers: tuple[Answer, ...]
    before: Any
    after: Any
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class _Begun:
    """An action between its halves: the states around it as wished, each outcome allowed with the states around it
    (none for the members' own steps), and the answers, if they are there already."""

    action: Action
    before: Any
    after: Any
    allowed: tuple[tuple[Outcome, Any, Any], ...] = ()
    answers: tuple[Answer, ...] | None = None


@lru_cache(maxsize=64)
def machine_of(model: Model, bounds: Bounds) -> tuple[Machine, dict[ActionKind, Call]]:
    """The machine of a model, and how many choices each of its actions has; neither holds the state of a run."""
    return Machine(model, bounds), {rule.kind: positional(rule.choices) for rule in model.rules if rule.choices}


class Lockstep:
    """Steps the model of ``bounds`` and holds the coordinator behind ``transport`` to each of its predictions.

    Where Kafka's answer depends on hash order (who leads next), any of the model's outcomes is accepted, and the run
    goes on from the one that the coordinator took. Where an observer cannot see which one that was (a broker on a
    socket does not show its leader), all that agree with what was seen stay possible until an answer tells them apart.
    ``model`` replaces the model (a mutant of it).
    """

    def __init__(self, transport: Transport, bounds: Bounds, model: Model | None = None) -> None:
        self.machine, self._choices = machine_of(model or model_for(bounds), bounds)
        self.state: Any = self.machine.initial()
        self._also_possible: list[Any] = []
        self.transport = transport
        self.steps = 0
        self.difference: Difference | None = None
        self._speech = Speech(bounds)
        self._stray: GroupRequest | None = None
        self._shares_transport = False
        self._begun: _Begun | None = None
        if bounds.failovers and not isinstance(transport, FailingTransport):
            raise RebalanceCheckError(
                f"the coordinator behind {type(transport).__name__} cannot be made to fail over: choose bounds without "
                f"failovers, or virtual Kafka"
            )
        transport.open(bounds)

    def enabled(self) -> list[Action]:
        """What may happen next, always in the same order."""
        return self.machine.enabled(self.state)

    def perform(self, action: Action) -> Step | None:
        """Do one action; None, and nothing done, when it is not enabled (a coordinator may have chosen otherwise).

        After a `Difference` nothing more can be predicted, and `RebalanceCheckError` says so.
        """
        return self.finish() if self.begin(action) else None

    def begin(self, action: Action) -> bool:
        """The first half of `perform`, up to where an answer is waited for; `finish` is the second.

        Runs that share a process can all begin before the first one waits. False when the action is not enabled.
        """
        if self.difference is not None:
            raise RebalanceCheckError(f"the run ended with a difference at {self.difference}: start a new run")
        stepped = [(state, after) for state in self._possible if (after := self._stepped(state, action)) is not None]
        if not stepped:
            return False
        self.steps += 1
        if action.kind in COORDINATOR_STEPS:
            self._begun = self._challenge(action, *stepped[0])
            return True
        self._own_step(action, *stepped[0])
        self.state, *self._also_possible = [after for _, after in stepped]
        self._begun = _Begun(action, *stepped[0])
        return True

    def finish(self) -> Step:
        """The second half of `perform`: wait for the answers, and compare."""
        begun, self._begun = self._begun, None
        if begun is None:
            raise RebalanceCheckError("no action has begun: call begin before finish")
        return self._compare(begun) if begun.allowed else Step(begun.action, (), begun.before, begun.after)

    def fork(self) -> Lockstep:
        """An independent copy of this run, coordinator included; the transport must be one that can be copied.

        Both share the coordinator until one of them touches it, since most steps are the members' own.
        """
        self._shares_transport = True
        twin = copy(self)
        twin._speech = self._speech.copy()
        return twin

    def _take_transport(self) -> None:
        """Before the coordinator is touched: have one of one's own."""
        if self._shares_transport:
            self.transport = deepcopy(self.transport)
            self._shares_transport = False

    def close(self) -> None:
        """Give back what the transport holds."""
        self.transport.close()

    @property
    def _possible(self) -> list[Any]:
        """The states that agree with all that was seen; the one that the run goes by first."""
        return [self.state, *self._also_possible]

    def _stepped(self, state: Any, action: Action) -> Any | None:
        after = self.machine.copy(state)
        return after if self.machine.step(after, action) else None

    # ------------------------------------------------------------------------------------------ the model's own

    def _own_step(self, action: Action, before: Any, after: Any) -> None:
        """What a step of a member, or of the network, means for its connection and its member id."""
        m = action.member
        if action.kind is ActionKind.DUPLICATE_REQUEST:
            self._stray = self._speech.request(m, before)
            return
        unanswered = action.kind is ActionKind.RECEIVE_ERROR and not is_error_reply(before.member[m].net)
        if unanswered or action.kind in BREAKS_THE_CONNECTION:
            self._take_transport()
            self.transport.disconnect(m)
        self._speech.learn(m, has_id=bool(after.member[m].has_id))

    # ------------------------------------------------------------------------------------------ the coordinator's

    def _challenge(self, action: Action, before: Any, wished: Any) -> _Begun:
        """Predict the outcomes, and let the coordinator begin with its part."""
        successors = [pair for state in self._possible for pair in self._successors(state, action)]
        allowed = tuple((self._predicted(action, b, a), b, a) for b, a in successors)
        self._take_transport()
        if wished.leader != NIL:
            self.transport.prefer_leader(seat_of(wished, wished.leader))
        if wished.append and wished.append[0].kind > before.append[0].kind:
            self._failing.hold_writes()
        return _Begun(action, before, wished, allowed, self._provoke(action, before))

    def _predicted(self, action: Action, before: Any, after: Any) -> Outcome:
        """What the model says of one step."""
        answers = predicted_answers(action, before, after, self.machine.config, self.machine.bounds)
        return Outcome(answers, predicted_view(after))

    def _compare(self, begun: _Begun) -> Step:
        """Find the outcomes of the model that the coordinator agrees with."""
        action, before, allowed = begun.action, begun.before, begun.allowed
        answers = self._collect(begun) if begun.answers is None else begun.answers
        patience = 0
        while True:
            seen = Outcome(answers, observed_view(self.transport.observe()))
            agreed = [(b, a) for outcome, b, a in allowed if outcome.agrees_with(seen)]
            if agreed:
                return self._agree(action, answers, agreed)
            if not self.transport.may_change(patience):
                break
            patience += 1
            answers = tuple(sorted([*answers, *self._answers(0, begun)]))
        outcomes = tuple(dict.fromkeys(outcome for outcome, _, _ in allowed))
        self.difference = Difference(self.steps, action, outcomes, seen)
        return Step(action, answers, before, begun.after, self.difference)

    def _agree(self, action: Action, answers: tuple[Answer, ...], agreed: list[tuple[Any, Any]]) -> Step:
        """Go on from the first pair of states (before, after) that agrees, and remember the others that do."""
        before, self.state = agreed[0]
        distinct = {self.machine.pack(after): after for _, after in reversed(agreed)}
        self._also_possible = [after for after in distinct.values() if after is not self.state]
        return Step(action, answers, before, self.state)

    def _successors(self, state: Any, action: Action) -> list[tuple[Any, Any]]:
        """``state`` with each state that the model allows after ``action``, whatever is chosen; the wished first."""
        choices = self._choices.get(action.kind)
        count = 1 if choices is None else choices(self.machine.config, state, action.member, 0)
        if action.kind in FAILOVER:
            count = 0
        tries = [action, *(action._replace(choice=k) for k in range(count) if k != action.choice)]
        return [(state, after) for each in tries if (after := self._stepped(state, each)) is not None]

    @property
    def _failing(self) -> FailingTransport:
        assert isinstance(self.transport, FailingTransport)
        return self.transport

    def _fail_over(self, action: Action) -> None:
        """Do to the coordinator what a step of `FAILOVER` says; a choice other than 0 loses the record under way."""
        match action.kind:
            case ActionKind.COMMIT_APPEND:
                self._failing.commit_writes()
            case ActionKind.CRASH_COORDINATOR:
                self._failing.crash_coordinator(action.choice)
            case ActionKind.RESIGN_COORDINATOR:
                self._failing.resign_coordinator(action.choice)
            case ActionKind.ELECT_COORDINATOR:
                self._failing.elect_coordinator()
            case ActionKind.LOAD_COORDINATOR:
                self._failing.load_coordinator()
            case ActionKind.DEPOSE_COORDINATOR:
                self._failing.depose_coordinator()
            case _:
                self._failing.resign_zombie()

    def _provoke(self, action: Action, before: Any) -> tuple[Answer, ...] | None:
        """Do to the coordinator what ``action`` says; the answers, where they are there at once."""
        m = action.member
        match action.kind:
            case ActionKind.EXPIRE_SESSION:
                self.transport.expire(self._member_id(m, seat_of(before, m)))
            case ActionKind.EXPIRE_INITIAL_DELAY:
                self.transport.expire_initial_delay()
            case ActionKind.EXPIRE_REBALANCE:
                self.transport.expire_rebalance()
            case ActionKind.EXPIRE_SYNC:
                self.transport.expire_sync()
            case ActionKind.DELETE_GROUP:
                return (Answer("", "DeleteGroups", self.transport.delete_group().name),)
            case ActionKind.COMMIT_BESIDE:
                self.transport.request(STRAY, self._speech.commit_beside(m, before.member[m].generation))
            case ActionKind.COMMIT_WITHOUT_GROUP:
                self.transport.request(STRAY, self._speech.outside_commit())
            case kind if kind in AT_ZOMBIE:
                self._failing.request_zombie(m, self._speech.request(m, before))
            case kind if kind in FAILOVER:
                self._fail_over(action)
            case ActionKind.DELIVER_DUPLICATE if self._stray is not None:
                self.transport.request(STRAY, self._stray)
            case ActionKind.DELIVER_DUPLICATE:
                raise RebalanceCheckError("the model delivers a copy that was never made: this is a defect of lockstep")
            case _:
                self.transport.request(m, self._speech.request(m, before))
        return None

    def _collect(self, begun: _Begun) -> tuple[Answer, ...]:
        """The answers that the coordinator gives, sorted.

        What a copy is answered counts only where the model can tell, that is for a stale one.
        """
        answers = self._answers(max(len(outcome.answers) for outcome, _, _ in begun.allowed), begun)
        if begun.action.kind is ActionKind.DELIVER_DUPLICATE:
            self.transport.disconnect(STRAY)
            if not begun.before.stray.stale:
                return tuple(answer for answer in answers if answer.member != f"m{STRAY}")
        return answers

    def _answers(self, expected: int, begun: _Begun) -> tuple[Answer, ...]:
        replies = self.transport.answers(expected)
        slots = slots_by_seat(begun.after)
        for m, reply in replies:
            if m != STRAY:
                self._speech.hear(m, reply, slots)
        return tuple(sorted(observed_answer(m, reply) for m, reply in replies))

    def _member_id(self, m: int, seat: str) -> str:
        """The id under which the coordinator knows ``m``: a process that crashed may never have learned it."""
        observation = self.transport.observe()
        known = () if observation is None else observation.described.members
        ids = [member.member_id for member in known if member_of(member.member_id) == seat]
        return ids[0] if ids else self._speech.told(m)
