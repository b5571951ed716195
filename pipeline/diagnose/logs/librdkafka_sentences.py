"""The sentences of librdkafka about groups, by the facility that a line names.

Source: ``rdkafka_cgrp.c``, ``rdkafka_assignment.c``, ``rdkafka_assignor.c``, ``rdkafka_request.c`` and ``rdkafka.c`` of
librdkafka 1.7 to 2.16. Only read in the sources: a failed commit, a failed assign of the application, the coordinator
marked dead, an error of LeaveGroup, and all of 1.7. Before 1.6 the assignment has other sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from rebalance_check.pipeline.diagnose.facts import (
    ConfigSeen,
    CoordinatorUnavailable,
    Fact,
    Joined,
    JoinSent,
    LeaveSent,
    MembershipReset,
    ModernGroupSeen,
    PollTimedOut,
    RejoinDecided,
    Synced,
)
from rebalance_check.pipeline.diagnose.logs.librdkafka_handle import At, Computed, Handle
from rebalance_check.pipeline.diagnose.logs.sentences import number
from rebalance_check.pipeline.diagnose.logs.templates import Fields

Act = Callable[[Handle, Fields, At], Iterable[Fact]]
"""The facts of a sentence, and the change of the handle's state."""

CONFIGS: Final = frozenset({
    "group.id", "client.id", "group.instance.id", "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms",
    "group.protocol", "partition.assignment.strategy", "topic.metadata.refresh.interval.ms", "enable.auto.commit",
    "auto.commit.interval.ms",
})  # fmt: skip
_NO_ERROR: Final = frozenset({"Success", "(no error)"})
_NO_REASON: Final = re.compile(
    r"(?:Incremental )?unassignment done|JoinGroup error|unsubscribe|Current assignment", re.I
)
"""A step on the way, no reason to join again."""
_NAMED: Final = re.compile(r"([^\s,(]+)\([^)]*\)\[(\d+)\]")


def _int(text: str | None) -> int:
    found = number(text)
    return -1 if found is None else found


def _quiet(_handle: Handle, _fields: Fields, _at: At) -> Iterable[Fact]:
    return ()


def _initialized(handle: Handle, fields: Fields, at: At) -> Iterator[Fact]:
    if handle.begun is None:
        handle.begin(at)
    yield from handle.started(f"librdkafka {fields['release']}", at)


def _member(handle: Handle, fields: Fields, at: At) -> Iterator[Fact]:
    before, after = fields["before"], fields["after"]
    if before == "(not-set)":
        handle.begin(at)
    elif before and not after and handle.known.member:
        yield MembershipReset(client="", member=before, **at)
    handle.known.member = "" if after == "(not-set)" else after


def _joining(handle: Handle, fields: Fields, at: At) -> Iterator[Fact]:
    yield from handle.started("")
    handle.join_said, handle.decided = True, ""
    yield JoinSent(client="", member=fields.get("member", ""), **at)


def _waits_for_join(handle: Handle, _fields: Fields, at: At) -> Iterator[Fact]:
    """Without the debug context ``consumer``, librdkafka 1.x shows a JoinGroup by the state alone."""
    if not handle.join_said:
        yield from _joining(handle, {}, at)
    handle.join_said = False


def _join_answered(handle: Handle, fields: Fields, at: At) -> Iterator[Fact]:
    handle.known.member = fields["member"] or handle.known.member
    if fields["error"] not in _NO_ERROR:
        yield from handle.refused("JoinGroup", fields["error"], at)
        return
    handle.generation = number(fields["generation"])
    yield Joined(client="", generation=handle.generation, protocol=fields["protocol"], leader="me" in fields, **at)


def _sync_answered(handle: Handle, fields: Fields, at: At) -> Iterator[Fact]:
    if fields["error"] in _NO_ERROR:
        yield Synced(client="", generation=handle.generation, **at)
    else:
        yield from handle.refused("SyncGroup", fields["error"], at)


def _refused(request: str) -> Act:
    def act(handle: Handle, fields: Fields, at: At) -> Iterable[Fact]:
        return handle.refused(request, fields["error"], at)

    return act


