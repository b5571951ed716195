"""Invariants of the status log: claims about every state and every step.

P1-P7 are the properties of safe writes and S3-S5 those of the store's implementation; `status.races` has the races that
they do not exclude. *Newer* means: of another worker and of a higher generation.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.connect.status.state import Config, State, Status, is_newer, is_stale, is_task, newer_known

# ------------------------------------------------------------------------------------------------ the log's own fold


def replaced_by(c: Config, s: State, key: int, offset: int) -> int:
    """1 + the offset of the record that was in force for a key before ``offset``, by the stale rule; 0 for none."""
    counts = 0
    for o in range(offset):
        if s.logs[key].records[o].status == Status.DESTROYED:
            counts = 0
        elif not is_stale(c, s, key, counts, o):
            counts = o + 1
    return counts


# ------------------------------------------------------------------------------------------------ invariants


def explained_overwrite(c: Config, s: State) -> bool:
    """P1: A safe write replaces a newer status of another worker only if its writer had not read it.

    Check and append are not atomic, so a status that is unread at the check may be overwritten.

    Source: ``KafkaStatusBackingStore.send`` (``canWriteSafely``).
    Leaves unchanged: ``put``, which overwrites anything.
    """
    for key in range(c.keys):
        for o in range(s.logs[key].length):
            record = s.logs[key].records[o]
            if record.safe == 1 and record.known != 0 and record.known == replaced_by(c, s, key, o):
                return False
    return True


def cached_was_read(c: Config, s: State) -> bool:
    """A cached status is a record below the reader's position, and no tombstone.

    Writes never touch the cache. A worker sees its own status, too, only after it has read it back.

    Source: ``KafkaStatusBackingStore.read``.
    Leaves unchanged: how far a reader lags behind the log.
    """
    for m in range(c.members):
        for key in range(c.keys):
            entry = s.workers[m].entries[key]
            if entry.position > s.logs[key].length or entry.cached > entry.position:
                return False
            if entry.cached != 0 and s.logs[key].records[entry.cached - 1].status == Status.DESTROYED:
                return False
    return True


def connector_was_removed(c: Config, s: State) -> bool:
    """Whether the log has a tombstone of the connector; then caches of its tasks depend on the reading order."""
    for o in range(s.logs[c.keys - 1].length):
        if c.keys > 1 and s.logs[c.keys - 1].records[o].status == Status.DESTROYED:
            return True
    return False


def readers_converge(c: Config, s: State) -> bool:
    """P7: Workers that have read the same records of a key cache the same status.

    A cache is a function of the records that its worker has read, in their order.

    Source: ``KafkaStatusBackingStore.read``.
    Leaves unchanged: tasks whose connector was removed; the order between two keys is not defined.
    """
    for x in range(c.members):
        for y in range(x):
            for key in range(c.keys):
                mine = s.workers[x].entries[key]
                theirs = s.workers[y].entries[key]
                differ = mine.position == theirs.position and mine.cached != theirs.cached
                if differ and not (is_task(c, key) and connector_was_removed(c, s)):
                    return False
    return True


def quiescent_status_is_agreed(c: Config, s: State) -> bool:
    """When nothing is in flight and all is read, every worker caches what the log says.

    The log says what is left when its records are read in order by the stale rule.

    Source: ``KafkaStatusBackingStore.read``; KAFKA-12525.
    Leaves unchanged: tasks whose connector was removed, and the truth of the status.
    """
    for m in range(c.members):
        if s.workers[m].queue[0].status != Status.NOTHING or s.workers[m].retries[0].status != Status.NOTHING:
            return True
    for m in range(c.members):
        for key in range(c.keys):
            entry = s.workers[m].entries[key]
            differ = entry.cached != replaced_by(c, s, key, s.logs[key].length)
            has_read_all = entry.position == s.logs[key].length
            if differ and has_read_all and not (is_task(c, key) and connector_was_removed(c, s)):
                return False
    return True


# ------------------------------------------------------------------------------------------------ step invariants


def retries_waiting(c: Config, s: State, m: int) -> int:
    """How many writes of m wait for the retry thread."""
    count = 0
    for slot in range(c.slots):
        if s.workers[m].retries[slot].status != Status.NOTHING:
            count += 1
    return count


def is_admitted(c: Config, s: State, t: State, m: int) -> bool:
    """Whether the step from s to t admitted the head of m's queue to be retried."""
    return retries_waiting(c, t, m) > retries_waiting(c, s, m)


def retry_keeps_its_generation(c: Config, s: State, t: State) -> bool:
    """S5: A write is retried only while the store's last write is of the same generation.

    A worker that writes in a new generation gives up what failed in the one before.

    Source: ``KafkaStatusBackingStore.send`` (completion callback).
    Leaves unchanged: the status, which may never be written then.
    """
    for m in range(c.members):
        if is_admitted(c, s, t, m) and s.workers[m].queue[0].generation != s.workers[m].store_generation:
            return False
    return True


