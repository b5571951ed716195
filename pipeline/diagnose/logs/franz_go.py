"""The log of a franz-go consumer: ``kgo.BasicLogger``, and the same sentences and keys through other loggers.

Source: ``pkg/kgo/consumer_group.go``, ``consumer_group_848.go`` and ``group_balancer.go`` of franz-go 1.22. Only read
in the sources: failed commits, a SyncGroup that fails, a leader that does not balance.

The log names the member id with a join, and never the client id: the file's name stands for it. A line without a group
belongs to the only one known. When the client leaves, or its session ends by an error, it names no partitions: they are
those that its earlier lines have added. A leader's plan under a cooperative protocol is the one that it sends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import (
    Assigned,
    AssignmentComputed,
    Fact,
    Joined,
    JoinSent,
    LeaveSent,
    Lost,
    MembershipReset,
    ModernGroupSeen,
    NotUnderstood,
    OwnershipFact,
    ProcessStarted,
    RejoinDecided,
    RequestRefused,
    Revoked,
    Synced,
)
from rebalance_check.pipeline.diagnose.logs.records import LogRecord
from rebalance_check.pipeline.diagnose.logs.sentences import MOST_GROUPS, Known, number
from rebalance_check.pipeline.diagnose.logs.structured import fields_of, word

RECOGNITION: Final = re.compile(
    r"beginning to manage the (?:next-gen )?group lifecycle|new group session begun|beginning heartbeat loop|"
    r"immediate metadata update triggered|join returned MemberIDRequired|joined, balancing group"
)
_TOPIC: Final = re.compile(r"([^\s,\[\]{}:]+):?\[([\d ,]*)\]")
_MEMBER: Final = re.compile(r"(?:^|, )(?P<member>[^{}]+?)\{(?P<topics>[^{}]*)\}")
_NAME: Final = re.compile(r"[A-Z][A-Z_]+(?=:|$)")
_OWN_LINE: Final = re.compile(r"\[(?:DEBUG|INFO|WARN|ERROR)\] (?P<sentence>.*?); group: (?P<group>[^,]+)")
_REBALANCES: Final = "REBALANCE_IN_PROGRESS"


@dataclass(slots=True)
class _Group:
    """The state of a group, as its lines have shown it so far."""

    known: Known = field(default_factory=Known)
    generation: int | None = None
    epoch: int | None = None
    owned: frozenset[str] = frozenset()
    forced: bool = False


Act = Callable[[_Group, Mapping[str, Any], dict[str, Any]], Iterable[Fact]]


def is_franz_go(record: LogRecord) -> bool:
    """Whether the record is a line of franz-go, by its content."""
    return RECOGNITION.search(record.message[:400]) is not None


def partitions(value: Any) -> tuple[str, ...]:
    """Partitions as franz-go prints them, ``topic[0 1], other[2]``, or as JSON has them."""
    if isinstance(value, dict):
        pairs = ((topic, names) for topic, names in value.items() if isinstance(names, list))
        return tuple(sorted(f"{topic}-{name}" for topic, names in pairs for name in names if isinstance(name, int)))
    found = _TOPIC.findall(value) if isinstance(value, str) else []
    return tuple(sorted(f"{topic}-{name}" for topic, names in found for name in names.replace(",", " ").split()))


def _error(fields: Mapping[str, Any]) -> str:
    """Kafka's name of the error, else the words."""
    text = word(fields, "err")
    name = _NAME.match(text)
    return name[0] if name is not None else text


def _quiet(_group: _Group, _fields: Mapping[str, Any], _at: dict[str, Any]) -> Iterable[Fact]:
    return ()