def _heartbeat_answered(handle: Handle, fields: Fields, at: At) -> Iterable[Fact]:
    """A rebalance is no failure: the next line says that the consumer joins again."""
    return () if "rebalance in progress" in fields["error"] else handle.refused("Heartbeat", fields["error"], at)


def _decided(handle: Handle, fields: Fields, at: At) -> Iterator[Fact]:
    reason = fields["reason"].strip()
    if not _NO_REASON.match(reason) and reason != handle.decided:
        handle.decided = reason
        yield RejoinDecided(client="", reason=reason, **at)


def _leaves(handle: Handle, fields: Fields, at: At) -> Iterable[Fact]:
    """The line before may have forgotten the member id."""
    return () if "busy" in fields else (LeaveSent(client="", member=handle.known.member or handle.owner, **at),)


def _lost(handle: Handle, fields: Fields, _at: At) -> Iterable[Fact]:
    handle.lost = "kept" not in fields
    return ()


def _polls_too_seldom(_handle: Handle, fields: Fields, at: At) -> Iterable[Fact]:
    return (PollTimedOut(client="", over_ms=number(fields["over"]), limit_ms=number(fields["limit"]), **at),)


def _session_over(handle: Handle, fields: Fields, at: At) -> Iterator[Fact]:
    yield CoordinatorUnavailable(client="", reason=fields["reason"], **at)
    yield MembershipReset(client="", reason="session timed out", **at)
    handle.known.member = ""


def _unavailable(_handle: Handle, fields: Fields, at: At) -> Iterable[Fact]:
    return (CoordinatorUnavailable(client="", reason=fields["reason"], **at),)


def _heartbeats(handle: Handle, fields: Fields, _at: At) -> Iterable[Fact]:
    handle.generation = number(fields["generation"])
    return ()


def _modern(handle: Handle, fields: Fields, _at: At) -> Iterator[Fact]:
    """A heartbeat of KIP-848: the member id is the client's own."""
    handle.known.member, handle.known.group = fields["member"], fields["group"]
    instance = fields["instance"]
    handle.known.instance = handle.known.instance if instance in {"(null)", "NULL"} else instance
    yield from handle.started("")


def _epoch(handle: Handle, fields: Fields, at: At) -> Iterator[Fact]:
    epoch = number(fields["epoch"])
    if epoch != handle.epoch:
        handle.epoch = epoch
        yield ModernGroupSeen(kind="consumer", epoch=epoch, **at)


def _target(handle: Handle, fields: Fields, _at: At) -> Iterable[Fact]:
    handle.target = tuple(f"{topic}-{partition}" for topic, partition in _NAMED.findall(fields["target"]))
    return ()


def _list(handle: Handle, fields: Fields, _at: At) -> Iterable[Fact]:
    handle.list_begins(fields["facility"], _int(fields["count"]))
    return ()


def _listed(handle: Handle, fields: Fields, _at: At) -> Iterable[Fact]:
    handle.listed(fields["facility"], f"{fields['topic']}-{fields['partition']}")
    return ()


def _added(handle: Handle, fields: Fields, at: At) -> Iterable[Fact]:
    return handle.added(_int(fields["count"]), _int(fields["total"]), at)


def _cleared(handle: Handle, fields: Fields, at: At) -> Iterable[Fact]:
    return handle.removed(_int(fields["count"]), _int(fields["count"]), at)


def _removed(handle: Handle, fields: Fields, at: At) -> Iterable[Fact]:
    return handle.removed(_int(fields["count"]), _int(fields["total"]), at)


def _computed(handle: Handle, fields: Fields, at: At) -> Iterable[Fact]:
    handle.computed = Computed(_int(fields["members"]), fields["protocol"].startswith("cooperative"), at)
    return ()


def _share(handle: Handle, fields: Fields, _at: At) -> Iterable[Fact]:
    return handle.share(fields["member"], _int(fields["count"]))


def _share_of(handle: Handle, fields: Fields, _at: At) -> Iterable[Fact]:
    return handle.share_of(f"{fields['topic']}-{fields['partition']}")


