"""The sentences of kafka-python and aiokafka about groups; most are the same, as aiokafka began as its port.

Sources: ``kafka.coordinator`` of kafka-python 2.0 and 3.0, ``aiokafka.consumer.group_coordinator`` of aiokafka 0.8 to
0.14. Only read in the sources: all of kafka-python 2.0, the failures of JoinGroup, SyncGroup and LeaveGroup, a fenced
static member of kafka-python, an assignment that is rejected, a coordinator that is not found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import (
    Assigned,
    AssignmentComputed,
    CoordinatorUnavailable,
    Fact,
    Joined,
    JoinSent,
    LeaveSent,
    Lost,
    MembershipReset,
    PollTimedOut,
    RejoinDecided,
    RequestRefused,
    Revoked,
    Synced,
)
from rebalance_check.pipeline.diagnose.logs.sentences import number, quiet, says
from rebalance_check.pipeline.diagnose.logs.templates import Fields, Make, Template, nothing, template

_PARTITION: Final = re.compile(r"TopicPartition\(topic='([^']*)', partition=(\d+)\)")
_ERROR: Final = re.compile(r"\b\w+Error\b")
_SHARE: Final = re.compile(
    r"'(?P<member>[^']+)': Consumer\w+Assignment\(version=\d+, \w+=\[(?P<topics>(?:\([^)]*\)(?:, )?)*)\], user_data="
)
_TOPIC: Final = re.compile(r"\((?:topic=)?'([^']+)', (?:partitions=)?\[([\d, ]*)\]\)")


def partitions(text: str) -> tuple[str, ...]:
    """The partitions of a Python set or list, which has no order."""
    return tuple(sorted(f"{topic}-{partition}" for topic, partition in _PARTITION.findall(text)))


def _owns(kind: Callable[..., Fact]) -> Make:
    """An empty set is no event: the clients write one before the first join."""

    def make(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
        names = partitions(fields["partitions"])
        return (kind(client="", group=fields.get("group", ""), partitions=names, **at),) if names else ()

    return make


def _cooperative(fields: Fields, at: dict[str, Any]) -> Iterator[Fact]:
    for kind, name in ((Revoked, "revoked"), (Assigned, "added")):
        names = partitions(fields[name])
        if names:
            yield kind(client="", group=fields["group"], partitions=names, **at)


def _refused(request: str, error: str = "") -> Make:
    """A failed request: the name of the client's exception where the line has one, else its words."""

    def make(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
        text = error or fields.get("error", "").strip().rstrip(".;")
        name = _ERROR.search(text)
        return (
            RequestRefused(
                client="", group=fields.get("group", ""), member=fields.get("member", ""),
                instance=fields.get("instance", ""), request=request or fields.get("request", ""),
                error=name[0] if name is not None else text, **at,
            ),
        )  # fmt: skip

    return make


def _unknown_member(fields: Fields, at: dict[str, Any]) -> Iterator[Fact]:
    yield from _refused("Heartbeat")(fields, at)
    yield MembershipReset(client="", reason=fields["error"], **at)


def _joined_and_synced(fields: Fields, at: dict[str, Any]) -> Iterator[Fact]:
    """kafka-python 2.0 writes one line, after SyncGroup."""
    generation = number(fields["generation"])
    yield Joined(client="", group=fields["group"], generation=generation, **at)
    yield Synced(client="", group=fields["group"], generation=generation, **at)


def _computed(fields: Fields, at: dict[str, Any]) -> Iterator[Fact]:
    """The leader's assignment, at DEBUG: only where each member of it is read."""
    text = fields["assignments"]
    shares = tuple(
        (
            share["member"],
            tuple(
                f"{topic}-{name.strip()}"
                for topic, names in _TOPIC.findall(share["topics"])
                for name in names.split(",")
                if name.strip()
            ),
        )
        for share in _SHARE.finditer(text)
    )
    if shares and len(shares) == text.count("Assignment(version="):
        yield AssignmentComputed(client="", group=fields["group"], generation=None, assignments=shares, **at)


_GROUP: Final = r"(?P<group>\S+?)"
_SET: Final = r"(?P<partitions>(?:frozen)?set\(.*?\)|\{.*?\}|\[.*?\])"
_QUIET: Final = """
    Elected group leader -- performing partition assignments
    Discovered coordinator
    returned successfully
    Rebalance listener
    User provided
    Starting new heartbeat thread
    Stopping heartbeat thread
    eartbeat thread
    eartbeat loop
    heartbeat_loop
    Sending
    Received
    Join group response
    Heartbeat:
    Heartbeat success
    Heartbeat failure:
    Heartbeat disabled
    Heartbeat re-enabled
    Enabling heartbeat
    Disabling heartbeat
    Stopping heartbeat task
    Not ready to heartbeat
    Treating RebalanceInProgressError
    Group state is not stable
    Looking up coordinator
    to send next heartbeat
    Requesting metadata for group coordinator request
    Group Coordinator Not Available; retry
    Performing assignment for group
    need_rejoin:
    coordinator.poll: timeout
    fetching committed offsets
    etching committed offsets for partitions
    has no committed offset for partition
    No committed offset for partition
    failed to fetch offset for partition
    Error fetching offset for
    Setting offset for partition
    committed offset OffsetAndMetadata
    Committed offset
    No offsets to commit
    Offset fetch failed
    Failed to fetch committed offsets
    Unknown error fetching offsets
    OffsetFetchRequest -- unknown topic
    Completed autocommit of offsets
    disabling auto-commit
    heartbeat_interval_ms is high
    OffsetCommit failed before join, ignoring
    Auto offset commit failed:
    Failed to commit on finallization
    Pre-rebalance offset commit failed
    Offset commit failed: This is likely
    Unexpected error in coordinator routine
    Not authorized to commit
    OffsetCommit failed for unauthorized topics
"""

_FENCED: Final = tuple(
    template(
        text,
        rf"(?P<request>Heartbeat|SyncGroup|OffsetCommit) (?:failed )?for group {_GROUP} (?:failed )?"
        r"due to fenced id error: (?P<instance>.*)$",
        _refused("", "FENCED_INSTANCE_ID"),
    )
    for text in ("Heartbeat failed", "SyncGroup for group", "OffsetCommit for group")
)

ROWS: Final[tuple[Template, ...]] = (
    *_FENCED,
    template("(Re-)joining group", rf"\(Re-\)joining group {_GROUP}$", says(JoinSent)),
    template(
        "Setting newly assigned partitions",
        rf"Setting newly assigned partitions {_SET} for group {_GROUP}$",
        _owns(Assigned),
    ),
    template(
        "Revoking previously assigned partitions",
        rf"Revoking previously assigned partitions {_SET} for group {_GROUP}(?: on close)?$",
        _owns(Revoked),
    ),
    template(
        "lost membership; forcibly revoking",
        rf"Group {_GROUP} lost membership; forcibly revoking {_SET}$",
        _owns(Lost),
    ),
    template(
        "Cooperative rebalance complete for group",
        rf"Cooperative rebalance complete for group {_GROUP}: owned=.*, assigned=.*, "
        r"revoked=(?P<revoked>.*), added=(?P<added>.*)$",
        _cooperative,
    ),
    template(
        "Cooperative pre-rebalance for group",
        rf"Cooperative pre-rebalance for group {_GROUP}: revoking {_SET} \(no longer in subscription\)",
        _owns(Revoked),
    ),
    template(
        "Successfully joined group",
        rf"Successfully joined group {_GROUP} <Generation (?P<generation>-?\d+) \(member_id: (?P<member>\S*), "
        r"protocol: (?P<protocol>[^)]*)\)>",
        says(Joined, "member", "protocol", numbers=("generation",)),
    ),
    template(
        "Successfully joined group",
        rf"Successfully joined group {_GROUP} with generation (?P<generation>-?\d+)",
        _joined_and_synced,
    ),
    template(
        "Joined group",
        r"Joined group '(?P<group>[^']*)' \(generation (?P<generation>-?\d+)\) with member_id (?P<member>\S+)",
        says(Joined, "member", numbers=("generation",)),
    ),
    template(
        "Successfully synced group",
        rf"Successfully synced group {_GROUP} with generation (?P<generation>-?\d+)",
        says(Synced, numbers=("generation",)),
    ),
    template(
        "Finished assignment for group", rf"Finished assignment for group {_GROUP}: (?P<assignments>.*)$", _computed
    ),
    template(
        "Received member id",
        rf"Received member id (?P<member>\S+) for group {_GROUP}; will retry join-group",
        _refused("JoinGroup", "MEMBER_ID_REQUIRED"),
    ),
    template(
        "is rebalancing; rejoining",
        rf"Group {_GROUP} (?P<reason>is rebalancing); rejoining",
        says(RejoinDecided, "reason"),
    ),
    template(
        "because it is rebalancing",
        rf"Heartbeat failed for group {_GROUP} because it (?P<reason>is rebalancing)",
        says(RejoinDecided, "reason"),
    ),
    template(
        "Triggering follow-up rebalance",
        rf"Triggering follow-up rebalance for group {_GROUP} to (?P<reason>.*)$",
        says(RejoinDecided, "reason"),
    ),
    template(
        "Probably due to a deleted topic",
        r"(?P<reason>(?:Cooperative a|A)ssignment rejected: .*?|Assigned partition .*?)[.\s]*Probably due to a deleted",
        says(RejoinDecided, "reason"),
    ),
    template(
        "Metadata for topic has changed",
        r"(?P<reason>Metadata for topic has changed)",
        says(RejoinDecided, "reason"),
    ),
    template(
        "Subscription changed during rebalance",
        r"(?P<reason>Subscription changed during rebalance)",
        says(RejoinDecided, "reason"),
    ),
    template("Consumer poll timeout has expired", r"Consumer poll timeout has expired", says(PollTimedOut)),
    template("Heartbeat poll expired, leaving group", r"Heartbeat poll expired", says(PollTimedOut)),
    template(
        "Leaving consumer group",
        rf"Leaving consumer group {_GROUP} \(member (?P<member>.*)\)",
        says(LeaveSent, "member"),
    ),
    template("Leaving consumer group", r"Leaving consumer group \((?P<group>.*)\)", says(LeaveSent)),
    template("LeaveGroup request succeeded", r"LeaveGroup request succeeded", says(LeaveSent)),
    template(
        "LeaveGroup request",
        rf"LeaveGroup request (?:for group {_GROUP} )?failed(?: with error)?: (?P<error>.*)$",
        _refused("LeaveGroup"),
    ),
    template(
        "LeaveGroup request for member",
        r"LeaveGroup request for member (?P<member>\S+) / group instance .* failed with error: (?P<error>.*)$",
        _refused("LeaveGroup"),
    ),
    template("Heartbeat: local member_id", r"(?P<error>local member_id was not recognized)", _unknown_member),
    template("Heartbeat failed: local member_id", r"(?P<error>local member_id was not recognized)", _unknown_member),
    template(
        "Heartbeat session expired", r"(?P<reason>Heartbeat session expired)", says(CoordinatorUnavailable, "reason")
    ),
    template(
        "Marking the coordinator dead",
        rf"Marking the coordinator dead \(node \S+\) ?for group {_GROUP}(?:\.|: (?P<reason>.*?)\.?)$",
        says(CoordinatorUnavailable, "reason"),
    ),
    template(
        "marking coordinator dead",
        r"(?P<reason>Error sending .*) -- marking coordinator dead",
        says(CoordinatorUnavailable, "reason"),
    ),
    template(
        "oordinator lookup for group",
        rf"Group [Cc]oordinator lookup for group {_GROUP} failed: (?P<reason>.*)$",
        says(CoordinatorUnavailable, "reason"),
    ),
    template(
        "Group Coordinator Request failed",
        r"Group Coordinator Request failed: (?P<reason>.*)$",
        says(CoordinatorUnavailable, "reason"),
    ),
    template(
        "thread caught fenced group_instance_id",
        r"caught fenced group_instance_id (?P<instance>.*) error",
        _refused("Heartbeat", "FENCED_INSTANCE_ID"),
    ),
    template(
        "Heartbeat failed",
        rf"Heartbeat failed for group {_GROUP}: (?P<error>generation id is not|coordinator .*)",
        _refused("Heartbeat"),
    ),
    template("Heartbeat failed", r"Heartbeat failed: (?P<error>.*)$", _refused("Heartbeat")),
    template("Heartbeat send request failed", r"Heartbeat send request failed: (?P<error>.*)$", _refused("Heartbeat")),
    template(
        "Attempt to join group",
        rf"Attempt to join group {_GROUP} (?:failed due to|rejected since) (?:fatal error: )?(?P<error>.*)$",
        _refused("JoinGroup"),
    ),
    template("Attempt to join group", r"Attempt to join group failed due to (?P<error>.*)$", _refused("JoinGroup")),
    template(
        "nexpected error in join group", r"error in join group .*?response: (?P<error>.*)$", _refused("JoinGroup")
    ),
    template(
        "JoinGroup for group",
        rf"JoinGroup for group {_GROUP} (?P<error>returned inconsistent.*)$",
        _refused("JoinGroup"),
    ),
    template(
        "SyncGroup for group",
        rf"SyncGroup for group {_GROUP} (?:failed due to )?(?P<error>.*)$",
        _refused("SyncGroup"),
    ),
    template(
        "Unexpected error from SyncGroup", r"Unexpected error from SyncGroup: (?P<error>.*)$", _refused("SyncGroup")
    ),
    template("Error sending", r"Error sending (?P<request>\w+?)Request\w* to node \S+ \[(?P<error>.*)\]", _refused("")),
    template(
        "OffsetCommit for group", rf"OffsetCommit for group {_GROUP} failed: (?P<error>.*)$", _refused("OffsetCommit")
    ),
    template(
        "OffsetCommit for group",
        rf"OffsetCommit for group {_GROUP} failed on partition (?P<error>.*)$",
        _refused("OffsetCommit"),
    ),
    template(
        "OffsetCommit failed for group",
        rf"OffsetCommit failed for group {_GROUP} (?:-|on|due to|because) (?P<error>.*)$",
        _refused("OffsetCommit"),
    ),
    template(
        "failed to commit partition",
        rf"Group {_GROUP} failed to commit partition .* at offset [^:]*: (?P<error>.*)$",
        _refused("OffsetCommit"),
    ),
    template(
        "Auto offset commit failed for group",
        rf"Auto offset commit failed for group {_GROUP}: (?P<error>.*)$",
        _refused("OffsetCommit"),
    ),
    template(
        "Failing OffsetCommit request since",
        r"Failing OffsetCommit request since (?P<error>.*)$",
        _refused("OffsetCommit"),
    ),
    template(
        "Offset commit failed: ",
        r"Offset commit failed: (?P<error>group membership out of date|.*)",
        _refused("OffsetCommit"),
    ),
    template("Node", r"Node \S+ not ready", nothing),
    *quiet(_QUIET),
)
