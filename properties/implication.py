"""Implication between violations: the judge reports a defect once, by its first cause.

A violation is a consequence where another invariant, from whose violation it may follow, broke before it or at the same
event. It is named under that one, and counts as before. Two that may follow from each other are put in order by their
places, and at the same event by the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

_STUCK: Final = ("join_group_is_answered", "sync_group_is_answered", "rebalance_completes")

FOLLOWS: Final[Mapping[str, tuple[str, ...]]] = {
    # The coordinator's record, and its replies to the members.
    "persisted_before_propagated": ("load_restores_the_log", "one_assignment_per_generation"),
    "load_restores_the_log": (
        "generation_monotonicity",
        "one_assignment_per_generation",
        "committed_offset_is_fetched",
    ),
    "generation_monotonicity": ("one_leader", "one_protocol", "assigned_once_per_generation"),
    "one_leader": ("one_assignment_per_generation", "assigned_once_per_generation", "owned_equals_assigned"),
    "one_assignment_per_generation": ("assigned_once_per_generation", "owned_equals_assigned"),
    "requests_are_fenced": ("one_assignment_per_generation", "one_member_per_instance", "no_double_ownership"),
    # Owners of partitions, connectors and tasks.
    "assignment_is_disjoint": ("assigned_once_per_generation",),
    "owned_equals_assigned": ("no_double_ownership", "every_partition_gets_an_owner"),
    "assigned_once_per_generation": ("no_double_ownership",),
    "revoked_before_reassigned": ("no_double_ownership",),
    "reset_member_loses_everything": ("no_double_ownership", "callbacks_alternate", "lost_is_not_committed"),
    "eager_owns_nothing_while_joining": ("no_double_ownership", "callbacks_alternate"),
    "no_double_ownership": ("revoked_before_reassigned", "revoked_is_not_committed"),
    "revoked_work_has_stopped": ("work_runs_once",),
    # A rebalance that does not end.
    "every_partition_gets_an_owner": ("rebalance_completes",),
    "silent_members_are_removed_in_time": _STUCK,
    "join_phase_ends": _STUCK,
    "laggards_are_removed_in_time": _STUCK,
    "join_group_is_answered": ("rebalance_completes",),
    "sync_group_is_answered": ("rebalance_completes",),
    # Statuses.
    "safe_status_writes.suppressed_iff_newer_cached": ("last_status_says_what_runs",),
    "safe_status_writes.retries_are_admitted": ("last_status_says_what_runs",),
    "safe_status_writes.cache_follows_reads": ("safe_status_writes.readers_converge",),
}
"""For each invariant, those whose violation may follow directly from its own."""


def first_causes(broken: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """The first causes among violated invariants, the earliest first, each with its consequences, the earliest first.

    ``broken`` has the place in the history at which each invariant broke. A consequence of several first causes is
    named under the earliest.
    """
    order = sorted(broken, key=lambda name: broken[name])
    then = {name: [one for one in order if _follows(one, name, order, broken)] for name in order}
    consequences = {one for names in then.values() for one in names}
    named: set[str] = set()
    causes: dict[str, tuple[str, ...]] = {}
    for name in order:
        if name not in consequences:
            causes[name] = tuple(one for one in then[name] if one not in named)
            named.update(then[name])
    return causes


def _follows(one: str, cause: str, order: list[str], broken: Mapping[str, int]) -> bool:
    if one == cause or one not in may_follow(cause) or broken[one] < broken[cause]:
        return False
    return broken[one] > broken[cause] or cause not in may_follow(one) or order.index(cause) < order.index(one)


@cache
def may_follow(name: str) -> frozenset[str]:
    """All invariants whose violation may follow from that of this one, over others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = set(FOLLOWS.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return frozenset(found)
