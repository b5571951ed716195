"""The members of a group: each member id with its client, its settings, and how it came and went."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from rebalance_check.pipeline.diagnose.facts import (
    AssignmentStored,
    ClientFact,
    ConfigSeen,
    Fact,
    GroupRecorded,
    Joined,
    JoinPhaseEnded,
    MemberAdded,
    MemberDescribed,
    MemberExpired,
    MemberFact,
    MemberFenced,
    MemberIdGiven,
    MemberLeft,
    MemberRowDescribed,
    MembersEvicted,
    PendingMemberExpired,
    RebalanceBegan,
    RecordedMember,
    StaticMemberReplaced,
)
from rebalance_check.pipeline.diagnose.triggers import Cause, cause_of_leave, trigger_of

UUID: Final = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")


class End(StrEnum):
    """How the membership of a member id ends."""

    CLOSED = "left: closed"
    POLL_TIMEOUT = "left: poll timeout"
    UNSUBSCRIBED = "left: unsubscribed"
    LEFT = "left"
    EXPIRED = "expired"
    EVICTED = "evicted: did not rejoin"
    REPLACED = "replaced by a restart"
    FENCED = "fenced"
    NEVER_JOINED = "never joined with its id"


_ENDS: Final = {
    Cause.CLOSED: End.CLOSED,
    Cause.POLL_TIMEOUT: End.POLL_TIMEOUT,
    Cause.UNSUBSCRIBED: End.UNSUBSCRIBED,
    Cause.LEFT: End.LEFT,
}


@dataclass(slots=True)
class Member:
    """One member id. Timeouts are None where no source names them."""

    id: str
    client: str = ""
    host: str = ""
    instance: str = ""
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    heartbeat_interval_ms: int | None = None
    assignors: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    first_ms: int | None = None
    ended_ms: int | None = None
    end: End | None = None
    ended_by: Fact | None = None
    is_pending: bool = False
    """It has an id and has not joined with it."""

    @property
    def key(self) -> tuple[str, str]:
        """One client over its member ids: its instance id, or its client id and host."""
        return ("instance", self.instance) if self.instance else (self.client or self.id, self.host)


@dataclass(slots=True)
class Members:
    """All member ids of a group that any source names."""

    by_id: dict[str, Member] = field(default_factory=dict)

    def get(self, member: str) -> Member:
        """The member of an id; a new one carries its client id, which is the id without the UUID at its end."""
        found = self.by_id.get(member)
        if found is None:
            found = self.by_id[member] = Member(member, client=UUID.sub("", member) if UUID.search(member) else "")
        return found

    def name(self, member: str) -> str:
        """A short name: instance id or client id, with the head of the UUID where several members share it."""
        if not member:
            return "a member"
        found = self.get(member)
        short = found.instance or found.client
        if not short:
            return member
        if self._sharing is None:
            self._sharing = Counter(other.instance or other.client for other in self.by_id.values())
        if self._sharing[short] <= 1:
            return short
        return f"{short}-{member[len(member) - 36 :][:4]}" if UUID.search(member) else member

    def client(self, member: str) -> str:
        """The name of a member's client, without its member id."""
        found = self.get(member)
        return found.instance or found.client or member

    def take(self, facts: Iterable[Fact]) -> None:
        """Learn from facts, in the order of their times."""
        self._sharing = None
        for fact in facts:
            self._take(fact)

    def _take(self, fact: Fact) -> None:
        if isinstance(fact, MembersEvicted):
            for member in fact.members:
                self._end(member, End.EVICTED, fact)
        elif isinstance(fact, GroupRecorded):
            for recorded in fact.members:
                self._recorded(recorded, fact)
        elif isinstance(fact, RebalanceBegan):
            self._begun(fact)
        elif isinstance(fact, JoinPhaseEnded):
            for member in fact.ids:
                self._seen(member, fact)
        elif isinstance(fact, AssignmentStored):
            if fact.leader:
                self._seen(fact.leader, fact)
        elif isinstance(fact, MemberFact):
            self._member_fact(fact)
        elif isinstance(fact, ClientFact):
            self._client_fact(fact)

    def _begun(self, fact: RebalanceBegan) -> None:
        """A member that a rebalance waits for has joined with its id."""
        trigger = trigger_of(fact.reason)
        if trigger.member and trigger.cause is Cause.NEW_MEMBER:
            self._seen(trigger.member, fact).is_pending = False

    def _seen(self, member: str, fact: Fact) -> Member:
        found = self.get(member)
        if found.first_ms is None:
            found.first_ms = fact.time_ms
        return found

    def _end(self, member: str, end: End, fact: Fact) -> None:
        found = self.get(member)
        if found.end is None:
            found.ended_ms, found.end, found.ended_by = fact.time_ms, end, fact

    def _member_fact(self, fact: MemberFact) -> None:
        if isinstance(fact, StaticMemberReplaced) and fact.old:
            self.get(fact.old).instance = fact.instance
            self._end(fact.old, End.REPLACED, fact)
        if not fact.member:
            return
        found = self.get(fact.member) if isinstance(fact, MemberDescribed) else self._seen(fact.member, fact)
        found.instance = found.instance or fact.instance
        match fact:
            case MemberIdGiven():
                found.is_pending = True
            case MemberAdded():
                found.is_pending = False
            case PendingMemberExpired():
                self._end(fact.member, End.NEVER_JOINED, fact)
            case MemberLeft():
                found.is_pending = False
                self._end(fact.member, _ENDS[cause_of_leave(fact.reason)], fact)
            case MemberExpired():
                self._end(fact.member, End.EXPIRED, fact)
            case MemberFenced():
                self._end(fact.member, End.FENCED, fact)
            case MemberDescribed():
                found.is_pending = False
                found.client, found.host = fact.client or found.client, fact.host or found.host
                found.session_timeout_ms = fact.session_timeout_ms or found.session_timeout_ms
                found.rebalance_timeout_ms = fact.rebalance_timeout_ms or found.rebalance_timeout_ms
                found.assignors = fact.assignors or found.assignors
            case MemberRowDescribed():
                found.client, found.host = fact.client or found.client, fact.host.lstrip("/") or found.host

    def _recorded(self, recorded: RecordedMember, fact: Fact) -> None:
        found = self._seen(recorded.member, fact)
        found.instance = found.instance or recorded.instance
        found.client, found.host = recorded.client or found.client, recorded.host.lstrip("/") or found.host
        found.session_timeout_ms = recorded.session_timeout_ms or found.session_timeout_ms
        found.rebalance_timeout_ms = recorded.rebalance_timeout_ms or found.rebalance_timeout_ms
        found.topics = recorded.topics or found.topics

    def _client_fact(self, fact: ClientFact) -> None:
        if isinstance(fact, Joined) and fact.member:
            found = self._seen(fact.member, fact)
            found.client, found.instance = fact.client or found.client, fact.instance or found.instance
            self._configured(fact.client)
        if isinstance(fact, ConfigSeen):
            self._configs[fact.client] = dict(fact.values)
            self._configured(fact.client)

    _configs: dict[str, dict[str, str]] = field(default_factory=dict)
    _sharing: Counter[str] | None = None
    """How many member ids have each short name, counted when the first is asked for."""

    def _configured(self, client: str) -> None:
        values = self._configs.get(client)
        if values is None:
            return
        for member in self.by_id.values():
            if member.client == client:
                member.session_timeout_ms = member.session_timeout_ms or _number(values, "session.timeout.ms")
                member.rebalance_timeout_ms = member.rebalance_timeout_ms or _number(values, "max.poll.interval.ms")
                member.heartbeat_interval_ms = _number(values, "heartbeat.interval.ms")


def _number(values: dict[str, str], name: str) -> int | None:
    text = values.get(name, "")
    return int(text) if text.isdigit() else None