def _begins(group: _Group, _fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
    group.known.member, group.generation, group.epoch, group.owned = "", None, None, frozenset()
    return (ProcessStarted(client="", release="franz-go", **at),)


def _begins_modern(group: _Group, _fields: Mapping[str, Any], at: dict[str, Any]) -> Iterator[Fact]:
    """The first heartbeat, with member id and epoch, was answered before this line."""
    group.owned = frozenset()
    yield ProcessStarted(client="", release="franz-go", **at)
    yield ModernGroupSeen(kind="consumer", epoch=group.epoch, **at)


def _modern(group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterator[Fact]:
    group.known.member = word(fields, "member_id")
    epoch = number(word(fields, "generation"))
    if epoch != group.epoch:
        group.epoch = epoch
        yield ModernGroupSeen(kind="consumer", epoch=epoch, **at)


def _joins(_group: _Group, _fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
    return (JoinSent(client="", **at),)


def _joins_with_id(group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterator[Fact]:
    group.known.member = word(fields, "member_id")
    yield RequestRefused(client="", request="JoinGroup", error="MEMBER_ID_REQUIRED", **at)
    yield JoinSent(client="", **at)


def _joins_anew(group: _Group, _fields: Mapping[str, Any], at: dict[str, Any]) -> Iterator[Fact]:
    yield RequestRefused(client="", request="JoinGroup", error="UNKNOWN_MEMBER_ID", **at)
    yield MembershipReset(client="", reason="UNKNOWN_MEMBER_ID", **at)
    group.known.member = ""
    yield JoinSent(client="", **at)


def _joined(group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
    group.generation = number(word(fields, "generation"))
    leads = word(fields, "leader").lower()
    group.known.instance = word(fields, "instance_id")
    return (
        Joined(client="", member=word(fields, "member_id"), generation=group.generation,
               protocol=word(fields, "balance_protocol"), leader=leads == "true" if leads else None, **at),
    )  # fmt: skip


def _synced(group: _Group, _fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
    return (Synced(client="", generation=group.generation, **at),)


def _sync_again(_group: _Group, _fields: Mapping[str, Any], at: dict[str, Any]) -> Iterator[Fact]:
    yield RequestRefused(client="", request="SyncGroup", error=_REBALANCES, **at)
    yield JoinSent(client="", **at)


def _balanced(group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
    plan = word(fields, "plan")
    shares = tuple((found["member"], partitions(found["topics"])) for found in _MEMBER.finditer(plan))
    whole = len(shares) == plan.count("{") == plan.count("}")
    return (
        (AssignmentComputed(client="", generation=group.generation, assignments=shares, **at),)
        if shares and whole
        else ()
    )


def _session(group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
    """Partitions that a cooperative session gives up are named again when they are revoked."""
    added = partitions(fields.get("added"))
    group.owned |= set(added)
    return (Assigned(client="", partitions=added, **at),) if added else ()


def _gives_up(kind: type[OwnershipFact], name: str) -> Act:
    def act(group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
        gone = partitions(fields.get(name))
        group.owned -= set(gone)
        return (kind(client="", partitions=gone, **at),) if gone else ()

    return act


def _unassigns(group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
    """All partitions at once, without their names, when the client leaves or is no member any more."""
    why = word(fields, "why")
    kind: type[OwnershipFact] | None = None
    if why.startswith("invalidating all assignments in LeaveGroup"):
        kind = Revoked
    elif why.startswith(("clearing assignment at end of group management session", "abandoning assignment after")):
        kind = Lost
    if kind is None or not group.owned:
        return ()
    gone, group.owned = tuple(sorted(group.owned)), frozenset()
    return (kind(client="", partitions=gone, **at),)


def _heartbeat(group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
    error = _error(fields)
    if error == _REBALANCES:
        forced, group.forced = group.forced, False
        return () if forced else (RejoinDecided(client="", reason=error, **at),)
    return () if error == "context canceled" else (RequestRefused(client="", request="Heartbeat", error=error, **at),)


def _forced(group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
    """The next line says once more that the heartbeats end."""
    group.forced = True
    return (RejoinDecided(client="", reason=word(fields, "why"), **at),)


def _refused(request: str) -> Act:
    def act(_group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
        return (RequestRefused(client="", request=request, error=_error(fields), **at),)

    return act


def _commit_ends_membership(_group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterator[Fact]:
    yield RequestRefused(client="", request="OffsetCommit", error=_error(fields), **at)
    yield RejoinDecided(client="", reason="offset commit returned a fatal group member error", **at)


def _leaves(_group: _Group, fields: Mapping[str, Any], at: dict[str, Any]) -> Iterable[Fact]:
    return (LeaveSent(client="", member=word(fields, "member_id"), **at),)


SENTENCES: Final[dict[str, tuple[str, Act]]] = {
    "beginning to manage the group lifecycle": ("group", _begins),
    "beginning to manage the next-gen group lifecycle": ("group", _begins_modern),
    "consumer group initial heartbeat received assignment": ("generation", _modern),
    "consumer group heartbeat detected an updated assignment; exited heartbeat loop to assign & reentering": (
        "generation", _modern,
    ),
    "consumer group heartbeat error, abandoning assignment and rejoining with new member id": (
        "err", _refused("ConsumerGroupHeartbeat"),
    ),
    "consumer group heartbeat error, abandoning assignment and rejoining": ("err", _refused("ConsumerGroupHeartbeat")),
    "consumer group initial heartbeat hit retryable error, backing off and retrying": (
        "err", _refused("ConsumerGroupHeartbeat"),
    ),
    "joining group": ("group", _joins),
    "join returned MemberIDRequired, rejoining with response's MemberID": ("member_id", _joins_with_id),
    "join returned UnknownMemberID, rejoining without a member id": ("group", _joins_anew),
    "joined": ("generation", _joined),
    "joined, balancing group": ("generation", _joined),
    "joined as leader but unable to balance group due to KIP-345 limitations": ("generation", _joined),
    "synced": ("assigned", _synced),
    "sync failed with RebalanceInProgress, rejoining": ("group", _sync_again),
    "balanced": ("plan", _balanced),
    "new group session begun": ("added", _session),
    "eager consumer revoking prior assigned partitions": ("revoking", _gives_up(Revoked, "revoking")),
    "cooperative consumer revoking prior assigned partitions because leaving group": (
        "revoking", _gives_up(Revoked, "revoking"),
    ),
    "calling onRevoke at the end of a session": ("lost", _gives_up(Revoked, "lost")),
    "assigning partitions": ("why", _unassigns),
    "heartbeat errored": ("err", _heartbeat),
    "heartbeat hit retryable error, max retries reached": ("err", _refused("Heartbeat")),
    "forced rejoin quitting heartbeat loop": ("why", _forced),
    "join group failed": ("err", _refused("JoinGroup")),
    "sync group failed": ("err", _refused("SyncGroup")),
    "default commit failed": ("err", _refused("OffsetCommit")),
    "offset commit returned a fatal group member error, triggering rejoin": ("err", _commit_ends_membership),
    "leaving group": ("member_id", _leaves),
    "leaving next-gen group": ("member_id", _leaves),
}  # fmt: skip
"""By sentence: a field that its line must have, and the act."""
QUIET: Final = re.compile(
    r"beginning (?:autocommit|heartbeat) loop|syncing|balancing group as leader|balance group member|group manage loop "
    r"errored|consumer calling onRevoke|heartbeat (?:saw a change|errored again|hit retryable|complete)|heartbeating|"
    r"leaving group as a static member|tried to leave group|fetch(?:ing)? offsets|fetching metadata for all group|"
    r"(?:skipping|completed) autocommit|autocommit|(?:in )?default commit|unable to (?:commit|log)|offset commit|"
    r"falling back to standard|(?:un)?blocking commits|BalanceRacks is on|broker returned|member was assigned topic|"
    r"adopting a topic|UnreleasedInstanceID|ignoring consumer group heartbeat|sync assignment parse failed|committing|"
    r"consumer regular expressions|group protocol downgraded|entering On|prepared to issue|sharded request"
)
_SENTENCE: Final = re.compile(
    r"(?:^|[\]\s\"])(?P<sentence>"
    + "|".join(map(re.escape, sorted(SENTENCES, key=len, reverse=True)))
    + r")\"?(?P<rest>$|;.*|\s.*)",
    re.DOTALL,
)


class FranzGoLog:
    """The facts of a franz-go consumer's log, by group."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}

    def read(self, record: LogRecord) -> Iterator[Fact | NotUnderstood]:
        """The facts of a record."""
        found = _SENTENCE.search(record.message)
        if found is not None:
            needed, act = SENTENCES[found["sentence"]]
            fields = fields_of(found["rest"]) or dict(record.fields)
            if needed in fields:
                group = self._group(word(fields, "group"))
                for fact in act(group, fields, {"place": record.place, "time_ms": record.time_ms}):
                    group.known.learn(fact)
                    yield group.known.into(fact)
                return
        own = _OWN_LINE.search(record.message)
        if own is not None and not QUIET.match(own["sentence"]):
            yield NotUnderstood(record.place, "a line of franz-go about a group")

    def _group(self, name: str) -> _Group:
        if not name:
            return next(iter(self._groups.values())) if len(self._groups) == 1 else _Group()
        if name not in self._groups:
            if len(self._groups) >= MOST_GROUPS:
                del self._groups[next(iter(self._groups))]
            self._groups[name] = _Group(Known(group=name))
        return self._groups[name]
