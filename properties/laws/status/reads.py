"""Status reads: the cache, the answers and the lists of a store of statuses (``KafkaStatusBackingStore``)."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import StatusIgnored, StatusQueried, StatusRead
from rebalance_check.properties.engines import CHECKED, Fact, Findings, agreement, broken, form
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.status_stores import (
    DESTROYED,
    TOPIC_PREFIX,
    Stores,
    described,
    is_removal,
    is_stale,
    item_of,
)

READS_ARE_RECORDED: Final = "every read of a store is recorded, from its start"


def _queried(event: StatusQueried, stores: Stores) -> Findings:
    item = item_of(event.key)
    if event.key.startswith(TOPIC_PREFIX):
        return None
    value = None if item is None else stores.of(event.worker).value(item)
    expected = ("", "", -1) if value is None else (value.status, value.status_worker, value.generation)
    if (event.status, event.status_worker, event.generation) == expected:
        return CHECKED
    said = f"{event.status} of {event.status_worker} in generation {event.generation}" if event.status else "nothing"
    return broken(
        f"{event.worker} holds {said} for {event.key}, its reads say {described(value)}",
        (f"the last record of {event.key} that {event.worker} took is {described(value)} ({STEP}).", value),
        (f"asked at {STEP}, it answered {said}: contradiction.", event),
    )


def _ignored(event: StatusIgnored, stores: Stores) -> Findings:
    """Only the stale rule may leave a readable record out."""
    item, cached = stores.item, stores.cached
    if item is None:
        return None
    if is_stale(cached, event, item):
        return CHECKED
    return broken(
        f"{event.worker} left out {described(event)} of {event.key}, which is not stale",
        (f"{event.worker} holds {described(cached)} for {event.key} ({STEP}).", cached),
        (f"it left {described(event)} out at {STEP}: contradiction.", event),
    )


def _stale_taken(event: StatusRead, stores: Stores) -> Findings:
    item, cached = stores.item, stores.cached
    if item is None or is_removal(event) or event.status != "UNASSIGNED":
        return None
    if not is_stale(cached, event, item):
        return CHECKED
    return broken(
        f"{event.worker} let {described(event)} replace {described(cached)} for {event.key}",
        (f"{event.worker} read {described(cached)} at {STEP}.", cached),
        (f"it took {described(event)} at {STEP}, of no higher generation: contradiction.", event),
    )


CacheFollowsReads: Final = Invariant(
    name="safe_status_writes.cache_follows_reads",
    family="status",
    claim="a store answers with the last record it read; it leaves out a task's UNASSIGNED whose generation is not "
    "above that of its RUNNING, and no other record",
    source="KafkaStatusBackingStore.read, readTaskStatus, CacheEntry; KAFKA-12525",
    premises=(READS_ARE_RECORDED, "a connector's tombstone removes the statuses of its tasks, too"),
    exempted_by=(StatusRead,),
    evidence=Evidence.CONCERNED,
    fold=form({StatusQueried: _queried, StatusIgnored: _ignored, StatusRead: _stale_taken}, views=(Stores,)),
    breaks="""
        StatusQueried(worker="w0", key="status-task-c-0", status="RUNNING", status_worker="w0:8083", generation=1)
    """,
    holds="""
        StatusQueried(worker="w0", key="status-task-c-0", status="")
    """,
)


def _seen(event: StatusRead | StatusIgnored, _stores: Stores) -> Fact:
    taken = isinstance(event, StatusRead)
    status = event.status or (DESTROYED if taken else "")
    value = (event.key, status, event.status_worker, event.generation, taken)
    did = "took" if taken else "left out"
    place = f"{event.partition}/{event.offset}"
    return Fact(
        place, value, event.worker, f"{event.worker} {did} {described(event)} of {event.key} at {place}, {STEP}", event
    )


def _read_otherwise(first: Fact, other: Fact, stores: Stores) -> str:
    """The exemption for two stores that read one record, and of which one leaves it out."""
    item = item_of(first.value[0])
    if first.value[:-1] != other.value[:-1] or item is None:
        return ""
    if any(stores.of(fact.observer).skips_some for fact in (first, other)):
        return "a store has not read every offset: the stale rule depends on the records that compaction removed"
    if item[0] == "task" and item[1] in stores.removed:
        return "the tombstone of the task's connector stands in another partition, in no fixed order"
    return ""


ReadersConverge: Final = Invariant(
    name="safe_status_writes.readers_converge",
    family="status",
    claim="stores read the same record at each offset, and those that read every record take and leave out the same",
    source="KafkaStatusBackingStore.read",
    premises=("an offset stands for one record: the topic is not created anew",),
    exempted_by=(StatusRead,),
    evidence=Evidence.CONCERNED,
    fold=agreement(
        {StatusRead: _seen, StatusIgnored: _seen},
        headline=lambda first, other: (
            f"{first.observer} and {other.observer} read different records at {first.key}"
            if first.value[:-1] != other.value[:-1]
            else f"{first.observer} and {other.observer} read the same records and hold different statuses"
        ),
        unless=_read_otherwise,
        views=(Stores,),
    ),
    breaks="""
        StatusRead(worker="w0", key="status-connector-c", offset=0, status="RUNNING", generation=1)
        StatusRead(worker="w1", key="status-connector-c", offset=0, status="PAUSED", generation=1)
    """,
    holds="""
        StatusRead(worker="w0", key="status-connector-c", offset=0, status="RUNNING", generation=1)
        StatusRead(worker="w1", key="status-connector-c", offset=0, status="RUNNING", generation=1)
    """,
    excuses="""
        StatusRead(worker="w0", key="status-task-c-0", offset=5, status="UNASSIGNED", generation=1)
        StatusIgnored(worker="w1", key="status-task-c-0", offset=5, reason="stale unassigned", status="UNASSIGNED",
                      generation=1)
    """,
)

LAWS: Final = (ReadersConverge, CacheFollowsReads)
"""In the order in which reports name them."""
