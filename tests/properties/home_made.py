"""Small correct coordinators of other kinds than Kafka's, which record what they do in the vocabulary of events.

Each lacks some features of the classic protocol and records nothing of what it lacks. A change of members is followed
by a rebalance in which all give up what they hold; a member that crashed is removed before that, when its session is
over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    GenerationStarted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberAdded,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberRemoved,
    MemberStarted,
    OffsetCommitReplied,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsRevoked,
    RequestAnswered,
    RequestParked,
    RequestSent,
    RunEnded,
    RunStarted,
    SyncGroupReplied,
    TaskStarted,
    TaskStopped,
)
from rebalance_check.properties.features import Feature

SESSION_MS: Final = 10_000
PARTITIONS: Final = ("t-0", "t-1", "t-2")
PREPARING, COMPLETING, STABLE, EMPTY = "PreparingRebalance", "CompletingRebalance", "Stable", "Empty"


@dataclass(frozen=True)
class HomeMade:
    """A kind of coordinator: what it lacks, and who records: its members, the coordinator, or both."""

    lacks: frozenset[Feature] = frozenset()
    members_record: bool = True
    coordinator_records: bool = True
    runs_tasks: bool = False
    punctual: bool = True

    def run(self, actions: Iterable[tuple[str, str]], *, grants_twice: bool = False) -> list[Event]:
        """The history of a run in which these things happen to members, in this order.

        ``grants_twice``: in the end the coordinator grants to one member what another holds.
        """
        run = _Run(self)
        for action, member in actions:
            getattr(run, action)(member)
        if grants_twice:
            for member in ("a", "b"):
                run.start(member)
            first, second = run.live()[:2]
            run.grant(second, run.owned[first])
        return run.end()


class _Run:
    """The coordinator and its members, in one: ``ids`` maps each live member to its member id."""

    def __init__(self, kind: HomeMade) -> None:
        self.kind = kind
        self.events: list[Event] = []
        self.seqs: Counter[str] = Counter()
        self.now_ms = 0
        self.generation = 0 if Feature.GENERATIONS not in kind.lacks else 1
        self.status = EMPTY
        self.ids: dict[str, str] = {}
        self.crashed: list[str] = []
        self.owned: dict[str, tuple[str, ...]] = {}
        self.numbers: Counter[str] = Counter()
        self.seen_ms: dict[str, int] = {}
        self.protocol = "range"
        self.offset = 0
        self.emit("harness", RunStarted(subject="home-made", punctual=kind.punctual))
        self.coordinator(IncarnationStarted, status=EMPTY, max_size=100)

    def has(self, feature: Feature) -> bool:
        return feature not in self.kind.lacks

    def emit(self, source: str, event: Event) -> None:
        stamped = replace(event, group="" if source == "harness" else "g", source=source, seq=self.seqs[source],
                          time_ms=self.now_ms)  # fmt: skip
        self.seqs[source] += 1
        self.events.append(stamped)

    def coordinator(self, kind: Any, **fields: Any) -> None:
        if self.kind.coordinator_records:
            self.emit("coordinator", kind(incarnation=0, generation=self.generation, **fields))

    def member(self, member: str, kind: Any, **fields: Any) -> None:
        if self.kind.members_record:
            self.emit(member, kind(member=member, **fields))

    def of_generation(self, member: str, kind: Any, **fields: Any) -> None:
        self.member(member, kind, generation=self.generation, member_id=self.ids[member], **fields)

    def ask(self, member: str, api: str) -> int:
        """A request is sent; its number at the coordinator."""
        self.now_ms += 1
        self.numbers[member] += 1
        generation = -1 if api in {"JoinGroup", "LeaveGroup"} else self.generation
        self.member(member, RequestSent, api=api, request=self.numbers[member], generation=generation)
        self.numbers["coordinator"] += 1
        return self.numbers["coordinator"]

    def answered(self, member: str, api: str, **fields: Any) -> None:
        self.member(member, RequestAnswered, api=api, request=self.numbers[member], error="NONE", **fields)

    def reply(self, kind: Any, request: int, member: str, **fields: Any) -> None:
        self.seen_ms[member] = self.now_ms
        self.coordinator(kind, request=request, error="NONE", member_id=self.ids[member],
                         request_generation=self.generation, **fields)  # fmt: skip

    def become(self, status: str) -> None:
        if status != self.status:
            self.coordinator(GroupStatusChanged, from_status=self.status, to_status=status)
            self.status = status

    # ------------------------------------------------------------------------------------------ what may happen

    def start(self, member: str) -> None:
        """A member starts and joins."""
        if member in self.ids:
            return
        self.numbers[f"id of {member}"] += 1
        self.ids[member] = f"{member}-{self.numbers[f'id of {member}']}"
        self.member(member, MemberStarted, protocol="eager")
        self.owned[member] = ()
        self.rebalance(joins=member)

    def leave(self, member: str) -> None:
        """A member gives up what it holds and leaves."""
        if member not in self.ids:
            return
        self.give_up(member)
        request = self.ask(member, "LeaveGroup")
        self.coordinator(MemberRemoved, member_id=self.ids[member], reason="left")
        self.become(PREPARING)
        self.reply(LeaveGroupReplied, request, member)
        self.answered(member, "LeaveGroup")
        self.member(member, MemberLeft)
        del self.ids[member]
        self.rebalance()

    def crash(self, member: str) -> None:
        """A member dies."""
        if member not in self.ids:
            return
        self.heartbeat("")
        self.member(member, MemberCrashed)
        self.crashed.append(member)
        for _ in range(4):
            self.now_ms += SESSION_MS // 5
            self.heartbeat("")
        self.now_ms = self.seen_ms[member] + SESSION_MS
        self.expire()
        self.rebalance()

    def expire(self) -> None:
        """The sessions of those that crashed are over."""
        for member in self.crashed:
            self.coordinator(MemberRemoved, member_id=self.ids.pop(member), reason="session expired")
            self.owned[member] = ()
        if self.crashed:
            self.become(PREPARING)
        self.crashed.clear()

    def heartbeat(self, _member: str) -> None:
        """Every live member sends a heartbeat."""
        for member in self.live():
            request = self.ask(member, "Heartbeat")
            self.reply(HeartbeatReplied, request, member)
            self.answered(member, "Heartbeat")

    def wait(self, _member: str) -> None:
        """Time passes, longer than any timeout, and nothing happens but heartbeats."""
        for _ in range(10):
            self.now_ms += SESSION_MS // 2
            self.heartbeat("")

    def commit(self, member: str) -> None:
        """A member commits what it holds."""
        for partition in self.owned.get(member, ()) if member in self.ids else ():
            request = self.ask(member, "OffsetCommit")
            self.reply(OffsetCommitReplied, request, member)
            self.answered(member, "OffsetCommit")
            self.of_generation(member, OffsetCommitted, partition=partition, offset=self.now_ms, error="NONE")

    # ------------------------------------------------------------------------------------------ a rebalance

    def live(self) -> list[str]:
        return [member for member in sorted(self.ids) if member not in self.crashed]

    def rebalance(self, joins: str = "") -> None:
        """All give up what they hold and join; each is then assigned its share."""
        for member in self.live():
            self.give_up(member)
        if joins:
            self.coordinator(MemberAdded, member_id=self.ids[joins])
        if not self.live():
            self.next_generation(())
            self.become(EMPTY)
            return
        self.protocol = "roundrobin" if self.protocol == "range" else "range"
        parked = self.join()
        members = tuple(self.ids[member] for member in self.live())
        self.next_generation(members)
        shares = self.shares()
        if not self.has(Feature.SYNC_GROUP):
            self.record(shares)
            self.become(STABLE)
        self.answer_joins(parked, members)
        if self.has(Feature.LEADER):
            first = self.live()[0]
            assignments = tuple((self.ids[member], share) for member, share in shares.items())
            owned = tuple((self.ids[member], ()) for member in shares)
            self.of_generation(first, AssignmentComputed, assignments=assignments, owned_partitions=owned)
        if self.has(Feature.SYNC_GROUP):
            self.sync(shares)
        for member, share in shares.items():
            self.take(member, share)

    def join(self) -> dict[str, int]:
        parked = {}
        for member in self.live():
            request = parked[member] = self.ask(member, "JoinGroup")
            self.become(PREPARING)
            self.coordinator(RequestParked, api="JoinGroup", request=request, member_id=self.ids[member],
                             protocols=("range", "roundrobin"), rebalance_timeout_ms=30_000,
                             session_timeout_ms=SESSION_MS)  # fmt: skip
        return parked

    def next_generation(self, members: tuple[str, ...]) -> None:
        if self.has(Feature.GENERATIONS):
            self.generation += 1
        if members and self.has(Feature.SYNC_GROUP):
            self.become(COMPLETING)
        if self.has(Feature.GENERATIONS):
            leader = members[0] if members and self.has(Feature.LEADER) else ""
            self.coordinator(
                GenerationStarted, members=members, leader=leader, protocol=self.protocol if members else ""
            )

    def answer_joins(self, parked: Mapping[str, int], members: tuple[str, ...]) -> None:
        for member, request in parked.items():
            self.seen_ms[member] = self.now_ms
            leads = self.has(Feature.LEADER) and self.ids[member] == members[0]
            leader = members[0] if self.has(Feature.LEADER) else ""
            self.coordinator(JoinGroupReplied, request=request, error="NONE", member_id=self.ids[member],
                             reply_generation=self.generation, assigned_member_id=self.ids[member], leader=leader,
                             protocol=self.protocol, listed_members=members if leads else (),
                             protocols=("range", "roundrobin"))  # fmt: skip
            self.answered(member, "JoinGroup", generation=self.generation, leader=leader)
            self.of_generation(member, MemberJoined, leader=leads, protocol=self.protocol)

    def sync(self, shares: Mapping[str, tuple[str, ...]]) -> None:
        parked = {}
        for member in shares:
            request = parked[member] = self.ask(member, "SyncGroup")
            self.coordinator(RequestParked, api="SyncGroup", request=request, member_id=self.ids[member],
                             request_generation=self.generation)  # fmt: skip
        self.record(shares)
        self.become(STABLE)
        for member, share in shares.items():
            self.reply(SyncGroupReplied, parked[member], member, assignment=",".join(share))
            self.answered(member, "SyncGroup", assignment=share)

    def record(self, shares: Mapping[str, tuple[str, ...]]) -> None:
        members = tuple(self.ids[member] for member in shares)
        self.coordinator(GroupMetadataWritten, members=members)
        assignments = tuple((self.ids[member], ",".join(share)) for member, share in shares.items())
        self.coordinator(GroupMetadataAppended, members=members, offset=self.offset, assignments=assignments)
        self.offset += 1

    def shares(self) -> dict[str, tuple[str, ...]]:
        live = self.live()
        return {member: PARTITIONS[number :: len(live)] for number, member in enumerate(live)}

    def take(self, member: str, share: tuple[str, ...]) -> None:
        self.owned[member] = share
        self.grant(member, share)
        if not self.kind.runs_tasks:
            self.of_generation(member, AssignmentCompleted, owned=share)

    def grant(self, member: str, share: tuple[str, ...]) -> None:
        if self.kind.runs_tasks:
            for task in share:
                self.of_generation(member, TaskStarted, task=task)
        elif share:
            self.of_generation(member, PartitionsAssigned, partitions=share)

    def give_up(self, member: str) -> None:
        share, self.owned[member] = self.owned[member], ()
        if self.kind.runs_tasks:
            for task in share:
                self.of_generation(member, TaskStopped, task=task)
        elif share:
            self.of_generation(member, PartitionsRevoked, partitions=share)

    def end(self) -> list[Event]:
        """The run ends with nothing pending."""
        self.emit("harness", RunEnded())
        return self.events
