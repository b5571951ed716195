"""The claims that hold each statement about the classic protocol, so that none is left out unnoticed.

Two lists of statements, of the broker's side and of the client's, were drawn up from the source of Apache Kafka 4.0
(``GroupMetadataManager``, ``ClassicGroup``; ``AbstractCoordinator``, ``ConsumerCoordinator``, the assignors). Those
about the consumer group protocol of KIP-848 have no claim. A claim is an invariant of the catalogue by its name, or

- ``assignors.NAME``: a claim about one answer of an assignor (`properties.assignment.claims`);
- ``model.NAME``: a claim that the explorer checks on every state of the classic model (`model.classic.invariants`);
- ``liveness.NAME``: a claim that is judged on the state graph of the classic model, under weak fairness and in any
  number of generations (`model.classic.liveness`);
- a path: tests that hold the statement where no history of a group can show it.
"""

from __future__ import annotations

from typing import Final

BROKER_SIDE: Final[dict[str, str]] = {
    "the status moves along its table": "no_server_error",
    "the generation grows by one at the end of a join phase and never otherwise": "generation_monotonicity",
    "the generation is not below that of the last record": "generation_monotonicity",
    "pending ids and members are disjoint":
        "generation_has_only_joined requests_are_fenced model.pending_ids_are_not_members",
    "instance ids and static members correspond": "one_member_per_instance",
    "a group with members has a leader, one of them": "leader_is_member",
    "the members share a protocol, and the selected one is among those": "selected_protocol_is_listed_by_all",
    "a JoinGroup is parked in PreparingRebalance only": "model.parked_requests_fit_the_status",
    "a SyncGroup is parked in CompletingRebalance only": "model.parked_requests_fit_the_status",
    "only members of a formed generation owe a SyncGroup": "member_removal_has_a_cause",
    "a generation begins with those that joined, and silent static members": "generation_has_only_joined",
    "the member list goes to one leader": "one_leader",
    "all answers to JoinGroup agree on protocol and leader": "one_leader one_protocol",
    "an assignment is on record before it is handed out": "persisted_before_propagated",
    "a member is given one assignment per generation": "one_assignment_per_generation",
    "Stable means that generation and members are on record": "persisted_before_propagated model.stable_is_persisted",
    "SyncGroup is fenced by member and generation": "requests_are_fenced",
    "Heartbeat is fenced by member, generation and status": "requests_are_fenced",
    "OffsetCommit is fenced by member, generation and status": "requests_are_fenced",
    "commits of an older generation end with the join phase": "requests_are_fenced stale_generation_is_refused",
    "an instance id passes for one member id, and a fenced one never again":
        "requests_are_fenced fenced_stays_fenced",
    "no more members join than the group may have": "group_fits_max_size",
    "a load begins with the record, and nothing else": "load_restores_the_log",
    "Empty is empty": "leader_is_member model.empty_group_is_clean",
    "a request is answered at most once": "one_response_per_request",
    "only an Empty group is deleted": "only_empty_groups_are_deleted",
    "the broker does not guarantee that assignments are disjoint": "assignment_is_disjoint",
    "a join phase is bounded by the rebalance timeout":
        "rebalance_completes liveness.rebalance_completes liveness.parked_requests_are_answered",
    "CompletingRebalance is bounded by the sync timeout":
        "laggards_are_removed_in_time rebalance_completes liveness.rebalance_completes",
    "who never syncs is removed in time":
        "laggards_are_removed_in_time rebalance_completes member_removal_has_a_cause",
    "a silent member is removed after its session timeout, and none earlier":
        "silent_members_are_removed_in_time nobody_is_removed_early rebalance_completes",
    "a pending id vanishes after its session timeout":
        "rebalance_completes liveness.pending_ids_vanish join_phase_ends",
    "an undisturbed group converges":
        "rebalance_completes liveness.rebalance_completes liveness.every_partition_gets_an_owner",
    "a live client that keeps polling is a member in the end": "rebalance_completes liveness.no_stuck_member",
}  # fmt: skip
"""The statements about the broker's side: the last 7 are about liveness."""

CLIENT_SIDE: Final[dict[str, str]] = {
    "an assignment gives a partition to one member at most": "assignment_is_disjoint assignors.exclusive",
    "a member is given only partitions of topics in its subscription": "assignors.subscribed",
    "a non-cooperative assignment is complete": "assignors.complete every_partition_gets_an_owner",
    "a cooperative assignment leaves out only partitions that another member claims":
        "assignors.withheld_is_claimed every_partition_gets_an_owner",
    "a partition that a member claims goes to no other in the same round":
        "revoked_before_reassigned assignors.transfer",
    "numbers of partitions differ by one at most (subscribed alike)": "assignors.balanced",
    "as much stays as balance allows (subscribed alike)": "assignors.sticky",
    "no move would balance it better (subscribed differently)": "assignors.balanced",
    "range: per topic, and members that subscribe alike get like indices": "assignors.ranges assignors.copartitioned",
    "range and roundrobin are functions of their arguments": "tests/integration/oracle/test_java_assignors.py",
    "a partition has one current owner": "no_double_ownership",
    "a zombie gives up at its first poll that reaches the join, and cannot commit before":
        "reset_member_loses_everything lost_is_not_committed requests_are_fenced",
    "EAGER owns nothing while it joins": "eager_owns_nothing_while_joining",
    "COOPERATIVE keeps the partitions that it still wants while it joins": "cooperative_keeps_what_it_owns",
    "a member owns its assignment": "owned_equals_assigned",
    "callbacks alternate and add up": "callbacks_alternate",
    "revoked or lost before it is granted to another": "revoked_before_reassigned",
    "who revokes when its assignment comes joins again": "wire_revoked_partitions_are_handed_over",
    "a reset makes the next join empty-handed": "reset_member_loses_everything",
    "a client's rebalance protocol never changes": "eager_owns_nothing_while_joining cooperative_keeps_what_it_owns",
    "one chain of JoinGroup and SyncGroup in flight, heartbeats only after the join":
        "wire_joins_one_at_a_time wire_no_heartbeat_while_joining",
    "commits only when settled, tagged with the present generation": "wire_commits_what_it_owns",
    "a reader understands every version up to its own": "tests/impl/test_codec_properties.py",
    "the upgrade path of two restarts is safe, a single restart is refused":
        "no_double_ownership selected_protocol_is_listed_by_all",
    "partition epochs exclude each other": "",
    "a client owns no more than its record": "",
    "epochs are ordered": "",
    "no grant before an acknowledgement": "",
    "a target assignment is well-formed": "",
    "commits are fenced by epoch": "",
    "Stable means reconciled": "",
    "conversion between the protocols preserves": "",
    "an undisturbed group converges in one round (EAGER) or two (COOPERATIVE, subscribed alike)":
        "rebalance_completes every_partition_gets_an_owner",
    "the leader notices changed metadata": "tests/impl/test_client_scenarios.py",
    "errors lead to a rejoin, at once or after a backoff": "rebalance_completes tests/impl/test_client_scenarios.py",
    "reconciliation ends": "",
    "a rejoin after a lost leave succeeds": "",
}  # fmt: skip
"""The statements about the client's side: the last 5 are about liveness."""

LISTS: Final = {"broker side": BROKER_SIDE, "client side": CLIENT_SIDE}
"""Both lists, by name: of each statement the claims that hold it, none where it is about another protocol."""
