"""The rules: for each kind of finding its threshold with a reason, its source, and the remedy.

A threshold is a convention; `Thresholds` has its number. Sources name the KIP, the metric or the class that the rule
rests on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding. ``claim`` says in a sentence when it is found; ``threshold`` gives the number's reason."""

    name: str
    claim: str
    threshold: str
    source: str
    remedy: str


def _rule(name: str, claim: str, *, threshold: str = "none", source: str, remedy: str) -> Rule:
    rule = Rule(name, claim, threshold, source, remedy)
    RULES[name] = rule
    return rule


RULES: Final[dict[str, Rule]] = {}
"""By name, in the order of the documentation."""

TWO_OWNERS: Final = _rule(
    "two-owners",
    "two members own one partition at one time, and the coordinator had removed neither",
    threshold="longer than twice the skew of the clocks",
    source="KIP-429; ConsumerRebalanceListener",
    remedy="check the rebalance callbacks and the assignor: an owner is assigned before the revocation is over",
)
ZOMBIE_OWNER: Final = _rule(
    "zombie-owner",
    "a member that the coordinator had removed went on while the next owner had begun",
    threshold="longer than twice the skew of the clocks",
    source="KIP-62; KIP-345",
    remedy="records of that time may be processed twice: make processing idempotent, and shorten it below the timeouts",
)
NO_OWNER: Final = _rule(
    "no-owner",
    "a subscribed partition has no owner in a group with members",
    source="ConsumerCoordinator.onLeaderElected",
    remedy="compare the members' subscriptions; ask --describe again: a rebalance looks the same for a short time",
)
STUCK: Final = _rule(
    "stuck",
    "a rebalance does not end although the group's rebalance timeout has passed",
    threshold="the rebalance timeout and 5 s: the coordinator's own timer ends each phase",
    source="GroupCoordinator.onCompleteJoin, onExpirePendingSync",
    remedy="restart the coordinator of the group, and upgrade the broker: its timer did not fire",
)
STORM: Final = _rule(
    "storm",
    "the group rebalances again and again",
    threshold="more than 5 rebalances, or 20 % of the time, in ten minutes: a rolling restart stays below, because a "
    "client counts once with its leaves and joins",
    source="KIP-429 (rebalance-rate-per-hour)",
    remedy="use group.instance.id for processes that restart, and the cooperative protocol",
)
FLAPPING: Final = _rule(
    "flapping-member",
    "one client has many member ids",
    threshold="more than 3 in ten minutes: a restart makes one",
    source="KIP-394; KIP-345",
    remedy="check why the process restarts; use group.instance.id with a session timeout above its restart time",
)
NEVER_ASSIGNED: Final = _rule(
    "never-assigned",
    "generations in a row end before the leader's assignment arrives",
    threshold="two in a row: one is normal when members start together",
    source="GroupCoordinator.doSyncGroup",
    remedy="a deployment that starts all members at once looks so: raise group.initial.rebalance.delay.ms; else look "
    "at the leader's assignor",
)
UNUSED_IDS: Final = _rule(
    "unused-member-ids",
    "the coordinator gave member ids with which no client joined",
    threshold="more than 1 a minute is a fault: a crash between two requests is rare",
    source="KIP-394",
    remedy="a crash at start looks so; if it goes on, the client cannot send its second JoinGroup: check its version, "
    "its request timeout, and proxies in between",
)
POLL_TIMEOUT: Final = _rule(
    "poll-timeout",
    "an application does not call poll within max.poll.interval.ms",
    threshold="one is a cost, more than two of one client are a fault",
    source="KIP-62",
    remedy="process fewer records per poll (max.poll.records), or raise max.poll.interval.ms above the longest "
    "processing of one poll; session.timeout.ms does not help, heartbeats have a thread of their own (KIP-62)",
)
EXPIRED: Final = _rule(
    "expired-member",
    "a member sends no heartbeat within its session timeout",
    threshold="one is a note, more than two of one client are a cost",
    source="GroupCoordinator.onExpireHeartbeat",
    remedy="find why the process stops sending heartbeats (kill, pause of its VM or container, network); raise "
    "session.timeout.ms above the longest pause that is normal",
)
HELD_UP: Final = _rule(
    "held-up",
    "the join phase is long, because the coordinator waits for a member",
    threshold="10 s: idle members learn of a rebalance within a heartbeat interval (3 s); 80 % of the rebalance "
    "timeout is a fault, the member is about to be removed",
    source="KIP-62; DelayedJoin",
    remedy="let the member call poll more often (smaller max.poll.records); max.poll.interval.ms is also the longest "
    "time that the others wait for it",
)
NEEDLESS: Final = _rule(
    "needless-rebalance",
    "a rebalance leaves members, subscriptions and assignor as they were",
    threshold="one is a note, more than one in ten are a cost",
    source="KIP-568 (enforceRebalance); KIP-800",
    remedy="check the caller of enforceRebalance, or the client library of the member that joins again without need",
)
FENCED: Final = _rule(
    "fenced-instance",
    "two processes use one group.instance.id",
    source="KIP-345 (FENCED_INSTANCE_ID)",
    remedy="give every process its own group.instance.id; let a deployment stop the old process before it starts the "
    "new one",
)
STATIC_RESTARTS: Final = _rule(
    "static-restarts",
    "a static member restarts often, within its session",
    threshold="more than two",
    source="KIP-345",
    remedy="none for the group: its instance id kept its place; look for the cause of the restarts",
)
LEADERS: Final = _rule(
    "leader-changes",
    "the leader changes although the former one is still a member",
    threshold="twice: a coordinator that loads the group may choose again",
    source="GroupMetadata.maybeElectNewJoinedLeader",
    remedy="upgrade the broker; each change costs an assignor with memory its memory",
)
NO_COMMON_ASSIGNOR: Final = _rule(
    "no-common-assignor",
    "a member offers no assignor that the others offer",
    source="KIP-429 (INCONSISTENT_GROUP_PROTOCOL)",
    remedy="give all members one assignor in common; change it in two rolling restarts (KIP-429)",
)
TO_EAGER: Final = _rule(
    "cooperative-to-eager",
    "the group goes back from the cooperative protocol to an eager one",
    source="KIP-429",
    remedy="let all members offer both assignors until the last old member is gone",
)
SETTINGS: Final = _rule(
    "settings",
    "timeouts of the members contradict each other",
    threshold="heartbeat.interval.ms above a third of session.timeout.ms leaves one lost heartbeat no second chance",
    source="ConsumerConfig",
    remedy="set heartbeat.interval.ms <= session.timeout.ms / 3, and session.timeout.ms < max.poll.interval.ms, alike "
    "in all members",
)
METADATA: Final = _rule(
    "metadata-changes",
    "topics or partitions change again and again, or right after a broker has started",
    threshold="more than two, or within 10 s of a load",
    source="ConsumerCoordinator.rejoinNeededOrPending",
    remedy="check whether brokers disagree on the topic, or a topic is deleted and created again",
)
AWAY: Final = _rule(
    "coordinator-away",
    "no broker coordinates the group for a time",
    threshold="10 s are a cost, less is a note",
    source="GroupMetadataManager.loadGroupsAndOffsets",
    remedy="restart brokers one at a time, in a controlled way; frequent moves are the cluster's instability",
)
WENT_BACK: Final = _rule(
    "generation-went-back",
    "a generation is lower than the one before",
    source="GroupMetadata.initNextGeneration",
    remedy="check unclean elections and min.insync.replicas of __consumer_offsets",
)
REFUSED_COMMITS: Final = _rule(
    "refused-commits",
    "the coordinator, or the client itself, refuses commits of a member that has lost its membership",
    source="ConsumerCoordinator.sendOffsetCommitRequest",
    remedy="find the cause of the loss before it (poll timeout, expiry, fencing)",
)
COMMITS_BACK: Final = _rule(
    "commit-went-back",
    "an accepted commit is lower than the one before",
    source="KIP-447 (fencing of zombies)",
    remedy="if no reset was intended: let the application commit in onPartitionsRevoked only, and never after it lost "
    "the partition",
)
UNBALANCED: Final = _rule(
    "unbalanced",
    "members with equal subscriptions have unequal numbers of partitions",
    threshold="more than one with a sticky assignor is a fault, 25 % of the mean with range a cost",
    source="AbstractStickyAssignor; RangeAssignor",
    remedy="use cooperative-sticky, which balances over all topics; upgrade the leader's client if it is used",
)
IDLE: Final = _rule(
    "idle-members",
    "a member has no partition",
    source="ConsumerPartitionAssignor",
    remedy="more members than partitions wait as spares: stop them, or add partitions",
)
UNSTICKY: Final = _rule(
    "unsticky",
    "a sticky assignor moves partitions although no member came or went",
    threshold="more moves than balance needs",
    source="KIP-54; KIP-792",
    remedy="check for members that lose their membership (poll timeouts, resets), and upgrade the clients",
)
WORK_RUNS_TWICE: Final = _rule(
    "work-runs-twice",
    "a connector or task runs on two Connect workers at one time",
    threshold="longer than twice the skew of the clocks",
    source="KIP-415; DistributedHerder, Worker.awaitStopTask",
    remedy="raise task.shutdown.graceful.timeout.ms above the connector's stop time; keep workers from long pauses; "
    "use exactly-once support, which fences the former task (KIP-618)",
)
WORKERS_DISAGREE: Final = _rule(
    "workers-disagree",
    "workers of one generation name different leaders or config offsets",
    source="KIP-415; ConnectProtocol.Assignment",
    remedy="check that all workers use the same group id, config topic and cluster, and one release",
)
ROUNDS_WITHOUT_CHANGE: Final = _rule(
    "rounds-without-change",
    "a round of Connect workers leaves members, configs and work as they were",
    threshold="one is a note, more than one in ten are a cost",
    source="KIP-415; IncrementalCooperativeAssignor",
    remedy="upgrade Connect; look for connectors that ask for reconfiguration again and again",
)
SCHEDULED_DELAY: Final = _rule(
    "scheduled-delay",
    "the work of a lost worker waits for its return",
    source="KIP-415 (scheduled.rebalance.max.delay.ms)",
    remedy="set scheduled.rebalance.max.delay.ms a little above the restart time of a worker: a longer delay keeps "
    "lost work waiting, a shorter one moves it twice",
)
CONFIG_BEHIND: Final = _rule(
    "config-behind",
    "a worker has not read the configs that its assignment is based on",
    threshold="more than five times",
    source="DistributedHerder.handleRebalanceCompleted",
    remedy="check the worker's access to the config topic, and worker.sync.timeout.ms",
)
WORK_FAILED: Final = _rule(
    "work-failed",
    "a connector or task failed",
    source="AbstractStatus.State.FAILED",
    remedy="mend the cause, then restart it: POST /connectors/NAME/restart?includeTasks=true&onlyFailed=true (KIP-745)",
)
WORK_UNASSIGNED: Final = _rule(
    "work-unassigned",
    "a task stays UNASSIGNED",
    threshold="60 s: a round is over by then",
    source="KIP-415; DistributedHerder",
    remedy="restart the task; if that does not help, restart the leader; check that the group has enough workers",
)
SHOWN_RUNNING: Final = _rule(
    "shown-running",
    "a status says RUNNING on a worker that is gone",
    source="KafkaStatusBackingStore",
    remedy="do not rely on REST's RUNNING alone: watch the members of the workers' group as well",
)
