"""The log of a broker: the group coordinator of Kafka 2.x to 4.x, in Scala and in Java.

Sources: ``kafka.coordinator.group.GroupCoordinator``, ``GroupMetadataManager``, ``GroupMetadata`` (to 3.9);
``org.apache.kafka.coordinator.group.GroupMetadataManager``, ``classic.ClassicGroup``, ``CoordinatorRuntime`` (3.7 on).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, Literal

from rebalance_check.pipeline.diagnose.facts import (
    AssignmentStored,
    CoordinatorMoved,
    Fact,
    GroupEmptied,
    GroupLoaded,
    JoinPhaseEnded,
    MemberAdded,
    MemberDescribed,
    MemberExpired,
    MemberFenced,
    MemberIdGiven,
    MemberLeft,
    MembersEvicted,
    ModernGroupSeen,
    NoMemberJoined,
    NotUnderstood,
    PendingMemberExpired,
    RebalanceBegan,
    StaticMemberReplaced,
)
from rebalance_check.pipeline.diagnose.logs.records import LogRecord
from rebalance_check.pipeline.diagnose.logs.templates import Fields, Template, Templates, nothing, template

COORDINATOR: Final = re.compile(
    r"\[Group(?:Coordinator|MetadataManager|Id)?[ :]|^Loaded (?:member|classic|consumer)|GroupMetadata\b"
)
"""Lines of the group coordinator: one that no template knows is listed as not understood."""
PARTITION: Final = re.compile(r"topic=__consumer_offsets partition=(?P<partition>\d+)\]")
"""The head of a line of the Java coordinator."""
_NO_INSTANCE: Final = frozenset({"None", "null", "Optional.empty"})
_SOME: Final = re.compile(r"^(?:Some|Optional)[(\[](.*)[)\]]$")


def _make(kind: Callable[..., Fact], *names: str, numbers: tuple[str, ...] = ()) -> Callable[..., Iterable[Fact]]:
    """A fact whose fields are the parts of the message with the same names."""

    def make(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
        values: dict[str, Any] = {name: fields.get(name, "") for name in names}
        values |= {name: int(fields[name]) for name in numbers if name in fields}
        if "instance" in values:
            values["instance"] = _instance(values["instance"])
        return (kind(group=fields.get("group", ""), **values, **at),)

    return make


def _instance(text: str) -> str:
    """An instance id as Scala or Java prints it; empty for none."""
    if text in _NO_INSTANCE:
        return ""
    found = _SOME.match(text)
    return found[1] if found is not None else text


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _described(fields: Fields, at: dict[str, Any]) -> MemberDescribed:
    """A member as Scala's MemberMetadata prints it."""
    return MemberDescribed(
        group=fields["group"], member=fields["member"], instance=_instance(fields["instance"]),
        client=fields["client"], host=fields["host"].lstrip("/"),
        session_timeout_ms=int(fields["session"]), rebalance_timeout_ms=int(fields["rebalance"]),
        assignors=_names(fields["protocols"]), **at,
    )  # fmt: skip


