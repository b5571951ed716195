"""An observer's record of the model of a worker group: the events of the coordinator and of each worker.

So the invariants on events that judge real workers judge the model as well, and a report shows where work runs. Item 0
is the task ``c-0``. Each step takes a millisecond, and the end of a leader's delay as long as the delay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from rebalance_check.model.connect.workers.state import (
    Config,
    Phase,
    State,
    Step,
    configured_mode,
    contains,
    round_mode,
)
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConnectAssignmentComputed,
    ConnectAssignmentReceived,
    Event,
    GenerationStarted,
    GroupStatusChanged,
    IncarnationStarted,
    MemberAdded,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberRemoved,
    MemberStarted,
    RejoinRequested,
    RunStarted,
    TaskStarted,
    TaskStopped,
    WorkerClaimed,
    WorkerConfigured,
    WorkRevocationEnded,
    WorkRevocationStarted,
)
from rebalance_check.model.vocabulary.worker_modes import WorkerMode

COORDINATOR: Final = "coordinator"
HARNESS: Final = "harness"
INCARNATION: Final = 1

STATUSES: Final = {
    Phase.EMPTY: "Empty",
    Phase.PREPARING: "PreparingRebalance",
    Phase.COMPLETING: "CompletingRebalance",
    Phase.STABLE: "Stable",
}
PROTOCOLS: Final = {
    WorkerMode.EAGER: "default",
    WorkerMode.COMPATIBLE: "compatible",
    WorkerMode.SESSIONED: "sessioned",
}
"""The subprotocol of each mode, as JoinGroup names it."""

DELAY_MS: Final = 300_000
"""``scheduled.rebalance.max.delay.ms``: in the model a delay has no length."""


def work_in(items: int) -> tuple[str, ...]:
    """The names of a set of items."""
    return tuple(f"c-{x}" for x in range(items.bit_length()) if contains(items, x))


class WorkerObserver:
    """Turns the steps of one run into events: `begin` those of its start, `observe` those of each step in turn."""

    def __init__(self, config: Config, bounds: Bounds, mutant: str) -> None:
        self.config, self.bounds, self.mutant = config, bounds, mutant
        self._seqs: dict[str, int] = {}
        self._ids = [0] * config.members
        self._assigned: set[int] = set()
        """The workers that have an assignment: of the others the claim is null."""
        self._time_ms = 0

    def begin(self, state: State) -> list[Event]:
        """A run starts, with an empty group and every worker."""
        started: list[Event] = [
            RunStarted(source=HARNESS, subject="model", bounds=self.bounds.address(), mutant=self.mutant),
            IncarnationStarted(source=COORDINATOR, incarnation=INCARNATION, generation=0, status="Empty"),
        ]
        for m in range(self.config.members):
            started += self._started(state, m)
        return [self._stamped(event) for event in started]

    def observe(self, action: Action, before: State, after: State) -> list[Event]:
        """The events of one step; ``before`` must be a copy, because the model steps in place."""
        self._time_ms += DELAY_MS if action.kind is ActionKind.EXPIRE_DELAY else 1
        events = [*self._worker_before(action, before, after), *self._coordinator(action, before, after)]
        events += self._worker_after(action, before, after)
        return [self._stamped(event) for event in events]

    def member_id(self, m: int) -> str:
        """``m0-1``: a worker that joins anew after its removal gets another one."""
        return f"m{m}-{self._ids[m]}"

    def _stamped(self, event: Event) -> Event:
        source = event.source or getattr(event, "member", "")
        seq = self._seqs.get(source, 0)
        self._seqs[source] = seq + 1
        return replace(event, group="connect", source=source, seq=seq, time_ms=self._time_ms)

    def _started(self, state: State, m: int) -> list[Event]:
        mode = WorkerMode(configured_mode(self.config, state, m)).name.lower()
        delay = DELAY_MS if self.config.rebalance_delay else 0
        configured = WorkerConfigured(member=f"m{m}", mode=mode, url=url_of(m), scheduled_rebalance_max_delay_ms=delay)
        return [MemberStarted(source=HARNESS, member=f"m{m}"), configured]

    # ------------------------------------------------------------------------------------------------ the coordinator

    def _coordinator(self, action: Action, before: State, after: State) -> Iterator[Event]:
        """The members that entered and left the group, its status, and the generation that began."""
        here: dict[str, Any] = {"source": COORDINATOR, "incarnation": INCARNATION, "generation": before.generation}
        for m in range(self.config.members):
            if contains(before.members & ~after.members, m):
                expired = action.kind is ActionKind.EXPIRE_SESSION
                yield MemberRemoved(
                    **here, member_id=self.member_id(m), reason="session expired" if expired else "left"
                )
            if contains(after.members & ~before.members, m):
                yield MemberAdded(**here, member_id=self.member_id(m))
        if after.generation != before.generation:
            yield GenerationStarted(
                source=COORDINATOR,
                incarnation=INCARNATION,
                generation=after.generation,
                members=tuple(self.member_id(m) for m in range(self.config.members) if contains(after.members, m)),
                leader=self.member_id(after.leader),
                protocol=PROTOCOLS[WorkerMode(round_mode(self.config, after))],
            )
        if before.phase != after.phase:
            yield GroupStatusChanged(
                source=COORDINATOR,
                incarnation=INCARNATION,
                generation=after.generation,
                from_status=STATUSES[Phase(before.phase)],
                to_status=STATUSES[Phase(after.phase)],
            )

    # ------------------------------------------------------------------------------------------------ the workers

    def _worker_before(self, action: Action, before: State, after: State) -> Iterator[Event]:
        """A worker's events before the coordinator learns of the action."""
        m = action.member
        match action.kind:
            case ActionKind.JOIN_GROUP:
                yield from self._stopped(m, before, after, "eager join")
                if not contains(before.members, m):
                    self._ids[m] += 1
                mode = WorkerMode(configured_mode(self.config, after, m))
                yield WorkerClaimed(
                    **self._of(m, after),
                    url=url_of(m),
                    config_offset=after.workers[m].sent,
                    claim=work_in(after.workers[m].claim) if m in self._assigned else None,
                    protocols=tuple(PROTOCOLS[each] for each in reversed(WorkerMode) if each <= mode),
                )
            case ActionKind.CRASH:
                yield MemberCrashed(source=HARNESS, member=f"m{m}")
            case ActionKind.LEAVE_GROUP | ActionKind.ROLLING_RESTART:
                yield from self._stopped(m, before, after, "stop")
                yield MemberLeft(source=HARNESS, member=f"m{m}")
            case ActionKind.RESTART:
                self._assigned.discard(m)
                yield from self._started(after, m)
            case ActionKind.REVOKE_ALL:
                yield from self._stopped(m, before, after, "coordinator unknown")
                self._assigned.discard(m)

    def _worker_after(self, action: Action, before: State, after: State) -> Iterator[Event]:
        """A worker's events when it has a reply, or acts on its own."""
        m = action.member
        match action.kind:
            case ActionKind.COMPLETE_JOIN:
                yield from self._joined(before, after)
            case ActionKind.PERFORM_ASSIGNMENT:
                yield self._computed(m, before, after)
            case ActionKind.SYNC_GROUP if after.workers[m].step == Step.MEMBER:
                yield from self._received(m, before, after)
            case ActionKind.COMPLETE_REBALANCE if after.workers[m].resolved == 1:
                yield from self._accepted(m, before, after)
        if after.workers[m].rejoin > before.workers[m].rejoin:
            yield RejoinRequested(member=f"m{m}")

    def _of(self, m: int, state: State) -> dict[str, Any]:
        """The fields of a worker's events in its last completed generation."""
        generation = state.workers[m].completed or -1
        return {"member": f"m{m}", "member_id": self.member_id(m), "generation": generation, "incarnation": INCARNATION}

    def _stopped(self, m: int, before: State, after: State, reason: str) -> Iterator[Event]:
        """A worker gives work up: first it stops, then its revocation is over."""
        gone = work_in(before.workers[m].running & ~after.workers[m].running)
        if not gone and reason != "coordinator unknown":
            return
        here = self._of(m, before)
        yield WorkRevocationStarted(**here, work=gone, reason=reason)
        for work in gone:
            yield TaskStopped(**here, task=work)
        yield WorkRevocationEnded(**here, work=gone)

    def _joined(self, before: State, after: State) -> Iterator[Event]:
        for w in range(self.config.members):
            if after.workers[w].step == Step.SYNCING and before.workers[w].step == Step.JOINING:
                yield MemberJoined(
                    member=f"m{w}",
                    member_id=self.member_id(w),
                    generation=after.generation,
                    incarnation=INCARNATION,
                    leader=after.leader == w,
                    protocol=PROTOCOLS[WorkerMode(round_mode(self.config, after))],
                )

    def _computed(self, m: int, before: State, after: State) -> Event:
        """The leader's answer, with the claims and offsets that it read."""
        names = [w for w in range(self.config.members) if contains(after.members, w)]
        workers = after.workers
        return ConnectAssignmentComputed(
            member=f"m{m}",
            member_id=self.member_id(m),
            generation=after.generation,
            incarnation=INCARNATION,
            protocol=PROTOCOLS[WorkerMode(round_mode(self.config, after))],
            leader=self.member_id(m),
            leader_url=url_of(m),
            config_offset=after.offset,
            error="CONFIG_MISMATCH" if after.error else "NONE",
            delay_ms=DELAY_MS if after.delayed else 0,
            completed=before.workers[m].completed or -1,
            configured=() if after.error else work_in(after.configs[after.offset]),
            offsets=tuple((self.member_id(w), workers[w].sent) for w in names),
            claims=tuple((self.member_id(w), work_in(before.workers[w].claim)) for w in names),
            assigned=tuple((self.member_id(w), work_in(workers[w].given)) for w in names),
            revoked=tuple((self.member_id(w), work_in(workers[w].taken)) for w in names),
        )

    def _received(self, m: int, before: State, after: State) -> Iterator[Event]:
        """A worker stops revoked work before it takes the assignment."""
        yield from self._stopped(m, before, after, "revoked")
        me = after.workers[m]
        self._assigned.add(m)
        yield ConnectAssignmentReceived(
            member=f"m{m}",
            member_id=self.member_id(m),
            generation=me.completed,
            incarnation=INCARNATION,
            protocol=PROTOCOLS[WorkerMode(round_mode(self.config, after))],
            leader=self.member_id(me.leader),
            leader_url=url_of(me.leader),
            config_offset=me.assigned_offset,
            error="CONFIG_MISMATCH" if me.error else "NONE",
            delay_ms=DELAY_MS if me.delayed else 0,
            assigned=work_in(before.workers[m].given),
            revoked=work_in(before.workers[m].taken),
        )

    def _accepted(self, m: int, before: State, after: State) -> Iterator[Event]:
        """The worker has the configs of its assignment, and starts the work that it does not run."""
        here, me = self._of(m, after), after.workers[m]
        new = work_in(me.running & ~before.workers[m].running)
        yield AssignmentAccepted(**here, config_offset=me.offset, work=new)
        for work in new:
            yield TaskStarted(**here, task=work)


def url_of(m: int) -> str:
    """The URL that a worker advertises."""
    return f"http://m{m}/"
