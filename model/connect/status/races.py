"""The races that safe writes do not exclude, which must be reachable: R1-R18 are the known ones.

*Newer* means: of another worker and of a higher generation.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.connect.status.invariants import replaced_by
from rebalance_check.model.connect.status.state import Config, State, Status, is_newer, is_stale, newer_known


def overwrites_newer(c: Config, s: State, key: int, offset: int) -> bool:
    """Whether the record at ``offset`` replaces another worker's status of a higher generation."""
    record = s.logs[key].records[offset]
    return is_newer(s, record.writer, key, replaced_by(c, s, key, offset), record.generation)


def safe_write_hides_newer(c: Config, s: State) -> bool:
    """R1-R3: A first safe send replaces a newer status that its writer had not read.

    The newer record was in the log or on its way when the writer looked at its cache.

    Source: ``KafkaStatusBackingStore.send`` (check and append are not atomic).
    """
    for key in range(c.keys):
        for o in range(s.logs[key].length):
            record = s.logs[key].records[o]
            if record.safe == 1 and record.again == 0 and overwrites_newer(c, s, key, o):
                return True
    return False


def repeated_append_hides_newer(c: Config, s: State) -> bool:
    """R5: After a lost acknowledgement a safe write is appended twice, the second time over a newer status.

    The producer reports a retriable error although the broker has appended the record.

    Source: ``KafkaStatusBackingStore.send`` (completion callback; the producer is not idempotent).
    """
    for key in range(c.keys):
        for o in range(s.logs[key].length):
            record = s.logs[key].records[o]
            if record.safe == 1 and record.again == 2 and overwrites_newer(c, s, key, o):
                return True
    return False


def late_retry_hides_newer(c: Config, s: State) -> bool:
    """R6: A newer status was read after the check of a retry that is still to be sent.

    The retry thread runs at any time after the callback has queued the write.

    Source: ``KafkaStatusBackingStore.send`` (retry executor).
    """
    for m in range(c.members):
        waiting = s.workers[m].retries[0]
        if waiting.safe == 1 and newer_known(s, m, waiting) != 0:
            return True
    return False


def unsafe_retry_reorders(c: Config, s: State) -> bool:
    """R7: A retried RUNNING stands behind the same worker's younger UNASSIGNED of its generation.

    ``put`` is retried without regard to younger writes of the entry.

    Source: ``KafkaStatusBackingStore.send`` (unsafe writes ignore the sequence).
    """
    for key in range(c.keys):
        for o in range(1, s.logs[key].length):
            late = s.logs[key].records[o]
            before = s.logs[key].records[o - 1]
            mine = before.writer == late.writer and before.generation == late.generation
            overtaken = late.again > 0 and late.newest == 0 and late.status == Status.RUNNING
            if mine and overtaken and before.status == Status.UNASSIGNED:
                return True
    return False


def stale_put_hides_newer(c: Config, s: State) -> bool:
    """R17: ``put`` of a worker that lags behind replaces a newer status.

    A worker that was removed from its group keeps its generation and goes on writing.

    Source: ``KafkaStatusBackingStore.put``.
    """
    for key in range(c.keys):
        for o in range(s.logs[key].length):
            record = s.logs[key].records[o]
            if record.safe == 0 and record.status == Status.RUNNING and overwrites_newer(c, s, key, o):
                return True
    return False


def tombstone_is_overwritten(c: Config, s: State) -> bool:
    """R12: A safe write of a lower generation brings back what another worker has deleted.

    A tombstone clears the cache, and with it the generation that would have suppressed the write.

    Source: ``KafkaStatusBackingStore.send`` (``canWriteSafely``).
    """
    for key in range(c.keys):
        for o in range(1, s.logs[key].length):
            gone = s.logs[key].records[o - 1]
            late = s.logs[key].records[o]
            late_and_safe = late.safe == 1 and gone.writer != late.writer and gone.generation > late.generation
            if gone.status == Status.DESTROYED and late_and_safe:
                return True
    return False


def ignored_record_is_last(c: Config, s: State) -> bool:
    """R18: The last record of a key is an UNASSIGNED that every reader ignores.

    Compaction keeps that record only, so workers that start later see another status.

    Source: ``KafkaStatusBackingStore.readTaskStatus``; KAFKA-12525.
    """
    for key in range(c.keys):
        last = s.logs[key].length - 1
        if last > 0 and is_stale(c, s, key, replaced_by(c, s, key, last), last):
            return True
    return False


def late_task_outlives_its_connector(c: Config, s: State) -> bool:
    """R13, R14: A worker caches a task of a connector that it has read to be gone.

    The task's record is appended, or read, after the connector's tombstone.

    Source: ``KafkaStatusBackingStore.remove``; the two keys are in different partitions.
    """
    for m in range(c.members):
        connector = s.workers[m].entries[c.keys - 1]
        if c.keys > 1 and connector.position > 0 and connector.cached == 0:
            for task in range(c.keys - 1):
                if s.workers[m].entries[task].cached != 0:
                    return True
    return False


def write_is_suppressed(s: State) -> bool:
    """P4: A safe write is suppressed.

    The call returns without an error, and its caller does not notice.

    Source: ``KafkaStatusBackingStore.putSafe``.
    """
    return s.suppressed > 0


RACES: Final = Concern(
    reachable_states=(
        write_is_suppressed,
        safe_write_hides_newer,
        repeated_append_hides_newer,
        late_retry_hides_newer,
        unsafe_retry_reorders,
        stale_put_hides_newer,
        tombstone_is_overwritten,
        ignored_record_is_last,
        late_task_outlives_its_connector,
    ),
)
