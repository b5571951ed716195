"""A scenario on a coordinator that records no events, Kafka's, as a history: its steps, its log, and its group.

The log is the harness's own, so every append and every acknowledgement is known, and the invariants about the log are
judged on Kafka itself. Members and statuses are those that are seen between two steps; a generation that began
meanwhile went by way of PreparingRebalance. Why a member was removed is not seen, unless it left, or is a static member
that was replaced. A request that a step leaves without a reply is parked, and so was one whose reply needed the end of
a phase, or a record, which the step brought about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.coordinator.records import GroupRecord, GroupTombstone, Record
from rebalance_check.impl.protocol.digest import assignment_digest, metadata_digest
from rebalance_check.impl.protocol.messages import (
    DescribedGroup,
    GroupReply,
    GroupRequest,
    HeartbeatReply,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    OffsetCommitReply,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.runtime.recorder import LastNumbers, Recorder
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
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    LogTailLost,
    MemberAdded,
    MemberRemoved,
    OffsetCommitReplied,
    RequestParked,
    RunEnded,
    RunStarted,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.model.vocabulary.ids import NO_GENERATION

Asked: TypeAlias = tuple[int, GroupRequest]
"""A request, behind its number."""

_BEGUN: Final = (GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE, GroupStatus.EMPTY)
"""The statuses of a group whose generation has begun."""

_OF_FAILED_WRITES: Final = (Error.COORDINATOR_NOT_AVAILABLE, Error.NOT_COORDINATOR, Error.UNKNOWN_SERVER_ERROR)
LEFT: Final = "left"
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
    listener = LastNumbers(events.append)
    writer = _HistoryWriter(coordinator, name, config, listener)
    runner = writer.runner = _Runner(coordinator, config, listener)
    for line in scenario[1:]:
        for piece in pieces(runner, line):
            runner.observed.clear()
            runner.last = None
            runner.start_step(piece)
            perform(runner, piece)
            writer.note(piece, runner.last, runner.observed)
            runner.end_step(coordinator.observe(GROUP))
    writer.end()
    return events


class _Runner(RecordedRunner):
    """Keeps the ``last`` request to the group, with its number."""

    last: Asked | None = None

    def send(self, name: str, request: GroupRequest) -> str:
        """Send a request, and keep it."""
        if request.group_id == GROUP:
            self.last = self.sent + 1, request
        return super().send(name, request)


class _HistoryWriter:
    """Looks after each step at the log, the group and the replies, and records what changed."""

    def __init__(self, coordinator: SteeredCoordinator, name: str, config: GroupConfig, listener: LastNumbers) -> None:
        self.runner: ScenarioRunner | None = None
        self._coordinator = coordinator
        self._numbers = listener
        self._harness, self._recorder = (
            Recorder(GROUP, source, lambda: self.runner.now if self.runner else 0, listener)
            for source in ("harness", "coordinator")
        )
        self._incarnation = 0
        self._before = NOTHING
        self._written = self._committed = 0
        self._held = self._fails = False
        self._max_size = config.max_size
        self._harness.emit(RunStarted(subject=name))

    def end(self) -> None:
        """Nothing is missing; a scenario ends where it likes, so that nothing is known to be at rest."""
        self._harness.emit(RunEnded(pending=None, last=self._numbers.attested))

    def note(self, line: str, asked: Asked | None, observed: Sequence[Observed]) -> None:
        """Record what a step changed in which ``asked`` was sent, and the replies of ``observed`` came."""
        words = line.split()
        lost = next((int(word.partition("=")[2]) for word in words if word.startswith("lose=")), 0)
        after = self._coordinator.observe(GROUP)
        if words[0] in {"failover", "unload"}:
            self._end_incarnation(words[0] == "failover", lost)
        self._held = words[0] == "hold" or (self._held and words[0] not in {"release", "failover"})
        self._fails = len(words) > 1 if words[0] == "fail" else self._fails
        if _is_seen(after) and not _is_seen(self._before):
            self._begin_incarnation(after, is_loaded=words[0] in {"failover", "load"}, is_new=asked is not None)
        before, self._before = self._before, after
        answers = [each for each in observed if each.request.group_id == GROUP]
        refused = [each for each in answers if _is_refused(each, asked)]
        for each in refused:  # before it is removed
            self._note_answer(each, before)
        if _is_seen(after):
            self._note_members(before, after, asked)
        if asked is not None:
            self._note_parked(asked, before, after, {each.token: each.reply for each in answers})
        self._note_log(self._coordinator.records(), before, after)
        unwritten = [each for each in answers if each not in refused and _is_unwritten(each)]
        for each in unwritten:  # before the group rebalances for it
            self._note_answer(each, before)
        if _is_seen(after):
            self._note_status(before, after)
        for each in answers:
            if each not in (*refused, *unwritten):
                self._note_answer(each, after)
        if _is_seen(before) and not _is_seen(after):
            self._incarnation += 1

    def _end_incarnation(self, is_crash: bool, lost: int) -> None:
        if _is_seen(self._before):
            self._record(IncarnationEnded, self._before)
        self._before = NOTHING
        self._incarnation += 1
        if lost:
            self._harness.emit(LogTailLost(records=lost))
        if is_crash:  # the next coordinator reads what the log has left, and takes it for committed
            self._written = self._committed = min(self._written, len(self._coordinator.records()))

    def _begin_incarnation(self, after: Observation, *, is_loaded: bool, is_new: bool) -> None:
        """A coordinator loaded the group, or a request made it, or its first record is committed at last."""
        shown = after.described
        if is_new and not is_loaded:
            self._recorder.emit(
                IncarnationStarted(
                    incarnation=self._incarnation, generation=0, status=GroupStatus.EMPTY, max_size=self._max_size
                )
            )
            self._before = Observation(
                DescribedGroup(group_id=GROUP, state=GroupStatus.EMPTY, protocol_type="", protocol_name=""), 0
            )
            return
        instances = {m.member_id: m.group_instance_id for m in shown.members if m.group_instance_id}
        self._record(
            IncarnationStarted, after, status=shown.state, members=_members(after),
            instances=tuple(sorted(instances.items())), leader=after.leader or "", protocol=shown.protocol_name,
            max_size=self._max_size,
        )  # fmt: skip
        self._before = after
        if not is_loaded:
            self._note_waiting(after)

    def _note_waiting(self, after: Observation) -> None:
        """The JoinGroups that wait in a group that was not seen before; which new id is whose does not matter."""
        assert self.runner is not None
        left = _instances(after)
        waiting = [(number, one) for number, one in self.runner.joins_waiting().items() if one.group_id == GROUP]
        for number, request in sorted(waiting, key=lambda each: _is_new(each[1])):
            member_id = _joining(request, None, {}, left)
            left.pop(member_id, None)
            self._park(number, request, {**_sender(request), "member_id": member_id}, after)

    def _note_log(self, records: Sequence[Record], before: Observation, after: Observation) -> None:
        for record in records[self._written :]:
            if isinstance(record, GroupRecord):
                members = tuple(sorted(member.member_id for member in record.members))
                self._record(GroupMetadataWritten, after, generation=record.generation, members=members)
            elif isinstance(record, GroupTombstone):
                self._record(GroupDeleted, before, status=before.described.state)
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

    # -------------------------------------------------------------------------------------------- the group

    def _note_members(self, before: Observation, after: Observation, asked: Asked | None) -> None:
        had, has = _instances(before), _instances(after)
        leaving = asked[1].members if asked is not None and isinstance(asked[1], LeaveGroupRequest) else ()
        named = {one.member_id for one in leaving} | {one.group_instance_id for one in leaving if one.group_instance_id}
        for member in sorted(had.keys() - has.keys()):
            replaced = had[member] and had[member] in has.values()
            reason = "replaced" if replaced else LEFT if named & {member, had[member]} - {""} else UNSEEN
            self._record(MemberRemoved, before, member_id=member, reason=reason)
        for member in sorted(has.keys() - had.keys()):
            self._record(MemberAdded, before, member_id=member, instance_id=has[member])

    def _note_status(self, before: Observation, after: Observation) -> None:
        """Each status on the way to the present one; where a generation began, that led through the join phase."""
        status, last, begins = before.described.state, after.described.state, before.generation != after.generation
        if begins and status != GroupStatus.PREPARING_REBALANCE and last in _BEGUN:
            self._changed(before, status, status := GroupStatus.PREPARING_REBALANCE)
        if begins and last == GroupStatus.STABLE:
            self._changed(after, status, status := GroupStatus.COMPLETING_REBALANCE)
        if status != last and not (begins and last == GroupStatus.STABLE):
            self._changed(after, status, last)
        if begins and last in _BEGUN:
            self._record(
                GenerationStarted, after, members=_members(after), leader=after.leader or "",
                protocol=after.described.protocol_name,
            )  # fmt: skip
        if begins and last == GroupStatus.STABLE:
            self._changed(after, status, last)

    def _changed(self, seen: Observation, from_status: str, to_status: str) -> None:
        self._record(GroupStatusChanged, seen, from_status=from_status, to_status=to_status)

    # -------------------------------------------------------------------------------------------- requests

    def _note_parked(
        self, asked: Asked, before: Observation, after: Observation, replies: Mapping[int, GroupReply]
    ) -> None:
        """The request of the step, where it waited for its reply, however shortly."""
        number, request = asked
        reply = replies.get(number)
        if reply is not None and not self._waited(request, reply, before, after):
            return
        sender = _sender(request)
        if isinstance(request, JoinGroupRequest):
            sender["member_id"] = _joining(request, reply, _instances(before), _instances(after))
        self._park(number, request, sender, before)
        if reply is not None and reply.error in _OF_FAILED_WRITES and _is_seen(before):
            self._record(GroupMetadataWritten, before, members=_members(before))  # the log refused it

    def _park(self, number: int, request: GroupRequest, sender: dict[str, Any], seen: Observation) -> None:
        join = request if isinstance(request, JoinGroupRequest) else None
        fields: dict[str, Any] = {} if join is None else {
            "protocols": tuple(protocol.name for protocol in join.protocols),
            "rebalance_timeout_ms": join.rebalance_timeout_ms if join.version else join.session_timeout_ms,
            "session_timeout_ms": join.session_timeout_ms,
            "metadata": metadata_digest(join.protocols),
        }  # fmt: skip
        self._of_request(RequestParked, seen, request=number, api=_api(request), **sender, **fields)

    def _waited(self, request: GroupRequest, reply: GroupReply, before: Observation, after: Observation) -> bool:
        """Whether a reply of the same step came of something that the request brought about."""
        if self._fails and reply.error in _OF_FAILED_WRITES:
            return True
        if isinstance(request, JoinGroupRequest):
            return reply.error is Error.NONE and before.generation != after.generation
        moved = before.described.state != after.described.state
        return isinstance(request, SyncGroupRequest) and moved

    def _note_answer(self, observed: Observed, after: Observation) -> None:
        request, reply = observed.request, observed.reply
        said = {"request": observed.token, "error": reply.error.name, **_sender(request)}
        match reply:
            case JoinGroupReply():
                assert isinstance(request, JoinGroupRequest)
                self._of_request(
                    JoinGroupReplied, after, **said, reply_generation=reply.generation_id,
                    assigned_member_id=reply.member_id, leader=reply.leader, protocol=reply.protocol_name or "",
                    listed_members=tuple(member.member_id for member in reply.members),
                    skip_assignment=reply.skip_assignment,
                    protocols=tuple(protocol.name for protocol in request.protocols),
                )  # fmt: skip
            case SyncGroupReply():
                self._of_request(SyncGroupReplied, after, **said, assignment=assignment_digest(reply.assignment))
            case HeartbeatReply():
                self._of_request(HeartbeatReplied, after, **said)
            case LeaveGroupReply():
                self._of_request(LeaveGroupReplied, after, **said)
            case OffsetCommitReply():
                failed = (error for _, _, error in reply.partitions if error is not Error.NONE)
                error = reply.error if reply.error is not Error.NONE else next(failed, Error.NONE)
                self._of_request(OffsetCommitReplied, after, **{**said, "error": error.name})
            case _:
                pass

    def _of_request(self, kind: type[Event], seen: Observation, **fields: Any) -> None:
        """An event of a request, which is of no incarnation where there is no group, or it is being loaded."""
        if _is_seen(seen):
            self._record(kind, seen, **fields)
        else:
            self._record(kind, NOTHING, **fields, incarnation=NO_GENERATION)

    def _record(self, kind: type[Event], seen: Observation, **fields: Any) -> None:
        generation = -1 if seen.generation is None else seen.generation
        said: dict[str, Any] = {"incarnation": self._incarnation, "generation": generation, **fields}
        self._recorder.emit(kind(**said))


def _is_seen(observation: Observation) -> bool:
    shown = observation.described
    return observation.generation is not None and shown.error is Error.NONE and shown.state != GroupStatus.DEAD


def _is_refused(observed: Observed, asked: Asked | None) -> bool:
    """Whether a request that waited is refused for its member, which is removed, or for its record."""
    waited = asked is None or observed.token != asked[0]
    refusals = (Error.FENCED_INSTANCE_ID, Error.UNKNOWN_MEMBER_ID, *_OF_FAILED_WRITES)
    return waited and observed.reply.error in refusals


def _is_unwritten(observed: Observed) -> bool:
    """Whether the reply says that an assignment could not be written."""
    return isinstance(observed.request, SyncGroupRequest) and observed.reply.error in _OF_FAILED_WRITES


def _api(request: GroupRequest) -> str:
    return type(request).__name__.removesuffix("Request")


def _sender(request: GroupRequest) -> dict[str, Any]:
    """The sender of a request, and the generation that it names; of a LeaveGroup, its first entry."""
    who = request.members[0] if isinstance(request, LeaveGroupRequest) and request.members else request
    return {
        "member_id": getattr(who, "member_id", ""),
        "instance_id": getattr(who, "group_instance_id", None) or "",
        "request_generation": getattr(request, "generation_id", NO_GENERATION),
    }


def _is_new(request: JoinGroupRequest) -> bool:
    """Whether the request names neither a member nor an instance."""
    return not (request.member_id or request.group_instance_id)


def _joining(
    request: JoinGroupRequest, reply: GroupReply | None, had: Mapping[str, str], has: Mapping[str, str]
) -> str:
    """The member id under which a JoinGroup waits: its own, the one in its reply, or one that is new in the group."""
    if isinstance(reply, JoinGroupReply) and reply.member_id:
        return reply.member_id
    wanted = request.group_instance_id
    holder = next((member for member, instance in has.items() if wanted and instance == wanted), "")
    return holder or request.member_id or next((member for member in sorted(has) if member not in had), "")


def _instances(observation: Observation) -> dict[str, str]:
    return {member.member_id: member.group_instance_id or "" for member in observation.described.members}


def _members(observation: Observation) -> tuple[str, ...]:
    return tuple(sorted(_instances(observation)))
