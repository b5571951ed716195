"""The verbs of coordinator scenarios: requests, faults of the log and of the coordinator, time, and queries."""

from __future__ import annotations

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
from rebalance_check.impl.scenarios.runner import ScenarioRunner
from rebalance_check.impl.scenarios.verbs import Language, Options
from rebalance_check.model.vocabulary.errors import Error

LONGEST_WAIT_MS: Final = 10_000_000
JOIN_OPTIONS: Final = "group version# session# rebalance# instance protocols topics type client as"
COMMIT_OPTIONS: Final = "offset# topic group version# instance as metadata# keep#"
COORDINATOR_LANGUAGE: Final[Language[ScenarioRunner]] = Language("coordinator scenarios")


@COORDINATOR_LANGUAGE.verb("join", "MEMBER", JOIN_OPTIONS)
def join(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Send a JoinGroup. ``protocols=range:1,rr`` lists protocols with their metadata, ``topics=t,u`` makes the
    metadata a real subscription, ``as=b`` sends the member id of another member.
    """
    (name,) = words
    protocols = [entry.partition(":") for entry in options.get("protocols", "range").split(",") if entry]
    topics = options.get("topics")
    request = JoinGroupRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "9")),
        client_id=options.get("client", "py"),
        session_timeout_ms=int(options.get("session", "10000")),
        rebalance_timeout_ms=int(options.get("rebalance", "30000")),
        member_id=runner.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
        protocol_type=options.get("type", "consumer"),
        protocols=tuple(JoinProtocol(entry, metadata_of(metadata, topics)) for entry, _, metadata in protocols),
    )
    return runner.send(name, request)


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


@COORDINATOR_LANGUAGE.verb("admit", "MEMBER", JOIN_OPTIONS)
def admit(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Send a JoinGroup, and a second one if the coordinator answers the first with MEMBER_ID_REQUIRED."""
    if "instance" not in options and words[0] not in runner.ids:
        join(runner, words, options)
    return join(runner, words, options)


@COORDINATOR_LANGUAGE.verb("form", "MEMBER...", f"static unsynced {JOIN_OPTIONS}")
def form(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Form generation 1, led by the first member, and sync it: the leader assigns each member its name in capitals.
    ``static=b:i`` makes b the static member of instance i, ``unsynced=yes`` sends no SyncGroup. The answer is the
    status of the group.
    """
    instances = dict(entry.split(":") for entry in options.pop("static", "").split(",") if entry)
    unsynced = options.pop("unsynced", "")
    for name in words:
        instance = {"instance": instances[name]} if name in instances else {}
        admit(runner, [name], {**options, **instance})
    while runner.waiting:
        runner.advance(100)
    if not unsynced:
        protocol = options.get("protocols", "range").split(",")[0].partition(":")[0]
        shared = {"protocol": protocol, "type": options.get("type", "consumer"), "group": options.get("group", "g")}
        for name in (*words[1:], words[0]):
            give = {"give": ",".join(f"{each}:{each.upper()}" for each in words)} if name == words[0] else {}
            instance = {"instance": instances[name]} if name in instances else {}
            sync(runner, [name, "1"], {**shared, **give, **instance})
    return runner.status(options)


@COORDINATOR_LANGUAGE.verb("sync", "MEMBER GENERATION", "give group version# instance type protocol as")
def sync(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Send a SyncGroup; ``give=a:A,b:B`` are the assignments of a leader. ``type=none`` and ``protocol=none`` leave
    the field out.
    """
    name, generation = words
    version = int(options.get("version", "5"))
    given = [entry.partition(":") for entry in options.get("give", "").split(",") if entry]
    named = {"type": options.get("type", "consumer"), "protocol": options.get("protocol", "range")}
    request = SyncGroupRequest(
        group_id=options.get("group", "g"),
        version=version,
        generation_id=runner.generation_of(name, generation),
        member_id=runner.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
        protocol_type=named["type"] if version >= 5 and named["type"] != "none" else None,
        protocol_name=named["protocol"] if version >= 5 and named["protocol"] != "none" else None,
        assignments=tuple(SyncAssignment(runner.id_of(member), text.encode()) for member, _, text in given),
    )
    return runner.send(name, request)


@COORDINATOR_LANGUAGE.verb("heartbeat", "MEMBER GENERATION", "group version# instance as")
def heartbeat(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Send a Heartbeat."""
    name, generation = words
    request = HeartbeatRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "4")),
        generation_id=runner.generation_of(name, generation),
        member_id=runner.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
    )
    return runner.send(name, request)


@COORDINATOR_LANGUAGE.verb("leave", "MEMBER...", "group version#")
def leave(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Send one LeaveGroup of these members: ``a`` by member id, ``b:i`` by member id and instance id, ``:j`` by
    instance id alone.
    """
    members = [entry.partition(":") for entry in words]
    request = LeaveGroupRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "5")),
        members=tuple(MemberIdentity(runner.id_of(name), instance or None) for name, _, instance in members),
    )
    return runner.send(words[0], request)


