"""What must be true of the status log in every state and of every step, and the races that must be seen somewhere.

P1-P6 are the safety properties of safe writes, R1-R18 the known races that they do not exclude.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.connect.status.state import Config, State, Status, is_newer, is_stale, is_task, newer_known

# ------------------------------------------------------------------------------------------------ the log's own fold


def replaced_by(c: Config, s: State, key: int, offset: int) -> int:
    """1 + the offset of the record that counted for a key just before ``offset``, by the stale rule; 0 for none."""
    counts = 0
    for o in range(offset):
        if s.logs[key].records[o].status == Status.DESTROYED:
            counts = 0
        elif not is_stale(c, s, key, counts, o):
            counts = o + 1
    return counts


def overwrites_newer(c: Config, s: State, key: int, offset: int) -> bool:
    """Whether the record at ``offset`` replaces another worker's status of a higher generation."""
    record = s.logs[key].records[offset]
    return is_newer(s, record.writer, key, replaced_by(c, s, key, offset), record.generation)


# ------------------------------------------------------------------------------------------------ in every state


def explained_overwrite(c: Config, s: State) -> bool:
    """P1: a safe write replaces another worker's newer status only if its writer had not read it when it checked."""
    for key in range(c.keys):
        for o in range(s.logs[key].length):
            record = s.logs[key].records[o]
            if record.safe == 1 and record.known != 0 and record.known == replaced_by(c, s, key, o):
                return False
    return True


def cached_was_read(c: Config, s: State) -> bool:
    """What is cached is a record below the reader's position, and no tombstone."""
    for m in range(c.members):
        for key in range(c.keys):
            entry = s.workers[m].entries[key]
            if entry.position > s.logs[key].length or entry.cached > entry.position:
                return False
            if entry.cached != 0 and s.logs[key].records[entry.cached - 1].status == Status.DESTROYED:
                return False
    return True


def connector_was_removed(c: Config, s: State) -> bool:
    """Whether a connector's tombstone stands in the log: from there on caches of its tasks depend on reading order."""
    for o in range(s.logs[c.keys - 1].length):
        if c.keys > 1 and s.logs[c.keys - 1].records[o].status == Status.DESTROYED:
            return True
    return False


def readers_converge(c: Config, s: State) -> bool:
    """P7: workers that read the same records of a key hold the same status (unless a connector's removal cut in)."""
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
    """When nothing is in flight and all is read, every worker holds what the log says."""
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


# ------------------------------------------------------------------------------------------------ of every step


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
    """S5: a retry is admitted only while the store's last write is of the same generation."""
    for m in range(c.members):
        if is_admitted(c, s, t, m) and s.workers[m].queue[0].generation != s.workers[m].store_generation:
            return False
    return True


def retry_yields_to_what_was_read(c: Config, s: State, t: State) -> bool:
    """S5: a safe write is admitted to be retried only while no newer status of another worker is cached."""
    for m in range(c.members):
        head = s.workers[m].queue[0]
        if is_admitted(c, s, t, m) and head.safe == 1 and newer_known(s, m, head) != 0:
            return False
    return True


def no_self_reordering(c: Config, s: State, t: State) -> bool:
    """P3: no safe write is admitted to be retried once a younger write of its entry was admitted."""
    for m in range(c.members):
        head = s.workers[m].queue[0]
        if is_admitted(c, s, t, m) and head.safe == 1 and head.newest == 0:
            return False
    return True


def no_resurrection_by_retry(c: Config, s: State, t: State) -> bool:
    """P5: no write is admitted to be retried once the tombstone of its entry was read."""
    for m in range(c.members):
        head = s.workers[m].queue[0]
        if is_admitted(c, s, t, m) and head.live == 0:
            return False
    return True


def suppressed_for_a_newer_status(c: Config, s: State, t: State) -> bool:
    """P4: a write is suppressed only where another worker's newer status is cached."""
    if t.suppressed == s.suppressed:
        return True
    for m in range(c.members):
        for key in range(c.keys):
            if is_newer(s, m, key, s.workers[m].entries[key].cached, s.workers[m].generation):
                return True
    return False


def running_outlives_stale_unassigned(c: Config, s: State, t: State) -> bool:
    """P6: a cached RUNNING of a task is not replaced by an UNASSIGNED of its own or a lower generation."""
    for m in range(c.members):
        for key in range(c.keys):
            before = s.workers[m].entries[key].cached
            after = t.workers[m].entries[key].cached
            if after > 0 and after != before and is_stale(c, t, key, before, after - 1):
                return False
    return True


