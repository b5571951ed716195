"""What a line of a scenario may say."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from rebalance_check.impl.coordinator.records import GroupRecord, GroupTombstone, OffsetTombstone, TransactionMarker
from rebalance_check.impl.protocol.consumer_protocol import Subscription, read_topics, write_subscription
from rebalance_check.impl.protocol.messages import (
    CommittedOffset,
    DescribedMember,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    SyncAssignment,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
)
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.impl.scenarios.runner import Options, Stage
from rebalance_check.model.vocabulary.errors import Error

LONGEST_WAIT_MS: Final = 10_000_000


def join(stage: Stage, words: list[str], options: Options) -> str:
    """``join a [group version session rebalance instance protocols topics type client as]``."""
    (name,) = words
    protocols = [entry.partition(":") for entry in options.get("protocols", "range").split(",") if entry]
    topics = options.get("topics")
    request = JoinGroupRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "9")),
        client_id=options.get("client", "py"),
        session_timeout_ms=int(options.get("session", "10000")),
        rebalance_timeout_ms=int(options.get("rebalance", "30000")),
        member_id=stage.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
        protocol_type=options.get("type", "consumer"),
        protocols=tuple(JoinProtocol(entry, metadata_of(metadata, topics)) for entry, _, metadata in protocols),
    )
    return stage.send(name, request)


def metadata_of(text: str, topics: str | None) -> bytes:
    """The metadata of a protocol: a real subscription to ``topics`` (``t,u``), else any bytes."""
    if topics is None:
        return (text or "m").encode()
    return write_subscription(Subscription(topics=tuple(topic for topic in topics.split(",") if topic)))


def text_of(metadata: bytes) -> str:
    """The topics of a real subscription, else the bytes as they are."""
    try:
        return ",".join(read_topics(metadata))
    except MalformedBytes:
        return metadata.decode()


def admit(stage: Stage, words: list[str], options: Options) -> str:
    """``admit a``: join, twice where the first JoinGroup only hands out the id."""
    if "instance" not in options and words[0] not in stage.ids:
        join(stage, words, options)
    return join(stage, words, options)


def form(stage: Stage, words: list[str], options: Options) -> str:
    """``form a b [static=b:i] [unsynced=yes] [as in join]``: generation 1, led by a, each assigned its capitals."""
    instances = dict(entry.split(":") for entry in options.pop("static", "").split(",") if entry)
    unsynced = options.pop("unsynced", "")
    for name in words:
        instance = {"instance": instances[name]} if name in instances else {}
        admit(stage, [name], {**options, **instance})
    while stage.waiting:
        stage.advance(100)
    if not unsynced:
        protocol = options.get("protocols", "range").split(",")[0].partition(":")[0]
        shared = {"protocol": protocol, "type": options.get("type", "consumer"), "group": options.get("group", "g")}
        for name in (*words[1:], words[0]):
            give = {"give": ",".join(f"{each}:{each.upper()}" for each in words)} if name == words[0] else {}
            instance = {"instance": instances[name]} if name in instances else {}
            sync(stage, [name, "1"], {**shared, **give, **instance})
    return stage.status(options)


def sync(stage: Stage, words: list[str], options: Options) -> str:
    """``sync a 1 [give=a:A,b:B group version instance type protocol as]``; ``type=none`` leaves it out."""
    name, generation = words
    version = int(options.get("version", "5"))
    given = [entry.partition(":") for entry in options.get("give", "").split(",") if entry]
    named = {"type": options.get("type", "consumer"), "protocol": options.get("protocol", "range")}
    request = SyncGroupRequest(
        group_id=options.get("group", "g"),
        version=version,
        generation_id=stage.generation_of(name, generation),
        member_id=stage.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
        protocol_type=named["type"] if version >= 5 and named["type"] != "none" else None,
        protocol_name=named["protocol"] if version >= 5 and named["protocol"] != "none" else None,
        assignments=tuple(SyncAssignment(stage.id_of(member), text.encode()) for member, _, text in given),
    )
    return stage.send(name, request)


def heartbeat(stage: Stage, words: list[str], options: Options) -> str:
    """``heartbeat a 1 [group version instance as]``."""
    name, generation = words
    request = HeartbeatRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "4")),
        generation_id=stage.generation_of(name, generation),
        member_id=stage.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
    )
    return stage.send(name, request)


def leave(stage: Stage, words: list[str], options: Options) -> str:
    """``leave a b:i :j [group version]``: by member, by member with instance id, by instance id alone."""
    members = [entry.partition(":") for entry in words]
    request = LeaveGroupRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "5")),
        members=tuple(MemberIdentity(stage.id_of(name), instance or None) for name, _, instance in members),
    )
    return stage.send(words[0], request)


def commit(stage: Stage, words: list[str], options: Options) -> str:
    """``commit a 1 [offset=1 topic group version instance as metadata keep]``; ``-`` sends no member id."""
    name, generation = words
    request = OffsetCommitRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "9")),
        generation_id=stage.generation_of(name, generation),
        member_id=stage.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
        offsets=offsets_in(options),
        retention_time_ms=int(options.get("keep", "-1")),
    )
    return stage.send(name, request)


def offsets_in(options: Options) -> tuple[CommittedOffset, ...]:
    """The one offset that a commit of a scenario commits."""
    metadata = "x" * int(options.get("metadata", "0"))
    return (CommittedOffset(options.get("topic", "t"), 0, int(options.get("offset", "1")), metadata),)


def txn_commit(stage: Stage, words: list[str], options: Options) -> str:
    """``txn-commit a 1 [producer=7 and as in commit]``: in the transaction of a producer."""
    name, generation = words
    producer_id = int(options.get("producer", "7"))
    request = TxnOffsetCommitRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "4")),
        transactional_id=f"transaction-{producer_id}",
        producer_id=producer_id,
        producer_epoch=0,
        generation_id=stage.generation_of(name, generation),
        member_id=stage.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
        offsets=offsets_in(options),
    )
    return stage.send(name, request)


def end_txn(stage: Stage, words: list[str], options: Options) -> str:
    """``end-txn commit|abort [producer=7]``: the marker of a producer's transaction."""
    is_committed = {"commit": True, "abort": False}[words[0]]
    return stage.coordinator.end_transaction(int(options.get("producer", "7")), is_committed=is_committed).name


