"""The log of an application with Java consumers: Kafka's clients 2.x to 4.x.

Sources: ``org.apache.kafka.clients.consumer.internals.AbstractCoordinator``, ``ConsumerCoordinator``,
``ConsumerRebalanceListenerInvoker`` (3.7 on); for ``group.protocol=consumer`` ``ConsumerMembershipManager`` (3.7 on).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import (
    Assigned,
    AssignmentComputed,
    ClientFact,
    ConfigSeen,
    CoordinatorUnavailable,
    Fact,
    Joined,
    JoinSent,
    LeaveSent,
    Lost,
    MembershipReset,
    ModernGroupSeen,
    NotUnderstood,
    PollTimedOut,
    ProcessStarted,
    RejoinDecided,
    RequestRefused,
    Revoked,
    Synced,
    TopicsUnassigned,
)
from rebalance_check.pipeline.diagnose.logs.records import LogRecord
from rebalance_check.pipeline.diagnose.logs.templates import Fields, Template, Templates, nothing, template

PREFIX: Final = re.compile(
    r"\[Consumer (?:instanceId=(?P<instance>.+?), )?clientId=(?P<client>.*?), groupId=(?P<group>[^\]]*)\]"
)
COORDINATOR: Final = re.compile(
    r"(?:Consumer|Abstract)Coordinator|ConsumerRebalanceListenerInvoker|ConsumerMembershipManager|AbstractMembershipManager"
)
"""Loggers whose lines concern the group: one that no template knows is listed as not understood."""
CONFIGS: Final = frozenset({
    "session.timeout.ms", "max.poll.interval.ms", "heartbeat.interval.ms", "group.id", "group.instance.id", "client.id",
    "partition.assignment.strategy", "max.poll.records", "metadata.max.age.ms", "enable.auto.commit", "group.protocol",
})  # fmt: skip
_CONFIG: Final = re.compile(r"^\s*(?P<key>[a-z.]+) = (?P<value>.*)$", re.MULTILINE)
_MEMBER: Final = re.compile(r"(?P<member>[^\s{,=]+)=Assignment\(partitions=\[(?P<partitions>[^\]]*)\]")
_GENERATION: Final = (
    r"Generation\{generationId=(?P<generation>-?\d+), memberId='(?P<member>[^']*)', protocol='?(?P<protocol>[^'}]*)'?\}"
)
_FAILED: Final = r"failed(?: due to (?:fatal |non-fatal |unexpected )?error)?: (?P<error>.*)"


def names(text: str) -> tuple[str, ...]:
    """Partitions or topics of a list as Java prints it, with brackets or without, without the time of a topic id."""
    return tuple(name.strip() for name in text.strip().strip("[]").split(",") if name.strip())


def _make(kind: Callable[..., Fact], *texts: str, numbers: tuple[str, ...] = ()) -> Callable[..., Iterable[Fact]]:
    def make(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
        values: dict[str, Any] = {name: fields.get(name, "") for name in texts}
        values |= {name: int(fields[name]) for name in numbers if name in fields}
        return (kind(client="", **values, **at),)

    return make


def _owned(kind: Callable[..., Fact]) -> Callable[..., Iterable[Fact]]:
    """Begin or end of ownership; KIP-848 clients and first joins also log empty lists, which change nothing."""

    def make(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
        partitions = names(fields["partitions"])
        return (kind(client="", partitions=partitions, **at),) if partitions else ()

    return make


def _refused(request: str) -> Callable[..., Iterable[Fact]]:
    def make(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
        error = fields.get("error") or fields.get("code") or "not part of an active group"
        return (RequestRefused(client="", request=request, error=error, member=fields.get("member", ""), **at),)

    return make


def _computed(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    assignments = tuple((row["member"], names(row["partitions"])) for row in _MEMBER.finditer(fields["assignment"]))
    return (AssignmentComputed(client="", generation=int(fields["generation"]), assignments=assignments, **at),)


def _poll_timed_out(_fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    return (PollTimedOut(client="", **at),)


def _poll_timed_out_by(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    return (PollTimedOut(client="", over_ms=int(fields["over"]), **at),)


def _started(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    return (ProcessStarted(client="", release=fields["release"], **at),)


def _subscribed(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    return (ProcessStarted(client="", topics=names(fields["topics"]), **at),)


def _modern(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    epoch = int(fields["epoch"])
    return (ModernGroupSeen(kind="consumer", epoch=epoch if epoch > 0 else None, **at),)


def _unassigned(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    return (TopicsUnassigned(client="", topics=names(fields["topics"]), **at),)


def _fenced(_fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    return (RequestRefused(client="", request="Heartbeat", error="FENCED_INSTANCE_ID", **at),)


ROWS: Final[tuple[Template, ...]] = (
    template("(Re-)joining group", r"\(Re-\)joining group", _make(JoinSent)),
    template(
        "Request joining group due to", r"Request joining group due to: (?P<reason>.*)", _make(RejoinDecided, "reason")
    ),
    template(
        "Requesting to re-join the group",
        r"Requesting to re-join the group and trigger rebalance since (?P<reason>.*)",
        _make(RejoinDecided, "reason"),
    ),
    template(
        "Successfully joined group with generation",
        rf"Successfully joined group with generation {_GENERATION}",
        _make(Joined, "member", "protocol", numbers=("generation",)),
    ),
    template(
        "Successfully joined group with generation",
        r"Successfully joined group with generation (?P<generation>\d+)",
        _make(Joined, numbers=("generation",)),
    ),
    template(
        "Successfully synced group in generation",
        rf"Successfully synced group in generation {_GENERATION}",
        _make(Synced, "member", numbers=("generation",)),
    ),
    template(
        "Finished assignment for group at generation",
        r"Finished assignment for group at generation (?P<generation>\d+): (?P<assignment>\{.*\})",
        _computed,
    ),
    template(
        "Adding newly assigned partitions",
        r"Adding newly assigned partitions: ?(?P<partitions>[^\n]*)",
        _owned(Assigned),
    ),
    template(
        "Revoke previously assigned partitions",
        r"Revoke previously assigned partitions (?P<partitions>[^\n]*)",
        _owned(Revoked),
    ),
    template("Revoking previously assigned partitions", r"Revoking previously assigned partitions", nothing),
    template(
        "Lost previously assigned partitions",
        r"Lost previously assigned partitions (?P<partitions>[^\n]*)",
        _owned(Lost),
    ),
    template("Giving away all assigned partitions as lost", r"Giving away all assigned partitions as lost", nothing),
    template(
        "onsumer poll timeout has expired. This means",
        r"onsumer poll timeout has expired\. This means.*?exceeded approximately by (?P<over>\d+) ?ms",
        _poll_timed_out_by,
    ),
    template(
        "onsumer poll timeout has expired. This means",
        r"onsumer poll timeout has expired\. This means",
        _poll_timed_out,
    ),
    template(
        "sending LeaveGroup request to coordinator",
        r"Member (?P<member>\S+) sending LeaveGroup request to coordinator .*? due to (?P<reason>.*)",
        _make(LeaveSent, "member", "reason"),
    ),
    template(
        "LeaveGroup request with",
        rf"LeaveGroup request with {_GENERATION}.*?failed with error: (?P<error>.*)",
        _refused("LeaveGroup"),
    ),
    template("LeaveGroup request", r"LeaveGroup request (?:with .*)?returned successfully|Sending LeaveGroup", nothing),
    template(
        "Attempt to heartbeat with",
        rf"Attempt to heartbeat with (?:stale )?{_GENERATION}.*? failed due to (?P<error>\w+)",
        _refused("Heartbeat"),
    ),
    template("Attempt to heartbeat failed", r"Attempt to heartbeat failed since group is rebalancing", nothing),
    template(
        "Attempt to heartbeat failed",
        r"Attempt to heartbeat failed (?:for|since|due to) (?P<error>.*)",
        _refused("Heartbeat"),
    ),
    template("JoinGroup failed", rf"JoinGroup {_FAILED}", _refused("JoinGroup")),
    template("SyncGroup failed", rf"SyncGroup {_FAILED}", _refused("SyncGroup")),
    template(
        "OffsetCommit failed with",
        rf"OffsetCommit failed with {_GENERATION}: (?P<error>[^\n]*)",
        _refused("OffsetCommit"),
    ),
    template("OffsetCommit failed with", r"OffsetCommit failed with (?P<code>[A-Z_]+)", _refused("OffsetCommit")),
    template(
        "Failing OffsetCommit request",
        r"Failing OffsetCommit request since the consumer is not part of an active group",
        _refused("OffsetCommit"),
    ),
    template(
        "Offset commit failed on partition",
        r"Offset commit failed on partition \S+ at offset \d+: (?P<error>[^\n]*)",
        _refused("OffsetCommit"),
    ),
    template("Caught fenced group.instance.id", r"Caught fenced group\.instance\.id", _fenced),
    template(
        "Resetting generation",
        r"Resetting generation(?: and member id)? due to: (?P<reason>.*)",
        _make(MembershipReset, "reason"),
    ),
    template(
        "is unavailable or invalid due to cause",
        r"Group coordinator .*? is unavailable or invalid due to cause: (?P<reason>.*?)\. ?isDisconnected",
        _make(CoordinatorUnavailable, "reason"),
    ),
    template(
        "is unavailable or invalid", r"Group coordinator .*? is unavailable or invalid", _make(CoordinatorUnavailable)
    ),
    template(
        "topics are not assigned to any members",
        r"topics are not assigned to any members: ?(?P<topics>[^\n]*)",
        _unassigned,
    ),
    template("Subscribed to topic(s)", r"Subscribed to topic\(s\)[^:]*: (?P<topics>[^\n]*)", _subscribed),
    template("Subscribed to pattern", r"Subscribed to pattern", nothing),
    template("Kafka version", r"Kafka version ?: (?P<release>\S+)", _started),
    template("transitioned from", r"Member (?P<member>\S+) with epoch (?P<epoch>-?\d+) transitioned from", _modern),
    *(
        template(sentence, re.escape(sentence), nothing)
        for sentence in (
            "Discovered group coordinator",
            "Notifying assignor about",
            "Updating assignment with",
            "Reconciling assignment with",
            "committed offset for partition",
            "Setting offset for partition",
            "Need to revoke partitions",
            "Rebalance failed",
            "Skipped assignment for",
            "With the COOPERATIVE protocol",
            "Requesting disconnect from last known coordinator",
            "Giving up sending",
            "We received an assignment",
            "Consumer instance has been closed",
            "Failed to rejoin",
            "Leaving group",
            "FindCoordinator request",
            "The consumer rebalance protocol",
            "Rebootstrapping with",
            "Completed assignment",
            "unsubscribed all topics",
            "Committed offset",
            "cleared all",
            "Starting heartbeat",
            "Topic IDs",
            "Generation data was cleared",
        )
    ),
)


@dataclass(slots=True)
class _Consumer:
    """One consumer of the log, by its client id: its member id, while it has one."""

    member: str = ""


class JavaClientLog:
    """The facts of one application's log. It may have many consumers, each named by the prefix of its lines."""

    def __init__(self) -> None:
        self._templates = Templates(ROWS)
        self._consumers: dict[tuple[str, str], _Consumer] = {}
        self._release = ""

    def read(self, record: LogRecord) -> Iterator[Fact | NotUnderstood]:
        """The facts of a record."""
        if "ConsumerConfig values" in record.message:
            yield from _config(record)
            return
        prefix = PREFIX.search(record.message)
        facts = self._templates.facts(record)
        if facts is None:
            if prefix is not None and COORDINATOR.search(record.logger + record.message[: prefix.start()]):
                yield NotUnderstood(record.place, "a line of a consumer's coordinator")
            return
        for fact in facts:
            if isinstance(fact, ProcessStarted) and fact.release:
                self._release = fact.release  # the line names no client: its consumers subscribe after it
            elif prefix is not None:
                yield self._completed(fact, prefix)

    def _completed(self, fact: Fact, prefix: re.Match[str]) -> Fact:
        """The fact with group, client, instance and member of its consumer."""
        group, client, instance = prefix["group"], prefix["client"], prefix["instance"] or ""
        if not isinstance(fact, ClientFact):
            return replace(fact, group=group)
        consumer = self._consumers.setdefault((group, client), _Consumer())
        if isinstance(fact, Joined) and fact.member:
            consumer.member = fact.member
        if isinstance(fact, ProcessStarted):
            fact = replace(fact, release=self._release)
        member = fact.member or consumer.member
        if isinstance(fact, MembershipReset) and "member id" in fact.place.text:
            consumer.member = ""
        return replace(fact, group=group, client=client, instance=instance, member=member)


def _config(record: LogRecord) -> Iterator[Fact]:
    """The configuration that a consumer prints when it starts."""
    values = {row["key"]: row["value"] for row in _CONFIG.finditer(record.message) if row["key"] in CONFIGS}
    group = values.get("group.id", "null")
    if group != "null" and values:
        instance = values.get("group.instance.id", "null")
        yield ConfigSeen(
            place=record.place, time_ms=record.time_ms, group=group, client=values.get("client.id", ""),
            instance="" if instance == "null" else instance, values=tuple(sorted(values.items())),
        )  # fmt: skip


def is_java_client(record: LogRecord) -> bool:
    """Whether the line is one of a Java consumer."""
    return PREFIX.search(record.message) is not None
