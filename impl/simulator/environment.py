"""The environment of one run: a clock, a network, one coordinator, and the member processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, NoReturn

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.coordinator.shard import Numbers
from rebalance_check.impl.coordinator.validation import refused
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorReply,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    MemberRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
)
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.impl.runtime.recorder import LastNumbers, Recorder
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.impl.simulator.chosen_network import network_of
from rebalance_check.impl.simulator.cluster import Cluster, ClusterParts, OtherCluster
from rebalance_check.impl.simulator.group_config import BROKER, GROUP
from rebalance_check.impl.simulator.log_reading import LogReading
from rebalance_check.impl.simulator.network import Token
from rebalance_check.impl.simulator.nodes import NODES, PORT, NodeLog, Nodes
from rebalance_check.impl.simulator.process import MemberProcess
from rebalance_check.impl.simulator.progress import ProgressGuard
from rebalance_check.impl.simulator.struck import Struck
from rebalance_check.model.vocabulary.actions import CHURN, CONNECT_CHURN, COORDINATOR_FAULTS, UNUSUAL_CHURN, Action
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event

_MOVED: Final = (Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE)
REFUSALS: Final[dict[type[MemberRequest], tuple[Error, ...]]] = {
    JoinGroupRequest: (*_MOVED, Error.COORDINATOR_LOAD_IN_PROGRESS, Error.REBALANCE_IN_PROGRESS),
    SyncGroupRequest: (*_MOVED, Error.REBALANCE_IN_PROGRESS),
    HeartbeatRequest: _MOVED,
    OffsetCommitRequest: (*_MOVED, Error.COORDINATOR_LOAD_IN_PROGRESS, Error.REBALANCE_IN_PROGRESS),
}
"""The retriable errors that a coordinator in trouble answers to each request."""

LOOK_UP_FAILURES: Final = ("unknown", "outdated", "silent")
"""The outcomes of a look-up that fails, each as likely as the next."""

Listener = Callable[[Event], None]


def broker_config(plan: FaultPlan) -> GroupConfig:
    """The broker's settings. While it loads it tells a SyncGroup to join again, or sends an error no client expects."""
    fatal = plan.has(FaultKind.LOADING_SYNC)
    return replace(
        BROKER, sync_while_loading=Error.COORDINATOR_LOAD_IN_PROGRESS if fatal else Error.REBALANCE_IN_PROGRESS
    )


GROUP_CHURN: Final = CHURN | COORDINATOR_FAULTS | UNUSUAL_CHURN | CONNECT_CHURN
"""The kinds of action that a simulated group understands, those of Connect only where it is one of workers."""


def not_understood(action: Action) -> NoReturn:
    """Raises `RebalanceCheckError`: no group of this run understands the action."""
    raise RebalanceCheckError(
        f"a simulated group does not understand {action.kind}: choose one of {', '.join(sorted(GROUP_CHURN))}"
    )