def offset_delete(stage: Stage, words: list[str], options: Options) -> str:
    """``offset-delete t-0 u-0 [group]``: these partitions."""
    named = [word.rpartition("-") for word in words]
    partitions = tuple((topic, int(index)) for topic, _, index in named)
    return stage.send(
        "admin", OffsetDeleteRequest(group_id=options.get("group", "g"), version=0, partitions=partitions)
    )


def groups(stage: Stage, _: list[str], options: Options) -> str:
    """``groups [states=Stable,Empty] [types=classic]``: what ListGroups shows."""
    states = [state for state in options.get("states", "").split(",") if state]
    types = [name for name in options.get("types", "").split(",") if name]
    listed = stage.coordinator.list_groups(states, types)
    return " ".join(f"{group.group_id}:{group.state}:{group.protocol_type}" for group in listed)


def fetch(stage: Stage, words: list[str], options: Options) -> str:
    """``fetch [stable] [all] [group topic]``: partition t-0, or all."""
    partitions = None if "all" in words else ((options.get("topic", "t"), 0),)
    stable = "stable" in words
    group = options.get("group", "g")
    return stage.send(
        "reader", OffsetFetchRequest(group_id=group, version=7, partitions=partitions, require_stable=stable)
    )


def describe(stage: Stage, _: list[str], options: Options) -> str:
    """``describe [group]``: everything DescribeGroups shows."""
    described = stage.coordinator.describe(options.get("group", "g"))

    def one(member: DescribedMember) -> str:
        instance = f":{member.group_instance_id}" if member.group_instance_id else ""
        name = stage.name_of(member.member_id)
        return f"{name}{instance}({text_of(member.metadata)})={member.assignment.decode()}"

    members = " ".join(sorted(map(one, described.members)))
    return f"{described.state} {described.protocol_type}/{described.protocol_name} {members}".strip()


