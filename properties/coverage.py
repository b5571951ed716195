"""The invariants that hold each statement about the classic protocol, so that none is left out unnoticed.

Two lists of statements, of the broker's side (1-34) and of the client's (1-37), were drawn up from the source of Apache
Kafka 4.0 (``GroupMetadataManager``, ``ClassicGroup``; ``AbstractCoordinator``, ``ConsumerCoordinator``, the assignors).
Each stands here in a few words, with the claims that hold it. A claim is an invariant of the catalogue by its name, or

- ``assignors.NAME``: a claim about one answer of an assignor (`properties.assignment.claims`);
- ``model.NAME``: a claim that the explorer checks on every state of the classic model (`model.classic.invariants`);
- ``liveness.NAME``: a claim that is judged on the state graph of the classic model, under weak fairness and in any
  number of generations (`model.classic.liveness`);
- a path: tests that hold the statement where no history of a group can show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Fate(StrEnum):
    """How a statement is held."""

    OWN = "a claim of its own"
    MERGED = "part of a claim"
    ELSEWHERE = "held elsewhere"
    OTHER = "another protocol"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a list: its number, its text, how it is held, by which invariants, and why there."""

    number: int
    says: str
    fate: Fate
    claims: tuple[str, ...] = ()
    why: str = ""


_OWN, _MERGED, _ELSEWHERE, _OTHER = Fate.OWN, Fate.MERGED, Fate.ELSEWHERE, Fate.OTHER
_ANSWER: Final = "a property of one answer of an assignor, which needs the problem that it was given"
_INSIDE: Final = "requests that wait are not seen from outside: the model shows it, and its replies are compared"
_AT_REST: Final = (
    "liveness: proven of the model without a limit in time; the end of a healed run names all that had not come to rest"
)
_IN_TIME: Final = (
    "judged in ms where the run says that its timers are punctual; elsewhere timers may be late, and a wait without "
    "an end is for the liveness properties"
)