def connector_takes_its_tasks(c: Config, s: State, t: State) -> bool:
    """Whoever reads a connector's tombstone caches none of its tasks at that moment."""
    for m in range(c.members):
        read = s.workers[m].entries[c.keys - 1].position
        has_read = t.workers[m].entries[c.keys - 1].position == read + 1
        if c.keys > 1 and has_read and s.logs[c.keys - 1].records[read].status == Status.DESTROYED:
            for task in range(c.keys - 1):
                if t.workers[m].entries[task].cached != 0:
                    return False
    return True


def log_only_grows(c: Config, s: State, t: State) -> bool:
    """S3: a step appends one record at most, and changes none."""
    grown = 0
    for key in range(c.keys):
        grown += t.logs[key].length - s.logs[key].length
        for o in range(s.logs[key].length):
            before = s.logs[key].records[o]
            after = t.logs[key].records[o]
            if after.writer != before.writer or after.status != before.status or after.generation != before.generation:
                return False
    return grown <= 1


# ------------------------------------------------------------------------------------------------ somewhere


def safe_write_hides_newer(c: Config, s: State) -> bool:
    """R1-R3: a safe first send replaces a newer status that its writer had not read."""
    for key in range(c.keys):
        for o in range(s.logs[key].length):
            record = s.logs[key].records[o]
            if record.safe == 1 and record.again == 0 and overwrites_newer(c, s, key, o):
                return True
    return False


def copy_hides_newer(c: Config, s: State) -> bool:
    """R5: after a lost acknowledgement a safe write is appended twice, the second time over a newer status."""
    for key in range(c.keys):
        for o in range(s.logs[key].length):
            record = s.logs[key].records[o]
            if record.safe == 1 and record.again == 2 and overwrites_newer(c, s, key, o):
                return True
    return False


def late_retry_hides_newer(c: Config, s: State) -> bool:
    """R6: a retry was admitted, a newer status was read meanwhile, and the retry is still to be sent."""
    for m in range(c.members):
        waiting = s.workers[m].retries[0]
        if waiting.safe == 1 and newer_known(s, m, waiting) != 0:
            return True
    return False


def unsafe_retry_reorders(c: Config, s: State) -> bool:
    """R7: a worker's RUNNING, retried, stands behind its own younger UNASSIGNED of the same generation."""
    for key in range(c.keys):
        for o in range(1, s.logs[key].length):
            late = s.logs[key].records[o]
            before = s.logs[key].records[o - 1]
            mine = before.writer == late.writer and before.generation == late.generation
            overtaken = late.again > 0 and late.newest == 0 and late.status == Status.RUNNING
            if mine and overtaken and before.status == Status.UNASSIGNED:
                return True
    return False


def zombie_put_hides_newer(c: Config, s: State) -> bool:
    """R17: put of a worker that lags behind replaces a newer status."""
    for key in range(c.keys):
        for o in range(s.logs[key].length):
            record = s.logs[key].records[o]
            if record.safe == 0 and record.status == Status.RUNNING and overwrites_newer(c, s, key, o):
                return True
    return False


def tombstone_is_survived(c: Config, s: State) -> bool:
    """R12: a safe write of a lower generation brings back what another worker has deleted."""
    for key in range(c.keys):
        for o in range(1, s.logs[key].length):
            gone = s.logs[key].records[o - 1]
            late = s.logs[key].records[o]
            late_and_safe = late.safe == 1 and gone.writer != late.writer and gone.generation > late.generation
            if gone.status == Status.DESTROYED and late_and_safe:
                return True
    return False


def ignored_record_is_last(c: Config, s: State) -> bool:
    """R18: the last record of a key is an UNASSIGNED that every reader ignores; compaction will keep nothing else."""
    for key in range(c.keys):
        last = s.logs[key].length - 1
        if last > 0 and is_stale(c, s, key, replaced_by(c, s, key, last), last):
            return True
    return False


def late_task_outlives_connector(c: Config, s: State) -> bool:
    """R13, R14: a worker caches a task whose connector it has read to be gone."""
    for m in range(c.members):
        connector = s.workers[m].entries[c.keys - 1]
        if c.keys > 1 and connector.position > 0 and connector.cached == 0:
            for task in range(c.keys - 1):
                if s.workers[m].entries[task].cached != 0:
                    return True
    return False


def write_is_suppressed(s: State) -> bool:
    """A safe write is suppressed."""
    return s.suppressed > 0


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
        retry_yields_to_what_was_read,
        connector_takes_its_tasks,
        log_only_grows,
    ),
    reachable_states=(
        write_is_suppressed,
        safe_write_hides_newer,
        copy_hides_newer,
        late_retry_hides_newer,
        unsafe_retry_reorders,
        zombie_put_hides_newer,
        tombstone_is_survived,
        ignored_record_is_last,
        late_task_outlives_connector,
    ),
)
