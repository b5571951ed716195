"""The membership of a Connect worker in its log: the sentences of ``AbstractCoordinator`` and ``WorkerCoordinator``.

Source: ``org.apache.kafka.clients.consumer.internals.AbstractCoordinator`` and
``org.apache.kafka.connect.runtime.distributed.WorkerCoordinator`` of Kafka 1.0 to 4.3. Only read in the sources, not
in a log: the sentences of 2.8 and before, the failures of JoinGroup and SyncGroup, the worker's poll timeout, and the
revocation of a worker that found no coordinator.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import (
    CoordinatorUnavailable,
    Fact,
    Joined,
    JoinSent,
    LeaveSent,
    MembershipReset,
    PollTimedOut,
    RejoinDecided,
    RequestRefused,
    Synced,
)
from rebalance_check.pipeline.diagnose.logs.sentences import quiet, says
from rebalance_check.pipeline.diagnose.logs.templates import Fields, Make, Template, nothing, template

_GENERATION: Final = (
    r"(?:Generation\{generationId=)?(?P<generation>-?\d+)"
    r"(?:, memberId='(?P<member>[^']*)', protocol='(?P<protocol>[^']*)')?"
)


def _refused(request: str) -> Make:
    def make(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
        error = fields.get("name") or fields["error"].strip().rstrip(".")
        return (RequestRefused(client="", request=request, error=error, **at),)

    return make


_QUIET: Final = """
    Rebalance started
    Discovered group coordinator
    Requesting disconnect from last known coordinator
    Close timed out with
    Heartbeat thread
    heartbeat thread
    Received successful
    Sending Heartbeat request
    Sending heartbeat request with
    Sending JoinGroup
    Sending leader SyncGroup
    Sending follower SyncGroup
    Sending FindCoordinator request
    Received FindCoordinator response
    Received GroupCoordinator response
    Ignoring heartbeat response with error
    Attempt to heartbeat with stale
    Coordinator discovery failed, refreshing metadata
    No broker available to send FindCoordinator request
    Generation data was cleared by heartbeat thread
    LeaveGroup response with
    Consumer has been disconnected from the group coordinator for
    Broker coordinator is ready
    Deserialized new assignment
    After revocations snapshot of assignment
    Augmented new assignment
    Revoking previous assignment
    Cooperative rebalance triggered. Keeping assignment
    Connect group member created
    Stopping the Connect group member
    The Connect group member has stopped
"""

ROWS: Final[tuple[Template, ...]] = (
    template("(Re-)joining group", r"\(Re-\)joining group", says(JoinSent)),
    template(
        "Successfully joined group",
        rf"Successfully joined group(?: \S+)? with generation {_GENERATION}",
        says(Joined, "member", "protocol", numbers=("generation",)),
    ),
    template(
        "Successfully synced group",
        rf"Successfully synced group(?: \S+)? in generation {_GENERATION}",
        says(Synced, "member", numbers=("generation",)),
    ),
    template(
        "Request joining group due to", r"Request joining group due to: (?P<reason>.+)$", says(RejoinDecided, "reason")
    ),
    template(
        "Attempt to heartbeat failed since group is rebalancing",
        r"Attempt to heartbeat failed since (?P<reason>group is rebalancing)",
        says(RejoinDecided, "reason"),
    ),
    template("Rebalance failed.", r"Rebalance failed\.", nothing),
    template(
        "sending LeaveGroup request",
        r"Member (?P<member>\S+) sending LeaveGroup request to coordinator .+?\) due to (?P<reason>.+)$",
        says(LeaveSent, "member", "reason"),
    ),
    template(
        "sending LeaveGroup request",
        r"(?:Member (?P<member>\S+) )?sending LeaveGroup request",
        says(LeaveSent, "member"),
    ),
    template("Sending LeaveGroup request", r"Sending LeaveGroup request", says(LeaveSent)),
    template(
        "Resetting generation",
        r"Resetting generation (?P<forgets>and member id )?(?:due to:? )?(?P<reason>.+)$",
        says(MembershipReset, "reason"),
    ),
    template(
        "is unavailable or invalid",
        r"Group coordinator .+ is unavailable or invalid(?: due to cause: (?P<reason>.+?)\.\s*isDisconnected)?",
        says(CoordinatorUnavailable, "reason"),
    ),
    template("Marking the coordinator", r"Marking the coordinator .+ dead", says(CoordinatorUnavailable)),
    template(
        "Group coordinator lookup failed",
        r"Group coordinator lookup failed: (?P<reason>.+)$",
        says(CoordinatorUnavailable, "reason"),
    ),
    template(
        "FindCoordinator request",
        r"(?P<reason>FindCoordinator request (?:failed due to|hit fatal exception).*)$",
        says(CoordinatorUnavailable, "reason"),
    ),
    template(
        "Can not connect to broker coordinator",
        r"(?P<reason>Can not connect to broker coordinator)",
        says(CoordinatorUnavailable, "reason"),
    ),
    template(
        "Broker coordinator is marked unknown",
        r"(?P<reason>Broker coordinator is marked unknown)",
        says(CoordinatorUnavailable, "reason"),
    ),
    template(
        "Broker coordinator was unreachable for",
        r"(?P<reason>Broker coordinator was unreachable for \d+ms)",
        says(CoordinatorUnavailable, "reason"),
    ),
    template(
        "Attempt to heartbeat",
        r"Attempt to heartbeat with .* failed due to (?P<name>\w+)",
        _refused("Heartbeat"),
    ),
    template(
        "Attempt to heartbeat",
        r"Attempt to heartbeat (?:with .* )?failed (?:since|for) (?P<error>.+)$",
        _refused("Heartbeat"),
    ),
    template("Unexpected error in heartbeat", r"(?P<error>Unexpected error in heartbeat.*)$", _refused("Heartbeat")),
    template(
        "JoinGroup failed", r"JoinGroup failed due to (?:non-)?fatal error: (?P<name>[A-Z_]+)\b", _refused("JoinGroup")
    ),
    template("JoinGroup failed", r"JoinGroup failed:? (?P<error>.+)$", _refused("JoinGroup")),
    template("SyncGroup failed", r"SyncGroup failed:? (?P<error>.+)$", _refused("SyncGroup")),
    template(
        "LeaveGroup request with",
        r"LeaveGroup request with .+ failed with error: (?P<error>.+)$",
        _refused("LeaveGroup"),
    ),
    template(
        "poll timeout has expired", r"(?:worker|consumer) poll timeout has expired\. (?:This|The)\b", says(PollTimedOut)
    ),
    *quiet(_QUIET),
)