def retry_yields_to_a_newer_status(c: Config, s: State, t: State) -> bool:
    """S5: A safe write is retried only while no newer status of another worker is cached.

    The callback repeats the check of the first send before it queues the retry.

    Source: ``KafkaStatusBackingStore.send`` (completion callback).
    Leaves unchanged: what is read between the check and the retry.
    """
    for m in range(c.members):
        head = s.workers[m].queue[0]
        if is_admitted(c, s, t, m) and head.safe == 1 and newer_known(s, m, head) != 0:
            return False
    return True


def no_self_reordering(c: Config, s: State, t: State) -> bool:
    """P3: A safe write is not retried once a younger write of its entry was accepted.

    The callback compares the write's sequence number with that of the entry, so a retry never overtakes a younger
    write.

    Source: ``KafkaStatusBackingStore.send`` (``sequence`` of the entry).
    Leaves unchanged: unsafe writes, whose retries ignore the sequence.
    """
    for m in range(c.members):
        head = s.workers[m].queue[0]
        if is_admitted(c, s, t, m) and head.safe == 1 and head.newest == 0:
            return False
    return True


def no_resurrection_by_retry(c: Config, s: State, t: State) -> bool:
    """P5: A write is not retried once the tombstone of its entry was read.

    The tombstone marks the entry as deleted, and the callback of a failed write looks at that mark.

    Source: ``KafkaStatusBackingStore.send`` (``isDeleted`` of the entry).
    Leaves unchanged: new writes, which create the entry again.
    """
    for m in range(c.members):
        head = s.workers[m].queue[0]
        if is_admitted(c, s, t, m) and head.live == 0:
            return False
    return True


def suppressed_for_a_newer_status(c: Config, s: State, t: State) -> bool:
    """P4: A write is suppressed only where another worker's newer status is cached.

    ``canWriteSafely`` looks at the cache alone: no entry, the same worker, or a generation that is not higher lets the
    write pass.

    Source: ``KafkaStatusBackingStore.send`` (``canWriteSafely``).
    Leaves unchanged: whether that status is still the last in the log.
    """
    if t.suppressed == s.suppressed:
        return True
    for m in range(c.members):
        for key in range(c.keys):
            if is_newer(s, m, key, s.workers[m].entries[key].cached, s.workers[m].generation):
                return True
    return False


def running_outlives_stale_unassigned(c: Config, s: State, t: State) -> bool:
    """P6: A cached RUNNING of a task is not replaced by an UNASSIGNED of its own or a lower generation.

    A worker that lost a task writes UNASSIGNED late, when the new owner runs the task already.

    Source: ``KafkaStatusBackingStore.readTaskStatus``; KAFKA-12525.
    Leaves unchanged: connectors, and every status other than UNASSIGNED.
    """
    for m in range(c.members):
        for key in range(c.keys):
            before = s.workers[m].entries[key].cached
            after = t.workers[m].entries[key].cached
            if after > 0 and after != before and is_stale(c, t, key, before, after - 1):
                return False
    return True


def connector_tombstone_removes_its_tasks(c: Config, s: State, t: State) -> bool:
    """A worker that reads a connector's tombstone caches none of its tasks then.

    Removing a connector clears its tasks from the cache and writes nothing.

    Source: ``KafkaStatusBackingStore.remove``.
    Leaves unchanged: records of those tasks that are read later.
    """
    for m in range(c.members):
        read = s.workers[m].entries[c.keys - 1].position
        has_read = t.workers[m].entries[c.keys - 1].position == read + 1
        if c.keys > 1 and has_read and s.logs[c.keys - 1].records[read].status == Status.DESTROYED:
            for task in range(c.keys - 1):
                if t.workers[m].entries[task].cached != 0:
                    return False
    return True


def log_only_grows(c: Config, s: State, t: State) -> bool:
    """S3: A step appends one record at most and changes none.

    Each append adds a record to one key.

    Source: ``KafkaBasedLog``; a compacted topic keeps the last record of each key.
    Leaves unchanged: compaction, which the model leaves out.
    """
    grown = 0
    for key in range(c.keys):
        grown += t.logs[key].length - s.logs[key].length
        for o in range(s.logs[key].length):
            before = s.logs[key].records[o]
            after = t.logs[key].records[o]
            if after.writer != before.writer or after.status != before.status or after.generation != before.generation:
                return False
    return grown <= 1


SAFE_WRITES: Final = Concern(
    invariants=(
        explained_overwrite,
        cached_was_read,
        readers_converge,
        quiescent_status_is_agreed,
    ),
    step_invariants=(
        no_self_reordering,
        suppressed_for_a_newer_status,
        no_resurrection_by_retry,
        running_outlives_stale_unassigned,
        retry_keeps_its_generation,
        retry_yields_to_a_newer_status,
        connector_tombstone_removes_its_tasks,
        log_only_grows,
    ),
)
