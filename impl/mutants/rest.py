"""Mutants that leave something behind: nothing goes wrong at once, and a group at rest is not as it should be."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions

_EAGER: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.EAGER))
_COOPERATIVE: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE))
_CONNECT: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.CONNECT))
_METADATA: Final = FuzzSearch(
    options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, faults=(FaultKind.METADATA,))
)


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _EAGER) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


REST_MUTANTS: Final = [
    _mutant(
        "partitions-stay-marked-for-revocation",
        "partitions that wait for their last commit stay marked when the rebalance is over",
        "nothing_stays_marked",
    ),
    _mutant(
        "first-partition-count-kept",
        "a client keeps the partition count of a topic that it learned first",
        "knows_the_partitions_it_wants",
        _METADATA,
    ),
    _mutant(
        "session-timeout-taken-for-both",
        "a coordinator takes the session timeout of a member that joins again for its rebalance timeout, too",
        "coordinator_holds_what_members_want",
    ),
    _mutant(
        "topics-counted-once",
        "a coordinator counts the topics of its group's first generation for those of all that follow",
        "offsets_of_its_topics_are_held",
    ),
    _mutant(
        "assignment-forgotten-when-sent",
        "a coordinator keeps no assignment once it replied with it",
        "owned_is_what_the_coordinator_holds",
    ),
    _mutant(
        "former-member-keeps-its-timer",
        "the session timer of a member that leaves runs on",
        "former_members_are_forgotten",
    ),
    _mutant(
        "handed-out-id-is-not-timed",
        "a member id that was handed out and is never used is kept for ever",
        "each_member_is_timed",
    ),
    _mutant(
        "added-partitions-not-read",
        "a consumer that reads some partitions does not begin to read those that it gets in addition",
        "owned_partitions_are_read",
        _COOPERATIVE,
    ),
    _mutant(
        "auto-commit-interval-in-seconds",
        "auto.commit.interval.ms is taken for seconds",
        "what_is_read_is_committed",
    ),
    _mutant(
        "look-up-pause-keeps-growing",
        "a client that found its coordinator goes on from the last pause when it has to look for it again",
        "rest_is_like_new",
        _COOPERATIVE,
    ),
    _mutant(
        "started-store-forgets-topics",
        "a status store that has started takes the status of a topic for a tombstone",
        "rest_is_like_new",
        _CONNECT,
    ),
    _mutant(
        "election-names-no-address",
        "an election names the member that is the primary, and not where that is reached",
        "primary_is_known_to_all",
        FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.ELECTION)),
    ),
]
