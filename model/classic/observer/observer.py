"""An observer's view of a step of the classic model: events of coordinator and clients, and the answers between.

The module `clients` derives the events of processes from the kind of the action. Those of the coordinator mostly
follow from the difference between two states, for any action: members that are gone were removed, a higher generation
began, a reply that was not in a member's slot before was sent. So a new action of the coordinator needs no code here
unless it does something that a difference does not show (TAKEOVERS: the group itself is replaced).

One step of the model may be several transitions of Kafka's coordinator; the events of a step are in the order in which
Kafka makes them: members removed, members added, status changes with the new generation, replies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.classic.observer.clients import CLIENT, Members
from rebalance_check.model.classic.observer.member_ids import REASONS, leader_in_reply, leave_error, replaced_by
from rebalance_check.model.classic.observer.memory import (
    COORDINATOR,
    HARNESS,
    elements,
    name,
)
from rebalance_check.model.classic.observer.protocol_names import replied_protocol, selected_protocol
from rebalance_check.model.classic.observer.replies import incarnation_of, place_after
from rebalance_check.model.classic.state import (
    REPLY_APIS,
    STATUS_NAMES,
    Config,
    GroupStatus,
    MessageKind,
    State,
    minus,
)
from rebalance_check.model.vocabulary.actions import TAKEOVERS, Action, ActionKind
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupStatusChanged,
    IncarnationEnded,
    IncarnationStarted,
    MemberAdded,
    MemberRemoved,
    RequestAnswered,
    RunStarted,
)


class Observer(Members):
    """Turns steps of the classic model into events; ``memory`` is all that it remembers.

    ``config`` and ``bounds`` are those of the run, ``mutant`` is the name of the model's defect ("" for none) and
    ``group`` the group's name: the last two are only written into events. Call `begin` once, then `observe` for every
    step in turn; an observer of a second run is another object.
    """

    def __init__(self, config: Config, bounds: Bounds, mutant: str, group: str) -> None:
        super().__init__(config, bounds)
        self.mutant = mutant
        self.group = group

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
        """The events of one step, stamped, in the order in which they happen.

        ``before`` and ``after`` are the states around ``action``; ``before`` must be a copy, because the model steps in
        place.
        """
        self.memory.steps += 1
        speak = CLIENT.get(action.kind)
        events = speak(self, action.member, before, after) if speak else self.coordinator(action, before, after)
        place = place_after(action, before, after, self.memory.zombie_incarnation)
        replied = self.memory.replies.with_replies(events, place, self.memory.sent_id, self.id_of)
        # the generators run here, and read the memory while they do: only then may the log be brought up to date
        stamped = [self.stamp(event) for event in replied]
        self.memory.log.note(action, before, after, self.memory.known)
        return stamped

    def stamp(self, event: Event) -> Event:
        """Add the fields of every event: the group, its number among the events of its source, and the time.

        Time is the number of the step, as milliseconds: the model has no clock, its timers expire by actions.
        """
        seq = self.memory.seq.get(event.source, 0)
        self.memory.seq[event.source] = seq + 1
        return replace(event, group=self.group, seq=seq, time_ms=self.memory.steps)

    # ------------------------------------------------------------------------------------------------ the coordinator

    def coordinator(self, action: Action, before: State, after: State) -> Iterator[Event]:
        """The coordinator's part in a step: membership, status, generation, then its answers."""
        if action.kind in TAKEOVERS:
            yield from self.failover(action, before, after)
            return
        incarnation, gone = incarnation_of(after), minus(before.members, after.members)
        # a group that is DEAD in the model does not exist: the first JoinGroup creates it
        if before.status == GroupStatus.DEAD and after.status != GroupStatus.DEAD:
            yield IncarnationStarted(source=COORDINATOR, incarnation=incarnation, generation=0)
        replaced = replaced_by(action, before, after)
        for m in elements(gone | replaced):
            yield MemberRemoved(
                source=COORDINATOR,
                incarnation=incarnation,
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
            yield self.answered(action.member, Api.LEAVE_GROUP, leave_error(before, action.member).name)

    def new_ids(self, before: State, after: State, replaced: int) -> Iterator[Event]:
        """Slots that got a member id in this step, and those that became members; ``replaced`` lost an older one.

        An id may be known before its member is added: MEMBER_ID_REQUIRED hands it out and the next JoinGroup uses it
        (``pending``, KIP-394). Ids of one prefix are counted together, so that processes that share an instance id
        never get the same one.
        """
        known, members = minus(before.members | before.pending, replaced), minus(before.members, replaced)
        for m in elements(minus(after.members | after.pending, known)):
            self.memory.ids[m] = 1 + max(
                n for x, n in enumerate(self.memory.ids) if self.id_prefix(x) == self.id_prefix(m)
            )
            self.memory.known[m] = self.memory.ids[m]
        for m in elements(minus(after.members, members)):
            yield MemberAdded(
                source=COORDINATOR,
                incarnation=incarnation_of(after),
                generation=before.generation,
                member_id=self.id_of(m),
            )

    def statuses(self, before: State, after: State) -> Iterator[Event]:
        """The statuses that the group went through in this step, and the generation that began."""
        started = after.generation > before.generation
        for one, other in pairwise(statuses_between(before.status, after.status, started)):
            if started and other == after.status:
                yield GenerationStarted(
                    source=COORDINATOR,
                    incarnation=incarnation_of(after),
                    generation=after.generation,
                    members=tuple(sorted(self.id_of(m) for m in elements(after.members))),
                    leader="" if after.leader == NIL else self.id_of(after.leader),
                    protocol=selected_protocol(after),
                )
            yield GroupStatusChanged(
                source=COORDINATOR,
                incarnation=incarnation_of(after),
                generation=after.generation if other == after.status else before.generation,
                from_status=STATUS_NAMES[GroupStatus(one)],
                to_status=STATUS_NAMES[GroupStatus(other)],
            )

    def answer(self, m: int, after: State) -> RequestAnswered:
        """The answer that lies in m's slot, with the fields of its kind.

        A successful JoinGroup reply also goes into the memory: the process and, if it leads, its assignment speak of
        the group as it was now, and by the time they do the state may have changed.
        """
        net = after.member[m].net
        api = REPLY_APIS[MessageKind(net.kind)]
        answered = self.answered(m, api, Error(net.error).name)
        if net.kind == MessageKind.JOIN_REPLY:
            self.memory.replied_id[m] = self.memory.sent_id[m] or self.id_of(m)
        if net.error != Error.NONE:
            return answered
        if net.kind == MessageKind.SYNC_REPLY:
            return replace(answered, assignment=self.partitions(net.partitions))
        if net.kind in {MessageKind.HEARTBEAT_REPLY, MessageKind.COMMIT_REPLY}:
            return answered
        self.memory.replied_incarnation[m] = after.deletions + net.origin
        shown = tuple((name(x), self.partitions(after.member[x].owned_partitions)) for x in elements(after.members))
        tags = tuple((self.id_of(x), after.member[x].owned_generation) for x in elements(after.members))
        self.memory.listed_members[m] = (shown, tags)
        return replace(
            answered,
            generation=net.generation,
            leader=name(leader_in_reply(after, net)),
            protocol=replied_protocol(net),
            members=shown if net.to_leader else (),
        )

    # ------------------------------------------------------------------------------------------------ failover

    def failover(self, action: Action, before: State, after: State) -> Iterator[Event]:
        """A coordinator goes, or another one has loaded its log.

        Members and statuses before and after belong to different coordinators, so nothing is derived from comparing
        them. An IncarnationEnded with ``deposed`` says that the old coordinator goes on answering as a zombie; when it
        learns of its successor, it ends once more, now with its own generation.
        """
        ends = action.kind in {ActionKind.CRASH_COORDINATOR, ActionKind.RESIGN_COORDINATOR}
        if ends and before.status != GroupStatus.DEAD:
            incarnation = incarnation_of(before)
            yield IncarnationEnded(source=COORDINATOR, incarnation=incarnation, generation=before.generation)
        if action.kind is ActionKind.DEPOSE_COORDINATOR:
            self.memory.zombie_incarnation = incarnation_of(before)
            yield IncarnationEnded(
                source=COORDINATOR, incarnation=incarnation_of(before), generation=before.generation, deposed=True
            )
        if action.kind is ActionKind.RESIGN_ZOMBIE_COORDINATOR:
            incarnation, generation = self.memory.zombie_incarnation, before.zombie_coordinator.generation
            yield IncarnationEnded(source=COORDINATOR, incarnation=incarnation, generation=generation)
        if action.kind is ActionKind.LOAD_COORDINATOR and after.status != GroupStatus.DEAD:
            # the log may hold an older id than the one that was handed out last
            for m in elements(after.members):
                self.memory.known[m] = self.memory.log.ids[m]
            yield IncarnationStarted(source=COORDINATOR, incarnation=incarnation_of(after), generation=after.generation)
        for m in range(self.config.members):
            if after.member[m].net.kind in REPLY_APIS and before.member[m].net.kind not in REPLY_APIS:
                yield self.answer(m, after)
            elif after.member[m].net.kind == MessageKind.NOTHING:
                yield from self.lost(m, before, after)


def statuses_between(before: int, after: int, generation_started: bool) -> list[int]:
    """The statuses that a group goes through in one step, the first and the last included.

    A step may hold several transitions: a group is created, a rebalance prepared, and its join phase completed.
    ``generation_started`` says that the join phase ended in this step, which it can only do from PREPARING: so the
    group went through that status even where neither state shows it (a lone member rejoins).
    """
    path = [before]
    if before == GroupStatus.DEAD and after != GroupStatus.DEAD:
        path.append(GroupStatus.EMPTY)
    if generation_started and path[-1] != GroupStatus.PREPARING:
        path.append(GroupStatus.PREPARING)
    if path[-1] != after:
        path.append(after)
    return path
