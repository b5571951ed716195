"""Sends of a status store: its producer and retry thread handle a write, and a send may go wrong.

An action is a function of (c, s, m, k), see `model.checker.specification`: m is the worker, k the choice.
"""

from rebalance_check.model.checker.layout import assign, reset
from rebalance_check.model.connect.status.state import (
    Config,
    Send,
    State,
    Status,
    Worker,
    is_newer,
    newer_known,
)


def free_slot(worker: Worker) -> int:
    """The first free slot of the producer's queue; there is one, as each write stands in one queue at a time."""
    slot = 0
    while worker.queue[slot].status != Status.NOTHING:
        slot += 1
    return slot


def free_retry(worker: Worker) -> int:
    """The first free slot of the retry queue."""
    slot = 0
    while worker.retries[slot].status != Status.NOTHING:
        slot += 1
    return slot


def move(to: Send, source: Send) -> None:
    """A send goes to another slot, and frees its own."""
    assign(to, source)
    reset(source)


def drop_head(c: Config, worker: Worker) -> None:
    """The producer is done with the head of its queue."""
    reset(worker.queue[0])
    for slot in range(1, c.slots):
        move(worker.queue[slot - 1], worker.queue[slot])


def drop_retry(c: Config, worker: Worker) -> None:
    """The head of the retry queue is gone."""
    reset(worker.retries[0])
    for slot in range(1, c.slots):
        move(worker.retries[slot - 1], worker.retries[slot])


def append_record(s: State, m: int, send: Send) -> None:
    """The broker appends the send to the log of its key."""
    log = s.logs[send.key]
    record = log.records[log.length]
    record.writer = m
    record.status = send.status
    record.generation = send.generation
    record.safe = send.safe
    record.newest = send.newest
    record.known = send.known
    record.again = send.again
    log.length += 1


def append(c: Config, s: State, m: int) -> bool:
    """The oldest send of a worker becomes a record, and the acknowledgement arrives.

    The producer has one request in flight, so the records of a worker stand in the order of its sends.

    Source: ``KafkaStatusBackingStore.send`` (producer with one request in flight).
    Leaves unchanged: every cache.
    """
    me = s.workers[m]
    if me.queue[0].status == Status.NOTHING or me.queue[0].appended == 1:
        return False
    append_record(s, m, me.queue[0])
    drop_head(c, me)
    return True


def fail_append_choices() -> int:
    """The broker did not append it, or it did and the acknowledgement is lost."""
    return 2


def fail_append(c: Config, s: State, m: int, k: int) -> bool:
    """The oldest send fails retriably, or its record is appended and the acknowledgement lost.

    The producer's callback gives the write up or queues it for the retry thread.

    Source: ``KafkaStatusBackingStore.send`` (completion callback).
    Leaves unchanged: every cache and the store's generation.
    """
    me = s.workers[m]
    head = me.queue[0]
    if head.status == Status.NOTHING or (head.appended == 1 and k == 1):
        return False
    if head.appended == 0:
        if s.failures >= c.failures:
            return False
        s.failures += 1
    if k == 1:
        append_record(s, m, head)
        head.appended = 1
        return True
    complete_retriably(c, s, m)
    return True


def complete_retriably(c: Config, s: State, m: int) -> None:
    """The producer's callback on a retriable failure: give up, or leave it to the retry thread, asked no more."""
    me = s.workers[m]
    head = me.queue[0]
    cached = me.entries[head.key].cached
    may = 1
    if head.live == 0:
        may = 0
    if head.generation != me.store_generation:
        may = 0
    if head.safe == 1 and head.newest == 0:
        may = 0
    if head.safe == 1 and is_newer(s, m, head.key, cached, head.generation):
        may = 0
    if may == 1:
        head.known = newer_known(s, m, head)
        head.again = max(head.again, 1 + head.appended)
        head.appended = 0
        move(me.retries[free_retry(me)], head)
    drop_head(c, me)


def retry(c: Config, s: State, m: int) -> bool:
    """The retry thread hands its oldest write to the producer again, without another check.

    The check was made when the write was queued.

    Source: ``KafkaStatusBackingStore.send`` (retry executor, KAFKA-14902).
    Leaves unchanged: the sequence number and the cache.
    """
    me = s.workers[m]
    if me.retries[0].status == Status.NOTHING:
        return False
    move(me.queue[free_slot(me)], me.retries[0])
    drop_retry(c, me)
    return True
