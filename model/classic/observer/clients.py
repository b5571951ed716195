"""The events that the processes of the classic model emit in a step: a generator for each of their actions.

Each generator takes the member that acts and the states before and after, and yields events without the fields that
`Observer.stamp` adds (group, number, time). They use the names of Kafka's clients: the callbacks of
``ConsumerRebalanceListener`` (revoked, assigned, lost) and the requests of ``AbstractCoordinator``.

The order of a generator's events is part of its claim: a member revokes before it sends JoinGroup, and the
invariants on events rely on it. ``CLIENT`` at the end of the file says which generator belongs to which action.
"""

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
        """A process starts; ``protocol`` is the one that it will join with (``eager`` or ``cooperative``)."""
        return MemberStarted(
            source=name(m), member=name(m), protocol=protocol, group_instance_id=self.bounds.instance(m) or ""
        )

    def send_join(self, m: int, before: State, after: State) -> Iterator[Event]:
        """SendJoinGroup: EAGER revokes first.

        Source: ``ConsumerCoordinator.onJoinPrepare``, which runs before the request is sent.
        """
        revoked = minus(before.member[m].owned, after.member[m].owned)
        if revoked:
            yield self.revoked(m, before.member[m].generation, revoked)
        yield self.sent(m, Api.JOIN_GROUP, NO_GENERATION)

    def receive_join(self, m: int, before: State, after: State) -> Iterator[Event]:
        """ReceiveJoinGroup: a new generation, and the leader's work.

        The reply's flag is 1 for a leader that computes the assignment. A static leader that rejoins a stable group is
        named leader too, but skips the assignment (KIP-814): it emits no AssignmentComputed.
        """
        me, flag = after.member[m], before.member[m].net.to_leader
        leads = flag == 1
        # without an upgrade path members have one assignor, and the reply does not name it
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
        """The leader's decision, from the metadata that it was shown.

        The metadata is what the reply carried, not what members own by now: another member may have been removed while
        the reply was in flight. Events name members by member id, the reply's list names them by process.
        """
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
        """ReceiveSyncGroup: missing partitions are revoked, new ones assigned; nothing after a reset."""
        if is_reset(before.member[m]):
            return  # a heartbeat's reply took the generation meanwhile, and the client ignores this reply
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
        """HeartbeatDuringSync: the request of the process, which the coordinator answers at once.

        The model makes one step of both, because the member's message slot is taken by its SyncGroup. For the same
        reason the request gets a number of its own (`numbered`) and does not become the outstanding one.
        """
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
        """A process loses its generation, and its partitions.

        Its partitions are lost, not revoked: another member may own them already, so nothing may be committed for them
        (``ConsumerRebalanceListener.onPartitionsLost``).
        """
        common = self.membership(m, was.generation or NO_GENERATION)
        yield MembershipLost(**common, reason=error.name)
        if was.owned:
            yield PartitionsLost(**common, partitions=self.partitions(was.owned))

    def receive_error(self, m: int, before: State, after: State) -> Iterator[Event]:
        """ReceiveError: what the error makes the process forget, and lose.

        Source: the response handlers of ``AbstractCoordinator``. A member that waits for a reply that cannot come any
        more (the network lost it) acts here, too: its message slot is empty, and the request ends without an answer.
        """
        was, me = before.member[m], after.member[m]
        if was.net.kind == MessageKind.NOTHING:
            api = Api.JOIN_GROUP if was.status == MemberStatus.JOINING else Api.SYNC_GROUP
            yield replace(self.answered(m, api, None), source=name(m))
            return
        error = Error(was.net.error)
        if was.net.kind == MessageKind.COMMIT_REPLY:
            yield from self.committed(m, before, error.name)
        if error is Error.INCONSISTENT_GROUP_PROTOCOL:
            # fatal for a consumer: the exception reaches the application, and the process ends
            yield from self.crash(m, before, after)
            return
        if error in RESETS and not is_reset(was):
            yield from self.reset(m, was, error)
        if error is Error.MEMBER_ID_REQUIRED:
            # KIP-394: the reply refuses the JoinGroup, but carries the id to send with the next one
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
        """A process's knowledge of its last commit: one event for each partition that it owns.

        ``error`` is Kafka's name of the error code, None where no reply comes. The model has no offsets; the number of
        the member's next request stands for the offset, so that later commits have larger ones.
        """
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
        """No event: the step concerns the network, or changes nothing that a client would report."""
        yield from ()

    def sent(self, m: int, api: str, generation: int) -> RequestSent:
        """A process sends its next request, the one that its message slot holds from now on.

        ``api`` is Kafka's name of the request, ``generation`` the one that it carries (NO_GENERATION for none).
        """
        self.memory.outstanding[m] = self.memory.requests[m]
        self.memory.sent_id[m] = self.memory.held_id[m]
        self.memory.replies.request_generation[m] = generation
        return self.numbered(m, api, generation)

    def numbered(self, m: int, api: str, generation: int) -> RequestSent:
        """The next request of a process; numbers count from 0 for each process, across its incarnations."""
        self.memory.requests[m] += 1
        return RequestSent(
            source=name(m), member=name(m), api=api, request=self.memory.requests[m] - 1, generation=generation
        )

    def revoked(self, m: int, generation: int, mask: int) -> PartitionsRevoked:
        """A process gives partitions up while it is their owner."""
        return PartitionsRevoked(**self.membership(m, generation), partitions=self.partitions(mask))

    def membership(self, m: int, generation: int) -> Membership:
        """The fields that all events of a member in a generation carry."""
        return {
            "source": name(m), "member": name(m), "generation": generation,
            "member_id": self.memory.held_id[m], "incarnation": self.memory.joined_incarnation[m],
        }  # fmt: skip

    def answered(self, m: int, api: str, error: str | None) -> RequestAnswered:
        """An answer to m's last request that carries nothing but an error; None for a request that gets no answer."""
        return RequestAnswered(
            source=COORDINATOR, member=name(m), api=api, request=self.memory.outstanding[m], error=error
        )

    # ------------------------------------------------------------------------------------------------ names

    def id_of(self, m: int) -> str:
        """The name of the member id that the coordinator knows, or knew last, of the slot.

        Kafka appends a random UUID to the client id or instance id; here it is a counter, so that runs are repeatable.
        """
        return f"{self.id_prefix(m)}-{self.memory.known[m]}"

    def id_prefix(self, m: int) -> str:
        """The prefix of the slot's member ids: the instance id of a static member, else the process's name."""
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