def written(stage: Stage, words: list[str], _: Options) -> str:
    """``log [all]``: the last record of a group, or all records."""
    texts = []
    for record in stage.coordinator.records():
        match record:
            case GroupRecord():
                members = " ".join(
                    sorted(
                        f"{stage.name_of(member.member_id)}({text_of(member.subscription)})={member.assignment.decode()}"
                        for member in record.members
                    )
                )
                leader = f" leader {stage.name_of(record.leader)}" if record.leader else ""
                texts.append(f"generation {record.generation}{leader} {members}".strip())
            case GroupTombstone():
                texts.append("tombstone")
            case OffsetTombstone():
                texts += ["offset tombstone"] if "all" in words else []
            case TransactionMarker():
                texts += [f"transaction {'committed' if record.is_committed else 'aborted'}"] if "all" in words else []
            case _:
                texts += ["offset"] if "all" in words else []
    return ", ".join(texts if "all" in words else texts[-1:])


def until(stage: Stage, words: list[str], options: Options) -> str:
    """``until STATUS``: fire timers until the group has it; the milliseconds that took."""
    start = stage.now
    while stage.status(options) != words[0] and stage.now - start < LONGEST_WAIT_MS:
        deadline = stage.coordinator.next_deadline()
        if deadline is None:
            return "never"
        stage.advance(deadline - stage.now)
    return str(stage.now - start)


def fail(stage: Stage, words: list[str], _: Options) -> str:
    """``fail [ERROR]``: every write is refused with it; without an error writes succeed again."""
    stage.coordinator.fail(Error[words[0]] if words else Error.NONE)
    return ""


def hold(stage: Stage, *_: object) -> str:
    """``hold``: the high watermark stops."""
    stage.coordinator.hold()
    return ""


def release(stage: Stage, *_: object) -> str:
    """``release``: the high watermark catches up."""
    return stage.tell(stage.coordinator.release(stage.now))


def failover(stage: Stage, words: list[str], options: Options) -> str:
    """``failover [loading] [lose=1]``: the coordinator crashes and reads its log, which lost its last records."""
    stage.waiting.clear()
    stage.coordinator.crash(int(options.get("lose", "0")))
    return "" if "loading" in words else load(stage)


def load(stage: Stage, *_: object) -> str:
    """``load``: the log is read."""
    return stage.tell(stage.coordinator.load(stage.now))


COMMANDS: dict[str, Callable[[Stage, list[str], Options], str]] = {
    "join": join,
    "admit": admit,
    "form": form,
    "sync": sync,
    "heartbeat": heartbeat,
    "leave": leave,
    "commit": commit,
    "txn-commit": txn_commit,
    "end-txn": end_txn,
    "fetch": fetch,
    "offset-delete": offset_delete,
    "describe": describe,
    "log": written,
    "until": until,
    "fail": fail,
    "hold": hold,
    "release": release,
    "failover": failover,
    "load": load,
    "unload": lambda stage, _words, _options: stage.tell(stage.coordinator.unload(stage.now)),
    "advance": lambda stage, words, _options: stage.advance(int(words[0])),
    "status": lambda stage, _words, options: stage.status(options),
    "members": lambda stage, _words, options: stage.members(options),
    "waiting": lambda stage, _words, _options: " ".join(sorted(stage.waiting.values())),
    "groups": groups,
    "delete": lambda stage, words, _options: stage.coordinator.delete(words[0]).name,
}
"""What a line of a scenario may say; each docstring tells the form."""


def perform(stage: Stage, line: str) -> str:
    """Do what a line says; what was observed."""
    command, words, options = _parsed(line)
    return COMMANDS[command](stage, [*words], {**options})


@lru_cache(maxsize=1 << 12)
def _parsed(line: str) -> tuple[str, tuple[str, ...], Options]:
    """The command, its words and its options; campaigns say the same thing to several coordinators."""
    command, *rest = shlex.split(line) if set(line) & set("\"'\\#") else line.split()
    words = tuple(word for word in rest if "=" not in word[1:])
    return command, words, dict(word.split("=", 1) for word in rest if "=" in word[1:])
