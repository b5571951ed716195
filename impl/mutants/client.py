"""Mutants of the client coordinators: `rebalance_check.impl.client`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import ClusterMode, FaultKind, SimulatedProtocol, SimulationOptions

_EAGER: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.EAGER), last=300)
_COOPERATIVE: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE), last=300)
_CONNECT: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.CONNECT, mode=ClusterMode.EAGER))
_ELECTION: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.ELECTION))


def _search(protocol: SimulatedProtocol, faults: str, first: int, last: int) -> FuzzSearch:
    kinds = tuple(FaultKind(kind) for kind in faults.split(",") if kind)
    return FuzzSearch(options=SimulationOptions(protocol=protocol, faults=kinds), first=first, last=last)


def _fuzzed(name: str, what: str, caught_by: str, find: FuzzSearch) -> Mutant:
    """A defect that stands in the catalogue under its name."""
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find, catalogue_id=name)


CLIENT_MUTANTS: Final = [
    Mutant(
        name="config-mismatch-ignored",
        what="a worker takes a round that failed with CONFIG_MISMATCH for its assignment",
        caught_by="start_waits_for_configs",
        where="impl",
        find=_search(SimulatedProtocol.CONNECT, "config-outage,crash,pause", 5, 20),
    ),
    Mutant(
        name="eager-keeps-partitions-while-joining",
        what="an EAGER member does not revoke before it joins",
        caught_by="eager_owns_nothing_while_joining",
        where="impl",
        find=_EAGER,
    ),
    Mutant(
        name="join-prepare-flag-not-rearmed-after-reset",
        what="a member that was thrown out joins again without giving up its partitions",
        caught_by="no_double_ownership",
        where="impl",
        find=replace(_COOPERATIVE, first=140, last=150),
        catalogue_id="join-prepare-flag-not-rearmed-after-reset",
    ),
    Mutant(
        name="lost-partitions-kept",
        what="a member that was thrown out keeps its partitions and claims them as its own",
        caught_by="no_double_ownership",
        where="impl",
        find=_COOPERATIVE,
    ),
    Mutant(
        name="primary-acts-while-joining",
        what="the primary of an election keeps acting while the next one is under way",
        caught_by="no_double_ownership",
        where="impl",
        find=_ELECTION,
    ),
    Mutant(
        name="revoked-partitions-kept",
        what="a COOPERATIVE member does not give up what its new assignment takes away",
        caught_by="callbacks_alternate",
        where="impl",
        find=_COOPERATIVE,
    ),
    Mutant(
        name="unknown-member-keeps-id",
        what="a member that the coordinator does not know joins again under the same member id",
        caught_by="rebalance_completes",
        where="impl",
        find=_EAGER,
        catalogue_id="unknown-member-keeps-id",
    ),
    Mutant(
        name="worker-keeps-tasks-while-joining",
        what="an eager Connect worker does not stop its work before it joins",
        caught_by="no_double_ownership",
        where="impl",
        find=_CONNECT,
    ),
    Mutant(
        name="zombie-worker-keeps-tasks",
        what="a Connect worker that was thrown out joins again without stopping its work",
        caught_by="no_double_ownership",
        where="impl",
        find=replace(_CONNECT, first=30, last=40),
    ),
    Mutant(
        name="outdated-join-reply-applied",
        what="the answer to a JoinGroup that was given up is applied to the present one",
        caught_by="wire_sync_follows_join",
        where="impl",
        find=_search(SimulatedProtocol.COOPERATIVE, "refusal,pause,delay", 630, 640),
        catalogue_id="outdated-join-response-applied",
    ),
    Mutant(
        name="stale-response-resets-generation",
        what="an error that belongs to an older generation resets the present one",
        caught_by="wire_sync_follows_join",
        where="impl",
        find=_search(SimulatedProtocol.EAGER, "pause,slow-application,delay,reorder,disconnect", 30, 40),
        catalogue_id="stale-response-resets-current-generation",
    ),
    _fuzzed(
        "sync-rebalance-in-progress-over-revokes",
        "REBALANCE_IN_PROGRESS to a SyncGroup ends the membership, and all is lost",
        "membership_ends_for_a_reason",
        _search(SimulatedProtocol.COOPERATIVE, "", 0, 10),
    ),
    _fuzzed(
        "illegal-generation-discards-member-id",
        "ILLEGAL_GENERATION takes the member id away as well",
        "wire_member_id_is_kept",
        _search(SimulatedProtocol.EAGER, "pause,duplicate,reorder,disconnect", 160, 170),
    ),
    _fuzzed(
        "retriable-error-discards-membership",
        "a failure that is retried after the backoff takes generation and member id away",
        "wire_member_id_is_kept",
        _search(SimulatedProtocol.EAGER, "refusal", 10, 20),
    ),
    _fuzzed(
        "wakeup-abandons-completed-rebalance",
        "a join that is complete is not completed by the poll after it: the flag has fallen already",
        "rebalance_completes",
        _search(SimulatedProtocol.EAGER, "", 0, 10),
    ),
    _fuzzed(
        "commit-rebalance-in-progress-resets-membership",
        "REBALANCE_IN_PROGRESS to a commit ends the membership",
        "membership_ends_for_a_reason",
        _search(SimulatedProtocol.COOPERATIVE, "refusal", 0, 10),
    ),
    _fuzzed(
        "protocol-check-against-reset-generation",
        "the protocol of a SyncGroup answer is compared although the generation was reset meanwhile",
        "rebalance_completes",
        _search(SimulatedProtocol.EAGER, "subscription,delay,refusal", 110, 120),
    ),
    _fuzzed(
        "coordinator-lookup-future-leaked",
        "a look-up of the coordinator that failed counts as under way for ever",
        "rebalance_completes",
        _search(SimulatedProtocol.EAGER, "look-up", 0, 10),
    ),
    _fuzzed(
        "join-write-timeout-unhandled",
        "REBALANCE_IN_PROGRESS to a JoinGroup is fatal",
        "rebalance_completes",
        _search(SimulatedProtocol.EAGER, "refusal", 20, 30),
    ),
    _fuzzed(
        "loading-error-on-join-not-retried",
        "COORDINATOR_LOAD_IN_PROGRESS to a JoinGroup is fatal",
        "rebalance_completes",
        _search(SimulatedProtocol.EAGER, "refusal", 25, 40),
    ),
    _fuzzed(
        "assignment-buffer-consumed-by-aborted-completion",
        "an assignment whose application was interrupted is read on from where that ended",
        "rebalance_completes",
        _search(SimulatedProtocol.EAGER, "wake-up", 0, 10),
    ),
    _fuzzed(
        "join-disables-heartbeats-on-every-pass",
        "every round of the join loop switches the heartbeats off",
        "rebalance_completes",
        _search(SimulatedProtocol.EAGER, "", 0, 10),
    ),
    _fuzzed(
        "heartbeat-continues-after-reset",
        "heartbeats go on when the generation is gone",
        "wire_heartbeats_as_a_member",
        _search(SimulatedProtocol.EAGER, "pause,subscription", 0, 10),
    ),
    _fuzzed(
        "local-session-timer-ignores-rebalance-replies",
        "REBALANCE_IN_PROGRESS to a heartbeat does not prolong the client's own session, whose end ends the membership",
        "wire_member_id_is_kept",
        _search(SimulatedProtocol.EAGER, "slow-application", 60, 70),
    ),
    _fuzzed(
        "iggy-late-offset-store-after-leave",
        "the last commit goes out behind the LeaveGroup",
        "wire_lost_membership_is_not_used",
        _search(SimulatedProtocol.EAGER, "", 0, 10),
    ),
    _fuzzed(
        "unsubscribe-clears-assignment-before-callback",
        "unsubscribing forgets the partitions before the application is notified",
        "callbacks_alternate",
        _search(SimulatedProtocol.EAGER, "subscription", 0, 10),
    ),
    _fuzzed(
        "leader-group-subscription-lingers",
        "who led once goes on watching the topics of that round",
        "rebalance_completes",
        _search(SimulatedProtocol.EAGER, "metadata,pause", 40, 60),
    ),
    _fuzzed(
        "assignment-mismatch-kills-consumer",
        "an assignment with a topic that was dropped meanwhile is fatal",
        "rebalance_completes",
        _search(SimulatedProtocol.EAGER, "subscription,delay", 0, 10),
    ),
    _fuzzed(
        "eager-cooperative-mode-disagreement-inside-client",
        "a COOPERATIVE member that lists an assignor for EAGER, too, gives up and does not join again",
        "rebalance_completes",
        _search(SimulatedProtocol.COOPERATIVE, "", 0, 20),
    ),
    _fuzzed(
        "schema-registry-elector-thread-dies",
        "an exception in its join loop ends the thread of a candidate",
        "rebalance_completes",
        _search(SimulatedProtocol.ELECTION, "wake-up", 7, 12),
    ),
    _fuzzed(
        "schema-registry-two-masters-without-epoch",
        "the news of an election are acted upon one election late",
        "no_double_ownership",
        _search(SimulatedProtocol.ELECTION, "", 0, 10),
    ),
    _fuzzed(
        "strategy-preference-order-ignored",
        "assignors are offered in alphabetical order",
        "offers_its_assignors",
        _search(SimulatedProtocol.EAGER, "mixed-members", 0, 20),
    ),
    _fuzzed(
        "heartbeat-thread-clears-generation-before-completion",
        "an assignment is applied though the heartbeat thread has left the group meanwhile",
        "rebalance_completes",
        _search(SimulatedProtocol.EAGER, "slow-application,delay", 230, 240),
    ),
    _fuzzed(
        "join-future-not-cleared-after-reset",
        "a join that was overtaken by a reset is looked at again and again",
        "rebalance_completes",
        _search(SimulatedProtocol.EAGER, "slow-application,delay", 230, 240),
    ),
    _fuzzed(
        "rejoin-flag-cleared-at-join-not-sync",
        "when SyncGroup fails the member takes itself for joined",
        "wire_rejoins_when_rebalancing",
        _search(SimulatedProtocol.EAGER, "refusal", 0, 40),
    ),
    _fuzzed(
        "all-heartbeat-errors-mark-coordinator-dead",
        "REBALANCE_IN_PROGRESS to a heartbeat counts as a lost coordinator",
        "wire_leaves_on_close",
        replace(_EAGER, first=115, last=125),
    ),
    _fuzzed(
        "cooperative-unsubscribe-skips-leave",
        "a COOPERATIVE member that unsubscribes sends no LeaveGroup",
        "wire_leaves_on_close",
        _search(SimulatedProtocol.COOPERATIVE, "subscription", 0, 20),
    ),
    _fuzzed(
        "fetch-continues-while-commit-before-revoke",
        "records are delivered while the commit that precedes a revocation is under way",
        "revoked_where_committed",
        _search(SimulatedProtocol.EAGER, "delay,pause,slow-application,drop,disconnect", 35, 50),
    ),
    _fuzzed(
        "prepare-commit-restarted-every-poll",
        "every poll sends the commit that precedes a rebalance anew",
        "one_commit_precedes_a_join",
        _search(SimulatedProtocol.EAGER, "delay,pause,slow-application,drop,disconnect", 35, 50),
    ),
    Mutant(
        name="pattern-looks-at-topics-once",
        what="a pattern finds its topics when the consumer subscribes, and never again",
        caught_by="rebalance_completes",
        where="impl",
        find=_search(SimulatedProtocol.COOPERATIVE, "pattern", 0, 20),
    ),
    Mutant(
        name="pattern-takes-internal-topics",
        what="a pattern matches the topics that brokers keep for themselves, too",
        caught_by="rebalance_completes",
        where="impl",
        find=_search(SimulatedProtocol.EAGER, "pattern", 0, 20),
    ),
]
