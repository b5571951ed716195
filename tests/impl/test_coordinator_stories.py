"""Stories of the group coordinator: requests in a fixed order, and what Kafka 4.3 was seen to answer to each.

The stories stand in ``tests/data/coordinator/*.story``, one per paragraph: a title in brackets, then one line for each
step, ``command -> what was observed``. Members have names; a name without a member id sends an empty one. An answer
that comes late is told on the line that caused it. `COMMANDS` lists what a line may say.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.coordinator.logs import SteeredLog
from rebalance_check.impl.coordinator.records import GroupRecord, GroupTombstone, OffsetTombstone
from rebalance_check.impl.messages import (
    CommittedOffset,
    DescribedMember,
    GroupReply,
    GroupRequest,
    HeartbeatReply,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    LeaveGroupReply,
    LeaveGroupRequest,
    MemberIdentity,
    OffsetCommitReply,
    OffsetCommitRequest,
    OffsetFetchReply,
    OffsetFetchRequest,
    SyncAssignment,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.mutants.coordinator import COORDINATOR_MUTANTS
from rebalance_check.model.errors import Error

STORIES = Path(__file__).parent.parent / "data" / "coordinator"
SETTINGS = {"min_session_timeout_ms": 1_000, "initial_rebalance_delay_ms": 100}
LONGEST_WAIT_MS = 10_000_000

Options = dict[str, str]


class Stage:
    """A coordinator, the names of its members, and the requests that wait for an answer."""

    def __init__(self, settings: dict[str, int], defects: frozenset[str]) -> None:
        self.log = SteeredLog()
        self.coordinator = GroupCoordinator(
            GroupConfig(**{**SETTINGS, **settings}), new_member_id=self._new_member_id, log=self.log, defects=defects
        )
        self.now = 0
        self.ids: dict[str, str] = {}
        self.waiting: dict[int, str] = {}
        self._made = 0
        self._sent = 0

    def _new_member_id(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}-{self._made:036d}"

    def id_of(self, name: str) -> str:
        """The member id of a name; ``=zz`` is the id ``zz`` itself."""
        return name[1:] if name.startswith("=") else self.ids.get(name, "")

    def name_of(self, member_id: str) -> str:
        """The name of a member id, itself if it is a made-up one, ``?`` for one that its holder never learned."""
        found = next((name for name, known in self.ids.items() if known == member_id), None)
        return found if found is not None else (member_id if len(member_id) <= 12 else "?")

    def send(self, name: str, request: GroupRequest) -> str:
        """Send a request; what comes back, now and late."""
        self._sent += 1
        self.waiting[self._sent] = name
        return self.tell(self.coordinator.handle(self._sent, request, self.now), own=self._sent)

    def advance(self, duration_ms: int) -> str:
        self.now += duration_ms
        return self.tell(self.coordinator.advance(self.now))

    def tell(self, answers: Sequence[tuple[object, GroupReply]], own: int | None = None) -> str:
        """All answers as text: the one to ``own`` first (``waits`` if there is none), the others by name."""
        mine, others = ("waits" if own in self.waiting else ""), []
        for token, reply in answers:
            assert isinstance(token, int)
            name = self.waiting.pop(token)
            if isinstance(reply, JoinGroupReply) and reply.error in {Error.NONE, Error.MEMBER_ID_REQUIRED}:
                self.ids[name] = reply.member_id
            if token == own:
                mine = self.text(reply)
            else:
                others.append((name, reply))
        late = sorted(f"{name}: {self.text(reply)}" for name, reply in others)
        return "; ".join([part for part in (mine, *late) if part])

    def text(self, reply: GroupReply) -> str:
        """A reply in one line: its error, or what it grants."""
        match reply:
            case JoinGroupReply(error=Error.NONE):
                members = " ".join(sorted(self.name_of(member.member_id) for member in reply.members))
                shown = f"generation {reply.generation_id}, leader {self.name_of(reply.leader)}"
                return shown + (f", members {members}" if members else "") + (", skip" if reply.skip_assignment else "")
            case JoinGroupReply() if reply.member_id:
                return f"{reply.error.name} {self.name_of(reply.member_id)}"
            case SyncGroupReply(error=Error.NONE):
                return f"NONE {reply.assignment.decode()}".strip()
            case LeaveGroupReply() if reply.members:
                return f"{reply.error.name} ({', '.join(member.error.name for member in reply.members)})"
            case OffsetCommitReply():
                return reply.partitions[0][2].name
            case OffsetFetchReply(error=Error.NONE):
                return " ".join(f"{offset.topic}-{offset.partition}:{offset.offset}" for offset in reply.offsets)
            case HeartbeatReply() | JoinGroupReply() | SyncGroupReply() | LeaveGroupReply() | OffsetFetchReply():
                return reply.error.name

    def status(self, options: Options) -> str:
        described = self.coordinator.describe(options.get("group", "g"))
        return described.state if described.error is Error.NONE else described.error.name

    def members(self, options: Options) -> str:
        described = self.coordinator.describe(options.get("group", "g"))
        return " ".join(sorted(self.name_of(member.member_id) for member in described.members))


# ------------------------------------------------------------------------------------------------ the commands


def join(stage: Stage, words: list[str], options: Options) -> str:
    """``join a [group version session rebalance instance protocols type client as]``."""
    (name,) = words
    protocols = [entry.partition(":") for entry in options.get("protocols", "range").split(",") if entry]
    request = JoinGroupRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "9")),
        client_id=options.get("client", "py"),
        session_timeout_ms=int(options.get("session", "10000")),
        rebalance_timeout_ms=int(options.get("rebalance", "30000")),
        member_id=stage.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
        protocol_type=options.get("type", "consumer"),
        protocols=tuple(JoinProtocol(entry, (metadata or "m").encode()) for entry, _, metadata in protocols),
    )
    return stage.send(name, request)


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
        generation_id=int(generation),
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
        generation_id=int(generation),
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
    """``commit a 1 [offset=1 group version instance as metadata]``; the name ``-`` sends no member id."""
    name, generation = words
    request = OffsetCommitRequest(
        group_id=options.get("group", "g"),
        version=int(options.get("version", "9")),
        generation_id=int(generation),
        member_id=stage.id_of(options.get("as", name)),
        group_instance_id=options.get("instance"),
        offsets=(CommittedOffset("t", 0, int(options.get("offset", "1")), "x" * int(options.get("metadata", "0"))),),
    )
    return stage.send(name, request)


def fetch(stage: Stage, words: list[str], options: Options) -> str:
    """``fetch [stable] [all] [group]``: partition t-0, or all."""
    partitions = None if "all" in words else (("t", 0),)
    stable = "stable" in words
    group = options.get("group", "g")
    return stage.send("reader", OffsetFetchRequest(group_id=group, partitions=partitions, require_stable=stable))


def describe(stage: Stage, _: list[str], options: Options) -> str:
    """``describe [group]``: everything DescribeGroups shows."""
    described = stage.coordinator.describe(options.get("group", "g"))

    def one(member: DescribedMember) -> str:
        instance = f":{member.group_instance_id}" if member.group_instance_id else ""
        name = stage.name_of(member.member_id)
        return f"{name}{instance}({member.metadata.decode()})={member.assignment.decode()}"

    members = " ".join(sorted(map(one, described.members)))
    return f"{described.state} {described.protocol_type}/{described.protocol_name} {members}".strip()


def written(stage: Stage, words: list[str], _: Options) -> str:
    """``log [all]``: the last record of a group, or all records."""
    texts = []
    for record in stage.log.records:
        match record:
            case GroupRecord():
                members = " ".join(
                    sorted(
                        f"{stage.name_of(member.member_id)}({member.subscription.decode()})={member.assignment.decode()}"
                        for member in record.members
                    )
                )
                leader = f" leader {stage.name_of(record.leader)}" if record.leader else ""
                texts.append(f"generation {record.generation}{leader} {members}".strip())
            case GroupTombstone():
                texts.append("tombstone")
            case OffsetTombstone():
                texts += ["offset tombstone"] if "all" in words else []
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
    stage.log.failure = Error[words[0]] if words else Error.NONE
    return ""


def hold(stage: Stage, *_: object) -> str:
    """``hold``: the high watermark stops."""
    stage.log.hold = True
    return ""


def release(stage: Stage, *_: object) -> str:
    """``release``: the high watermark catches up."""
    stage.log.release()
    return stage.advance(0)


def failover(stage: Stage, words: list[str], options: Options) -> str:
    """``failover [loading] [lose=1]``: the coordinator crashes and reads its log, which lost its last records."""
    stage.log.lose(int(options.get("lose", "0")))
    stage.waiting.clear()
    stage.coordinator.start_loading()
    return "" if "loading" in words else load(stage)


def load(stage: Stage, *_: object) -> str:
    """``load``: the log is read."""
    return stage.tell(stage.coordinator.load(stage.log.records, stage.now))


COMMANDS: dict[str, Callable[[Stage, list[str], Options], str]] = {
    "join": join,
    "admit": admit,
    "form": form,
    "sync": sync,
    "heartbeat": heartbeat,
    "leave": leave,
    "commit": commit,
    "fetch": fetch,
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
    "groups": lambda stage, _words, _options: " ".join(
        f"{group.group_id}:{group.state}:{group.protocol_type}" for group in stage.coordinator.list_groups()
    ),
    "delete": lambda stage, words, _options: stage.coordinator.delete(words[0]).name,
}
"""What a line of a story may say; each docstring tells the form."""


def perform(stage: Stage, line: str) -> str:
    """Do what a line says; what was observed."""
    command, *rest = shlex.split(line)
    words = [word for word in rest if "=" not in word[1:]]
    options = dict(word.split("=", 1) for word in rest if "=" in word[1:])
    return COMMANDS[command](stage, words, options)


# ------------------------------------------------------------------------------------------------ the test


def stories() -> Iterator[tuple[str, list[str]]]:
    """Title and lines of each story."""
    for path in sorted(STORIES.glob("*.story")):
        for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
            title, *lines = [line for line in paragraph.splitlines() if line and not line.startswith("#")]
            yield f"{path.stem}: {title.strip('[]')}", lines


def tell(lines: list[str], defects: frozenset[str] = frozenset()) -> tuple[list[str], list[str]]:
    """The story as it is written, and as it happens."""
    settings: dict[str, int] = {}
    if lines[0].startswith("setting "):
        settings = {name: int(value) for name, value in (word.split("=") for word in lines[0].split()[1:])}
    stage = Stage(settings, defects)
    expected, seen = [], []
    for line in lines[1:] if settings else lines:
        step, _, observed = line.partition("->")
        expected.append(f"{step.strip()} -> {observed.strip()}".strip())
        seen.append(f"{step.strip()} -> {perform(stage, step)}".strip())
    return expected, seen


@pytest.mark.parametrize("story", [pytest.param(lines, id=title) for title, lines in stories()])
def test_a_story_runs_as_kafka_was_seen_to_answer(story: list[str]) -> None:
    expected, seen = tell(story)

    assert expected == seen


@pytest.mark.parametrize("mutant", [mutant.name for mutant in COORDINATOR_MUTANTS])
def test_some_story_runs_otherwise__with_a_mutant(mutant: str) -> None:
    def is_told_otherwise(story: list[str]) -> bool:
        expected, seen = tell(story, frozenset({mutant}))
        return expected != seen

    assert any(is_told_otherwise(story) for _, story in stories())


def test_the_stories_are_there() -> None:
    assert len(list(stories())) > 200
