"""A group as the wire shows it so far: which process is a member of which generation, and how it got there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.model.vocabulary.wire_events import (
    ConnectionClosed,
    ConnectionOpened,
    ProcessEnded,
    ProcessStarted,
    ReplyObserved,
    RequestObserved,
)
from rebalance_check.properties.views.errors import UNSEEN

MEMBER_ID_VERSION: Final = 4
"""From this version of JoinGroup a new member that has no id gets one before it may join (KIP-394)."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """The highest version of a client's JoinGroup, and of the subscription in it; -1 for none."""

    join: int = -1
    subscription: int = -1

    def __or__(self, other: Spoken) -> Spoken:
        return Spoken(max(self.join, other.join), max(self.subscription, other.subscription))


@dataclass(slots=True)
class ProcessView:
    """One run of one process, as the wire shows it.

    ``joined`` and ``synced`` are the generations of its last JoinGroup and SyncGroup that succeeded, ``beaten`` the
    number of the last event that showed a Heartbeat succeed in the generation ``synced``; each -1 for none.
    ``joining`` is true between a JoinGroup and its reply, ``is_parked`` if the coordinator parks that: the request has
    a member id, or a version that needs none (KIP-394). Timeouts are those of its last JoinGroup, in ms.
    """

    connected: bool = False
    ended: bool = False
    member_id: str = ""
    joining: bool = False
    is_parked: bool = False
    joined: int = NO_GENERATION
    synced: int = NO_GENERATION
    beaten: int = -1
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = 0
    leads: bool = False
    assignment: tuple[str, ...] = ()
    requests: Counter[str] = field(default_factory=Counter)
    errors: set[str] = field(default_factory=set)
    """The errors that it saw in any reply."""


class GroupView:
    """Takes the events of one scenario in order, and answers a scenario's conditions.

    ``count`` is the number of events, ``generation`` the newest that a JoinGroup reply showed, ``has_connected``
    whether any process ever connected, ``connections`` how many there are, ``spoken`` which versions the client speaks.
    """

    def __init__(self) -> None:
        self.count = 0
        self.generation = NO_GENERATION
        self.has_connected = False
        self.connections = 0
        self.spoken = Spoken()
        self.processes: dict[str, ProcessView] = {}
        self.faults: list[ReplyObserved] = []
        self._open: dict[int, RequestObserved] = {}
        self._takers: dict[type[Event], Callable[..., None]] = {
            ProcessStarted: self._started,
            ProcessEnded: self._ended,
            ConnectionOpened: self._connected,
            ConnectionClosed: self._disconnected,
            RequestObserved: self._asked,
            ReplyObserved: self._answered,
        }

    def observe(self, event: Event) -> None:
        """Take the next event."""
        self.count += 1
        taker = self._takers.get(type(event))
        if taker is not None:
            taker(event)

    # ----------------------------------------------------------------------------------- questions of a scenario

    def of(self, process: str) -> ProcessView:
        """The state of the present run of a process."""
        return self.processes.setdefault(process, ProcessView())

    def is_settled(self, names: Iterable[str], since: int = -1) -> bool:
        """Whether the processes are members of the newest generation, each with a Heartbeat after event ``since``."""
        views = [self.of(name) for name in names]
        return all(
            not view.joining and view.joined == view.synced == self.generation and view.beaten > since for view in views
        )

    @property
    def session_timeout_ms(self) -> int:
        """The longest session timeout that a process asked for; 0 before the first JoinGroup."""
        return max((view.session_timeout_ms for view in self.processes.values()), default=0)

    def leader(self, names: Iterable[str]) -> str:
        """The process among ``names`` that leads the newest generation, the first of them where none does."""
        names = tuple(names)
        return next(
            (name for name in names if self.of(name).leads and self.of(name).joined == self.generation), names[0]
        )

    def assigned(self) -> set[str]:
        """All partitions that SyncGroup replies of the newest generation gave out."""
        newest = [view for view in self.processes.values() if view.synced == self.generation]
        return {partition for view in newest for partition in view.assignment}

    def described(self) -> str:
        """The state of each process in a few words, for a sentence that reports them."""
        return "; ".join(f"{name} {_words(view)}" for name, view in sorted(self.processes.items())) or "nothing"

    # ----------------------------------------------------------------------------------- events

    def _started(self, event: ProcessStarted) -> None:
        self.processes[event.process] = ProcessView()

    def _ended(self, event: ProcessEnded) -> None:
        self.of(event.process).ended = True

    def _connected(self, event: ConnectionOpened) -> None:
        self.of(event.process).connected = self.has_connected = True
        self.connections += 1

    def _disconnected(self, _event: ConnectionClosed) -> None:
        self.connections -= 1

    def _asked(self, event: RequestObserved) -> None:
        view = self.of(event.process)
        view.requests[event.api] += 1
        self._open[event.request] = event
        if event.api == Api.JOIN_GROUP:
            view.joining = True
            view.is_parked = bool(event.member_id or event.instance_id) or event.version < MEMBER_ID_VERSION
            view.session_timeout_ms = event.session_timeout_ms
            view.rebalance_timeout_ms = event.rebalance_timeout_ms
            self.spoken = self.spoken | Spoken(event.version, event.subscription_version)

    def _answered(self, event: ReplyObserved) -> None:
        request = self._open.pop(event.request, None)
        if event.fault:
            self.faults.append(event)
        if request is None:
            return
        view = self.of(event.process)
        if event.api == Api.JOIN_GROUP:
            view.joining = view.is_parked = False
        if event.fault in UNSEEN:
            return
        if event.error != "NONE":
            view.errors.add(event.error)
        else:
            self._succeeded(view, request, event)

    def _succeeded(self, view: ProcessView, request: RequestObserved, reply: ReplyObserved) -> None:
        match reply.api:
            case Api.JOIN_GROUP:
                view.joined = reply.reply_generation
                self.generation = max(self.generation, view.joined)
                view.member_id = reply.assigned_member_id
                view.leads = reply.leader == reply.assigned_member_id
            case Api.SYNC_GROUP:
                view.synced = request.request_generation
                view.assignment = reply.assignment
                view.beaten = -1
            case Api.HEARTBEAT if request.request_generation == view.synced:
                view.beaten = self.count


def _words(view: ProcessView) -> str:
    if view.ended:
        return "has ended"
    if not view.connected:
        return "has not connected"
    if view.joining:
        return "waits for the reply to its JoinGroup"
    if view.joined < 0:
        asked = ", ".join(f"{api} {count}x" for api, count in sorted(view.requests.items())) or "nothing"
        return f"never joined; it sent {asked}"
    return f"joined generation {view.joined}" + (f" and synced in {view.synced}" if view.synced >= 0 else "")
