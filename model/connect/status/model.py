"""The status store's log (``KafkaStatusBackingStore``): what safe writes promise, and the races they leave open.

Read in this order: `status_state` (what there is), `status_store` (what a store does), `status_claims` (what must
hold). Left open, and explored in all ways: who writes what when, in which of the generations it was told; how late
each worker reads each key; which sends fail, before or after the append; when the retry thread runs. Left out:
statuses that differ in nothing that matters here, two threads of one worker, a group whose generations start again.
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Model, Rule
from rebalance_check.model.connect.status.invariants import (
    cached_was_read,
    connector_takes_its_tasks,
    copy_hides_newer,
    explained_overwrite,
    ignored_record_is_last,
    late_retry_hides_newer,
    late_task_outlives_connector,
    log_only_grows,
    no_resurrection_by_retry,
    no_self_reordering,
    quiescent_status_is_agreed,
    readers_converge,
    retry_keeps_its_generation,
    retry_yields_to_what_was_read,
    running_outlives_stale_unassigned,
    safe_write_hides_newer,
    suppressed_for_a_newer_status,
    tombstone_is_survived,
    unsafe_retry_reorders,
    write_is_suppressed,
    zombie_put_hides_newer,
)
from rebalance_check.model.connect.status.state import Config, State, sizes
from rebalance_check.model.connect.status.store import (
    append,
    fail_append,
    fail_append_choices,
    next_generation,
    put,
    put_choices,
    put_safe,
    put_safe_choices,
    read_back,
    read_back_choices,
    restart,
    retry,
)
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds

RULES: Final = (
    Rule(ActionKind.PUT, put, put_choices),
    Rule(ActionKind.PUT_SAFE, put_safe, put_safe_choices),
    Rule(ActionKind.APPEND, append),
    Rule(ActionKind.FAIL_APPEND, fail_append, fail_append_choices),
    Rule(ActionKind.RETRY, retry),
    Rule(ActionKind.READ_BACK, read_back, read_back_choices),
    Rule(ActionKind.NEXT_GENERATION, next_generation),
    Rule(ActionKind.RESTART, restart),
)

INVARIANTS: Final = (explained_overwrite, cached_was_read, readers_converge, quiescent_status_is_agreed)

STEP_INVARIANTS: Final = (
    no_self_reordering,
    suppressed_for_a_newer_status,
    no_resurrection_by_retry,
    running_outlives_stale_unassigned,
    retry_keeps_its_generation,
    retry_yields_to_what_was_read,
    connector_takes_its_tasks,
    log_only_grows,
)

REACHABLE_STATES: Final = (
    write_is_suppressed,
    safe_write_hides_newer,
    copy_hides_newer,
    late_retry_hides_newer,
    unsafe_retry_reorders,
    zombie_put_hides_newer,
    tombstone_is_survived,
    ignored_record_is_last,
    late_task_outlives_connector,
)


def configure(bounds: Bounds) -> Config:
    """The bounds as the model reads them."""
    return Config(
        members=bounds.members,
        keys=bounds.partitions,
        generations=bounds.generations,
        writes=bounds.writes,
        failures=bounds.failures,
        crashes=bounds.crashes,
        slots=max(bounds.writes, 1),
    )


def init(c: Config, s: State) -> None:
    """Empty logs, and every worker in the first generation."""
    for m in range(c.members):
        s.workers[m].generation = 1
    for key in range(c.keys):
        for o in range(c.writes + c.failures):
            s.logs[key].records[o].writer = NIL


def within_bounds(c: Config, s: State) -> bool:
    """Every action that adds something has a budget in its guard, so this cuts nothing."""
    return s.writes <= c.writes


MODEL: Final = Model(
    name="status",
    modules=(
        "rebalance_check.model.connect.status.state",
        "rebalance_check.model.connect.status.store",
        "rebalance_check.model.connect.status.invariants",
        "rebalance_check.model.connect.status.model",
    ),
    state=State,
    sizes=sizes,
    configure=configure,
    init=init,
    rules=RULES,
    within_bounds=within_bounds,
    invariants=INVARIANTS,
    step_invariants=STEP_INVARIANTS,
    reachable_states=REACHABLE_STATES,
)
