"""The log of a sarama consumer, where the application has set ``sarama.Logger``.

Source: ``consumer_group.go``, ``consumer_group_session.go``, ``consumer.go``, ``client.go`` and ``errors.go`` of sarama
1.30 to 1.61. Only read in the sources: a coordinator that is not available, partitions lost, a fenced static member,
errors of heartbeats, a change of partitions.

It is a poor source. It shows no JoinGroup, SyncGroup or LeaveGroup; generation and member id only when a session ends,
so that the join has no time here; the partitions one by one as their fetching begins, some 0.1 s after the application
owns them. A consumer without a group writes the same lines about partitions: they count once a line has named a group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import (
    Assigned,
    CoordinatorUnavailable,
    Fact,
    Joined,
    Lost,
    NotUnderstood,
    ProcessStarted,
    RejoinDecided,
    RequestRefused,
    Revoked,
)
from rebalance_check.pipeline.diagnose.logs.records import LogRecord
from rebalance_check.pipeline.diagnose.logs.sentences import Known, says
from rebalance_check.pipeline.diagnose.logs.templates import Fields, Make, Template, Templates, nothing, template

RECOGNITION: Final = re.compile(
    r"(?:^|\s)(?:consumer/broker/\d+ |consumergroup/|client/(?:metadata fetching|coordinator |brokers registered))"
)
_GROUP_LINE: Final = re.compile(r"(?:^|\s)consumergroup/")
_NAMED_GROUP: Final = re.compile(
    r"client/coordinator (?:requesting )?coordinator for (?P<looked_up>.+?) (?:from \S+$|is )|"
    r"(?:^|\s)consumergroup/(?!session/)(?P<own>.+?)(?:: | loop check | topic )"
)
_TOPIC: Final = re.compile(r"([^\s\[\]:]+):\[([\d ]*)\]")


def is_sarama(record: LogRecord) -> bool:
    """Whether the record is a line of sarama, by its content."""
    return RECOGNITION.search(record.message[:200]) is not None


def _partition(kind: Callable[..., Fact]) -> Make:
    def make(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
        return (kind(client="", partitions=(f"{fields['topic']}-{fields['partition']}",), **at),)

    return make


def _lost(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    found = _TOPIC.findall(fields["claims"])
    names = tuple(f"{topic}-{name}" for topic, parts in found for name in parts.split())
    return (Lost(client="", group=fields["group"], partitions=tuple(sorted(names)), **at),) if names else ()


def _session(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    """The join was some time before: its time is unknown."""
    return says(Joined, "member", numbers=("generation",))(fields, at | {"time_ms": None})


def _refused(request: str, error: str = "") -> Make:
    def make(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
        return (
            RequestRefused(client="", group=fields.get("group", ""), instance=fields.get("instance", ""),
                           request=request, error=error or fields["error"], **at),
        )  # fmt: skip

    return make


_SUBSCRIPTION: Final = r"subscription to (?P<topic>\S+)/(?P<partition>\d+)"
ROWS: Final[tuple[Template, ...]] = (
    template("added subscription to", rf"consumer/broker/\d+ added {_SUBSCRIPTION}", _partition(Assigned)),
    template("closed dead subscription to", rf"consumer/broker/\d+ closed dead {_SUBSCRIPTION}", _partition(Revoked)),
    template("consumergroup/session/", r"consumergroup/session/(?P<member>.+)/(?P<generation>\d+) released", _session),
    template("consumergroup/session/", r"heartbeat loop stopped", nothing),
    template(
        "lost ownership of",
        r"consumergroup/(?P<group>.+?): lost ownership of map\[(?P<claims>.*)\] due to ",
        _lost,
    ),
    template(
        "loop check partition number goroutine find partitions",
        r"consumergroup/(?P<group>.+?) loop check .*? (?P<reason>partitions in topics .* changed from \d+ to \d+)",
        says(RejoinDecided, "reason"),
    ),
    template("will exit, topics", r"loop check partition number", nothing),
    template("get partition number failed", r"get partition number failed", nothing),
    template("falling back to static user data", r"falling back to static user data", nothing),
    template(
        "JoinGroup failed: group instance id",
        r"JoinGroup failed: group instance id (?P<instance>\S+) has been fenced",
        _refused("JoinGroup", "FENCED_INSTANCE_ID"),
    ),
    template(
        "is not available",
        r"client/coordinator coordinator for (?P<group>.+?) (?P<reason>is not available)",
        says(CoordinatorUnavailable, "reason"),
    ),
    template(
        "client/coordinator request to broker",
        r"client/coordinator (?P<reason>request to broker \S+ failed: .*)$",
        says(CoordinatorUnavailable, "reason"),
    ),
    template(
        "client was not authorized to access group",
        r"client was not authorized to access group (?P<group>.+?) while",
        _refused("FindCoordinator", "GROUP_AUTHORIZATION_FAILED"),
    ),
    template(
        "kafka server: A rebalance for the group is in progress",
        r"(?P<reason>A rebalance for the group is in progress)",
        says(RejoinDecided, "reason"),
    ),
    template(
        "kafka server: ",
        r"kafka server: (?P<error>The provided (?:member is not known|generation id is not)[^\n]*|"
        r"The broker rejected this static consumer[^\n]*)",
        _refused(""),
    ),
)


class SaramaLog:
    """The facts of a sarama consumer's log."""

    def __init__(self) -> None:
        self._templates = Templates(ROWS)
        self._known = Known()
        self._groups: set[str] = set()
        self._owned: set[str] = set()
        self._begins: dict[str, Any] | None = None
        self._closed = True

    def read(self, record: LogRecord) -> Iterator[Fact | NotUnderstood]:
        """The facts of a record."""
        yield from self._process(record)
        facts = self._templates.facts(record)
        if facts is None:
            if _GROUP_LINE.search(record.message):
                yield NotUnderstood(record.place, "a line of sarama's consumer group")
            return
        for fact in facts:
            yield from self._of_the_group(fact)

    def _process(self, record: LogRecord) -> Iterator[Fact]:
        """The group, and the start of the process.

        Other clients begin in a running process, too. The consumer begins with a new client where no client was there,
        and where it looks for its coordinator while partitions count as its own: a living one gives them up first.
        """
        message = record.message
        if "Initializing new client" in message:
            self._begins = {"place": record.place, "time_ms": record.time_ms}
        elif "Closing Client" in message:
            self._closed = True
        elif (found := _NAMED_GROUP.search(message)) is not None:
            if len(self._groups) < 2:  # more than one is too many
                self._groups.add(found["looked_up"] or found["own"])
            self._known.group = next(iter(self._groups)) if len(self._groups) == 1 else ""
            if found["looked_up"]:
                yield from self._looks_up_its_coordinator()

    def _looks_up_its_coordinator(self) -> Iterator[Fact]:
        if self._begins is not None and (self._closed or self._owned):
            self._owned, self._known.member = set(), ""
            yield self._known.into(ProcessStarted(client="", release="sarama", **self._begins))
        self._begins, self._closed = None, False

    def _of_the_group(self, fact: Fact) -> Iterator[Fact]:
        if isinstance(fact, Assigned | Revoked | Lost):
            if not self._groups:
                return
            names = set(fact.partitions)
            if isinstance(fact, Assigned) and names <= self._owned:
                return  # another broker leads the partition
            self._owned = self._owned | names if isinstance(fact, Assigned) else self._owned - names
        self._known.learn(fact)
        yield self._known.into(fact)
