"""A whole group in a Hypothesis state machine: members of ours and their coordinator, on a network that fails by steps.

Processes start, stop, die and hang, messages are lost or late, applications want other topics, an operator changes
connectors, nodes fail, time passes: each of these is a step, so a run that fails is shrunk to the few that it needs. In
the end all faults are over, and the group must converge. All claims of the catalogue judge the run as it goes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Final

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from rebalance_check.impl.runtime.choices import written
from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.runtime.options import ALL_FAULTS, FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import churn_schedule
from rebalance_check.impl.simulator.cluster import OtherCluster
from rebalance_check.impl.simulator.member_state import NEEDED_FAULT, applicable
from rebalance_check.impl.simulator.schedule import unusual_steps
from rebalance_check.impl.simulator.subject import SimulatorSubject
from rebalance_check.model.vocabulary.actions import (
    CONNECT_CHURN,
    COORDINATOR_FAULTS,
    UNUSUAL_CHURN,
    Action,
    ActionKind,
)
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.machines.families import Taken
from rebalance_check.properties.machines.repeating import check
from rebalance_check.properties.machines.strikes import STRIKES, Strike, StruckChoices
from rebalance_check.properties.verdict import Violation

MEMBERS: Final = 3
PARTITIONS: Final = 3
MEMBER: Final = st.integers(0, MEMBERS - 1)
PAUSES_MS: Final = st.sampled_from((100, 1_000, 4_000, 12_000, 40_000))
GROUPS: Final = (
    SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE, SimulatedProtocol.CONNECT, SimulatedProtocol.ELECTION,
)  # fmt: skip
PROCESS_KINDS: Final = (
    ActionKind.START_MEMBER, ActionKind.STOP_MEMBER, ActionKind.CRASH_MEMBER, ActionKind.PAUSE_MEMBER,
    ActionKind.RESUME_MEMBER,
)  # fmt: skip
ALL_STEPS: Final = frozenset(
    {*PROCESS_KINDS, *COORDINATOR_FAULTS, *CONNECT_CHURN, *UNUSUAL_CHURN}
    | {ActionKind.CHANGE_CONFIG, ActionKind.ADVANCE_CLOCK, ActionKind.HEAL}
)
"""Every kind of step that a machine of members takes."""


class MemberMachine(RuleBasedStateMachine):
    """Members of ours in one group, with our coordinator or another; its ``TestCase`` is a test.

    ``protocols`` are those that runs are drawn from; ``faults`` may strike messages, applications and nodes, one by
    one; ``claims`` judge a run. ``cluster`` makes the nodes that coordinate the group (None: ours). ``taken`` counts
    the kinds of step over all runs of the class. A failure ends with the command that repeats it.
    """

    protocols: ClassVar[tuple[SimulatedProtocol, ...]] = GROUPS
    faults: ClassVar[tuple[FaultKind, ...]] = ALL_FAULTS
    claims: ClassVar[tuple[Invariant, ...]] = CATALOGUE
    cluster: ClassVar[OtherCluster | None] = None
    taken: ClassVar[Taken] = Taken(ALL_STEPS)

    def __init__(self) -> None:
        super().__init__()
        self.options = SimulationOptions(members=MEMBERS, partitions=PARTITIONS)
        self.seed = 0
        self.choices = StruckChoices()
        self.happenings: list[tuple[ActionKind, int, int]] = []
        self.judge = Judge(self.claims)
        self.performed: list[Action] = []
        self.subject: SimulatorSubject | None = None

    def __init_subclass__(cls) -> None:
        """Each machine counts its own steps."""
        super().__init_subclass__()
        cls.taken = Taken(ALL_STEPS)

    @initialize(seed=st.integers(0, 1 << 16), protocol=st.runner().flatmap(lambda run: st.sampled_from(run.protocols)))
    def open(self, seed: int, protocol: SimulatedProtocol) -> None:
        """A group of this protocol; the seed draws its settings, and which of its members are of other versions."""
        self.seed, self.options = seed, replace(self.options, protocol=protocol, faults=self.faults)
        self.happenings = unusual_steps(FaultPlan(kinds=self.faults), protocol)
        self.subject = SimulatorSubject(self.options, self.judge.observe, self.cluster, choices=self.choices)
        self.subject.open(churn_schedule(seed, self.options).bounds, seed)
        for member in range(MEMBERS):
            self._step(Action(ActionKind.START_MEMBER, member, 0))

    @rule(kind=st.sampled_from(PROCESS_KINDS), member=MEMBER, pause_ms=PAUSES_MS)
    def change_process(self, kind: ActionKind, member: int, pause_ms: int) -> None:
        """A process starts, stops, dies, hangs or goes on; then time passes."""
        if kind not in NEEDED_FAULT or NEEDED_FAULT[kind] in self.faults:
            self._step(Action(kind, member, 0))
            self.wait(pause_ms)

    @rule(pause_ms=PAUSES_MS)
    def wait(self, pause_ms: int) -> None:
        """Time passes, and all that is due happens."""
        self._step(Action(ActionKind.ADVANCE_CLOCK, 0, pause_ms))

    @rule(strike=st.sampled_from(STRIKES), member=MEMBER, pause_ms=PAUSES_MS)
    def strike(self, strike: Strike, member: int, pause_ms: int) -> None:
        """A fault strikes the next message of a member, or its application; then time passes."""
        if not strike.kinds.isdisjoint(self.faults):
            self.choices.strike(f"m{member}", strike)
            self.wait(pause_ms)

    @precondition(lambda machine: machine.happenings)
    @rule(
        happening=st.runner().flatmap(lambda run: st.sampled_from(run.happenings)),
        member=MEMBER,
        choice=st.integers(0, 30),
        pause_ms=PAUSES_MS,
    )
    def happen(self, happening: tuple[ActionKind, int, int], member: int, choice: int, pause_ms: int) -> None:
        """Nodes fail, topics and wishes change, an operator of Connect asks for something; then time passes."""
        kind, low, high = happening
        self._step(Action(kind, member, low + choice % (high - low + 1)))
        self.wait(pause_ms)

    def _step(self, action: Action) -> None:
        """One action, where it applies: nothing is resumed that was not paused."""
        if list(applicable([*self.performed, action])) == [*self.performed, action]:
            self.performed.append(action)
            self._perform(action)

    def _perform(self, action: Action) -> None:
        assert self.subject is not None
        self.taken.note(action.kind)
        event(f"step {action.kind}")
        self.subject.perform(action)
        self._check()

    def _check(self) -> None:
        try:
            check(self.judge, self.command)
        except Violation:
            self.subject = None  # the run ends here, without a second finding
            raise

    @property
    def _written(self) -> SimulationOptions:
        """The options that repeat the run: they list all its steps and faults."""
        choices = written(self.choices.made)
        return replace(self.options, actions=tuple(map(str, self.performed)), choices=choices)

    def command(self) -> str:
        """The command that repeats the run."""
        return f"replay   rebalance-check fuzz --seeds {self.seed}:{self.seed + 1} {self._written.command_line()}"

    def teardown(self) -> None:
        """All faults end, and the group has time to converge.

        Raises: Violation of a claim that does not hold then.
        """
        if self.subject is None:
            return
        self.choices.heal()
        for action in churn_schedule(self.seed, self._written).actions[len(self.performed) :]:
            self._perform(action)
        self.subject.close()
        self._check()
