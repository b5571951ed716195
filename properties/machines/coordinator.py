"""A coordinator under test and the model take the same steps, in a Hypothesis state machine to be subclassed.

After each step every answer is compared, and the group as far as it can be seen: status, generation, leader, members,
assignments. The invariants of the catalogue judge the run as it goes. A failure prints the divergence or the violation,
the schedule as Python that can be pasted into a test, and its address, which ``rebalance-check replay`` takes.
"""

from __future__ import annotations

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from rebalance_check.impl.conformance.subject import ConformanceSubject
from rebalance_check.impl.conformance.transport import Transport
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.kinds import Invariant, Kind
from rebalance_check.properties.machines.repeating import as_code
from rebalance_check.properties.machines.strategies import KIND, WHICH, chosen, group_bounds
from rebalance_check.properties.verdict import Violation

GROUP_CLAIMS: tuple[Invariant, ...] = tuple(
    invariant
    for invariant in CATALOGUE
    if invariant.kind is Kind.SAFETY and not invariant.name.startswith("safe_status_writes")
)
"""What is judged: every safety claim about groups."""


class CoordinatorDiffersError(AssertionError):
    """The coordinator answered, or is, something that the model does not allow."""


class CoordinatorMachine(RuleBasedStateMachine):
    """Holds a coordinator of the classic group protocol to the model: a subclass says how to reach it.

    ``open_transport`` is the only method that a subclass defines. Its ``TestCase`` is a test for pytest and unittest::

        class MyCoordinator(CoordinatorMachine):
            def open_transport(self) -> Transport:
                return SocketTransport("127.0.0.1:9092")

        TestMyCoordinator = MyCoordinator.TestCase

    ``runs`` draws the bounds of each run, ``claims`` are what it is judged by. A coordinator that records events of its
    own appends them to ``recorded``: then these are judged, too.
    """

    runs: ClassVar[st.SearchStrategy[Bounds]] = group_bounds()
    claims: ClassVar[tuple[Invariant, ...]] = GROUP_CLAIMS

    def __init__(self) -> None:
        super().__init__()
        self.recorded: list[Event] = []
        self.subject = ConformanceSubject(type(self).__name__, self.open_transport(), self.recorded)
        self.judge = Judge(self.claims)
        self.bounds = Bounds()
        self.performed: list[Action] = []

    def open_transport(self) -> Transport:
        """A new way to the coordinator under test, to be defined by the subclass; it is closed when the run ends.

        Raises: RebalanceCheckError here, where no coordinator is known.
        """
        raise RebalanceCheckError(f"{type(self).__name__} reaches no coordinator: define open_transport")

    @initialize(bounds=st.runner().flatmap(lambda machine: machine.runs))
    def open(self, bounds: Bounds) -> None:
        """A group that does not exist, and members about to join."""
        self.bounds = bounds
        for event in self.subject.open(bounds, seed=0):
            self.judge.observe(event)

    @rule(kind=KIND, which=WHICH)
    def step(self, kind: int, which: int) -> None:
        """One of the actions that may happen."""
        if enabled := self.subject.conformance.enabled():
            self._perform(chosen(enabled, kind, which))

    def _perform(self, action: Action) -> None:
        self.performed.append(action)
        for event in self.subject.perform(action):
            self.judge.observe(event)
        if self.subject.divergence is not None:
            raise CoordinatorDiffersError(f"{self.subject.divergence}\n{self.schedule()}")
        try:
            self.judge.judgement().check(allow_undecided=True)
        except Violation as violation:
            violation.add_note(self.schedule())
            raise

    def schedule(self) -> str:
        """How to do it again."""
        return as_code(self.bounds, self.performed)

    def teardown(self) -> None:
        """Give back what the run holds; a run that never opened holds nothing."""
        self.subject.close()
