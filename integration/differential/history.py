"""A scenario on a coordinator that records no events, Kafka's, as a history: its steps, its log, and its group.

The log is the harness's own, so every append and every acknowledgement is known, and the invariants about the log are
judged on Kafka itself. Members and statuses are those that are seen between two steps. Why a member was removed is not
seen, unless it is a static member that was replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from rebalance_check.impl.coordinator.records import GroupRecord, GroupTombstone, Record
from rebalance_check.impl.protocol.digest import assignment_digest
from rebalance_check.impl.protocol.messages import (
    DescribedGroup,
    JoinGroupReply,
    JoinGroupRequest,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.scenarios import perform
from rebalance_check.impl.scenarios.recorded import GROUP, RecordedRunner, pieces
from rebalance_check.impl.scenarios.runner import Observed, ScenarioRunner, settings_of
from rebalance_check.impl.steered.coordinator import Observation, SteeredCoordinator
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupDeleted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    GroupStatusChanged,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    LogTailLost,
    MemberAdded,
    MemberRemoved,
    RunEnded,
    RunStarted,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus

FORMED: Final = (GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE)
UNSEEN: Final = "not seen"
"""The reason of a removal that no observer sees."""

NOTHING: Final = Observation(DescribedGroup(group_id=GROUP, state=GroupStatus.DEAD, protocol_type="", protocol_name=""))


def observed_history(coordinator: SteeredCoordinator, name: str, scenario: Sequence[str]) -> list[Event]:
    """The history of a scenario's group; the first line is the settings that ``coordinator`` was made with.

    Raises: RebalanceCheckError where the scenario does not begin with settings.
    """
    config = settings_of(scenario[0])
    if config is None:
        raise RebalanceCheckError(f"{scenario[0]!r} is no line of settings: begin the scenario with one")
    events: list[Event] = []
    writer = _HistoryWriter(coordinator, name, events.append)
    runner = writer.runner = RecordedRunner(coordinator, config, events.append)
    for line in scenario[1:]:
        for piece in pieces(runner, line):
            runner.observed.clear()
            runner.start_step(piece)
            perform(runner, piece)
            writer.note(piece, runner.observed)
            runner.end_step(coordinator.observe(GROUP))
    writer.end()
    return events


class _HistoryWriter:
    """Looks after each step at the log, the group and the replies, and records what changed."""

    def __init__(self, coordinator: SteeredCoordinator, name: str, listener: Callable[[Event], None]) -> None:
        self.runner: ScenarioRunner | None = None
        self._coordinator = coordinator
        self._harness, self._recorder = (
            Recorder(GROUP, source, lambda: self.runner.now if self.runner else 0, listener)
            for source in ("harness", "coordinator")
        )
        self._incarnation = 0
        self._before = NOTHING
        self._written = self._committed = 0
        self._held = False
        self._harness.emit(RunStarted(subject=name))

    def end(self) -> None:
        """Nothing is missing."""
        self._harness.emit(RunEnded())

    def note(self, line: str, observed: Sequence[Observed]) -> None:
        """Record what a step changed."""
        words = line.split()
        lost = next((int(word.partition("=")[2]) for word in words if word.startswith("lose=")), 0)
        after = self._coordinator.observe(GROUP)
        if words[0] in {"failover", "unload"}:
            self._end_incarnation(words[0] == "failover", lost)
        self._held = words[0] == "hold" or (self._held and words[0] not in {"release", "failover"})
        begins = _is_seen(after) and not _is_seen(self._before)
        if begins:
            self._begin_incarnation(after, is_loaded=words[0] in {"failover", "load"})
        self._note_log(self._coordinator.records(), after)
        self._note_group(after)
        for each in observed:
            self._note_answer(each, after)

    def _end_incarnation(self, is_crash: bool, lost: int) -> None:
        if _is_seen(self._before):
            self._record(IncarnationEnded, self._before)
        self._before = NOTHING
        self._incarnation += 1
        if lost:
            self._harness.emit(LogTailLost(records=lost))
        if is_crash:  # the next coordinator reads what the log has left, and takes it for committed
            self._written = self._committed = min(self._written, len(self._coordinator.records()))

    def _begin_incarnation(self, after: Observation, *, is_loaded: bool) -> None:
        """A coordinator loaded the group, or a request made it."""
        shown = after.described
        if not is_loaded:
            self._recorder.emit(
                IncarnationStarted(incarnation=self._incarnation, generation=0, status=GroupStatus.EMPTY)
            )
            self._before = Observation(
                DescribedGroup(group_id=GROUP, state=GroupStatus.EMPTY, protocol_type="", protocol_name=""), 0
            )
            return
        instances = {m.member_id: m.group_instance_id for m in shown.members if m.group_instance_id}
        self._record(
            IncarnationStarted, after, status=shown.state, members=_members(after),
            instances=tuple(sorted(instances.items())), leader=after.leader or "", protocol=shown.protocol_name,
        )  # fmt: skip
        self._before = after

    def _note_log(self, records: Sequence[Record], after: Observation) -> None:
        for record in records[self._written :]:
            if isinstance(record, GroupRecord):
                members = tuple(sorted(member.member_id for member in record.members))
                self._record(GroupMetadataWritten, after, generation=record.generation, members=members)
            elif isinstance(record, GroupTombstone):
                self._record(GroupDeleted, self._before, status=self._before.described.state)
        self._written = len(records)
        if self._held:
            return
        for offset, record in enumerate(records[self._committed :], self._committed):
            if isinstance(record, GroupRecord):
                assigned = tuple(
                    sorted((member.member_id, assignment_digest(member.assignment)) for member in record.members)
                )
                self._record(
                    GroupMetadataAppended, after, generation=record.generation, offset=offset, assignments=assigned,
                    members=tuple(member for member, _ in assigned),
                )  # fmt: skip
        self._committed = len(records)

    def _note_group(self, after: Observation) -> None:
        before, self._before = self._before, after
        if not _is_seen(after):
            return
        had, has = _instances(before), _instances(after)
        for member in sorted(had.keys() - has.keys()):
            replaced = had[member] and had[member] in has.values()
            self._record(MemberRemoved, after, member_id=member, reason="replaced" if replaced else UNSEEN)
        for member in sorted(has.keys() - had.keys()):
            self._record(MemberAdded, after, member_id=member, instance_id=has[member])
        if before.generation != after.generation and after.described.state in FORMED:
            self._record(
                GenerationStarted, after, members=_members(after), leader=after.leader or "",
                protocol=after.described.protocol_name,
            )  # fmt: skip
        states = before.described.state, after.described.state
        if states[0] != states[1]:
            self._record(GroupStatusChanged, after, from_status=states[0], to_status=states[1])

    def _note_answer(self, observed: Observed, after: Observation) -> None:
        request, reply = observed.request, observed.reply
        if isinstance(request, SyncGroupRequest) and isinstance(reply, SyncGroupReply):
            self._record(
                SyncGroupReplied, after, request=observed.token, error=reply.error.name, member_id=request.member_id,
                instance_id=request.group_instance_id or "", request_generation=request.generation_id,
                generation=request.generation_id, assignment=assignment_digest(reply.assignment),
            )  # fmt: skip
        elif isinstance(request, JoinGroupRequest) and isinstance(reply, JoinGroupReply):
            self._record(
                JoinGroupReplied, after, request=observed.token, error=reply.error.name, member_id=request.member_id,
                instance_id=request.group_instance_id or "", reply_generation=reply.generation_id,
                assigned_member_id=reply.member_id, leader=reply.leader, protocol=reply.protocol_name or "",
            )  # fmt: skip

    def _record(self, kind: type[Event], seen: Observation, **fields: Any) -> None:
        generation = -1 if seen.generation is None else seen.generation
        said: dict[str, Any] = {"incarnation": self._incarnation, "generation": generation, **fields}
        self._recorder.emit(kind(**said))


def _is_seen(observation: Observation) -> bool:
    shown = observation.described
    return observation.generation is not None and shown.error is Error.NONE and shown.state != GroupStatus.DEAD


def _instances(observation: Observation) -> dict[str, str]:
    return {member.member_id: member.group_instance_id or "" for member in observation.described.members}


def _members(observation: Observation) -> tuple[str, ...]:
    return tuple(sorted(_instances(observation)))