def _sent(handle: Handle, fields: Fields, _at: At) -> Iterable[Fact]:
    return handle.assigned_to_consumers(_int(fields["count"]))


def _config(_handle: Handle, fields: Fields, at: At) -> Iterable[Fact]:
    name, value = fields["name"], fields["value"].strip()
    return (ConfigSeen(client="", values=((name, value),), **at),) if name in CONFIGS and value else ()


_PARTITION: Final = r"^\s+(?P<topic>\S+) \[(?P<partition>\d+)\]"
_LISTS: Final = (
    (r"List with (?P<count>\d+) partition\(s\)", _list),
    (_PARTITION + " offset", _listed),
)
_TABLE: Final[dict[str, tuple[tuple[str, Act], ...]]] = {
    "INIT": ((r"librdkafka v(?P<release>\S+) .*initialized", _initialized), ("", _quiet)),
    "CONF": ((r"^\s+(?P<name>[\w.]+) = (?P<value>.*)$", _config), ("", _quiet)),
    "MEMBERID": ((r'updating member id "(?P<before>[^"]*)" -> "(?P<after>[^"]*)"', _member),),
    "JOIN": (
        (r'Joining group "[^"]*" with \d+ subscribed topic\(s\)(?: and member id "(?P<member>[^"]*)")?', _joining),
        (r"join with \d+ subscribed topic|postponing join|no matching topics based on", _quiet),
    ),
    "CGRPJOINSTATE": ((r"changed join state \S+ -> wait-join\b", _waits_for_join), (r"changed join state", _quiet)),
    "JOINGROUP": (
        (
            r"JoinGroup response: GenerationId (?P<generation>-?\d+), Protocol (?P<protocol>[^,]*), "
            r"LeaderId (?P<leader>.*?)(?P<me> \(me\))?, my MemberId (?P<member>.*?), "
            r"member metadata count -?\d+: (?P<error>.*)$",
            _join_answered,
        ),
        (r"(?P<error>Unsupported assignment strategy .*)$", _refused("JoinGroup")),
        (r"I am elected leader|discarding outdated request", _quiet),
    ),
    "SYNCGROUP": (
        (r"SyncGroup response: (?P<error>.*) \(-?\d+ bytes", _sync_answered),
        (r"discarding outdated request", _quiet),
    ),
    "GRPSYNC": ((r"synchronization failed", _quiet),),
    "HEARTBEAT": (
        (r"heartbeat error response in state .*?assigned\): (?P<error>.*)$", _heartbeat_answered),
        (r'Heartbeat for group "[^"]*" generation id (?P<generation>-?\d+)', _heartbeats),
        (
            r'ConsumerGroupHeartbeat of member id "(?P<member>[^"]*)", group id "(?P<group>[^"]*)", '
            r'generation id -?\d+, group instance id "(?P<instance>[^"]*)"',
            _modern,
        ),
        (r"ConsumerGroupHeartbeat response received for member id .* with epoch (?P<epoch>-?\d+)", _epoch),
        (r'Reconciliation starts with new target assignment "(?P<target>[^"]*)"', _target),
        (
            r"ConsumerGroupHeartbeat failed due to[^:]*: (?P<error>.+?)(?:: [\w -]+)?$",
            _refused("ConsumerGroupHeartbeat"),
        ),
        (
            r"Expediting next|[Tt]arget assignment|Sending new subscription|[Mm]etadata|discarding outdated|"
            r"Reconciliation in progress|Not reconciling|Revoking assignment as lost|Heartbeat failed due to",
            _quiet,
        ),
    ),
    "REBALANCE": (
        (
            r"(?:is rebalancing|initiating rebalance) \(\w+\) in state .*? partition\(s\)(?: \([^)]*\))?: "
            r"(?P<reason>.*)$",
            _decided,
        ),
        (r"(?P<reason>internal (?:incremental )?\w+ of \d+ partition\(s\) failed: .*)$", _decided),
        (r"already in progress, skipping|skipping COOPERATIVE|revoking|skipping rejoin|unexpected instruction", _quiet),
    ),
    "REJOIN": (
        (r'(?:Rejoining|Joining) group[^"]*?: (?P<reason>.*)$', _decided),
        (r"\(re\)joining in join-state .*? partition\(s\): (?P<reason>.*)$", _decided),
        (r"subscription updated from metadata change", _quiet),
    ),
    "LOST": ((r"current assignment (?P<kept>no longer)? ?(?:of \d+ partition\(s\) lost|considered lost)", _lost),),
    "LEAVE": ((r"leave \(in state [^)]*\)(?P<busy>: )?", _leaves), (r"Leaving group", _quiet)),
    "LEAVEGROUP": (
        (r"response error in state .*?: (?P<error>.*)$", _refused("LeaveGroup")),
        (r"response received in state", _quiet),
    ),
    "MAXPOLL": ((r"maximum poll interval \((?P<limit>\d+)ms\) exceeded by (?P<over>\d+)ms", _polls_too_seldom),),
    "SESSTMOUT": ((r"Consumer group (?P<reason>session timed out.*): revoking assignment", _session_over),),
    "FATAL": ((r"Fatal error: (?P<error>(?:Broker|Local): [^:]+)", _refused("")), ("", _quiet)),
    "COMMITFAIL": (
        (r"Offset commit \(.*?\) failed .*?: (?P<error>(?:Broker|Local): [^:]+)", _refused("OffsetCommit")),
        (r"Offset commit \(.*?\) failed .*?: (?P<error>.+)$", _refused("OffsetCommit")),
    ),
    "COMMIT": ((r"returned: (?P<error>Broker: .+)$", _refused("OffsetCommit")), ("", _quiet)),
    "COORD": ((r"marking the coordinator \(-?\d+\) dead: (?P<reason>.*)$", _unavailable),),
    "CGRPCOORD": (
        (r"FindCoordinator response error: (?P<reason>(?!_)\w+)", _unavailable),
        (r"FindCoordinator response error|coordinator is|changing coordinator", _quiet),
    ),
    "ASSIGN": (
        (r'Group "[^"]*" (?P<protocol>\S+) assignment for (?P<members>\d+) member\(s\) finished', _computed),
        (r'^\s+Member "(?P<member>[^"]*)"(?: \(me\))? assigned (?P<count>\d+) partition\(s\)', _share),
        (_PARTITION + "$", _share_of),
        (r"\[-1\]$|running \S+ assignor|owned partition\(s\)|delegating|new assignment of|treating assign", _quiet),
        (r"^\s*[\w-]+: |assignment failed|assign\(\) call failed", _quiet),
    ),
    "ASSIGNMENT": (
        (
            r"Added (?P<count>\d+) partition\(s\) to assignment which now consists of (?P<total>\d+) partition\(s\)",
            _added,
        ),
        *_LISTS,
        (r"(?:setting|clearing|added to|removed from) group assignment|Current assignment of", _quiet),
    ),
    "GRPASSIGNMENT": ((r"List with|\[-?\d+\]", _quiet),),
    "DUMP_ALL": _LISTS,
    "CLEARASSIGN": (
        (r"Clearing current assignment of (?P<count>\d+) partition\(s\)", _cleared),
        (r"No current assignment to clear", _quiet),
    ),
    "REMOVEASSIGN": (
        (r"Removed (?P<count>\d+) partition\(s\) .* from assignment of (?P<total>\d+) partition\(s\)", _removed),
    ),
    "COOPASSIGN": ((r"incremental assignment: \d+ newly added", _quiet),),
    "CGRP": ((r"(?P<count>\d+) partitions assigned to consumers", _sent), ("", _quiet)),
    "ASSIGNOR": ((r"assignor", _quiet),),
}
ROWS: Final = {
    facility: tuple((re.compile(pattern, re.DOTALL), act) for pattern, act in rows) for facility, rows in _TABLE.items()
}
"""By facility: patterns, tried in order, and the acts of the first that is found."""
UNNAMED: Final = tuple(
    row for facility in ROWS if facility not in {"CONF", "INIT"} for row in ROWS[facility] if row[0].pattern
)
"""For lines of bindings that leave the facility out."""
