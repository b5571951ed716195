"""A coordinator under test and the model take the same steps, in a Hypothesis state machine to be subclassed.

After each step every answer is compared, and the group as far as it can be seen: status, generation, leader, members,
assignments. The invariants of the catalogue judge the run as it goes. A failure prints the difference or the violation,
the schedule as Python that can be pasted into a test, and its address, which ``rebalance-check replay`` takes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import ClassVar, Final

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from rebalance_check.impl.comparison.to_model.steered_transport import SteeredTransport
from rebalance_check.impl.comparison.to_model.subject import ConformanceSubject
from rebalance_check.impl.comparison.to_model.transport import Transport
from rebalance_check.model.classic.reachable import all_members_are_stable
from rebalance_check.model.vocabulary.actions import AT_ZOMBIE, Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.kinds import Invariant, Kind
from rebalance_check.properties.machines.families import (
    ARRIVING,
    FAILING_OVER,
    FORMING,
    NETWORK,
    ON_OTHER_CONNECTIONS,
    OPERATOR,
    PROCESSES,
    RECEIVING,
    SENDING,
    TIMERS,
    Taken,
)
from rebalance_check.properties.machines.repeating import as_code, check
from rebalance_check.properties.machines.strategies import KIND, WHICH, bounds_of_all_concerns, chosen

GROUP_CLAIMS: tuple[Invariant, ...] = tuple(
    invariant for invariant in CATALOGUE if invariant.kind is Kind.SAFETY and invariant.family != "status"
)
"""Every safety claim about groups."""

MOST_FORMING: Final = 60
"""So many steps at most lead to a formed group: three members need some thirty."""

BEGUN: Final = st.one_of(st.just(0), st.just(MOST_FORMING), st.integers(1, 20))
"""How many steps towards a formed group a run begins with."""

TURNS: Final = st.lists(WHICH, min_size=20, max_size=20)
"""The order in which these steps are offered, over and over: the first steps of members differ from run to run."""

DEPOSED: Final = st.sampled_from((None, None, None, *sorted(AT_ZOMBIE)))
"""Whether a run begins under a coordinator that was deposed and does not know, and the request that it answers."""

WITH_A_ZOMBIE: Final = RECEIVING | SENDING | ARRIVING | TIMERS | {ActionKind.LOAD_COORDINATOR}
"""The steps that bring members to ask the zombie coordinator again: its successor loads, and answers some of them."""

ARRIVING_SOMEWHERE: Final = ARRIVING | AT_ZOMBIE
"""A request reaches the coordinator, or one that was deposed and does not know it."""

DEPOSING: Final = frozenset({ActionKind.DEPOSE_COORDINATOR})


class CoordinatorDiffersError(AssertionError):
    """The coordinator answered, or is, something that the model does not allow."""


def _steps(family: frozenset[ActionKind], name: str, claim: str) -> Callable[..., None]:
    """A rule of the machine: one of the steps of a family that may happen."""

    def step(machine: CoordinatorMachine, kind: int, which: int) -> None:
        machine._perform(chosen(machine.enabled(family), kind, which))

    step.__name__, step.__doc__ = name, claim
    possible = precondition(lambda machine: bool(machine.enabled(family)))
    return possible(rule(kind=KIND, which=WHICH)(step))


class CoordinatorMachine(RuleBasedStateMachine):
    """Holds a coordinator of the classic group protocol to the model: a subclass says how to reach it.

    ``open_transport`` is the only method that a subclass defines. Its ``TestCase`` is a test for pytest and unittest::

        class MyCoordinator(CoordinatorMachine):
            def open_transport(self) -> Transport:
                return SocketTransport("127.0.0.1:9092")

        TestMyCoordinator = MyCoordinator.TestCase

    ``runs`` draws the bounds of each run (None: of all concerns of the model, failovers where the transport can steer
    them), ``claims`` judge it. A coordinator that records events of its own appends them to
    ``recorded``: then these are judged, too. ``taken`` counts the kinds of step over all runs of the class.
    """

    runs: ClassVar[st.SearchStrategy[Bounds] | None] = None
    claims: ClassVar[tuple[Invariant, ...]] = GROUP_CLAIMS
    taken: ClassVar[Taken] = Taken()

    def __init__(self) -> None:
        super().__init__()
        self.recorded: list[Event] = []
        self.transport = self.open_transport()
        self.subject = ConformanceSubject(type(self).__name__, self.transport, self.recorded)
        self.judge = Judge(self.claims)
        self.bounds = Bounds()
        self.performed: list[Action] = []

    def open_transport(self) -> Transport:
        """A new transport to the coordinator under test; a subclass defines this. The run closes it at its end.

        Raises: RebalanceCheckError here, where no coordinator is known.
        """
        raise RebalanceCheckError(f"{type(self).__name__} reaches no coordinator: define open_transport")

    @initialize(
        bounds=st.runner().flatmap(lambda machine: machine.drawn_bounds()),
        begun=BEGUN,
        turns=TURNS,
        deposed=DEPOSED,
    )
    def open(self, bounds: Bounds, begun: int, turns: list[int], deposed: ActionKind | None) -> None:
        """A group that does not exist, one that members begin to form, or one that they have formed already.

        ``deposed``: where bounds allow it, the coordinator has a successor by then and does not know, and answers
        members, if possible a request of this kind that is on its way.
        """
        self.bounds = bounds
        for event_of_opening in self.subject.open(bounds, seed=0):
            self.judge.observe(event_of_opening)
        for number, turn in zip(range(MOST_FORMING), cycle(turns), strict=False):
            is_begun = self._would_be_answered(deposed) if deposed else self.is_stable or number >= begun
            if is_begun or not (towards := self.enabled(FORMING)):
                break
            self._perform(towards[turn % len(towards)])
        if deposed and (deposing := self.enabled(DEPOSING)):
            self._perform(deposing[0])
            self._reach_the_zombie(deposed, turns)

    def _would_be_answered(self, kind: ActionKind) -> bool:
        """Whether the coordinator can be deposed, and would answer such a request, which is on its way."""
        run = self.subject.conformance
        after = [run.predictions.after(run.state, action) for action in self.enabled(DEPOSING)]
        return any(each.kind is kind for state in after for each in run.predictions.enabled(state))

    def _reach_the_zombie(self, kind: ActionKind, turns: list[int]) -> None:
        """Members go on with it and with its successor, until it answers a request of this kind from memory."""
        for turn in turns:
            if arrived := self.enabled(frozenset({kind})):
                self._perform(arrived[turn % len(arrived)])
                break
            if not (steps := self.enabled(WITH_A_ZOMBIE)):
                break
            self._perform(chosen(steps, turn, turn))

    @property
    def is_stable(self) -> bool:
        """Whether every member is in the present generation, and has its assignment."""
        conformance = self.subject.conformance
        return all_members_are_stable(conformance.machine.config, conformance.state)

    def __init_subclass__(cls) -> None:
        """Each machine counts its own steps."""
        super().__init_subclass__()
        cls.taken = Taken()

    send = _steps(SENDING, "send", "A member sends a request.")
    arrive = _steps(ARRIVING_SOMEWHERE, "arrive", "A request reaches the coordinator, or one that was deposed.")
    receive = _steps(RECEIVING, "receive", "A member reads a reply, or gives a request up.")
    end_or_begin = _steps(PROCESSES, "end_or_begin", "A process dies, starts, or restarts with another list.")
    overtake = _steps(ON_OTHER_CONNECTIONS, "overtake", "A request overtakes others, or is of a client outside.")
    expire = _steps(TIMERS, "expire", "A session, the initial delay, the rebalance or the sync timeout is over.")
    delete = _steps(OPERATOR, "delete", "An operator deletes the group.")
    fail_to_carry = _steps(NETWORK, "fail_to_carry", "A message is doubled or lost, or a connection breaks.")
    fail_over = _steps(FAILING_OVER, "fail_over", "A record is replicated, or the coordinator is replaced, by steps.")

    def enabled(self, family: frozenset[ActionKind]) -> list[Action]:
        """The steps of a family that may happen, always in the same order."""
        return [action for action in self.subject.conformance.enabled() if action.kind in family]

    def _perform(self, action: Action) -> None:
        self.performed.append(action)
        self.taken.note(action.kind)
        event(f"step {action.kind}")
        for seen in self.subject.perform(action):
            self.judge.observe(seen)
        if self.subject.difference is not None:
            raise CoordinatorDiffersError(f"{self.subject.difference}\n{self.schedule()}")
        check(self.judge, self.schedule)

    def drawn_bounds(self) -> st.SearchStrategy[Bounds]:
        """The strategy for the bounds of a run."""
        if self.runs is not None:
            return self.runs
        return bounds_of_all_concerns(fails_over=isinstance(self.transport, SteeredTransport))

    def schedule(self) -> str:
        """How to do it again."""
        return as_code(self.bounds, self.performed)

    def teardown(self) -> None:
        """End the run, and give back all that it holds; a run that never opened holds nothing."""
        self.subject.close()
