"""The events that the processes of the classic model emit in a step: a generator for each of their actions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rebalance_check.model.classic.client import is_reset
from rebalance_check.model.classic.concerns.heartbeat_during_sync import HEARTBEAT_ACCEPTED
from rebalance_check.model.classic.observer.memory import (
    COORDINATOR,
    RESETS,
    TOPIC,
    Membership,
    Memory,
    name,
)
from rebalance_check.model.classic.observer.protocol_names import protocol_of, replied_protocol
from rebalance_check.model.classic.state import (
    Config,
    Member,
    MemberStatus,
    MessageKind,
    State,
    has,
    minus,
)
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION, partition


class Members:
    """Tells what processes do and learn; ``memory`` is all that it remembers."""

    def __init__(self, config: Config, bounds: Bounds) -> None:
        self.config = config
        self.bounds = bounds
        self.memory = Memory.for_members(config.members)

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
        yield self.sent(m, Api.JOIN_GROUP, NO_GENERATION)

    def receive_join(self, m: int, before: State, after: State) -> Iterator[Event]:
        """ReceiveJoinGroup: a new generation, and the leader's work."""
        me, flag = after.member[m], before.member[m].net.to_leader
        leads = flag == 1
        protocol = replied_protocol(before.member[m].net) or self.bounds.protocol.value
        self.memory.held_id[m] = self.memory.replied_id[m]
        self.memory.joined_incarnation[m] = self.memory.replied_incarnation[m]
        yield MemberJoined(
            source=name(m), member=name(m), generation=me.generation, member_id=self.memory.held_id[m],
            incarnation=self.memory.joined_incarnation[m], leader=flag != 0, protocol=protocol,
            owned_partitions=self.partitions(me.owned),
        )  # fmt: skip
        if leads:
            yield self.computed(m, me, protocol)
        yield self.sent(m, Api.SYNC_GROUP, me.generation)

    def computed(self, m: int, me: Member, protocol: str) -> AssignmentComputed:
        """What the leader decided, from the metadata that it was shown."""
        shown, tags = self.memory.listed_members[m]
        ids = dict(zip((who for who, _ in shown), (member_id for member_id, _ in tags), strict=True))
        return AssignmentComputed(
            source=name(m), member=name(m), generation=me.generation, member_id=self.memory.held_id[m],
            incarnation=self.memory.joined_incarnation[m], protocol=protocol,
            owned_partitions=tuple((ids[who], claims) for who, claims in shown),
            owned_generations=tags,
            assignments=tuple((ids[who], self.partitions(me.net.assignments[int(who[1:])])) for who, _ in shown),
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
        yield self.sent(m, Api.HEARTBEAT, before.member[m].generation)

    def heartbeat_during_sync(self, m: int, before: State, after: State) -> Iterator[Event]:
        """HeartbeatDuringSync: what the process sends, and the coordinator answers at once."""
        sent = self.numbered(m, Api.HEARTBEAT, before.member[m].generation)
        yield sent
        error = Error(after.member[m].heartbeat_reply - HEARTBEAT_ACCEPTED).name
        yield RequestAnswered(source=COORDINATOR, member=name(m), api=Api.HEARTBEAT, request=sent.request, error=error)

    def receive_heartbeat_during_sync(self, m: int, before: State, after: State) -> Iterator[Event]:
        """ReceiveHeartbeatDuringSync: the process may learn that it has lost its generation."""
        was, me = before.member[m], after.member[m]
        if was.generation and not me.generation:
            yield from self.reset(m, was, Error(was.heartbeat_reply - HEARTBEAT_ACCEPTED))
            if not me.has_id:
                self.memory.held_id[m] = ""

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
            api = Api.JOIN_GROUP if was.status == MemberStatus.JOINING else Api.SYNC_GROUP
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
            self.memory.held_id[m] = self.memory.replied_id[m]
        elif not me.has_id:
            self.memory.held_id[m] = ""
        if error is Error.FENCED_INSTANCE_ID:
            yield MemberLeft(source=name(m), member=name(m))

    def lost(self, m: int, before: State, after: State) -> Iterator[Event]:
        """LoseRequest, LoseReply: who does not wait for the answer gives it up at once, the others in ReceiveError."""
        if before.member[m].net.kind in {MessageKind.HEARTBEAT_REQUEST, MessageKind.HEARTBEAT_REPLY}:
            yield replace(self.answered(m, Api.HEARTBEAT, None), source=name(m))
        if before.member[m].net.kind in {MessageKind.COMMIT_REQUEST, MessageKind.COMMIT_REPLY}:
            yield replace(self.answered(m, Api.OFFSET_COMMIT, None), source=name(m))
            yield from self.committed(m, before, None)

    def send_commit(self, m: int, before: State, after: State) -> Iterator[Event]:
        """SendOffsetCommit."""
        yield self.sent(m, Api.OFFSET_COMMIT, before.member[m].generation)

    def receive_commit(self, m: int, before: State, after: State) -> Iterator[Event]:
        """ReceiveOffsetCommit."""
        yield from self.committed(m, before, Error.NONE.name)

    def committed(self, m: int, before: State, error: str | None) -> Iterator[Event]:
        """What a process knows of its last commit."""
        me = before.member[m]
        for each in self.partitions(me.owned):
            yield OffsetCommitted(
                **self.membership(m, me.generation), partition=each, offset=self.memory.requests[m], error=error
            )

    def leave(self, m: int, before: State, after: State) -> Iterator[Event]:
        """SendLeaveGroup: the process revokes everything and is gone; a static one that is bounced does not leave."""
        was = before.member[m]
        if was.owned:
            yield self.revoked(m, was.generation, was.owned)
        if after.member[m].net.kind == MessageKind.LEAVE_REQUEST:
            yield self.sent(m, Api.LEAVE_GROUP, NO_GENERATION)
        yield MemberLeft(source=name(m), member=name(m))
        self.memory.held_id[m] = ""

    def rolling_restart(self, m: int, before: State, after: State) -> Iterator[Event]:
        """Rolling restart: a process that runs is stopped in an orderly way; one that is down emits no event."""
        if before.member[m].status != MemberStatus.DOWN:
            yield from self.leave(m, before, after)

    def crash(self, m: int, before: State, after: State) -> Iterator[Event]:
        """Crash."""
        self.memory.held_id[m] = ""
        yield MemberCrashed(source=name(m), member=name(m))

    def restart(self, m: int, before: State, after: State) -> Iterator[Event]:
        """Restart."""
        yield self.started(m, protocol_of(self.bounds, after, m))

    def nothing(self, m: int, before: State, after: State) -> Iterator[Event]:
        """No event."""
        yield from ()

    def sent(self, m: int, api: str, generation: int) -> RequestSent:
        """A process sends its next request."""
        self.memory.outstanding[m] = self.memory.requests[m]
        self.memory.sent_id[m] = self.memory.held_id[m]
        self.memory.replies.request_generation[m] = generation
        return self.numbered(m, api, generation)

    def numbered(self, m: int, api: str, generation: int) -> RequestSent:
        """The next request of a process."""
        self.memory.requests[m] += 1
        return RequestSent(
            source=name(m), member=name(m), api=api, request=self.memory.requests[m] - 1, generation=generation
        )

    def revoked(self, m: int, generation: int, mask: int) -> PartitionsRevoked:
        """A process gives partitions up while it is their owner."""
        return PartitionsRevoked(**self.membership(m, generation), partitions=self.partitions(mask))

    def membership(self, m: int, generation: int) -> Membership:
        """What all events of a member in a generation carry."""
        return {
            "source": name(m), "member": name(m), "generation": generation,
            "member_id": self.memory.held_id[m], "incarnation": self.memory.joined_incarnation[m],
        }  # fmt: skip

    def answered(self, m: int, api: str, error: str | None) -> RequestAnswered:
        """An answer to m's last request that carries nothing but an error."""
        return RequestAnswered(
            source=COORDINATOR, member=name(m), api=api, request=self.memory.outstanding[m], error=error
        )

    # ------------------------------------------------------------------------------------------------ names

    def id_of(self, m: int) -> str:
        """The name of the member id that the coordinator knows, or knew last, of the slot."""
        return f"{self.id_prefix(m)}-{self.memory.known[m]}"

    def id_prefix(self, m: int) -> str:
        """What the slot's member ids begin with."""
        return self.bounds.instance(m) or name(m)

    def partitions(self, mask: int) -> tuple[str, ...]:
        """The names of a set of partitions."""
        return tuple(partition(TOPIC, p) for p in range(self.config.partitions) if has(mask, p))


CLIENT: Final = {
    ActionKind.SEND_JOIN_GROUP: Members.send_join,
    ActionKind.RECEIVE_JOIN_GROUP: Members.receive_join,
    ActionKind.RECEIVE_SYNC_GROUP: Members.receive_sync,
    ActionKind.SEND_HEARTBEAT: Members.send_heartbeat,
    ActionKind.RECEIVE_HEARTBEAT: Members.nothing,
    ActionKind.HEARTBEAT_DURING_SYNC: Members.heartbeat_during_sync,
    ActionKind.RECEIVE_HEARTBEAT_DURING_SYNC: Members.receive_heartbeat_during_sync,
    ActionKind.RECEIVE_ERROR: Members.receive_error,
    ActionKind.SEND_LEAVE_GROUP: Members.leave,
    ActionKind.SEND_OFFSET_COMMIT: Members.send_commit,
    ActionKind.RECEIVE_OFFSET_COMMIT: Members.receive_commit,
    ActionKind.CRASH: Members.crash,
    ActionKind.RESTART: Members.restart,
    ActionKind.ROLLING_RESTART: Members.rolling_restart,
    ActionKind.DUPLICATE_REQUEST: Members.nothing,
    ActionKind.LOSE_REQUEST: Members.lost,
    ActionKind.LOSE_REPLY: Members.lost,
    ActionKind.DROP_CONNECTION: Members.nothing,
}
"""The steps of processes, and which events a process emits in each."""
