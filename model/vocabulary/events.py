"""The closed vocabulary of events: what an observer saw, in the past tense.

Every subject emits these events and every invariant reads only these, so that one invariant judges a model run, a
simulation and a recorded cluster alike. The JSON form of an event is its fields plus ``"event": <class name>``
(`properties.history`; ``rebalance-check schema`` prints its schema).

``source`` is the observer: a member process (``m0``), ``coordinator``, ``network`` or ``harness``. ``seq`` numbers the
events of one source from 0 without a gap, so that the judge notices a hole in a history. ``time_ms`` is the time in
milliseconds on the observer's clock, virtual or monotonic. Events of different sources are ordered by their place in
the history, which is the order of observation, and by nothing else.

Unknown values stay unknown: ``error=None`` is no reply, ``incarnation=-1`` an incarnation that a client cannot see.
"""

# ruff: noqa: F403, F405 - the vocabulary is all that these modules define

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from rebalance_check.model.vocabulary.assignment_events import *
from rebalance_check.model.vocabulary.callback_events import *
from rebalance_check.model.vocabulary.config_events import *
from rebalance_check.model.vocabulary.connect_events import *
from rebalance_check.model.vocabulary.event_base import *
from rebalance_check.model.vocabulary.event_checks import check_when_made
from rebalance_check.model.vocabulary.herder_events import *
from rebalance_check.model.vocabulary.reply_events import *
from rebalance_check.model.vocabulary.request_events import *
from rebalance_check.model.vocabulary.scenario_events import *
from rebalance_check.model.vocabulary.status_events import *
from rebalance_check.model.vocabulary.surrounding_events import *
from rebalance_check.model.vocabulary.wire_events import *

FORMAT: Final[Literal[2]] = 2
"""The version of the history format. Later versions only add events and optional fields."""

