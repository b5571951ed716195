"""What an observer sees of a step of the classic model: events of coordinator and clients, and the answers between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, TypedDict

from rebalance_check.model.actions import TAKEOVERS, Action, ActionKind
from rebalance_check.model.bounds import Bounds
from rebalance_check.model.classic_beats import ANSWERED_WELL
from rebalance_check.model.classic_member import is_reset
from rebalance_check.model.classic_state import (
    STATUS_NAMES,
    Config,
    GroupStatus,
    Member,
    MemberStatus,
    MessageKind,
    State,
    has,
    minus,
)  # fmt: skip
from rebalance_check.model.errors import Error
from rebalance_check.model.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    GenerationStarted,
    GroupStatusChanged,
    IncarnationEnded,
    IncarnationStarted,
    MemberAdded,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RequestAnswered,
    RequestSent,
    RunStarted,
)  # fmt: skip
from rebalance_check.model.ids import NO_GENERATION, partition
from rebalance_check.model.layout import NIL
from rebalance_check.model.seats import REASONS, leader_told, leave_error, replaced_by
from rebalance_check.model.trace_door import Door, life_of, place_after
from rebalance_check.model.trace_log import IdsOnRecord
from rebalance_check.model.voting_names import protocol_of, selected_protocol, told_protocol

COORDINATOR: Final = "coordinator"
HARNESS: Final = "harness"
TOPIC: Final = "t"
"""The topic whose partitions the members share."""

REPLY_APIS: Final = {
    MessageKind.JOIN_REPLY: "JoinGroup",
    MessageKind.SYNC_REPLY: "SyncGroup",
    MessageKind.HEARTBEAT_REPLY: "Heartbeat",
    MessageKind.COMMIT_REPLY: "OffsetCommit",
}

RESETS: Final = frozenset({Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION, Error.FENCED_INSTANCE_ID})
"""The errors after which a process belongs to no generation."""

Claims = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(slots=True)
class Ledger:
    """What an observer remembers that the state of the model need not: numbers and names.

    ``ids`` counts the member ids that each slot was given; ``known`` is the number of the one at the coordinator, and
    ``log`` has those in its log; ``told_id`` is the one in the last JoinGroup answer, ``held_id`` the one that its
    process holds, ``sent_id`` the one in its last request; ``requests`` numbers its requests, and ``outstanding`` is
    the number of the one in its slot (a heartbeat beside a SyncGroup is not); ``joined_life`` is the incarnation of its
    generation, ``told_life`` that of the last JoinGroup answer on its way to it; ``shown`` the
    metadata that a leader was shown; ``seq`` numbers the events of each source; ``steps`` is the time.
    """

    ids: list[int]
    known: list[int]
    log: IdsOnRecord
    told_id: list[str]
    held_id: list[str]
    sent_id: list[str]
    requests: list[int]
    outstanding: list[int]
    joined_life: list[int]
    told_life: list[int]
    shown: list[tuple[Claims, tuple[tuple[str, int], ...]]]
    copied_id: str = ""
    deposed_life: int = 0
    steps: int = 0
    seq: dict[str, int] = field(default_factory=dict)
    door: Door = field(default_factory=Door)

    @classmethod
    def for_members(cls, n: int) -> Ledger:
        """A ledger in which nothing has happened."""
        return cls(
            [0] * n,
            [0] * n,
            IdsOnRecord([0] * n, [0] * n),
            [""] * n,
            [""] * n,
            [""] * n,
            [0] * n,
            [-1] * n,
            [-1] * n,
            [-1] * n,
            [((), ())] * n,
        )

    def copy(self) -> Ledger:
        """An independent copy."""
        return replace(
            self, ids=[*self.ids], known=[*self.known], log=self.log.copy(), told_id=[*self.told_id],
            held_id=[*self.held_id], sent_id=[*self.sent_id], requests=[*self.requests],
            outstanding=[*self.outstanding], joined_life=[*self.joined_life], told_life=[*self.told_life],
            shown=[*self.shown], seq={**self.seq}, door=self.door.copy(),
        )  # fmt: skip


class Membership(TypedDict):
    """The fields of a `GenerationEvent`, as keywords."""

    source: str
    member: str
    generation: int
    member_id: str
    incarnation: int


class Observer:
    """Turns steps of the classic model into events; ``ledger`` is all that it remembers."""

    def __init__(self, config: Config, bounds: Bounds, mutant: str, group: str) -> None:
        self.config = config
        self.bounds = bounds
        self.mutant = mutant
        self.group = group
        self.ledger = Ledger.for_members(config.members)

    def begin(self) -> list[Event]:
        """A run starts, and with it every process."""
        started: list[Event] = [
            RunStarted(source=HARNESS, subject="model", bounds=self.bounds.address(), mutant=self.mutant)
        ]
        return [
            self.stamp(event)
            for event in started + [self.started(m, self.bounds.protocol.value) for m in range(self.config.members)]
        ]

    def observe(self, action: Action, before: State, after: State) -> list[Event]:
        """The events of one step, stamped, in the order in which they happen."""
        self.ledger.steps += 1
        speak = CLIENT.get(action.kind)
        if action.kind is ActionKind.DUPLICATE_REQUEST:
            self.ledger.copied_id = self.ledger.sent_id[action.member]
        events = speak(self, action.member, before, after) if speak else self.coordinator(action, before, after)
        place = place_after(action, before, after, self.ledger.deposed_life)
        told = self.ledger.door.with_replies(events, place, self.ledger.sent_id, self.id_of)
        stamped = [self.stamp(event) for event in told]
        self.ledger.log.note(action, before, after, self.ledger.known)
        return stamped

    def stamp(self, event: Event) -> Event:
        """Add what every event carries."""
        seq = self.ledger.seq.get(event.source, 0)
        self.ledger.seq[event.source] = seq + 1
        return replace(event, group=self.group, seq=seq, time_ms=self.ledger.steps)

    # ------------------------------------------------------------------------------------------------ the coordinator

    def coordinator(self, action: Action, before: State, after: State) -> Iterator[Event]:
        """What the coordinator does in a step: membership, status, generation, then its answers."""
        if action.kind in TAKEOVERS:
            yield from self.failover(action, before, after)
            return
        life, gone = life_of(after), minus(before.members, after.members)
        if before.status == GroupStatus.DEAD and after.status != GroupStatus.DEAD:
            yield IncarnationStarted(source=COORDINATOR, incarnation=life, generation=0)
        replaced = replaced_by(action, before, after)
        for m in elements(gone | replaced):
            yield MemberRemoved(
                source=COORDINATOR,
                incarnation=life,
                generation=before.generation,
                member_id=self.id_of(m),
                reason=REASONS.get(action.kind, "left"),
            )
        yield from self.new_ids(before, after, replaced)
        yield from self.statuses(before, after)
        for m in range(self.config.members):
            if after.member[m].net.kind in REPLY_APIS and before.member[m].net.kind not in REPLY_APIS:
                yield self.answer(m, after)
        if action.kind is ActionKind.LEAVE_GROUP:
            yield self.answered(action.member, "LeaveGroup", leave_error(before, action.member).name)

    def new_ids(self, before: State, after: State, replaced: int) -> Iterator[Event]:
        """Slots that got a member id in this step, and those that became members; ``replaced`` lost an older one."""
        known, members = minus(before.members | before.pending, replaced), minus(before.members, replaced)
        for m in elements(minus(after.members | after.pending, known)):
            self.ledger.ids[m] = 1 + max(n for x, n in enumerate(self.ledger.ids) if self.seat(x) == self.seat(m))
            self.ledger.known[m] = self.ledger.ids[m]
        for m in elements(minus(after.members, members)):
            yield MemberAdded(
                source=COORDINATOR, incarnation=life_of(after), generation=before.generation, member_id=self.id_of(m)
            )

    def statuses(self, before: State, after: State) -> Iterator[Event]:
        """The statuses that the group went through in this step, and the generation that began."""
        started = after.generation > before.generation
        for one, other in pairwise(statuses_between(before.status, after.status, started)):
            if started and other == after.status:
                yield GenerationStarted(
                    source=COORDINATOR,
                    incarnation=life_of(after),
                    generation=after.generation,
                    members=tuple(sorted(self.id_of(m) for m in elements(after.members))),
                    leader="" if after.leader == NIL else self.id_of(after.leader),
                    protocol=selected_protocol(after),
                )
            yield GroupStatusChanged(
                source=COORDINATOR,
                incarnation=life_of(after),
                generation=after.generation if other == after.status else before.generation,
                from_status=STATUS_NAMES[GroupStatus(one)],
                to_status=STATUS_NAMES[GroupStatus(other)],
            )

    def answer(self, m: int, after: State) -> RequestAnswered:
        """The answer that lies in m's slot."""
        net = after.member[m].net
        api = REPLY_APIS[MessageKind(net.kind)]
        answered = self.answered(m, api, Error(net.error).name)
        if net.kind == MessageKind.JOIN_REPLY:
            self.ledger.told_id[m] = self.ledger.sent_id[m] or self.id_of(m)
        if net.error != Error.NONE:
            return answered
        if net.kind == MessageKind.SYNC_REPLY:
            return replace(answered, assignment=self.partitions(net.partitions))
        if net.kind in {MessageKind.HEARTBEAT_REPLY, MessageKind.COMMIT_REPLY}:
            return answered
        self.ledger.told_life[m] = after.deletions + (net.origin[0] if net.origin else 0)
        shown = tuple((name(x), self.partitions(after.member[x].claims)) for x in elements(after.members))
        tags = tuple((self.id_of(x), after.member[x].claim_generation) for x in elements(after.members))
        self.ledger.shown[m] = (shown, tags)
        return replace(
            answered,
            generation=net.generation,
            leader=name(leader_told(after, net)),
            protocol=told_protocol(net),
            members=shown if net.flag else (),
        )

    def answered(self, m: int, api: str, error: str | None) -> RequestAnswered:
        """An answer to m's last request that carries nothing but an error."""
        return RequestAnswered(
            source=COORDINATOR, member=name(m), api=api, request=self.ledger.outstanding[m], error=error
        )

    # ------------------------------------------------------------------------------------------------ failover

    def failover(self, action: Action, before: State, after: State) -> Iterator[Event]:
        """A coordinator goes, or another one has loaded its log."""
        ends = action.kind in {ActionKind.CRASH_COORDINATOR, ActionKind.RESIGN_COORDINATOR}
        if ends and before.status != GroupStatus.DEAD:
            life = life_of(before)
            yield IncarnationEnded(source=COORDINATOR, incarnation=life, generation=before.generation)
        if action.kind is ActionKind.DEPOSE_COORDINATOR:
            self.ledger.deposed_life = life_of(before)
            yield IncarnationEnded(
                source=COORDINATOR, incarnation=life_of(before), generation=before.generation, deposed=True
            )
        if action.kind is ActionKind.ZOMBIE_RESIGNS:
            life, generation = self.ledger.deposed_life, before.zombie[0].generation
            yield IncarnationEnded(source=COORDINATOR, incarnation=life, generation=generation)
        if action.kind is ActionKind.LOAD_COORDINATOR and after.status != GroupStatus.DEAD:
            for m in elements(after.members):
                self.ledger.known[m] = self.ledger.log.ids[m]
            yield IncarnationStarted(source=COORDINATOR, incarnation=life_of(after), generation=after.generation)
        for m in range(self.config.members):
            if after.member[m].net.kind in REPLY_APIS and before.member[m].net.kind not in REPLY_APIS:
                yield self.answer(m, after)
            elif after.member[m].net.kind == MessageKind.NOTHING:
                yield from self.lost(m, before, after)

    # ------------------------------------------------------------------------------------------------ the clients

    def started(self, m: int, protocol: str) -> Event:
        """A process starts."""
        return MemberStarted(
            source=name(m), member=name(m), protocol=protocol, group_instance_id=self.bounds.instance(m) or ""
        )

    def send_join(self, m: int, before: State, after: State) -> Iterator[Event]:
        """SendJoinGroup: EAGER revokes first."""
        revoked = minus(before.member[m].owned, after.member[m].owned)
        if revoked:
            yield self.revoked(m, before.member[m].generation, revoked)
        yield self.sent(m, "JoinGroup", NO_GENERATION)

    def receive_join(self, m: int, before: State, after: State) -> Iterator[Event]:
        """ReceiveJoinGroup: a new generation, and the leader's work."""
        me, told = after.member[m], before.member[m].net.flag
        leads = told == 1
        protocol = told_protocol(before.member[m].net) or self.bounds.protocol.value
        self.ledger.held_id[m] = self.ledger.told_id[m]
        self.ledger.joined_life[m] = self.ledger.told_life[m]
        yield MemberJoined(
            source=name(m), member=name(m), generation=me.generation, member_id=self.ledger.held_id[m],
            incarnation=self.ledger.joined_life[m], leader=told != 0, protocol=protocol,
            claims=self.partitions(me.owned),
        )  # fmt: skip
        if leads:
            yield self.computed(m, me, protocol)
        yield self.sent(m, "SyncGroup", me.generation)

    def computed(self, m: int, me: Member, protocol: str) -> AssignmentComputed:
        """What the leader decided, from the metadata that it was shown."""
        shown, tags = self.ledger.shown[m]
        ids = dict(zip((who for who, _ in shown), (member_id for member_id, _ in tags), strict=True))
        return AssignmentComputed(
            source=name(m), member=name(m), generation=me.generation, member_id=self.ledger.held_id[m],
            incarnation=self.ledger.joined_life[m], protocol=protocol,
            claims=tuple((ids[who], claims) for who, claims in shown),
            claim_generations=tags,
            assignments=tuple((ids[who], self.partitions(me.net.parts[int(who[1:])])) for who, _ in shown),
        )  # fmt: skip

    def receive_sync(self, m: int, before: State, after: State) -> Iterator[Event]:
        """ReceiveSyncGroup: what is missing is revoked, what is new is assigned; nothing after a reset."""
        if is_reset(before.member[m]):
            return
        old, me = before.member[m].owned, after.member[m]
        if minus(old, me.owned):
            yield self.revoked(m, me.generation, minus(old, me.owned))
        common = self.membership(m, me.generation)
        yield PartitionsAssigned(**common, partitions=self.partitions(minus(me.owned, old)))
        yield AssignmentCompleted(**common, owned=self.partitions(me.owned))

    def send_heartbeat(self, m: int, before: State, after: State) -> Iterator[Event]:
        """SendHeartbeat."""
        yield self.sent(m, "Heartbeat", before.member[m].generation)

    def heartbeat_beside(self, m: int, before: State, after: State) -> Iterator[Event]:
        """HeartbeatBeside: what the process sends, and the coordinator answers at once."""
        sent = self.numbered(m, "Heartbeat", before.member[m].generation)
        yield sent
        error = Error(after.member[m].beat[0] - ANSWERED_WELL).name
        yield RequestAnswered(source=COORDINATOR, member=name(m), api="Heartbeat", request=sent.request, error=error)

    def receive_heartbeat_beside(self, m: int, before: State, after: State) -> Iterator[Event]:
        """ReceiveHeartbeatBeside: the process may learn that it has lost its generation."""
        was, me = before.member[m], after.member[m]
        if was.generation and not me.generation:
            yield from self.reset(m, was, Error(was.beat[0] - ANSWERED_WELL))
            if not me.has_id:
                self.ledger.held_id[m] = ""

    def reset(self, m: int, was: Member, error: Error) -> Iterator[Event]:
        """A process loses its generation, and what it owns."""
        common = self.membership(m, was.generation or NO_GENERATION)
        yield MembershipLost(**common, reason=error.name)
        if was.owned:
            yield PartitionsLost(**common, partitions=self.partitions(was.owned))

    def receive_error(self, m: int, before: State, after: State) -> Iterator[Event]:
        """ReceiveError: what the error makes the process forget, and lose."""
        was, me = before.member[m], after.member[m]
        if was.net.kind == MessageKind.NOTHING:
            api = "JoinGroup" if was.status == MemberStatus.JOINING else "SyncGroup"
            yield replace(self.answered(m, api, None), source=name(m))
            return
        error = Error(was.net.error)
        if was.net.kind == MessageKind.COMMIT_REPLY:
            yield from self.committed(m, before, error.name)
        if error is Error.INCONSISTENT_GROUP_PROTOCOL:
            yield from self.crash(m, before, after)
            return
        if error in RESETS and not is_reset(was):
            yield from self.reset(m, was, error)
        if error is Error.MEMBER_ID_REQUIRED:
            self.ledger.held_id[m] = self.ledger.told_id[m]
        elif not me.has_id:
            self.ledger.held_id[m] = ""
        if error is Error.FENCED_INSTANCE_ID:
            yield MemberLeft(source=name(m), member=name(m))

    def lost(self, m: int, before: State, after: State) -> Iterator[Event]:
        """LoseRequest, LoseReply: who does not wait for the answer gives it up at once, the others in ReceiveError."""
        if before.member[m].net.kind in {MessageKind.HEARTBEAT_REQUEST, MessageKind.HEARTBEAT_REPLY}:
            yield replace(self.answered(m, "Heartbeat", None), source=name(m))
        if before.member[m].net.kind in {MessageKind.COMMIT_REQUEST, MessageKind.COMMIT_REPLY}:
            yield replace(self.answered(m, "OffsetCommit", None), source=name(m))
            yield from self.committed(m, before, None)

    def send_commit(self, m: int, before: State, after: State) -> Iterator[Event]:
        """SendOffsetCommit."""
        yield self.sent(m, "OffsetCommit", before.member[m].generation)

    def receive_commit(self, m: int, before: State, after: State) -> Iterator[Event]:
        """ReceiveOffsetCommit."""
        yield from self.committed(m, before, Error.NONE.name)

    def committed(self, m: int, before: State, error: str | None) -> Iterator[Event]:
        """What a process knows of its last commit."""
        me = before.member[m]
        for each in self.partitions(me.owned):
            yield OffsetCommitted(
                **self.membership(m, me.generation), partition=each, offset=self.ledger.requests[m], error=error
            )

    def leave(self, m: int, before: State, after: State) -> Iterator[Event]:
        """SendLeaveGroup: the process revokes everything and is gone; a static one that is bounced does not leave."""
        was = before.member[m]
        if was.owned:
            yield self.revoked(m, was.generation, was.owned)
        if after.member[m].net.kind == MessageKind.LEAVE_REQUEST:
            yield self.sent(m, "LeaveGroup", NO_GENERATION)
        yield MemberLeft(source=name(m), member=name(m))
        self.ledger.held_id[m] = ""

    def bounce(self, m: int, before: State, after: State) -> Iterator[Event]:
        """Bounce: a process that runs is stopped in an orderly way; of one that is down nobody notices."""
        if before.member[m].status != MemberStatus.DOWN:
            yield from self.leave(m, before, after)

    def crash(self, m: int, before: State, after: State) -> Iterator[Event]:
        """Crash."""
        self.ledger.held_id[m] = ""
        yield MemberCrashed(source=name(m), member=name(m))

    def restart(self, m: int, before: State, after: State) -> Iterator[Event]:
        """Restart."""
        yield self.started(m, protocol_of(self.bounds, after, m))

    def nothing(self, m: int, before: State, after: State) -> Iterator[Event]:
        """Nobody notices."""
        yield from ()

    def sent(self, m: int, api: str, generation: int) -> RequestSent:
        """A process sends its next request."""
        self.ledger.outstanding[m] = self.ledger.requests[m]
        self.ledger.sent_id[m] = self.ledger.held_id[m]
        self.ledger.door.asked[m] = generation
        return self.numbered(m, api, generation)

    def numbered(self, m: int, api: str, generation: int) -> RequestSent:
        """The next request of a process."""
        self.ledger.requests[m] += 1
        return RequestSent(
            source=name(m), member=name(m), api=api, request=self.ledger.requests[m] - 1, generation=generation
        )

    def revoked(self, m: int, generation: int, mask: int) -> PartitionsRevoked:
        """A process gives partitions up while it is their owner."""
        return PartitionsRevoked(**self.membership(m, generation), partitions=self.partitions(mask))

    def membership(self, m: int, generation: int) -> Membership:
        """What all events of a member in a generation carry."""
        return {
            "source": name(m), "member": name(m), "generation": generation,
            "member_id": self.ledger.held_id[m], "incarnation": self.ledger.joined_life[m],
        }  # fmt: skip

    # ------------------------------------------------------------------------------------------------ names

    def id_of(self, m: int) -> str:
        """The name of the member id that the coordinator knows, or knew last, of the slot."""
        return f"{self.seat(m)}-{self.ledger.known[m]}"

    def seat(self, m: int) -> str:
        """What the slot's member ids begin with."""
        return self.bounds.instance(m) or name(m)

    def partitions(self, mask: int) -> tuple[str, ...]:
        """The names of a set of partitions."""
        return tuple(partition(TOPIC, p) for p in range(self.config.partitions) if has(mask, p))