@COORDINATOR_LANGUAGE.verb("commit", "MEMBER GENERATION", COMMIT_OPTIONS)
def commit(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Send an OffsetCommit of partition 0; ``-`` as member sends no member id, ``metadata=`` is its length in
    characters, ``keep=`` the retention time in ms.
    """
    name, generation = words
    request = OffsetCommitRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "9")),
        generation_id=runner.generation_of(name, generation),
        member_id=runner.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
        offsets=offsets_in(options),
        retention_time_ms=int(options.get("keep", "-1")),
    )
    return runner.send(name, request)


def offsets_in(options: Options) -> tuple[CommittedOffset, ...]:
    """The one offset that a commit of a scenario commits."""
    metadata = "x" * int(options.get("metadata", "0"))
    return (CommittedOffset(options.get("topic", "t"), 0, int(options.get("offset", "1")), metadata),)


@COORDINATOR_LANGUAGE.verb("txn-commit", "MEMBER GENERATION", f"producer# {COMMIT_OPTIONS}")
def txn_commit(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Send a TxnOffsetCommit in the transaction of a producer."""
    name, generation = words
    producer_id = int(options.get("producer", "7"))
    request = TxnOffsetCommitRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "4")),
        transactional_id=f"transaction-{producer_id}",
        producer_id=producer_id,
        producer_epoch=0,
        generation_id=runner.generation_of(name, generation),
        member_id=runner.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
        offsets=offsets_in(options),
    )
    return runner.send(name, request)