# ------------------------------------------------------------------------------------------------ the run


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """A run began: which subject, from which seed, in which bounds or settings (an address).

    ``without`` names what the subject lacks: features, and events that happen and are not recorded.
    ``punctual`` says that the coordinator's timers fire when they are due and that its events carry that time: time is
    virtual, and all sources have one clock.
    ``format`` is the version of the history format (`FORMAT`): a reader refuses a newer one by its number.
    """

    subject: str
    seed: int = 0
    bounds: str = ""
    mutant: str = ""
    without: tuple[str, ...] = ()
    punctual: bool = False
    format: Literal[2] = FORMAT


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(Event):
    """The run ended and its history is complete.

    ``pending`` names all that had not converged; None claims nothing, so that nothing is concluded about completion.
    ``last`` attests where each source ended, as (group, source, number of its last event), sorted: the harness
    writes it once the sources are closed, and leaves it empty where it does not know. ``unclaimed`` names the
    connectors and tasks that a Connect worker runs beyond its assignment, each after its worker; ``struck`` the
    kinds of fault that struck, each with the status that the group had then ("no group" where there was none),
    sorted; ``untimed`` what has no timer armed in a run that did not converge: members that run, and the phase of
    the group (``join`` or ``sync``) where its coordinator armed none.
    """

    pending: tuple[str, ...] | None = None
    last: tuple[tuple[str, str, int], ...] = ()
    unclaimed: tuple[tuple[str, str], ...] = ()
    struck: tuple[tuple[str, str], ...] = ()
    untimed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HealEnded(Event):
    """The time for the group to converge after ``Heal`` is over.

    ``pending`` names what had not converged, as in `RunEnded`; ``missing`` the running members that were not in the
    group.
    """

    pending: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettled(Event):
    """The harness injects no more faults and saw the group converged; what follows only ends the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsDescribed(Event):
    """The partitions that exist from here on, of all topics that members may subscribe to, sorted.

    ``metadata_max_age_ms`` is how long it takes at most until a client learns of them, by default that of Kafka.
    """

    partitions: tuple[str, ...]
    metadata_max_age_ms: int = 300_000


# ------------------------------------------------------------------------------------------------ the coordinator


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChanged(Event):
    """A fault of a node of the cluster began or ended; ``change``: killed, started, paused, resumed, load-failed."""

    node: int
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorElected(Event):
    """The nodes agree that ``node`` coordinates the group; ``incarnation`` is the leader epoch of the group's log."""

    node: int
    incarnation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IncarnationStarted(CoordinatorEvent):
    """The coordinator created the group or loaded it from its log, at ``generation``.

    ``status`` is the group's first status ("" where the subject cannot see it; the fields after it are then empty).
    ``members`` are those of the record, sorted; ``instances`` are the static ones as (member id, instance id).
    ``max_size`` is ``group.max.size`` (0: unknown), ``initial_rebalance_delay_ms`` is
    ``group.initial.rebalance.delay.ms``. The timeouts in ms are the longest of ``members`` (0: unknown).
    ``committed`` are the offsets of the group, by partition (None: unknown).
    """

    status: str = ""
    members: tuple[str, ...] = ()
    instances: tuple[tuple[str, str], ...] = ()
    leader: str = ""
    protocol: str = ""
    max_size: int = 0
    initial_rebalance_delay_ms: int = 0
    rebalance_timeout_ms: int = 0
    session_timeout_ms: int = 0
    committed: tuple[tuple[str, int], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncarnationEnded(CoordinatorEvent):
    """The coordinator died or resigned. Until the next `IncarnationStarted` a loading one accepts every Heartbeat.

    ``deposed``: another coordinator takes over while this one does not know; it replies from memory, as a zombie
    coordinator, until it ends once more.
    """

    deposed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStatusChanged(CoordinatorEvent):
    """The group changed its status (Kafka's names: Empty, PreparingRebalance, ...)."""

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
    """The coordinator handed a group metadata record to the log; the record may or may not be committed later."""

    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetadataAppended(CoordinatorEvent):
    """A group metadata record was committed to the coordinator's log at ``offset``.

    ``assignments`` gives for each member id its assignment, as a text that is equal exactly where the bytes are equal
    ("" for none); it is empty where the subject cannot see it.
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
    """The log lost its last ``records``, possibly committed ones (an unclean leader election)."""

    records: int


# ------------------------------------------------------------------------------------------------ members


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStarted(MemberEvent):
    """The process started and owns nothing.

    ``protocol`` is eager or cooperative, ``client`` its client library, ``release`` the version of that library and
    ``assignors`` its list, most preferred first; each is empty where the subject cannot see it. ``group_instance_id``
    is that of a static member (KIP-345), empty for a dynamic one. ``topics`` are those that it subscribes to (empty:
    unknown), the timeouts in ms those of its JoinGroup. ``heartbeat_interval_ms``, ``retry_backoff_ms`` and
    ``retry_backoff_max_ms`` are Kafka's settings of these names; each time is 0 where it is unknown.
    ``leaves_silently``: it sends no LeaveGroup when it closes (``internal.leave.group.on.close`` is false).
    ``poll_ms``: so long one poll of its application waits, in which it goes on only when an answer arrives or it asked
    to (0: unknown, or polled otherwise). ``auto_commit_interval_ms``: so often a consumer commits by itself (0: never).
    ``by_pattern``: it subscribes to the topics that match a pattern, not to topics by name.
    """

    protocol: str = ""
    client: str = ""
    group_instance_id: str = ""
    release: str = ""
    assignors: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    rebalance_timeout_ms: int = 0
    session_timeout_ms: int = 0
    heartbeat_interval_ms: int = 0
    retry_backoff_ms: int = 0
    retry_backoff_max_ms: int = 0
    leaves_silently: bool = False
    poll_ms: int = 0
    auto_commit_interval_ms: int = 0
    by_pattern: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberCrashed(MemberEvent):
    """The process died without leaving the group; it processes no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLeft(MemberEvent):
    """The process closed and left the group; it owns nothing any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPaused(MemberEvent):
    """The process is suspended (a long garbage collection, SIGSTOP) and keeps its state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberResumed(MemberEvent):
    """The process runs again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorFound(MemberEvent):
    """The member uses ``node`` as its coordinator from here on."""

    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorLost(MemberEvent):
    """The member knows no coordinator any more, and looks for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberJoined(GenerationEvent):
    """The member processed a successful JoinGroup reply: from here on its requests carry ``generation``.

    ``owned_partitions`` are those that its JoinGroup listed (empty under EAGER); it still owns them.
    """

    leader: bool = False
    protocol: str = ""
    owned_partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipLost(GenerationEvent):
    """The member learned that it is in no generation any more; ``reason`` is Kafka's error name or a timeout."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitted(GenerationEvent):
    """A commit of ``offset`` for ``partition`` got a reply with ``error`` (None: there was no reply)."""

    partition: str
    offset: int
    error: str | None


AnyEvent: TypeAlias = (
    RunStarted | HealEnded | RunSettled | RunEnded | TopicsDescribed | NodeChanged | CoordinatorElected
    | IncarnationStarted | IncarnationEnded | GroupStatusChanged | MemberAdded | MemberRemoved
    | GenerationStarted | GroupMetadataWritten | GroupMetadataAppended | GroupDeleted | LogTailLost
    | RequestParked | JoinGroupReplied | SyncGroupReplied | HeartbeatReplied | LeaveGroupReplied | OffsetCommitReplied
    | CoordinatorConfigured | StepStarted | RequestIssued | ReplyReceived | GroupDescribed
    | RequestSent | RequestAnswered | LookUpSent | LookUpAnswered
    | MemberStarted | MemberCrashed | MemberLeft | MemberPaused | MemberResumed | SubscriptionChanged | CoordinatorFound
    | CoordinatorLost | MetadataReceived | ConnectionBroken | ApplicationBusy | RecordsDelivered | ListenerCalled
    | RebalanceEnforced
    | CallbackStarted | CallbackEnded | MemberClosing
    | MemberJoined | AssignmentComputed | PartitionsAssigned | PartitionsRevoked | PartitionsLost | AssignmentCompleted
    | MembershipLost | OffsetCommitted | ConnectEvent | ConfigEvent
    | StatusAttempted | StatusSuppressed | StatusSent | StatusAppended | StatusAnswered | StatusGivenUp | StatusRead
    | StatusIgnored | StatusQueried | StatusesListed | StatusFlushStarted | StatusFlushed
    | StatusStoreStarting | StatusStoreStarted | StatusStoreStopped
    | ProcessStarted | ProcessSignalled | ProcessEnded | CoordinatorMoved
    | ConnectionOpened | ConnectionClosed | RequestObserved | ReplyObserved
)  # fmt: skip
"""Every event that a history may contain."""

EVENT_TYPES: Final[dict[str, type[Event]]] = {cls.__name__: cls for cls in get_args(AnyEvent)}
"""The vocabulary by name, in the order above."""

check_when_made(Event)
for _event_type in EVENT_TYPES.values():
    check_when_made(_event_type)