BROKER_SIDE: Final = (
    Statement(1, "the status moves along its table", _MERGED, ("no_server_error",),
              "Kafka's code throws at any other move"),
    Statement(
        2, "the generation grows by one at the end of a join phase and never otherwise", _MERGED,
        ("generation_monotonicity",), "one claim about one counter; the model checks both halves by themselves",
    ),
    Statement(
        3, "the generation is not below that of the last record", _MERGED, ("generation_monotonicity",),
        "the log is one of the three places where the counter is compared",
    ),
    Statement(4, "pending ids and members are disjoint", _MERGED,
              ("generation_has_only_joined", "requests_are_fenced", "model.pending_ids_are_not_members"),
              "a pending id that counts as a member did not join, or is accepted from outside the group"),
    Statement(5, "instance ids and static members correspond", _OWN, ("one_member_per_instance",)),
    Statement(6, "a group with members has a leader, one of them", _OWN, ("leader_is_member",)),
    Statement(7, "the members share a protocol, and the selected one is among those", _OWN,
              ("selected_protocol_is_listed_by_all",)),
    Statement(8, "a JoinGroup is parked in PreparingRebalance only", _ELSEWHERE,
              ("model.parked_requests_fit_the_status",), _INSIDE),
    Statement(
        9, "a SyncGroup is parked in CompletingRebalance only", _ELSEWHERE,
        ("model.parked_requests_fit_the_status",), _INSIDE,
    ),
    Statement(10, "only members of a formed generation owe a SyncGroup", _OWN, ("member_removal_has_a_cause",),
              "who owes one shows when the sync timeout removes it"),
    Statement(11, "a generation begins with those that joined, and silent static members", _OWN,
              ("generation_has_only_joined",)),
    Statement(12, "the member list goes to one leader", _OWN, ("one_leader",),
              "at the coordinator, and as members understand it"),
    Statement(13, "all answers to JoinGroup agree on protocol and leader", _OWN,
              ("one_leader", "one_protocol"), "at the coordinator, and as members understand it"),
    Statement(14, "an assignment is on record before it is handed out", _OWN, ("persisted_before_propagated",)),
    Statement(15, "a member is given one assignment per generation", _OWN, ("one_assignment_per_generation",)),
    Statement(16, "Stable means that generation and members are on record", _MERGED,
              ("persisted_before_propagated", "model.stable_is_persisted"),
              "a Stable group is one that hands its assignments out"),
    Statement(17, "SyncGroup is fenced by member and generation", _OWN, ("requests_are_fenced",)),
    Statement(18, "Heartbeat is fenced by member, generation and status", _OWN, ("requests_are_fenced",)),
    Statement(19, "OffsetCommit is fenced by member, generation and status", _OWN, ("requests_are_fenced",)),
    Statement(20, "commits of an older generation end with the join phase", _MERGED,
              ("requests_are_fenced", "stale_generation_is_refused"),
              "a commit must name the present generation; clients see the same from their side"),
    Statement(21, "an instance id passes for one member id, and a fenced one never again", _OWN,
              ("requests_are_fenced", "fenced_stays_fenced"), "a fenced member is not the holder of the id"),
    Statement(22, "no more members join than the group may have", _OWN, ("group_fits_max_size",)),
    Statement(23, "a load begins with the record, and nothing else", _OWN, ("load_restores_the_log",)),
    Statement(24, "Empty is empty", _MERGED, ("leader_is_member", "model.empty_group_is_clean"),
              "without members there is no leader; the rest is not seen from outside"),
    Statement(25, "a request is answered at most once", _OWN, ("one_response_per_request",)),
    Statement(26, "only an Empty group is deleted", _OWN, ("only_empty_groups_are_deleted",)),
    Statement(27, "the broker does not guarantee that assignments are disjoint", _MERGED, ("assignment_is_disjoint",),
              "so it is asked of the leader, who computes them"),
    Statement(28, "a join phase is bounded by the rebalance timeout", _OWN,
              ("rebalance_completes", "liveness.rebalance_completes",
               "liveness.parked_requests_are_answered"), _IN_TIME),
    Statement(29, "CompletingRebalance is bounded by the sync timeout", _OWN,
              ("laggards_are_removed_in_time", "rebalance_completes", "liveness.rebalance_completes"),
              _IN_TIME),
    Statement(30, "who never syncs is removed in time", _MERGED,
              ("laggards_are_removed_in_time", "rebalance_completes", "member_removal_has_a_cause"),
              "one timer for both phases: the same claim"),
    Statement(31, "a silent member is removed after its session timeout, and none earlier", _OWN,
              ("silent_members_are_removed_in_time", "nobody_is_removed_early", "rebalance_completes"), _IN_TIME),
    Statement(32, "a pending id vanishes after its session timeout", _MERGED,
              ("rebalance_completes", "liveness.pending_ids_vanish", "join_phase_ends"), _AT_REST),
    Statement(33, "an undisturbed group converges", _MERGED,
              ("rebalance_completes", "liveness.rebalance_completes", "liveness.every_partition_gets_an_owner"),
              _AT_REST),
    Statement(34, "a live client that keeps polling is a member in the end", _MERGED,
              ("rebalance_completes", "liveness.no_stuck_member"), _AT_REST),
)  # fmt: skip
"""The statements about the broker's side: 1-27 about safety, 28-34 about liveness."""

