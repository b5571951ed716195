"""The classic model as a run to walk through: one run, stepped action by action, interpreted.

This is what lockstep drives a coordinator under test with: the clients are the model's, and so is the prediction of
every answer. A driver does, for each action of a schedule::

    run = ModelRun(bounds)
    request = run.request(member)              # what the process has in flight, to be sent for real
    before = run.snapshot()
    for choice in run.choices(kind, member):   # hash order decides among them: each is a prediction
        events = run.step(Action(kind, member, choice))
        run.replies                            # the answers of the coordinator in this step, as RequestAnswered
        run.restore(before)                    # ... and take back what did not happen

Answers carry member names (``m0``), never member ids. The answer to a *copy* (`Action` DeliverDuplicate), also to one
that is parked first, goes nowhere: the run doesn't predict it, and a driver ignores it. So it is with the answers to
a process that crashed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.observer.memory import TOPIC, Ledger
from rebalance_check.model.classic.observer.observer import Observer
from rebalance_check.model.classic.state import GroupStatus, MessageKind, State, has
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RequestAnswered
from rebalance_check.model.vocabulary.ids import Partition, partition

APIS: Final = {
    MessageKind.JOIN_REQUEST: "JoinGroup",
    MessageKind.SYNC_REQUEST: "SyncGroup",
    MessageKind.HEARTBEAT_REQUEST: "Heartbeat",
    MessageKind.LEAVE_REQUEST: "LeaveGroup",
    MessageKind.COMMIT_REQUEST: "OffsetCommit",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestInFlight:
    """A request on its way to the coordinator, without the bytes that a protocol makes of it.

    ``has_id`` is False for a JoinGroup of a process that has no member id yet; ``member_id`` is the model's name for
    the id (``m0-2``: the second of m0), which a driver maps to the real one. ``generation`` is that of a SyncGroup or
    Heartbeat; of a JoinGroup it is the generation of its ``claims`` (0: none). ``assignments`` is None unless the
    sender leads; a member without an entry gets nothing. ``group_instance_id`` is that of a static member, which leaves
    by it and not by its member id.
    """

    member: int
    api: str
    has_id: bool
    member_id: str
    generation: int = 0
    claims: tuple[Partition, ...] = ()
    assignments: tuple[tuple[int, tuple[Partition, ...]], ...] | None = None
    group_instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run's whole state, to go back to."""

    packed: bytes
    ledger: Ledger


class ModelRun:
    """One run of the classic model, or of a mutant of it. ``group`` names the group in events."""

    def __init__(self, bounds: Bounds, *, model: Model = MODEL, group: str = "group") -> None:
        if bounds.protocol is RebalanceProtocol.STATUS or model.name != MODEL.name:
            raise RebalanceCheckError(f"a run speaks the protocol eager or cooperative, and not {bounds.protocol}")
        self.machine = Machine(model, bounds)
        self.bounds = bounds
        self.state: State = self.machine.initial()
        self.observer = Observer(self.machine.config, bounds, model.mutant, group)
        self.replies: list[RequestAnswered] = []

    def begin(self) -> list[Event]:
        """The events of a run that starts: call it once, before the first step, if the events are wanted."""
        return self.observer.begin()

    def enabled(self) -> list[Action]:
        """The actions that may happen now, within the bounds; always in the same order."""
        return self.machine.enabled(self.state)

    def choices(self, kind: ActionKind, member: int = 0) -> list[int]:
        """The choices with which this action may happen now; empty when it may not."""
        return [a.choice for a in self.enabled() if a.kind is kind and a.member == member]

    def step(self, action: Action) -> list[Event]:
        """Perform an action; the events that it causes, in order. ``replies`` are those of the coordinator.

        `RebalanceCheckError` when the action isn't enabled; nothing has changed then.
        """
        before = self.machine.copy(self.state)
        if not self.machine.step(self.state, action):
            listed = ", ".join(map(str, self.enabled())) or "none"
            raise RebalanceCheckError(f"{action} is not enabled in this state of the model; enabled are: {listed}")
        events = self.observer.observe(action, before, self.state)
        self.replies = [event for event in events if isinstance(event, RequestAnswered) and event.error is not None]
        return events

    def snapshot(self) -> Snapshot:
        """What `restore` needs to come back here."""
        return Snapshot(self.machine.pack(self.state), self.observer.ledger.copy())

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot, which stays good for another time."""
        self.state = self.machine.unpack(snapshot.packed)
        self.observer.ledger = snapshot.ledger.copy()
        self.replies = []

    # ------------------------------------------------------------------------------------------ what is to be sent

    def request(self, member: int) -> RequestInFlight | None:
        """What the process has in flight towards the coordinator, None if nothing."""
        net = self.state.member[member].net
        if net.kind not in APIS:
            return None
        leads = net.kind == MessageKind.SYNC_REQUEST and net.flag == 1
        return self._request(
            member, net.kind, has_id=net.kind != MessageKind.JOIN_REQUEST or net.flag == 1,
            generation=net.generation, claims=net.partitions, parts=net.parts if leads else None,
        )  # fmt: skip

    def copied_request(self) -> RequestInFlight | None:
        """The copy that the network keeps for DeliverDuplicate, None if there is none."""
        duplicate = self.state.duplicate
        if duplicate.kind == MessageKind.NOTHING:
            return None
        leads = duplicate.kind == MessageKind.SYNC_REQUEST and any(duplicate.parts)
        return self._request(
            duplicate.member, duplicate.kind, has_id=True, generation=duplicate.generation, claims=duplicate.partitions,
            parts=duplicate.parts if leads else None, copied=True,
        )  # fmt: skip

    def _request(
        self, member: int, kind: int, *, has_id: bool, generation: int, claims: int, parts: Any, copied: bool = False
    ) -> RequestInFlight:
        ledger = self.observer.ledger
        return RequestInFlight(
            member=member,
            api=APIS[MessageKind(kind)],
            has_id=has_id,
            member_id=(ledger.copied_id if copied else ledger.sent_id[member]) if has_id else "",
            generation=generation,
            claims=self.partitions(claims) if kind == MessageKind.JOIN_REQUEST else (),
            assignments=None if parts is None else tuple((x, self.partitions(mask)) for x, mask in enumerate(parts)),
            group_instance_id=self.bounds.instance(member),
        )

    # ------------------------------------------------------------------------------------------ what is known

    @property
    def status(self) -> GroupStatus:
        """The coordinator's status of the group."""
        return GroupStatus(self.state.status)

    def is_parked(self, member: int) -> bool:
        """Whether the coordinator holds back an answer under the member's id."""
        return has(self.state.joined | self.state.synced, member)

    def members(self) -> list[int]:
        """The slots whose ids are members of the group."""
        return [m for m in range(self.bounds.members) if has(self.state.members, m)]

    @property
    def leader(self) -> int | None:
        """The slot that leads the group, None if it has no members."""
        return None if self.state.leader == NIL else self.state.leader

    def owned(self, member: int) -> tuple[Partition, ...]:
        """The partitions that the process owns."""
        return self.partitions(self.state.member[member].owned)

    def partitions(self, mask: int) -> tuple[Partition, ...]:
        """The names of a set of partitions."""
        return partitions_of(mask, self.bounds.partitions)


def partitions_of(mask: int, count: int) -> tuple[Partition, ...]:
    """The names of a set of partitions, in order."""
    return tuple(partition(TOPIC, p) for p in range(count) if has(mask, p))
