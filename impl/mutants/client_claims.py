"""Mutants of the client coordinators, at least one for each claim about what clients do by themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions

_COOPERATIVE: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE), last=300)


_METADATA: Final = FuzzSearch(
    options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, faults=(FaultKind.METADATA,))
)


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _COOPERATIVE) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


CLIENT_CLAIM_MUTANTS: Final = [
    _mutant(
        "additions-ignored-by-owners",
        "a COOPERATIVE member that owns partitions takes no others in addition",
        "owned_equals_assigned",
    ),
    _mutant(
        "commits-while-rebalancing",
        "a member sends commits also while it waits in JoinGroup or SyncGroup",
        "commits_when_stable",
    ),
    _mutant(
        "cooperative-revokes-all-before-joining",
        "a COOPERATIVE member revokes everything before it joins, as if it were EAGER",
        "cooperative_keeps_what_it_owns",
    ),
    _mutant(
        "refused-commit-keeps-the-member-id",
        "a member whose OffsetCommit is answered UNKNOWN_MEMBER_ID joins again with that member id",
        "lost_member_id_is_not_used",
    ),
    _mutant(
        "refused-heartbeat-backs-off",
        "a member whose heartbeat is answered that it is no member waits for ten seconds before it loses and joins",
        "former_member_reads_nothing",
    ),
    _mutant(
        "given-up-request-is-handled-again",
        "a request whose connection broke is given up with all others, and once more by itself",
        "request_ends_once",
    ),
    _mutant(
        "leader-overlooks-new-partitions",
        "a leader that learns of new partitions does not join again",
        "every_partition_gets_an_owner",
        replace(_METADATA, first=20, last=30),
    ),
    _mutant("heartbeats-while-joining", "heartbeats go on while a JoinGroup is on its way", "one_chain_in_flight"),
    _mutant(
        "lost-partitions-revoked",
        "a member that was thrown out gives its partitions up as if it still owned them",
        "reset_member_loses_everything",
    ),
    _mutant(
        "positions-outlive-ownership",
        "a member goes on committing what it consumed of partitions that it does not own any more",
        "lost_is_not_committed",
    ),
    _mutant(
        "single-revocation-not-worth-a-join",
        "a COOPERATIVE member that revoked one partition does not join again for it",
        "assignment_is_complete",
    ),
    _mutant(
        "no-rejoin-after-revoking",
        "a COOPERATIVE member that revoked partitions does not join again for them",
        "who_revokes_rejoins",
    ),
]