CLIENT: Final = {
    ActionKind.SEND_JOIN_GROUP: Observer.send_join,
    ActionKind.RECEIVE_JOIN_GROUP: Observer.receive_join,
    ActionKind.RECEIVE_SYNC_GROUP: Observer.receive_sync,
    ActionKind.SEND_HEARTBEAT: Observer.send_heartbeat,
    ActionKind.RECEIVE_HEARTBEAT: Observer.nothing,
    ActionKind.HEARTBEAT_BESIDE: Observer.heartbeat_beside,
    ActionKind.RECEIVE_HEARTBEAT_BESIDE: Observer.receive_heartbeat_beside,
    ActionKind.RECEIVE_ERROR: Observer.receive_error,
    ActionKind.SEND_LEAVE_GROUP: Observer.leave,
    ActionKind.SEND_OFFSET_COMMIT: Observer.send_commit,
    ActionKind.RECEIVE_OFFSET_COMMIT: Observer.receive_commit,
    ActionKind.CRASH: Observer.crash,
    ActionKind.RESTART: Observer.restart,
    ActionKind.BOUNCE: Observer.bounce,
    ActionKind.DUPLICATE_REQUEST: Observer.nothing,
    ActionKind.LOSE_REQUEST: Observer.lost,
    ActionKind.LOSE_REPLY: Observer.lost,
    ActionKind.DROP_CONNECTION: Observer.nothing,
}
"""Which steps are not the coordinator's, and what a process tells of each."""


def name(m: int) -> str:
    """The name of a slot's process."""
    return f"m{m}"


def elements(mask: int) -> list[int]:
    """The elements of a set, in order."""
    return [x for x in range(8) if has(mask, x)]


def statuses_between(before: int, after: int, generation_started: bool) -> list[int]:
    """The statuses that a group goes through in one step, the first and the last included.

    A step may hold several transitions: a group is created, a rebalance prepared, and its join phase completed.
    """
    path = [before]
    if before == GroupStatus.DEAD and after != GroupStatus.DEAD:
        path.append(GroupStatus.EMPTY)
    if generation_started and path[-1] != GroupStatus.PREPARING:
        path.append(GroupStatus.PREPARING)
    if path[-1] != after:
        path.append(after)
    return path
