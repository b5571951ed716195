"""A scenario's steps as events: requests, replies, and DescribeGroups after each step.

The events are those of `model.vocabulary.scenario_events`.

Any coordinator that a `ScenarioRunner` drives is recorded in this way; ours records events of its own between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Final
from zlib import crc32

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.digest import assignment_digest
from rebalance_check.impl.protocol.messages import (
    DescribedGroup,
    GroupReply,
    GroupRequest,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitReply,
    OffsetCommitRequest,
    OffsetFetchReply,
    SyncGroupReply,
    SyncGroupRequest,
    TxnOffsetCommitReply,
    TxnOffsetCommitRequest,
)
from rebalance_check.impl.runtime.recorder import LastNumbers, Recorder
from rebalance_check.impl.scenarios.commands import perform
from rebalance_check.impl.scenarios.runner import SETTINGS, Observed, ScenarioRunner, settings_of
from rebalance_check.impl.steered.coordinator import Observation, SteeredCoordinator
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.model.vocabulary.events import (
    CoordinatorConfigured,
    Event,
    GroupDescribed,
    ReplyReceived,
    RequestIssued,
    RunEnded,
    RunStarted,
    StepStarted,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION

GROUP: Final = "g"
"""The group whose steps are recorded."""

SOURCE: Final = "runner"
UNSEEN: Final = -1

Listener = Callable[[Event], None]


class RecordedRunner(ScenarioRunner):
    """A runner that records each step: `start_step`, the requests and replies as they happen, `end_step`."""

    def __init__(self, coordinator: SteeredCoordinator, config: GroupConfig, listener: Listener) -> None:
        super().__init__(coordinator)
        self._recorder = Recorder(GROUP, SOURCE, lambda: self.now, listener)
        retention_ms = config.offsets_retention_minutes * 60_000
        self._recorder.emit(
            CoordinatorConfigured(
                max_size=config.max_size,
                offsets_retention_ms=retention_ms,
                initial_rebalance_delay_ms=config.initial_rebalance_delay_ms,
                new_member_join_timeout_ms=config.new_member_join_timeout_ms,
            )
        )

    def start_step(self, line: str) -> None:
        """A step begins."""
        self._recorder.emit(StepStarted(step=line))

    def send(self, name: str, request: GroupRequest) -> str:
        """Send a request, and record it."""
        if request.group_id == GROUP:
            self._recorder.emit(issued(name, self.sent + 1, request))
        return super().send(name, request)

    def end_step(self, seen: Observation, exception: str = "") -> None:
        """The step ends with the group as ``seen``; ``exception`` is one that no reply reports."""
        self._recorder.emit(described(seen, exception))

    def _receive(self, token: int, reply: GroupReply) -> Observed:
        observed = super()._receive(token, reply)
        if observed.request.group_id == GROUP:
            self._recorder.emit(received(token, reply))
        return observed


def pieces(
    runner: ScenarioRunner, line: str, deadlines: Callable[[], Iterable[int | None]] | None = None
) -> Iterator[str]:
    """The steps of a line: time passes from deadline to deadline, so that each timer is judged before the next.

    ``deadlines`` gives the times of the next timers in ms, by default that of the runner's coordinator.
    """
    verb, _, duration = line.partition(" ")
    if verb != "advance":
        yield line
        return
    due = deadlines or (lambda: (runner.coordinator.next_deadline(),))
    end = runner.now + int(duration)
    while (now := runner.now) < end:
        until = min([end, *(max(each, now + 1) for each in due() if each is not None)])
        yield f"advance {until - now}"


class OurScenario:
    """A scenario on our own coordinator: ``listener`` receives the events of the runner and of the coordinator.

    ``lines`` may begin with the settings; ``seed`` is that of a random scenario.
    """

    def __init__(self, lines: Sequence[str], listener: Listener, seed: int = 0) -> None:
        config, made = settings_of(lines[0]), count(1)
        self.lines = tuple(lines[1:] if config else lines)
        config = config or GroupConfig(**SETTINGS)
        numbers = self._numbers = LastNumbers(listener)
        self._run = Recorder("", "harness", lambda: 0, numbers)
        self._run.emit(RunStarted(subject="coordinator", seed=seed, punctual=True))
        coordinator = InProcess(config, new_member_id=lambda prefix: f"{prefix}-{next(made)}", listener=numbers)
        self._runner = RecordedRunner(coordinator, config, numbers)

    def steps(self) -> Iterator[int]:
        """Perform the scenario: the index of the line after each step of it."""
        for index, line in enumerate(self.lines):
            for piece in pieces(self._runner, line):
                self._runner.start_step(piece)
                perform(self._runner, piece)
                self._runner.end_step(self._runner.coordinator.observe(GROUP))
                yield index
        self._run.emit(RunEnded(last=self._numbers.attested))


def issued(client: str, number: int, request: GroupRequest) -> RequestIssued:
    """The event of a request."""
    join = request if isinstance(request, JoinGroupRequest) else None
    leaving = request.members if isinstance(request, LeaveGroupRequest) else ()
    offsets = request.offsets if isinstance(request, OffsetCommitRequest | TxnOffsetCommitRequest) else ()
    assigned = request.assignments if isinstance(request, SyncGroupRequest) else ()
    return RequestIssued(
        client=client,
        api=type(request).__name__.removesuffix("Request"),
        request=number,
        version=request.version,
        member_id=getattr(request, "member_id", ""),
        instance_id=getattr(request, "group_instance_id", None) or "",
        request_generation=getattr(request, "generation_id", NO_GENERATION),
        session_timeout_ms=join.session_timeout_ms if join else 0,
        rebalance_timeout_ms=join.rebalance_timeout_ms if join else 0,
        leaving=tuple((one.member_id, one.group_instance_id or "") for one in leaving),
        offsets=tuple((f"{one.topic}-{one.partition}", one.offset) for one in offsets),
        producer_id=getattr(request, "producer_id", -1),
        retention_ms=getattr(request, "retention_time_ms", -1),
        assignments=tuple((one.member_id, assignment_digest(one.assignment)) for one in assigned),
    )


def received(number: int, reply: GroupReply) -> ReplyReceived:
    """The event of a reply."""
    errors = reply.partitions if isinstance(reply, OffsetCommitReply | TxnOffsetCommitReply) else ()
    offsets = reply.offsets if isinstance(reply, OffsetFetchReply) else ()
    return ReplyReceived(
        request=number,
        error=reply.error.name,
        assigned_member_id=reply.member_id if isinstance(reply, JoinGroupReply) else "",
        offsets=tuple((f"{one.topic}-{one.partition}", one.offset) for one in offsets),
        partition_errors=tuple((f"{topic}-{partition}", error.name) for topic, partition, error in errors),
        assignment=assignment_digest(reply.assignment) if isinstance(reply, SyncGroupReply) else "",
    )


def described(seen: Observation, exception: str = "") -> GroupDescribed:
    """The event of a group as DescribeGroups shows it."""
    group = in_order(seen.described)
    return GroupDescribed(
        status=group.state,
        error=group.error.name,
        generation=UNSEEN if seen.generation is None else seen.generation,
        members=tuple((member.member_id, member.group_instance_id or "") for member in group.members),
        digest=f"{crc32(repr(group).encode()):08x}",
        exception=exception,
    )


def in_order(group: DescribedGroup) -> DescribedGroup:
    """The group with its members in the order of their ids: theirs in Kafka is hash order."""
    return replace(group, members=tuple(sorted(group.members, key=lambda member: member.member_id)))