def _left_with_metadata(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    yield _described(fields, at)
    yield MemberLeft(
        group=fields["group"], member=fields["member"], instance=_instance(fields["instance"]),
        reason=_reason(fields.get("reason", "")), **at,
    )  # fmt: skip


def _loaded_member(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    """A replay of old records at a load: it says who the member was, and nothing of now."""
    return (_described(fields, at),)


def _left(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    return (
        MemberLeft(group=fields["group"], member=fields["member"], instance=_instance(fields.get("instance", "")),
                   reason=_reason(fields.get("reason", "")), **at),
    )  # fmt: skip


def _reason(text: str) -> str:
    """A client's reason; empty where the client gives none."""
    bare = text.strip().removesuffix(".") if text.strip() == "not provided." else text.strip()
    return "" if bare == "not provided" else bare


def _evicted(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    return (MembersEvicted(group=fields["group"], members=_names(fields["members"]), **at),)


def _moved(change: Literal["load", "loaded", "unload", "unloaded"]) -> Callable[..., Iterable[Fact]]:
    def make(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
        return (CoordinatorMoved(partition=int(fields["partition"]), change=change, **at),)

    return make


def _modern(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    epoch = int(fields["epoch"]) if "epoch" in fields else None
    return (ModernGroupSeen(group=fields["group"], kind="consumer", epoch=epoch, **at),)


def _loaded(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    kind = fields["kind"]
    if kind == "classic":
        return (GroupLoaded(group=fields["group"], **at),)
    return (ModernGroupSeen(group=fields["group"], kind=kind, **at),)  # type: ignore[arg-type]  # pattern has the kinds


_METADATA: Final = (
    r"MemberMetadata\(memberId=(?P<member>\S+), groupInstanceId=(?P<instance>.+?), clientId=(?P<client>.*?), "
    r"clientHost=(?P<host>\S+), sessionTimeoutMs=(?P<session>\d+), rebalanceTimeoutMs=(?P<rebalance>\d+), "
    r"supportedProtocols=List\((?P<protocols>[^)]*)\)"
)
_STATE: Final = r"in (?:state )?\w+(?: state)?\."
_REASON: Final = r"(?:; client reason: (?P<reason>.*))?"
_FROM: Final = r"(?: of)?(?: offsets and group)?(?: metadata)?(?: from| for)? __consumer_offsets-(?P<partition>\d+)"

ROWS: Final[tuple[Template, ...]] = (
    template(
        "Preparing to rebalance group",
        r"Preparing to rebalance group (?P<group>.+?) in state \w+ with old generation (?P<generation>\d+)"
        r"(?: \((?P<partition>__consumer_offsets-\d+)\))? \(reason: (?P<reason>.*)\)\.?$",
        _make(RebalanceBegan, "reason", "partition", numbers=("generation",)),
    ),
    template(
        "Stabilized group",
        r"Stabilized group (?P<group>.+?) generation (?P<generation>\d+)(?: \(__consumer_offsets-\d+\))?"
        r"(?: with (?P<members>\d+) members)?\.?$",
        _make(JoinPhaseEnded, numbers=("generation", "members")),
    ),
    template(
        "Assignment received from leader",
        r"Assignment received from leader(?: (?P<leader>\S+))? for group (?P<group>.+?) for generation "
        r"(?P<generation>\d+)"
        r"(?:\. The group has (?P<members>\d+) members)?",
        _make(AssignmentStored, "leader", numbers=("generation", "members")),
    ),
    template(
        "is now empty",
        r"Group (?P<group>.+?) with generation (?P<generation>\d+) is now empty",
        _make(GroupEmptied, numbers=("generation",)),
    ),
    template(
        "with unknown member id joins group",
        rf"Dynamic [Mm]ember with unknown member id joins group (?P<group>.+?) {_STATE} Created a new member id "
        r"(?P<member>\S+) and request",
        _make(MemberIdGiven, "member"),
    ),
    template(
        "with unknown member id joins group",
        rf"(?:Dynamic|Static) [Mm]ember with unknown member id joins group (?P<group>.+?) {_STATE} Created a new "
        r"member id (?P<member>\S+) (?:for this member and add|and added)",
        _make(MemberAdded, "member"),
    ),
    template(
        "Static member with groupInstanceId=",
        r"Static member with groupInstanceId=(?P<instance>.+?) and unknown member id joins group (?P<group>.+?) "
        rf"{_STATE} Created a new member id (?P<member>\S+)",
        _make(MemberAdded, "member", "instance"),
    ),
    template(
        "Static member with groupInstanceId=",
        r"Static member with groupInstanceId=(?P<instance>.+?) and unknown member id joins group (?P<group>.+?) "
        rf"{_STATE} Replacing previously mapped member (?P<old>\S+) with",
        _make(StaticMemberReplaced, "member", "instance", "old"),
    ),
    template(
        "with unknown member id rejoins, assigning",
        r"Static member (?P<instance>.+?) of group (?P<group>.+?) with unknown member id rejoins, assigning new "
        r"member id (?P<member>\S+), while old member id (?P<old>\S+) will be removed",
        _make(StaticMemberReplaced, "member", "instance", "old"),
    ),
    template(
        "Adding new static member",
        r"Adding new static member (?P<instance>.+?) to group (?P<group>.+?) with member id (?P<member>\S+?)\.?$",
        _make(MemberAdded, "member", "instance"),
    ),
    template(
        "Static member which joins during Stable stage", r"Static member which joins during Stable stage", nothing
    ),
    template(
        "is fenced by",
        r"Request memberId=(?P<member>\S+) for static member with groupInstanceId=(?P<instance>.+?) is fenced by "
        r"(?:current|existing) memberId=(?P<current>\S+) during operation (?P<operation>[\w-]+)",
        _make(MemberFenced, "member", "instance", "current", "operation"),
    ),
    template(
        "Pending dynamic member with id",
        r"Pending dynamic member with id (?P<member>\S+) joins group (?P<group>.+?) in \w+ state\.",
        _make(MemberAdded, "member"),
    ),
    template(
        "Pending member",
        r"Pending member (?P<member>\S+) in group (?P<group>.+?) has been removed after session timeout expiration",
        _make(PendingMemberExpired, "member"),
    ),
    template(
        "Pending member",
        r"Pending member with memberId=(?P<member>\S+) has left group (?P<group>.+?) through explicit",
        nothing,
    ),
    template("Pending member", r"\[Group .+?\] Pending member \S+ has left group through explicit", nothing),
    template("Pending member", r"Pending member \S+ is leaving group .+?\.", nothing),
    template(
        "has left group",
        rf"Member {_METADATA}\) has left group (?P<group>.+?) through explicit `LeaveGroup`{_REASON}$",
        _left_with_metadata,
    ),
    template(
        "has left group",
        r"\[Group(?:Id)? (?P<group>.+?)\] (?:(?:Dynamic|Static) )?[Mm]ember (?P<member>\S+)(?: with instance id "
        rf"(?P<instance>\S+))? has left group through explicit `LeaveGroup` request{_REASON}$",
        _left,
    ),
    template(
        "has left, removing it from the group",
        r"Member\[group\.instance\.id (?P<instance>.+?), member\.id (?P<member>\S+)\] in group (?P<group>.+?) has left",
        _left,
    ),
    template(
        "has failed, removing it from the group",
        r"Member (?P<member>\S+) in group (?P<group>.+?) has failed, removing it from the group",
        _make(MemberExpired, "member"),
    ),
    template(
        "removed dynamic members who haven't joined",
        r"Group (?P<group>.+?) removed dynamic members who haven't joined: (?:Set\(|\[)?(?P<members>[^)\]]*)[)\]]?",
        _evicted,
    ),
    template(
        "could not complete rebalance because no members rejoined",
        r"Group (?P<group>.+?) could not complete rebalance because no members rejoined",
        _make(NoMemberJoined),
    ),
    template("was elected as the new leader", r"was elected as the new leader", nothing),
    template("Setting empty assignments for members", r"Setting empty assignments for members", nothing),
    template("Sending empty assignment to member", r"Sending empty assignment to member", nothing),
    template("unexpected notification of sync expiration", r"unexpected notification of sync expiration", nothing),
    template(
        "Loading group metadata for",
        r"Loading group metadata for (?P<group>.+?) with generation (?P<generation>\d+)",
        _make(GroupLoaded, numbers=("generation",)),
    ),
    template(
        "Loaded member", rf"Loaded member {_METADATA}\)* in group (?P<group>.+?) with generation \d+", _loaded_member
    ),
    template(
        "Loaded ",
        r"Loaded (?P<kind>classic|consumer|streams|share) group (?P<group>.+?) with \d+ members",
        _loaded,
    ),
    template("Unloading group metadata for", r"Unloading group metadata for", nothing),
    template("Unloaded group metadata for", r"Unloaded group metadata for", nothing),
    template("as the group coordinator for partition", r"(?:Elected|Resigned) as the group coordinator", nothing),
    template("Scheduling loading", rf"Scheduling loading{_FROM}", _moved("load")),
    template("Finished loading", rf"Finished loading{_FROM}", _moved("loaded")),
    template("Scheduling unloading", rf"Scheduling unloading{_FROM}", _moved("unload")),
    template("Started unloading", rf"Started unloading{_FROM}", nothing),
    template("Finished unloading", rf"Finished unloading{_FROM}", _moved("unloaded")),
    template("transitioned to Dead", r"Group .+? transitioned to Dead in generation \d+", nothing),
    # KIP-848: groups of the new protocol are named and counted.
    template(
        "Bumped group epoch",
        r"\[GroupId (?P<group>.+?)\] Bumped group epoch to (?P<epoch>\d+)",
        _modern,
    ),
    template(
        "Computed a new target assignment",
        r"\[GroupId (?P<group>.+?)\] Computed a new target assignment for epoch (?P<epoch>\d+)",
        _modern,
    ),
    template("[GroupId ", r"\[GroupId (?P<group>.+?)\] ", _modern),
    template("Converted the", r"Converted the (?:empty )?\w+ group", nothing),
    # The coordinator's own start and stop, and its settings.
    template(
        "[GroupCoordinator",
        r"(?:oordinator runtime(?: closed)?|vent processor(?: closed)?)\.$|Ignored unloading metadata",
        nothing,
    ),
    template(
        "[GroupCoordinator", r"(?:Starting up|Startup complete|Shutting down|Shutdown complete)\.?(?:\n|$)", nothing
    ),
    template("[GroupMetadataManager", r"(?:Removed \d+ expired offsets|Shutting down|Shutdown complete)", nothing),
)


def _with_partition(fact: Fact, record: LogRecord) -> Fact:
    if isinstance(fact, RebalanceBegan) and not fact.partition and (head := PARTITION.search(record.message)):
        return replace(fact, partition=f"__consumer_offsets-{head['partition']}")
    return fact


class BrokerLog:
    """The facts of one broker's log. A line about fencing names no group: it is that of the member or its instance."""

    def __init__(self) -> None:
        self._templates = Templates(ROWS)
        self._groups: dict[str, str] = {}

    def read(self, record: LogRecord) -> Iterator[Fact | NotUnderstood]:
        """The facts of a record."""
        facts = self._templates.facts(record)
        if facts is None:
            if COORDINATOR.search(record.message):
                yield NotUnderstood(record.place, "a line of the group coordinator")
            return
        for fact in facts:
            yield self._with_group(_with_partition(fact, record))

    def _with_group(self, fact: Fact) -> Fact:
        names = [getattr(fact, name, "") for name in ("member", "old", "instance")]
        if fact.group:
            self._groups.update({name: fact.group for name in names if name})
            return fact
        if isinstance(fact, MemberFenced):
            known = (self._groups.get(name, "") for name in (fact.current, fact.member, fact.instance) if name)
            return replace(fact, group=next((group for group in known if group), ""))
        return fact
