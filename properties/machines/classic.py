"""The classic group protocol: model and reference coordinator take the same steps.

After each step every answer is compared, and the group: status, generation, leader, members, assignments. The
invariants of the catalogue judge the run as it goes. A failure prints the divergence or the violation, the schedule as
Python that can be pasted into a test, and its address, which ``rebalance-check replay`` takes.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from rebalance_check.impl.conformance.in_process import ReferenceSubject
from rebalance_check.model.registry import path_of
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.kinds import Invariant, Kind
from rebalance_check.properties.verdict import Violation

MANY_GENERATIONS = 100
"""More than a run reaches: nothing is cut off."""

GROUP_CLAIMS: tuple[Invariant, ...] = tuple(
    invariant
    for invariant in CATALOGUE
    if invariant.kind is Kind.SAFETY and not invariant.name.startswith("safe_status_writes")
)
"""What is judged: every safety claim about groups."""


class CoordinatorDiffersError(AssertionError):
    """The coordinator answered, or is, something that the model does not allow."""


def bounds() -> st.SearchStrategy[Bounds]:
    """Bounds of up to three members and partitions, with up to three disturbances of each kind."""
    budget = st.integers(0, 3)
    return st.builds(
        Bounds,
        protocol=st.sampled_from([RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE]),
        members=st.integers(1, 3),
        partitions=st.integers(1, 3),
        generations=st.just(MANY_GENERATIONS),
        crashes=budget,
        leaves=budget,
        expiries=budget,
        duplicates=budget,
        deletions=budget,
        losses=budget,
        initial_delay=st.booleans(),
        member_id_required=st.booleans(),
    )


class ClassicGroup(RuleBasedStateMachine):
    """One run of a random schedule; with a mutant planted (`rebalance_check.impl.mutants.planted`) it must fail."""

    def __init__(self) -> None:
        super().__init__()
        self.subject = ReferenceSubject()
        self.judge = Judge(GROUP_CLAIMS)
        self.bounds = Bounds()
        self.performed: list[Action] = []

    @initialize(bounds=bounds())
    def open(self, bounds: Bounds) -> None:
        """A group that does not exist, and members about to join."""
        self.bounds = bounds
        for event in self.subject.open(bounds, seed=0):
            self.judge.observe(event)

    @rule(kind=st.integers(0, len(ActionKind)), which=st.integers(0, 30))
    def step(self, kind: int, which: int) -> None:
        """One of the actions that may happen: first a kind, then one of that kind."""
        enabled: dict[ActionKind, list[Action]] = {}
        for action in self.subject.conformance.enabled():
            enabled.setdefault(action.kind, []).append(action)
        if not enabled:
            return
        actions = list(enabled.values())[kind % len(enabled)]
        self._perform(actions[which % len(actions)])

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
        steps = "".join(
            f"    Action(ActionKind.{action.kind.name}, {action.member}, {action.choice}),\n"
            for action in self.performed
        )
        address = path_of(Schedule(self.bounds, tuple(self.performed))).address()
        return f"bounds = Bounds.from_address({self.bounds.address()!r})\nactions = (\n{steps})\nreplay   {address}"

    def teardown(self) -> None:
        """Give back what the run holds; a run that never opened holds nothing."""
        self.subject.close()