class Environment:
    """Everything that exists in a run of ``seed``; ``listener`` hears every event in the order of observation."""

    def __init__(self, seed: int, plan: FaultPlan, listener: Listener, other: OtherCluster | None = None) -> None:
        self.clock = VirtualClock()
        self.seed = seed
        self.progress = ProgressGuard(self.clock)
        self.numbers = LastNumbers(listener)
        self._member_ids = 0
        self.network = network_of(self.clock, stream(seed, "network"), plan, self._serve)
        self.struck = Struck()
        self._look_ups = stream(seed, "look-ups")
        self.network.on_strike = self.struck.note
        self._plan = plan
        self._config = broker_config(plan)
        self._numbers = Numbers()
        self._recorders: dict[str, Recorder] = {}
        self.harness = self.recorder("harness")
        if other is None:
            self.nodes: Cluster = Nodes(
                self.clock,
                self.network,
                self._start_coordinator,
                self.harness,
                LogReading(self.network, stream(seed, "log reads"), self.struck.note),
            )
        else:
            self.nodes = other.make(ClusterParts(self.clock, self.network, self.harness, seed))
        self.members: list[MemberProcess] = []
        self.to_own: Callable[[], tuple[str, ...]] = tuple
        self.more_pending: Callable[[], Iterable[str]] = tuple
        self.change_cluster: Callable[[Action], None] = not_understood
        self.heal_cluster: Callable[[], None] = lambda: None
        self.change_config: Callable[[int], None] = lambda _tasks: None
        self.unclaimed: Callable[[], tuple[tuple[str, str], ...]] = tuple
        self.change_topics: Callable[[int], None] = lambda _topics: None

    def recorder(self, source: str, group: str = GROUP) -> Recorder:
        """A recorder of this run; ask for each source once, for it numbers the events."""
        return Recorder(group, source, self.clock.now, self._hear)

    @property
    def events(self) -> int:
        """How many events there were so far."""
        return self.progress.events

    def _hear(self, event: Event) -> None:
        self.numbers(event)
        self.progress.count(event)
        self.struck.observe(event)

    def _new_member_id(self, prefix: str) -> str:
        """``m0-1``, ``m1-2``: unique in the run, and the process can be read from it."""
        self._member_ids += 1
        return f"{prefix}-{self._member_ids}"

    # -------------------------------------------------------------------------------------------- the coordinator

    def _start_coordinator(self, log: NodeLog) -> GroupCoordinator:
        return GroupCoordinator(
            self._config,
            log=log,
            new_member_id=self._new_member_id,
            recorder_for=self._recorder_of,
            numbers=self._numbers,
        )

    @property
    def plan(self) -> FaultPlan:
        """The fault plan that the run began with."""
        return self._plan

    @property
    def coordinator(self) -> Recorder:
        """The recorder of the group's coordinators in this run."""
        return self._recorder_of(GROUP)

    def _recorder_of(self, group: str) -> Recorder:
        """The one recorder of all coordinators of a group: to observers all nodes are one source."""
        if group not in self._recorders:
            self._recorders[group] = self.recorder("coordinator", group)
        return self._recorders[group]

    def _serve(self, number: int, token: Token | None, request: MemberRequest) -> None:
        """A request reaches a node, which may refuse it for a short time."""
        if isinstance(request, FindCoordinatorRequest):
            self._serve_look_up(number, token)
            return
        if token is not None and self._refuses(request):
            self.struck.note(FaultKind.REFUSAL)
            error = self.network.random.choice(REFUSALS[type(request)])
            self.network.answer(token, refused(request, error))
            return
        self.nodes.arrive(number, token, request)

    def _refuses(self, request: MemberRequest) -> bool:
        """Whether the node refuses this one; the chance is drawn for requests that are never refused, too."""
        return self.network.happens(self.network.plan.refusal) and type(request) in REFUSALS

    def _serve_look_up(self, number: int, token: Token | None) -> None:
        """A node is asked who coordinates. Where look-ups fail it does not know, says nothing, or names an old one."""
        chance = self.network.plan.look_up_break
        if chance and self._look_ups.random() < chance:
            self.struck.note(FaultKind.LOOK_UP_BREAK)
            self.network.break_under(token)
            return
        if not self.network.strikes(FaultKind.LOOK_UP, self.network.plan.look_up):
            self.nodes.look_up(number, token)
            return
        match self.network.random.choice(LOOK_UP_FAILURES):
            case "unknown":
                self.network.answer(token, FindCoordinatorReply(error=Error.COORDINATOR_NOT_AVAILABLE))
            case "outdated":
                node = self.network.random.randrange(NODES)
                self.network.answer(token, FindCoordinatorReply(node_id=node, host=f"node{node}", port=PORT))
            case _:
                pass  # the member asks again when the request has timed out

    def enforce_rebalance(self) -> None:
        """Operators do this about topics that grew unnoticed: leaders that skipped their assignment compute one.

        So does a cooperative group whose static leader died between giving partitions up and the join that gives them
        on: its kept ones are handed back to it, and no member is asked to join.
        """
        if not self._plan.has(FaultKind.UNNOTICED_GROWTH):
            for member in self.members:
                enforce = getattr(member.application, "rebalance_after_skipping", None)
                if enforce is not None:
                    enforce()
