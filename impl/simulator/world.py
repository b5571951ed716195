"""The world of one run: a clock, a network, one coordinator, and the member processes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Final, cast

from rebalance_check.impl.clock import Timer, VirtualClock
from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.coordinator.gate import refused
from rebalance_check.impl.coordinator.logs import ImmediateLog
from rebalance_check.impl.faults import FaultPlan
from rebalance_check.impl.messages import (
    GroupReply,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
)
from rebalance_check.impl.network import SimulatedNetwork, Token
from rebalance_check.impl.options import FaultKind
from rebalance_check.impl.recorder import Recorder
from rebalance_check.impl.seeds import stream
from rebalance_check.impl.simulator.process import MemberProcess
from rebalance_check.impl.simulator.settings import BROKER, GROUP
from rebalance_check.model.errors import Error
from rebalance_check.model.events import Event

LOADING_MS: Final = 2_000
CRASH, CRASH_AND_LOAD, RESIGN, RESIGN_LATE = range(4)
"""How a coordinator is taken away."""

_MOVED: Final = (Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE)
REFUSALS: Final[dict[type[GroupRequest], tuple[Error, ...]]] = {
    JoinGroupRequest: (*_MOVED, Error.COORDINATOR_LOAD_IN_PROGRESS, Error.REBALANCE_IN_PROGRESS),
    SyncGroupRequest: (*_MOVED, Error.REBALANCE_IN_PROGRESS),
    HeartbeatRequest: _MOVED,
    OffsetCommitRequest: (*_MOVED, Error.COORDINATOR_LOAD_IN_PROGRESS, Error.REBALANCE_IN_PROGRESS),
}
"""The retriable errors that a coordinator in trouble answers to each request."""

Listener = Callable[[Event], None]


def broker_config(plan: FaultPlan) -> GroupConfig:
    """The settings of the broker. While it loads it tells a SyncGroup to join again, or what no client expects."""
    fatal = plan.has(FaultKind.LOADING_SYNC)
    return replace(
        BROKER, sync_while_loading=Error.COORDINATOR_LOAD_IN_PROGRESS if fatal else Error.REBALANCE_IN_PROGRESS
    )


class World:
    """Everything that exists in a run of ``seed``; ``listener`` hears every event in the order of observation."""

    def __init__(self, seed: int, plan: FaultPlan, defects: frozenset[str], listener: Listener) -> None:
        self.clock = VirtualClock()
        self.defects = defects
        self.seed = seed
        self.events = 0
        self._listener = listener
        self._member_ids = 0
        self.network = SimulatedNetwork(self.clock, stream(seed, "network"), plan, self._serve)
        self.log = ImmediateLog()
        self._epoch = 0
        self.coordinator = GroupCoordinator(
            broker_config(plan),
            log=self.log,
            new_member_id=self._new_member_id,
            recorder_for=lambda group: self.recorder("coordinator", group),
            defects=defects,
        )
        self.harness = self.recorder("harness")
        self.members: list[MemberProcess] = []
        self.to_own: tuple[str, ...] = ()
        self.change_config: Callable[[int], None] = lambda _tasks: None
        self._coordinator_timer: Timer | None = None

    def recorder(self, source: str, group: str = GROUP) -> Recorder:
        """A recorder of this run; ask for each source once, for it numbers the events."""
        return Recorder(group, source, self.clock.now, self._hear)

    def _hear(self, event: Event) -> None:
        self.events += 1
        self._listener(event)

    def _new_member_id(self, prefix: str) -> str:
        """``m0-1``, ``m1-2``: unique in the run, and telling the process."""
        self._member_ids += 1
        return f"{prefix}-{self._member_ids}"

    # -------------------------------------------------------------------------------------------- the coordinator

    def _serve(self, token: Token | None, request: GroupRequest) -> None:
        """A request reaches the coordinator, which may refuse it for a moment."""
        if token is not None and self.network.happens(self.network.plan.refusal) and type(request) in REFUSALS:
            error = self.network.random.choice(REFUSALS[type(request)])
            self.network.answer(token, refused(request, error))
            return
        self._answer(self.coordinator.handle(token, request, self.clock.now_ms))

    def fail_over(self, choice: int) -> None:
        """The coordinator is taken away: see `UNUSUAL_CHURN` for what each choice means."""
        now_ms, epoch = self.clock.now_ms, self._epoch
        self._epoch += 1
        if choice in {CRASH, CRASH_AND_LOAD}:
            self.coordinator.start_loading()
        if choice == RESIGN:
            self._answer(self.coordinator.unload(now_ms, epoch + 1))
        if choice in {CRASH_AND_LOAD, RESIGN}:
            self.clock.after(LOADING_MS, self._load)
        else:
            self._load()
        if choice == RESIGN_LATE:
            self._answer(self.coordinator.unload(now_ms, epoch))

    def _load(self) -> None:
        self._answer(self.coordinator.load(self.log.records, self.clock.now_ms, self._epoch))

    def _advance_coordinator(self) -> None:
        self._coordinator_timer = None
        self._answer(self.coordinator.advance(self.clock.now_ms))

    def _answer(self, answers: list[tuple[Hashable, GroupReply]]) -> None:
        """Send the answers, and let the coordinator's next timer fire in time.

        A timer that was put off meanwhile wakes the coordinator for nothing, and is armed again.
        """
        for token, reply in answers:
            self.network.answer(cast("Token | None", token), reply)
        deadline_ms = self.coordinator.next_deadline()
        armed = self._coordinator_timer
        if deadline_ms is not None and (armed is None or deadline_ms < armed.deadline_ms):
            if armed is not None:
                armed.cancel()
            self._coordinator_timer = self.clock.at(deadline_ms, self._advance_coordinator)
