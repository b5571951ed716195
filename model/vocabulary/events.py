"""The closed vocabulary of events: what an observer saw, in the past tense.

Every subject emits these and every invariant reads these and nothing else, so one invariant judges a model run, a
simulation and a recorded cluster alike. The JSON form of an event is its fields plus ``"event": <class name>``
(`properties.history`; schema in ``docs/history.schema.json``).

Who speaks. ``source`` is the observer: a member process (``m0``), ``coordinator``, ``network`` or ``harness``. ``seq``
numbers the events of one source from 0 without a gap, so that a hole in a history is noticed. ``time_ms`` is
milliseconds on the observer's clock, virtual or monotonic; order in a history is order of observation, and only that
order means anything between sources.

What is not known stays unknown: ``error=None`` is a request whose answer never came, ``incarnation=-1`` a client that
cannot tell which life of the coordinator it talks to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from rebalance_check.model.vocabulary.event_base import UNKNOWN_INCARNATION as UNKNOWN_INCARNATION
from rebalance_check.model.vocabulary.event_base import CoordinatorEvent as CoordinatorEvent
from rebalance_check.model.vocabulary.event_base import Event as Event
from rebalance_check.model.vocabulary.reply_events import HeartbeatReplied as HeartbeatReplied
from rebalance_check.model.vocabulary.reply_events import JoinGroupReplied as JoinGroupReplied
from rebalance_check.model.vocabulary.reply_events import LeaveGroupReplied as LeaveGroupReplied
from rebalance_check.model.vocabulary.reply_events import OffsetCommitReplied as OffsetCommitReplied
from rebalance_check.model.vocabulary.reply_events import ReplyEvent as ReplyEvent
from rebalance_check.model.vocabulary.reply_events import RequestParked as RequestParked
from rebalance_check.model.vocabulary.reply_events import SyncGroupReplied as SyncGroupReplied
from rebalance_check.model.vocabulary.status_events import StatusAnswered as StatusAnswered
from rebalance_check.model.vocabulary.status_events import StatusAppended as StatusAppended
from rebalance_check.model.vocabulary.status_events import StatusAttempted as StatusAttempted
from rebalance_check.model.vocabulary.status_events import StatusEvent as StatusEvent
from rebalance_check.model.vocabulary.status_events import StatusFlushed as StatusFlushed
from rebalance_check.model.vocabulary.status_events import StatusFlushStarted as StatusFlushStarted
from rebalance_check.model.vocabulary.status_events import StatusGivenUp as StatusGivenUp
from rebalance_check.model.vocabulary.status_events import StatusIgnored as StatusIgnored
from rebalance_check.model.vocabulary.status_events import StatusQueried as StatusQueried
from rebalance_check.model.vocabulary.status_events import StatusRead as StatusRead
from rebalance_check.model.vocabulary.status_events import StatusSent as StatusSent
from rebalance_check.model.vocabulary.status_events import StatusStoreStopped as StatusStoreStopped
from rebalance_check.model.vocabulary.status_events import StatusSuppressed as StatusSuppressed

FORMAT: Final[Literal[2]] = 2
"""The version of the history format. Later versions only add events and optional fields; `properties.convert` rewrites
histories of version 1, whose fields bore other names."""

# ------------------------------------------------------------------------------------------------ the run


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """A run began: which subject, from which seed, in which bounds or settings (an address).

    ``punctual`` promises that the coordinator's timers fire when they are due, and that its events bear that time.
    ``format`` is the version of the history format (`FORMAT`): a reader refuses a newer one by its number.
    """

    subject: str
    seed: int = 0
    bounds: str = ""
    mutant: str = ""
    punctual: bool = False
    format: Literal[2] = FORMAT


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(Event):
    """The run ended in an orderly way and nothing is missing; ``pending`` names what had not converged."""

    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HealEnded(Event):
    """The time that the group had to come to rest after ``Heal`` is over; ``pending`` names what had not converged, as
    in `RunEnded`, and ``missing`` the members that ran and that the coordinator did not count as the group's."""

    pending: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettled(Event):
    """The harness disturbs no more and saw everything at rest; what follows only brings the run to its end."""


