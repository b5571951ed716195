"""The actions of a status store, one by one (``KafkaStatusBackingStore``); its sends stand in `status.sending`.

An action is a function of (c, s, m, k), see `model.checker.specification`: m is the worker, k the choice.
"""

from typing import Final

from rebalance_check.model.checker.layout import reset
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.connect.status.sending import append, fail_append, fail_append_choices, free_slot, retry
from rebalance_check.model.connect.status.state import (
    Config,
    State,
    Status,
    Worker,
    is_newer,
    is_stale,
    is_task,
    newer_known,
)
from rebalance_check.model.vocabulary.actions import ActionKind

# ------------------------------------------------------------------------------------------------ writing


def admit(c: Config, s: State, m: int, key: int, status: int, safe: int) -> None:
    """The store draws a sequence number and hands the write to the producer.

    Older writes of the entry are not the newest any more, so none of them is retried over this one.

    Source: ``KafkaStatusBackingStore.send``; ``KafkaStatusBackingStore.CacheEntry``.
    """
    me = s.workers[m]
    for slot in range(c.slots):
        if me.queue[slot].key == key and me.queue[slot].live == 1:
            me.queue[slot].newest = 0
        if me.retries[slot].key == key and me.retries[slot].live == 1:
            me.retries[slot].newest = 0
    send = me.queue[free_slot(me)]
    send.status = status
    send.key = key
    send.generation = me.generation
    send.safe = safe
    send.newest = 1
    send.live = 1
    send.known = newer_known(s, m, send)


def put_choices(c: Config) -> int:
    """A key, and RUNNING or a tombstone."""
    return 2 * c.keys


def put(c: Config, s: State, m: int, k: int) -> bool:
    """``put`` writes RUNNING or a tombstone, without looking at the cache.

    It moves the store's generation and draws a sequence number.

    Source: ``KafkaStatusBackingStore.put``.
    Leaves unchanged: the cache, which changes only when the record is read back.
    """
    if s.writes >= c.writes:
        return False
    s.writes += 1
    s.workers[m].store_generation = s.workers[m].generation
    admit(c, s, m, k // 2, Status.RUNNING if k % 2 == 0 else Status.DESTROYED, 0)
    return True


def put_safe_choices(c: Config) -> int:
    """A key, and UNASSIGNED or FAILED."""
    return 2 * c.keys


def put_safe(c: Config, s: State, m: int, k: int) -> bool:
    """``putSafe`` writes UNASSIGNED or FAILED unless the cache holds a newer status of another worker.

    A suppressed write moves the store's generation all the same and draws no sequence number.

    Source: ``KafkaStatusBackingStore.putSafe``.
    Leaves unchanged: the cache, which changes only when the record is read back.
    """
    if s.writes >= c.writes:
        return False
    me = s.workers[m]
    s.writes += 1
    me.store_generation = me.generation
    if is_newer(s, m, k // 2, me.entries[k // 2].cached, me.generation):
        s.suppressed += 1
    else:
        admit(c, s, m, k // 2, Status.UNASSIGNED if k % 2 == 0 else Status.FAILED, 1)
    return True


def next_generation(c: Config, s: State, m: int) -> bool:
    """The worker learns the next generation of its group.

    Other workers may stay in an older one for as long as they like. The worker has completed a rebalance.

    Source: ``DistributedHerder`` (assignment callback).
    Leaves unchanged: the store, which takes the generation over with its next write.
    """
    me = s.workers[m]
    if me.generation >= c.generations:
        return False
    me.generation += 1
    return True


# ------------------------------------------------------------------------------------------------ reading


def end_entry(c: Config, worker: Worker, key: int) -> None:
    """A tombstone: nothing is cached, and writes that failed are not retried."""
    worker.entries[key].cached = 0
    for slot in range(c.slots):
        if worker.queue[slot].status != Status.NOTHING and worker.queue[slot].key == key:
            worker.queue[slot].live = 0
        if worker.retries[slot].status != Status.NOTHING and worker.retries[slot].key == key:
            worker.retries[slot].live = 0


def read_back_choices(c: Config) -> int:
    """The key that is read next."""
    return c.keys


def read_back(c: Config, s: State, m: int, k: int) -> bool:
    """The reader takes the next record of a key into the cache.

    A tombstone ends the entry, that of a connector also its tasks; an UNASSIGNED that is stale is ignored.

    Source: ``KafkaStatusBackingStore.read``; KAFKA-12525.
    Leaves unchanged: the log and the caches of other workers.
    """
    me = s.workers[m]
    entry = me.entries[k]
    if entry.position >= s.logs[k].length:
        return False
    offset = entry.position
    entry.position += 1
    if s.logs[k].records[offset].status == Status.DESTROYED:
        end_entry(c, me, k)
        if not is_task(c, k):
            for task in range(c.keys - 1):
                end_entry(c, me, task)
    elif not is_stale(c, s, k, entry.cached, offset):
        entry.cached = offset + 1
    return True


def restart(c: Config, s: State, m: int) -> bool:
    """The worker process dies and starts again with an empty cache and nothing in flight.

    Its slot stands for the worker id, which survives.

    Source: ``KafkaStatusBackingStore.start``.
    Leaves unchanged: the log and the worker's generation.
    """
    if s.crashes >= c.crashes:
        return False
    me = s.workers[m]
    s.crashes += 1
    me.store_generation = 0
    for key in range(c.keys):
        me.entries[key].position = 0
        me.entries[key].cached = 0
    for slot in range(c.slots):
        reset(me.queue[slot])
        reset(me.retries[slot])
    return True


STORE: Final = Concern(
    rules=(
        Rule(ActionKind.PUT, put, put_choices),
        Rule(ActionKind.PUT_SAFE, put_safe, put_safe_choices),
        Rule(ActionKind.APPEND, append),
        Rule(ActionKind.FAIL_APPEND, fail_append, fail_append_choices),
        Rule(ActionKind.RETRY, retry),
        Rule(ActionKind.READ_BACK, read_back, read_back_choices),
        Rule(ActionKind.NEXT_GENERATION, next_generation),
        Rule(ActionKind.RESTART, restart),
    ),
)
