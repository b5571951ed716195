"""Mutants of Connect's assignors: the incremental one, the eager one, and what both share."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_ASSIGNORS: Final = "rebalance_check.impl.connect.assignors"
_BALANCE: Final = f"{_ASSIGNORS}.balance"
_EAGER: Final = f"{_ASSIGNORS}.eager"
_INCREMENTAL: Final = f"{_ASSIGNORS}.incremental"
_ROUND: Final = f"{_ASSIGNORS}.round"

CONNECT_ASSIGNOR_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "connect-duplicates-not-revoked": (
        Edit(f"{_INCREMENTAL}:revoke_invalid", "found.deleted | found.duplicated", "found.deleted"),
    ),
    "connect-failed-sync-counts-as-lost": (
        Edit(
            f"{_INCREMENTAL}:recall",
            "memory.previous_assignment if completed else frozenset()",
            "memory.previous_assignment",
        ),
        Edit(
            f"{_INCREMENTAL}:handle_lost",
            "memory.scheduled_rebalance_ms <= 0 and memory.previous_members <= current.members.keys()",
            "False",
        ),
    ),
    "connect-no-revoke-in-consecutive-rounds": (
        Edit(
            f"{_INCREMENTAL}:revoke_for_balance",
            "    successive = ",
            "    return replace(memory, revoked_in_previous=False), {}\n    successive = ",
        ),
    ),
    "connect-lost-tasks-to-single-candidate": (
        Edit(f"{_INCREMENTAL}:handle_lost", "_deal(work, candidates, ", "_deal(work, candidates[:1], "),
    ),
    "connect-revocation-rounds-down": (
        Edit(f"{_BALANCE}:_surplus_of_kind", "items[: len(items) - kept]", "items[: min(len(items) - kept, share)]"),
    ),
    "connect-delay-not-reset-when-nothing-lost": (
        Edit(f"{_INCREMENTAL}:handle_lost", "memory = _without_delay(memory)", "pass"),
    ),
    "connect-eager-interleaves-connectors-and-tasks": (
        Edit(
            f"{_EAGER}:EagerAssignor.assign",
            "chain.from_iterable(filter(of_kind, configured) for of_kind in KINDS)",
            "configured",
        ),
    ),
    "connect-claim-of-deleted-connector-throws": (
        Edit(f"{_INCREMENTAL}:_claim_of", "Item(name, ITSELF)", "Item(name, min(current.task_counts[name], ITSELF))"),
    ),
    "connect-idle-worker-gets-no-assignment": (
        Edit(
            f"{_INCREMENTAL}:answer",
            "        added = ",
            "        if not items and not revoked[worker]:\n            continue\n        added = ",
        ),
    ),
    "connect-idle-worker-gets-no-delay": (
        Edit(f"{_INCREMENTAL}:answer", "delay_ms=delay_ms", "delay_ms=delay_ms if items else 0"),
    ),
    "connect-assignment-names-the-members-url": (
        Edit(f"{_EAGER}:EagerAssignor.assign", "current.members[current.leader].url", "current.members[member].url"),
    ),
    "connect-mismatch-names-the-leaders-offset": (
        Edit(
            f"{_ROUND}:config_mismatch",
            "config_offset=furthest(members)",
            "config_offset=members[leader].config_offset",
        ),
    ),
    "connect-leader-assigns-though-it-is-behind": (
        Edit(
            f"{_ROUND}:leader_configs",
            "    if known.offset >= needed:\n        return known, needed",
            "    return known, known.offset",
        ),
    ),
    "connect-eager-drops-connectors-without-tasks": (
        Edit(
            f"{_EAGER}:EagerAssignor.assign",
            "in_order(current.configured)",
            "in_order(one for one in current.configured if current.task_counts[one.connector])",
        ),
    ),
    "connect-created-ignores-claims": (
        Edit(f"{_INCREMENTAL}:sort_out", "configured - previous - active", "configured - previous"),
    ),
    "connect-deleted-is-revoked-from-all": (
        Edit(
            f"{_INCREMENTAL}:revoke_invalid",
            "[item for item in items if item in invalid]",
            "[item for item in items if item in invalid] or in_order(found.deleted)",
        ),
    ),
    "connect-revoked-is-placed-at-once": (
        Edit(
            f"{_INCREMENTAL}:IncrementalAssignor.assign",
            "*in_order(again)]",
            "*in_order(again), *chain.from_iterable(surrendered.values())]",
        ),
    ),
    "connect-deleted-work-runs-on": (
        Edit(f"{_INCREMENTAL}:revoke_invalid", "found.deleted | found.duplicated", "found.duplicated"),
    ),
    "connect-lost-work-is-given-twice": (
        Edit(f"{_INCREMENTAL}:handle_lost", "        memory = expired", "        return expired, lost"),
    ),
    "connect-leader-routes-to-revoked-work": (
        Edit(f"{_INCREMENTAL}:answer", "_without(items, revoked[worker])", "[*items, *revoked[worker]]"),
    ),
    "connect-delay-ignores-its-setting": (
        Edit(f"{_INCREMENTAL}:_wait", "else max_delay_ms", "else DEFAULT_MAX_DELAY_MS"),
    ),
    "connect-delay-starts-anew-in-each-round": (
        Edit(f"{_INCREMENTAL}:_wait", "memory.scheduled_rebalance_ms - now_ms", "0"),
    ),
    "connect-balances-during-the-delay": (Edit(f"{_INCREMENTAL}:revoke_for_balance", "memory.delay_ms != 0", "False"),),
    "connect-new-work-waits-for-the-delay": (
        Edit(
            f"{_INCREMENTAL}:IncrementalAssignor.assign",
            "[*in_order(found.created), *in_order(again)]",
            "[] if memory.delay_ms else [*in_order(found.created), *in_order(again)]",
        ),
    ),
    "connect-lost-work-does-not-wait": (Edit(f"{_INCREMENTAL}:handle_lost", "max_delay_ms == 0", "max_delay_ms >= 0"),),
    "connect-successive-revocations-counted-twice": (
        Edit(
            f"{_INCREMENTAL}:revoke_for_balance",
            "memory.successive_revocations + 1",
            "memory.successive_revocations + 2",
        ),
    ),
    "connect-lost-work-is-dropped-when-the-delay-ends": (
        Edit(f"{_INCREMENTAL}:handle_lost", "return expired, lost", "return expired, frozenset()"),
    ),
}
"""By name of the mutant."""