CLIENT_SIDE: Final = (
    Statement(1, "an assignment gives a partition to one member at most", _OWN,
              ("assignment_is_disjoint", "assignors.exclusive")),
    Statement(2, "a member is given only partitions of topics in its subscription", _ELSEWHERE,
              ("assignors.subscribed",), _ANSWER),
    Statement(3, "a non-cooperative assignment is complete", _ELSEWHERE,
              ("assignors.complete", "every_partition_gets_an_owner"), _ANSWER + "; in time, each has an owner"),
    Statement(4, "a cooperative assignment leaves out only partitions that another member claims", _ELSEWHERE,
              ("assignors.withheld_is_claimed", "every_partition_gets_an_owner"), _ANSWER),
    Statement(5, "a partition that a member claims goes to no other in the same round", _OWN,
              ("revoked_before_reassigned", "assignors.transfer")),
    Statement(6, "numbers of partitions differ by one at most (subscribed alike)", _ELSEWHERE,
              ("assignors.balanced",), _ANSWER),
    Statement(7, "as much stays as balance allows (subscribed alike)", _ELSEWHERE, ("assignors.sticky",), _ANSWER),
    Statement(8, "no move would balance it better (subscribed differently)", _ELSEWHERE,
              ("assignors.balanced",), _ANSWER),
    Statement(9, "range: per topic, and members that subscribe alike get like indices", _ELSEWHERE,
              ("assignors.ranges", "assignors.copartitioned"), _ANSWER),
    Statement(10, "range and roundrobin are functions of their arguments", _ELSEWHERE,
              ("tests/integration/oracle/test_java_assignors.py",),
              "two answers are compared: ours and Kafka's own, bytes of the same problem"),
    Statement(11, "a partition has one current owner", _OWN, ("no_double_ownership",),
              "zombies are not current: a removed member that does not know it yet, a silent static one, one that a "
              "loading or a replaced coordinator answers, one whose generation a failover brought back"),
    Statement(12, "a zombie gives up at its first poll that reaches the join, and cannot commit before", _MERGED,
              ("reset_member_loses_everything", "lost_is_not_committed", "requests_are_fenced"),
              "no bound in time exists; one invariant judges its next poll, another its commits"),
    Statement(13, "EAGER owns nothing while it joins", _OWN, ("eager_owns_nothing_while_joining",)),
    Statement(14, "COOPERATIVE keeps the partitions that it still wants while it joins", _OWN,
              ("cooperative_keeps_what_it_owns",)),
    Statement(15, "a member owns its assignment", _OWN, ("owned_equals_assigned",)),
    Statement(16, "callbacks alternate and add up", _OWN, ("callbacks_alternate",)),
    Statement(17, "revoked or lost before it is granted to another", _MERGED, ("revoked_before_reassigned",),
              "the same claim, at the grant instead of at the leader"),
    Statement(18, "who revokes when its assignment comes joins again", _OWN,
              ("wire_revoked_partitions_are_handed_over",)),
    Statement(19, "a reset makes the next join empty-handed", _OWN, ("reset_member_loses_everything",)),
    Statement(20, "a client's rebalance protocol never changes", _MERGED,
              ("eager_owns_nothing_while_joining", "cooperative_keeps_what_it_owns"),
              "MemberStarted tells it once; a change shows as one of the two. A client with an assignor that does not "
              "support it is refused when it is made"),
    Statement(21, "one chain of JoinGroup and SyncGroup in flight, heartbeats only after the join", _OWN,
              ("wire_joins_one_at_a_time", "wire_no_heartbeat_while_joining")),
    Statement(22, "commits only when settled, tagged with the present generation", _OWN,
              ("wire_commits_what_it_owns",)),
    Statement(23, "a reader understands every version up to its own", _ELSEWHERE,
              ("tests/impl/test_codec_properties.py",), "bytes, not histories"),
    Statement(24, "the upgrade path of two restarts is safe, a single restart is refused", _MERGED,
              ("no_double_ownership", "selected_protocol_is_listed_by_all"),
              "the upgrade path is a family of schedules (rebalance-check explore --upgrade), judged by these"),
    *(Statement(number, says, _OTHER, (), "the consumer group protocol of KIP-848")
      for number, says in (
          (25, "partition epochs exclude each other"), (26, "a client owns no more than its record"),
          (27, "epochs are ordered"), (28, "no grant before an acknowledgement"),
          (29, "a target assignment is well-formed"), (30, "commits are fenced by epoch"),
          (31, "Stable means reconciled"), (32, "conversion between the protocols preserves"),
      )),
    Statement(33, "an undisturbed group converges in one round (EAGER) or two (COOPERATIVE, subscribed alike)", _MERGED,
              ("rebalance_completes", "every_partition_gets_an_owner"),
              _AT_REST + "; the number of rounds is a claim about courses of assignments"),
    Statement(34, "the leader notices changed metadata", _ELSEWHERE, ("tests/impl/test_client_scenarios.py",),
              "simulated topics grow (the fault `metadata`), and no event records it; a leader's rejoin is a "
              "row of the client's table"),
    Statement(35, "errors lead to a rejoin, at once or after a backoff", _MERGED,
              ("rebalance_completes", "tests/impl/test_client_scenarios.py"), _AT_REST),
    *(Statement(number, says, _OTHER, (), "the consumer group protocol of KIP-848")
      for number, says in ((36, "reconciliation ends"), (37, "a rejoin after a lost leave succeeds"))),
)  # fmt: skip
"""The statements about the client's side: 1-32 about safety, 33-37 about liveness."""

LISTS: Final = {"broker side": BROKER_SIDE, "client side": CLIENT_SIDE}
"""Both lists, by name."""
