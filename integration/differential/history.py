"""A scenario of a coordinator as a history: what its log took and committed, what was seen of the group, what it answered.

The log is the harness's own, so that every append and every acknowledgement is known: with them claims about what is on
record are judged on Kafka itself. Members and statuses are those that are seen between two lines; why a member went is
not seen, but for a static one whose seat somebody else has.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, Final

from rebalance_check.impl.coordinator.emit import assignment_digest
from rebalance_check.impl.coordinator.records import GroupRecord, GroupTombstone, Record
from rebalance_check.impl.protocol.messages import (
    DescribedGroup,
    JoinGroupReply,
    JoinGroupRequest,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.scenarios import Stage, perform
from rebalance_check.impl.scenarios.runner import Observed
from rebalance_check.impl.scenarios.search import GROUP, pieces
from rebalance_check.impl.steered.coordinator import Observation, SteeredCoordinator
from rebalance_check.model.vocabulary.errors import Error
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

FORMED: Final = ("CompletingRebalance", "Stable")
UNSEEN: Final = "not seen"
"""Why a member went, where nobody can tell."""

NOTHING: Final = Observation(DescribedGroup(group_id=GROUP, state="Dead", protocol_type="", protocol_name=""))


def chronicle(coordinator: SteeredCoordinator, name: str, scenario: Sequence[str]) -> list[Event]:
    """Tell ``scenario``, whose first line is the settings that ``coordinator`` was made with: the history of its group."""
    writer = _Chronicler(coordinator, name)
    stage = Stage(coordinator)
    for line in scenario[1:]:
        for piece in pieces(stage, line):
            stage.observed.clear()
            perform(stage, piece)
            writer.note(piece, stage.observed)
    writer.end()
    return writer.events


class _Chronicler:
    """Looks after each line: at the log, at the group, at the answers."""

    def __init__(self, coordinator: SteeredCoordinator, name: str) -> None:
        self.events: list[Event] = []
        self._coordinator = coordinator
        clock = count()
        self._harness, self._recorder = (
            Recorder(GROUP, source, lambda: next(clock), self.events.append) for source in ("harness", "coordinator")
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
        """Tell what a line brought about."""
        words = line.split()
        lost = next((int(word.partition("=")[2]) for word in words if word.startswith("lose=")), 0)
        after = self._coordinator.observe(GROUP)
        if words[0] in {"failover", "unload"}:
            self._end_life(words[0] == "failover", lost)
        self._held = words[0] == "hold" or (self._held and words[0] not in {"release", "failover"})
        begins = _is_seen(after) and not _is_seen(self._before)
        if begins:
            self._begin_life(after, is_loaded=words[0] in {"failover", "load"})
        self._note_log(self._coordinator.records(), after)
        self._note_group(after)
        for each in observed:
            self._note_answer(each, after)

    def _end_life(self, is_crash: bool, lost: int) -> None:
        if _is_seen(self._before):
            self._tell(IncarnationEnded, self._before)
        self._before = NOTHING
        self._incarnation += 1
        if lost:
            self._harness.emit(LogTailLost(records=lost))
        if is_crash:  # the next coordinator reads what the log has left, and takes it for committed
            self._written = self._committed = min(self._written, len(self._coordinator.records()))

    def _begin_life(self, after: Observation, *, is_loaded: bool) -> None:
        """A coordinator loaded the group, or somebody's request made it."""
        shown = after.described
        if not is_loaded:
            self._recorder.emit(IncarnationStarted(incarnation=self._incarnation, generation=0, status="Empty"))
            self._before = Observation(
                DescribedGroup(group_id=GROUP, state="Empty", protocol_type="", protocol_name=""), 0
            )
            return
        instances = {m.member_id: m.group_instance_id for m in shown.members if m.group_instance_id}
        self._tell(
            IncarnationStarted, after, status=shown.state, members=_members(after),
            instances=tuple(sorted(instances.items())), leader=after.leader or "", protocol=shown.protocol_name,
        )  # fmt: skip
        self._before = after

    def _note_log(self, records: Sequence[Record], after: Observation) -> None:
        for record in records[self._written :]:
            if isinstance(record, GroupRecord):
                members = tuple(sorted(member.member_id for member in record.members))
                self._tell(GroupMetadataWritten, after, generation=record.generation, members=members)
            elif isinstance(record, GroupTombstone):
                self._tell(GroupDeleted, self._before, status=self._before.described.state)
        self._written = len(records)
        if self._held:
            return
        for offset, record in enumerate(records[self._committed :], self._committed):
            if isinstance(record, GroupRecord):
                assigned = tuple(
                    sorted((member.member_id, assignment_digest(member.assignment)) for member in record.members)
                )
                self._tell(
                    GroupMetadataAppended, after, generation=record.generation, offset=offset, assignments=assigned,
                    members=tuple(member for member, _ in assigned),
                )  # fmt: skip
        self._committed = len(records)

    def _note_group(self, after: Observation) -> None:
        before, self._before = self._before, after
        if not _is_seen(after):
            return
        had, has = _seats(before), _seats(after)
        for member in sorted(had.keys() - has.keys()):
            replaced = had[member] and had[member] in has.values()
            self._tell(MemberRemoved, after, member_id=member, reason="replaced" if replaced else UNSEEN)
        for member in sorted(has.keys() - had.keys()):
            self._tell(MemberAdded, after, member_id=member, instance_id=has[member])
        if before.generation != after.generation and after.described.state in FORMED:
            self._tell(
                GenerationStarted, after, members=_members(after), leader=after.leader or "",
                protocol=after.described.protocol_name,
            )  # fmt: skip
        states = before.described.state, after.described.state
        if states[0] != states[1]:
            self._tell(GroupStatusChanged, after, from_status=states[0], to_status=states[1])

    def _note_answer(self, observed: Observed, after: Observation) -> None:
        request, reply = observed.request, observed.reply
        if isinstance(request, SyncGroupRequest) and isinstance(reply, SyncGroupReply):
            self._tell(
                SyncGroupReplied, after, request=observed.token, error=reply.error.name, member_id=request.member_id,
                instance_id=request.group_instance_id or "", request_generation=request.generation_id,
                generation=request.generation_id, assignment=assignment_digest(reply.assignment),
            )  # fmt: skip
        elif isinstance(request, JoinGroupRequest) and isinstance(reply, JoinGroupReply):
            self._tell(
                JoinGroupReplied, after, request=observed.token, error=reply.error.name, member_id=request.member_id,
                instance_id=request.group_instance_id or "", reply_generation=reply.generation_id, assigned_member_id=reply.member_id,
                leader=reply.leader, protocol=reply.protocol_name or "",
            )  # fmt: skip

    def _tell(self, kind: type[Event], seen: Observation, **fields: Any) -> None:
        generation = -1 if seen.generation is None else seen.generation
        said: dict[str, Any] = {"incarnation": self._incarnation, "generation": generation, **fields}
        self._recorder.emit(kind(**said))


def _is_seen(observation: Observation) -> bool:
    shown = observation.described
    return observation.generation is not None and shown.error is Error.NONE and shown.state != "Dead"


def _seats(observation: Observation) -> dict[str, str]:
    return {member.member_id: member.group_instance_id or "" for member in observation.described.members}


def _members(observation: Observation) -> tuple[str, ...]:
    return tuple(sorted(_seats(observation)))