# ------------------------------------------------------------------------------------------------ the coordinator


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChanged(Event):
    """Something was done to a node of the cluster; ``change``: killed, started, paused, resumed."""

    node: int
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorElected(Event):
    """The nodes know that ``node`` coordinates the group; ``incarnation`` is the leader epoch of the group's log."""

    node: int
    incarnation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IncarnationStarted(CoordinatorEvent):
    """The coordinator created the group or loaded it from its log, at ``generation``.

    ``status`` is the one it begins in ("" where the subject cannot tell; then the fields behind it say nothing),
    ``members`` are those of the record, sorted, ``instances`` the static ones among them as (member id, instance id),
    ``max_size`` is ``group.max.size`` (0: not told).
    """

    status: str = ""
    members: tuple[str, ...] = ()
    instances: tuple[tuple[str, str], ...] = ()
    leader: str = ""
    protocol: str = ""
    max_size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IncarnationEnded(CoordinatorEvent):
    """The coordinator died or resigned. One that loads believes every Heartbeat until the next `IncarnationStarted`.

    ``zombie_coordinators``: another one takes over and this one does not know; it answers from memory until it ends once more.
    """

    deposed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStatusChanged(CoordinatorEvent):
    """The group moved from one status to another (Kafka's names: Empty, PreparingRebalance, ...)."""

    from_status: str
    to_status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAdded(CoordinatorEvent):
    """A member id entered the group (its first JoinGroup was accepted); ``instance_id`` is "" for a dynamic one."""

    member_id: str
    instance_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRemoved(CoordinatorEvent):
    """A member id left the group.

    ``reason``: left, session expired, rebalance timeout, sync timeout, replaced, group size.
    """

    member_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationStarted(CoordinatorEvent):
    """The join phase of ``generation`` completed with these members (member ids, sorted) and this leader."""

    members: tuple[str, ...]
    leader: str
    protocol: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetadataWritten(CoordinatorEvent):
    """A group metadata record was handed to the log; whether it is committed shows later, or never."""

    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetadataAppended(CoordinatorEvent):
    """A group metadata record was committed to the coordinator's log at ``offset``.

    ``assignments`` says per member id what it is assigned, as a text that is equal exactly where the bytes are ("" for
    none); it is empty where the subject cannot tell.
    """

    members: tuple[str, ...]
    offset: int
    assignments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDeleted(CoordinatorEvent):
    """DeleteGroups or the expiry of its offsets wrote the group's tombstone while it was in ``status``."""

    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTailLost(Event):
    """The log lost its last ``records``, committed ones perhaps among them (an unclean election of its leader)."""

    records: int


# ------------------------------------------------------------------------------------------------ requests


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSent(Event):
    """A member sent a request. ``request`` numbers those of one member; ``generation`` is -1 where none is sent."""

    member: str
    api: str
    request: int
    generation: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAnswered(Event):
    """A request was answered, or given up (``error=None``: the outcome is unknown and stays so).

    ``leader`` is a member, ``members`` the subscriptions shown to the leader as (member, claimed partitions), and
    ``assignment`` the partitions of a SyncGroup reply; each is empty where the reply carries none.
    """

    member: str
    api: str
    request: int
    error: str | None
    generation: int = -1
    leader: str = ""
    protocol: str = ""
    members: tuple[tuple[str, tuple[str, ...]], ...] = ()
    assignment: tuple[str, ...] = ()


