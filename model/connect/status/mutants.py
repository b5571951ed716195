"""Mutants of the status model: each edits one line of `status.store` or `status.sending`."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol

_STORE: Final = "rebalance_check.model.connect.status.store"
_SENDING: Final = "rebalance_check.model.connect.status.sending"


def _bounds(*, keys: int = 1, failures: int = 1) -> Bounds:
    """Two workers, two generations, two writes."""
    return Bounds(
        protocol=RebalanceProtocol.STATUS,
        members=2,
        partitions=keys,
        generations=2,
        crashes=0,
        writes=2,
        failures=failures,
    )


STATUS_MUTANTS: Final = (
    ModelMutant(
        name="status-safe-write-is-blind",
        what="putSafe writes over another worker's cached status of a higher generation",
        edit=Edit(
            _STORE,
            "    if is_newer(s, m, k // 2, me.entries[k // 2].cached, me.generation):",
            "    if me.generation > c.generations:",
        ),
        caught_by="explained_overwrite",
        bounds=_bounds(failures=0),
    ),
    ModelMutant(
        name="status-stale-unassigned-is-read",
        what="readers let a late UNASSIGNED replace a RUNNING of its own or a higher generation",
        edit=Edit(_STORE, "    elif not is_stale(c, s, k, entry.cached, offset):", "    else:"),
        caught_by="running_outlives_stale_unassigned",
        bounds=_bounds(failures=0),
        catalogue="status-stale-unassigned-overwrites-running",
    ),
    ModelMutant(
        name="status-retry-skips-sequence",
        what="a safe write that failed is retried behind a younger write of the same entry",
        edit=Edit(
            _SENDING, "    if head.safe == 1 and head.newest == 0:", "    if head.safe == 1 and head.newest == 2:"
        ),
        caught_by="no_self_reordering",
        bounds=_bounds(),
    ),
    ModelMutant(
        name="status-retry-survives-tombstone",
        what="a write that failed is retried after the tombstone of its entry was read",
        edit=Edit(_SENDING, "    if head.live == 0:", "    if head.live == 2:"),
        caught_by="no_resurrection_by_retry",
        bounds=_bounds(),
    ),
    ModelMutant(
        name="status-retry-skips-generation",
        what="a write that failed is retried although the store has written in another generation since",
        edit=Edit(_SENDING, "    if head.generation != me.store_generation:", "    if head.generation == 0:"),
        caught_by="retry_keeps_its_generation",
        bounds=_bounds(),
    ),
    ModelMutant(
        name="status-retry-skips-cache",
        what="a safe write that failed is retried although a newer status of another worker was read since",
        edit=Edit(
            _SENDING,
            "    if head.safe == 1 and is_newer(s, m, head.key, cached, head.generation):",
            "    if head.safe == 2 and is_newer(s, m, head.key, cached, head.generation):",
        ),
        caught_by="retry_yields_to_a_newer_status",
        bounds=_bounds(),
    ),
    ModelMutant(
        name="status-connector-forgets-its-tasks",
        what="the tombstone of a connector leaves its tasks in the cache",
        edit=Edit(_STORE, "            for task in range(c.keys - 1):", "            for task in range(0):"),
        caught_by="connector_tombstone_removes_its_tasks",
        bounds=_bounds(keys=2, failures=0),
    ),
)
