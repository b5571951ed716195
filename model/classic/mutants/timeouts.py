"""Mutants of the concern *timeouts* of the classic model (`model.classic.concerns.timeouts`)."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds

_JOIN_PHASE: Final = "rebalance_check.model.classic.parts.join_phase"
_COORDINATOR: Final = "rebalance_check.model.classic.coordinator"
_TIMEOUTS: Final = "rebalance_check.model.classic.concerns.timeouts"

TIMEOUT_MUTANTS: Final = (
    ModelMutant(
        name="late-member-is-kept",
        what="the rebalance timeout begins a generation with members that did not join it",
        edit=Edit(
            _TIMEOUTS,
            "            remove_member(s, x, 0)\n    if s.members != 0:",
            "            s.pending_syncs = 0\n    if s.members != 0:",
        ),
        caught_by="generation_has_only_joined",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off&timeouts"
        ),
    ),
    ModelMutant(
        name="late-leader-still-leads",
        what="a leader that did not join is removed at the rebalance timeout and stays the leader",
        edit=Edit(_TIMEOUTS, "    able = s.joined if s.joined != 0 else static_members(c, s)", "    able = s.members"),
        caught_by="leader_of_a_new_generation_joined",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off&timeouts"
        ),
    ),
    ModelMutant(
        name="sync-timeout-does-not-rebalance",
        what="members that do not sync are removed, and the others stay in the generation",
        edit=Edit(_TIMEOUTS, "    rebalance_without(c, s)\n    return True", "    return True"),
        caught_by="empty_group_is_clean",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=3&initial_delay=off&timeouts"),
    ),
    ModelMutant(
        name="sync-debt-outlives-its-generation",
        what="members that owe a SyncGroup when a rebalance begins still owe it, and the sync timeout removes them",
        edit=Edit(_JOIN_PHASE, "    s.pending_syncs = 0\n", "    s.pending_syncs = s.pending_syncs\n"),
        caught_by="pending_sync_members_are_members",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=3&initial_delay=off&timeouts"),
    ),
)