# ------------------------------------------------------------------------------------------------ members


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberEvent(Event):
    """Seen at a member process."""

    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStarted(MemberEvent):
    """The process started; it owns nothing. ``protocol`` is eager or cooperative, ``client`` the library that it is
    made with, ``release`` the version of that library and ``assignors`` what it offers, most wanted first; each is
    empty where the subject cannot tell. ``group_instance_id`` is that of a static member (KIP-345), empty for a
    dynamic one."""

    protocol: str = ""
    client: str = ""
    group_instance_id: str = ""
    release: str = ""
    assignors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberCrashed(MemberEvent):
    """The process died without a word; whatever it owned, it processes no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLeft(MemberEvent):
    """The process left in an orderly way; it owns nothing any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPaused(MemberEvent):
    """The process stopped running (a long garbage collection, SIGSTOP); it still believes what it believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberResumed(MemberEvent):
    """The process runs again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionChanged(MemberEvent):
    """The application subscribed to these topics instead of those before; to none, if it unsubscribed."""

    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorFound(MemberEvent):
    """The member takes ``node`` for its coordinator from here on."""

    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationEvent(MemberEvent):
    """Seen at a member, which was in ``generation`` under ``member_id`` ("" where the subject cannot tell)."""

    generation: int
    member_id: str = ""
    incarnation: int = UNKNOWN_INCARNATION


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberJoined(GenerationEvent):
    """The member processed a successful JoinGroup reply: from here on it speaks for ``generation``.

    ``owned_partitions`` are the partitions that it said it owned (empty under EAGER); it still owns them.
    """

    leader: bool = False
    protocol: str = ""
    owned_partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentComputed(GenerationEvent):
    """The leader computed the assignment: per member id, what it claimed, in which generation, and what it gets."""

    protocol: str = ""
    owned_partitions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    owned_generations: tuple[tuple[str, int], ...] = ()
    assignments: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsAssigned(GenerationEvent):
    """``onPartitionsAssigned``: the partitions added to what the member owns."""

    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsRevoked(GenerationEvent):
    """``onPartitionsRevoked``: given up while still the owner (a commit is legal until here)."""

    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsLost(GenerationEvent):
    """``onPartitionsLost``: already gone when the member learned of it; it must not commit them."""

    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentCompleted(GenerationEvent):
    """The member completed the rebalance of ``generation`` and owns exactly ``owned``."""

    owned: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipLost(GenerationEvent):
    """The member learned that it belongs to no generation any more; ``reason`` is Kafka's error name or a timeout."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitted(GenerationEvent):
    """A commit of ``offset`` for ``partition`` was answered ``error`` (None: no answer came)."""

    partition: str
    offset: int
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorStarted(GenerationEvent):
    """The worker started the connector."""

    connector: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorStopped(GenerationEvent):
    """The worker stopped the connector."""

    connector: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted(GenerationEvent):
    """The worker started the task (``connector-0``)."""

    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStopped(GenerationEvent):
    """The worker stopped the task."""

    task: str


AnyEvent: TypeAlias = (
    RunStarted | HealEnded | RunSettled | RunEnded | NodeChanged | CoordinatorElected
    | IncarnationStarted | IncarnationEnded | GroupStatusChanged | MemberAdded | MemberRemoved
    | GenerationStarted | GroupMetadataWritten | GroupMetadataAppended | GroupDeleted | LogTailLost
    | RequestParked | JoinGroupReplied | SyncGroupReplied | HeartbeatReplied | LeaveGroupReplied | OffsetCommitReplied
    | RequestSent | RequestAnswered
    | MemberStarted | MemberCrashed | MemberLeft | MemberPaused | MemberResumed | SubscriptionChanged | CoordinatorFound
    | MemberJoined | AssignmentComputed | PartitionsAssigned | PartitionsRevoked | PartitionsLost | AssignmentCompleted
    | MembershipLost | OffsetCommitted | ConnectorStarted | ConnectorStopped | TaskStarted | TaskStopped
    | StatusAttempted | StatusSuppressed | StatusSent | StatusAppended | StatusAnswered | StatusGivenUp | StatusRead
    | StatusIgnored | StatusQueried | StatusFlushStarted | StatusFlushed | StatusStoreStopped
)  # fmt: skip
"""Every event that may stand in a history."""

EVENT_TYPES: Final[dict[str, type[Event]]] = {cls.__name__: cls for cls in get_args(AnyEvent)}
"""The vocabulary by name, in the order above."""