@COORDINATOR_LANGUAGE.verb("end-txn", "commit|abort", "producer#")
def end_txn(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Write the marker that ends a producer's transaction."""
    is_committed = {"commit": True, "abort": False}[words[0]]
    return runner.coordinator.end_transaction(int(options.get("producer", "7")), is_committed=is_committed).name


@COORDINATOR_LANGUAGE.verb("offset-delete", "TOPIC-PARTITION...", "group")
def offset_delete(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Send an OffsetDelete of these partitions."""
    named = [word.rpartition("-") for word in words]
    partitions = tuple((topic, int(index)) for topic, _, index in named)
    return runner.send(
        "admin", OffsetDeleteRequest(group_id=options.get("group", "g"), version=0, partitions=partitions)
    )


@COORDINATOR_LANGUAGE.verb("groups", "", "states types")
def groups(runner: ScenarioRunner, _: list[str], options: Options) -> str:
    """Send a ListGroups, filtered by states and types: ``states=Stable,Empty``."""
    states = [state for state in options.get("states", "").split(",") if state]
    types = [name for name in options.get("types", "").split(",") if name]
    listed = runner.coordinator.list_groups(states, types)
    return " ".join(f"{group.group_id}:{group.state}:{group.protocol_type}" for group in listed)


@COORDINATOR_LANGUAGE.verb("fetch", "[stable] [all]", "group topic")
def fetch(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Send an OffsetFetch of partition 0, or of ``all``; ``stable`` is the flag require_stable."""
    partitions = None if "all" in words else ((options.get("topic", "t"), 0),)
    stable = "stable" in words
    group = options.get("group", "g")
    return runner.send(
        "reader", OffsetFetchRequest(group_id=group, version=7, partitions=partitions, require_stable=stable)
    )


@COORDINATOR_LANGUAGE.verb("describe", "", "group")
def describe(runner: ScenarioRunner, _: list[str], options: Options) -> str:
    """Send a DescribeGroups: status, protocol, and members with metadata and assignment."""
    described = runner.coordinator.describe(options.get("group", "g"))

    def one(member: DescribedMember) -> str:
        instance = f":{member.group_instance_id}" if member.group_instance_id else ""
        name = runner.name_of(member.member_id)
        return f"{name}{instance}({text_of(member.metadata)})={member.assignment.decode()}"

    members = " ".join(sorted(map(one, described.members)))
    return f"{described.state} {described.protocol_type}/{described.protocol_name} {members}".strip()


@COORDINATOR_LANGUAGE.verb("log", "[all]")
def written(runner: ScenarioRunner, words: list[str], _: Options) -> str:
    """Show the last record of a group in the log, or ``all`` records."""
    texts = []
    for record in runner.coordinator.records():
        match record:
            case GroupRecord():
                members = " ".join(
                    sorted(
                        f"{runner.name_of(member.member_id)}({text_of(member.subscription)})={member.assignment.decode()}"
                        for member in record.members
                    )
                )
                leader = f" leader {runner.name_of(record.leader)}" if record.leader else ""
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


@COORDINATOR_LANGUAGE.verb("until", "STATUS", "group")
def until(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Let time pass from timer to timer until the group has this status; the answer is how many ms that took."""
    start = runner.now
    while runner.status(options) != words[0] and runner.now - start < LONGEST_WAIT_MS:
        deadline = runner.coordinator.next_deadline()
        if deadline is None:
            return "never"
        runner.advance(max(deadline - runner.now, 1))
    return str(runner.now - start)


@COORDINATOR_LANGUAGE.verb("fail", "[ERROR]")
def fail(runner: ScenarioRunner, words: list[str], _: Options) -> str:
    """Refuse every write to the log with this error; without an error writes succeed again."""
    runner.coordinator.fail(Error[words[0]] if words else Error.NONE)
    return ""


@COORDINATOR_LANGUAGE.verb("hold")
def hold(runner: ScenarioRunner, _words: list[str], _options: Options) -> str:
    """Stop the high watermark: no write commits."""
    runner.coordinator.hold()
    return ""


@COORDINATOR_LANGUAGE.verb("release")
def release(runner: ScenarioRunner, _words: list[str], _options: Options) -> str:
    """Let the high watermark catch up."""
    return runner.deliver(runner.coordinator.release(runner.now))


@COORDINATOR_LANGUAGE.verb("failover", "[loading]", "lose#")
def failover(runner: ScenarioRunner, words: list[str], options: Options) -> str:
    """Crash the coordinator; its successor reads the log, which lost its last ``lose=`` records. ``loading`` leaves it
    reading until ``load``.
    """
    runner.waiting.clear()
    runner.coordinator.crash(int(options.get("lose", "0")))
    return "" if "loading" in words else load(runner, [], {})


@COORDINATOR_LANGUAGE.verb("load")
def load(runner: ScenarioRunner, _words: list[str], _options: Options) -> str:
    """Finish reading the log."""
    return runner.deliver(runner.coordinator.load(runner.now))


@COORDINATOR_LANGUAGE.verb("unload")
def unload(runner: ScenarioRunner, _words: list[str], _options: Options) -> str:
    """Stop serving the group: another coordinator takes over."""
    return runner.deliver(runner.coordinator.unload(runner.now))


@COORDINATOR_LANGUAGE.verb("advance", "MS")
def advance(runner: ScenarioRunner, words: list[str], _: Options) -> str:
    """Let time pass; the answer is the coordinator's replies meanwhile."""
    return runner.advance(int(words[0]))


@COORDINATOR_LANGUAGE.verb("status", "", "group")
def status(runner: ScenarioRunner, _: list[str], options: Options) -> str:
    """Show the status of the group."""
    return runner.status(options)


@COORDINATOR_LANGUAGE.verb("members", "", "group")
def members(runner: ScenarioRunner, _: list[str], options: Options) -> str:
    """Show the names of the members."""
    return runner.members(options)


@COORDINATOR_LANGUAGE.verb("waiting")
def waiting(runner: ScenarioRunner, _words: list[str], _options: Options) -> str:
    """Show the members whose requests have no reply yet."""
    return " ".join(sorted(runner.waiting.values()))


@COORDINATOR_LANGUAGE.verb("delete", "GROUP")
def delete(runner: ScenarioRunner, words: list[str], _: Options) -> str:
    """Send a DeleteGroups of one group."""
    return runner.coordinator.delete(words[0]).name


def perform(runner: ScenarioRunner, line: str) -> str:
    """Perform a line; the answer.

    Raises: RebalanceCheckError for a line that the language does not have.
    """
    return COORDINATOR_LANGUAGE.perform(runner, line)
