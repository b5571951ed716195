"""Mutants of coordinators and consumers in the style of random edits."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions


def _search(protocol: SimulatedProtocol) -> FuzzSearch:
    return FuzzSearch(options=SimulationOptions(protocol=protocol))


_EAGER: Final = _search(SimulatedProtocol.EAGER)
_COOPERATIVE: Final = _search(SimulatedProtocol.COOPERATIVE)
_MIXED: Final = _search(SimulatedProtocol.MIXED)
_CONFIGS: Final = _search(SimulatedProtocol.CONNECT_CONFIG)


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _EAGER) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


GROUP_CLAIM_MUTANTS: Final = [
    _mutant(
        "loading-coordinator-refuses-heartbeats",
        "a coordinator that reads its log answers a heartbeat COORDINATOR_LOAD_IN_PROGRESS, which ends a client",
        "refusals_are_documented",
    ),
    _mutant(
        "commits-end-with-the-join-phase",
        "a commit is refused when a rebalance begins, and not when its generation is over",
        "refusals_are_true",
    ),
    _mutant(
        "returning-followers-skip",
        "a static follower that comes back is notified not to assign, and a static leader that does is not",
        "one_leader",
    ),
    _mutant(
        "positions-outlive-the-partition",
        "a consumer goes on committing what it read of partitions that it gave up",
        "revoked_is_not_committed",
        _COOPERATIVE,
    ),
    _mutant(
        "commits-prolong-no-session-in-a-join-phase",
        "a commit that comes in a join phase is no sign of activity of its member",
        "nobody_is_removed_early",
        _MIXED,
    ),
    _mutant(
        "loaded-members-have-no-session",
        "the sessions of members that a coordinator read from the log do not run",
        "silent_members_are_removed_in_time",
        _MIXED,
    ),
    _mutant(
        "sticky-looks-at-no-subscriptions",
        "the sticky assignors deal as if all members wanted the same topics",
        "assigned_topics_are_wanted",
        _MIXED,
    ),
    _mutant(
        "unknown-instance-is-fenced",
        "a member whose group instance id the group does not know is refused as if another had it",
        "refusals_are_true",
    ),
]
