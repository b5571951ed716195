"""Config reads: the state of a config store is the fold of the records that it read (``KafkaConfigBackingStore``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.events import ConfigAppended, ConfigCompacted, ConfigRead, ConfigSnapshotTaken
from rebalance_check.properties.engines import CHECKED, Fact, Finding, agreement, broken, form
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.config_readers import ConfigReaders, Connector, task_of
from rebalance_check.properties.views.config_topic import ConfigTopic

Views: TypeAlias = tuple[Mapping[str, Any], ...]


def _snapshot(event: ConfigSnapshotTaken, topic: ConfigTopic) -> Fact | None:
    """Workers agree by the offsets of their snapshots."""
    if event.offset < topic.compacted_to:
        return None
    says = f"{event.member} took a snapshot of offset {event.offset} at {STEP}"
    return Fact(event.offset, event, event.member, says, event)


def _content(taken: ConfigSnapshotTaken) -> Views:
    """Configured connectors, their target states, and the tasks to run."""
    configured, configs = dict(taken.connectors), dict(taken.task_configs)
    targets = {name: state for name, state in taken.target_states if name in configured}
    return configured, targets, {work: configs.get(work, "no configuration") for work in taken.tasks}


def _differences(first: Fact, other: Fact) -> Iterator[tuple[str, Any, Any]]:
    """The differences of two snapshots, each with both values."""
    for one, two in zip(_content(first.value), _content(other.value), strict=True):
        for item in sorted(one.keys() | two.keys()):
            if one.get(item) != two.get(item):
                yield item, one.get(item, "nothing"), two.get(item, "nothing")


def _headline(first: Fact, other: Fact) -> str:
    item, one, two = next(_differences(first, other))
    return f"{other.observer} and {first.observer} have read as far, and hold {two} and {one} for {item}"


def _by_compaction(first: Fact, other: Fact, topic: ConfigTopic) -> str:
    tasks = {*first.value.tasks, *other.value.tasks}
    names = {task_of(item)[0] if item in tasks else item for item, _, _ in _differences(first, other)}
    return "compaction left the last records of the connector out of order" if names <= topic.out_of_order else ""


SnapshotsAgree: Final = Invariant(
    name="snapshots_agree",
    family="config",
    claim="snapshots of the same offset hold the same connectors, target states and tasks, however much of the topic "
    "compaction had removed before a worker read it",
    source="KAFKA-17719; ClusterConfigState.offset, by which workers agree (CONFIG_MISMATCH)",
    premises=("where compactions are recorded, connectors whose last records it left out of order are excused",),
    exempted_by=(ConfigAppended, ConfigCompacted),
    evidence=Evidence.CONCERNED,
    fold=agreement(
        {ConfigSnapshotTaken: _snapshot},
        headline=_headline,
        differ=lambda first, other: next(_differences(first, other), None) is not None,
        unless=_by_compaction,
        views=(ConfigTopic,),
    ),
    breaks="""
        ConfigSnapshotTaken(member="w0", offset=4, connectors=(("c", "{}"),), tasks=("c-0",),
                            task_configs=(("c-0", "{}"),))
        ConfigSnapshotTaken(member="w1", offset=4, connectors=(("c", "{}"),))
    """,
    holds="""
        ConfigSnapshotTaken(member="w0", offset=4, connectors=(("c", "{}"),))
        ConfigSnapshotTaken(member="w1", offset=4, connectors=(("c", "{}"),))
    """,
    excuses="""
        ConfigAppended(offset=0, key="task-c-0", value='{"properties":{}}')
        ConfigAppended(offset=1, key="commit-c", value='{"tasks":1}')
        ConfigAppended(offset=2, key="connector-c", value='{"properties":{}}')
        ConfigCompacted(removed=())
        ConfigSnapshotTaken(member="w0", offset=3, connectors=(("c", "{}"),), tasks=("c-0",),
                            task_configs=(("c-0", "{}"),))
        ConfigSnapshotTaken(member="w1", offset=3, connectors=(("c", "{}"),))
    """,
)


def _follows_reads(event: ConfigSnapshotTaken, readers: ConfigReaders) -> Iterator[Finding]:
    """Nothing but the records that the worker read explains its snapshot."""
    reader = readers.of(event.member)
    if not reader.is_recorded:
        return
    yield CHECKED
    if event.offset != reader.offset:
        yield _slip(event, readers, f"is at offset {event.offset}", f"should have offset {reader.offset}")
    known = reader.connectors
    expected: dict[str, Any] = {
        "connectors": _each(known, lambda c: c.config),
        "target_states": _each(known, lambda c: c.target),
        "task_counts": _each(known, lambda c: c.count),
        "count_records": _each(known, lambda c: c.count_record),
        "task_configs": {f"{name}-{i}": text for name, c in known.items() for i, text in c.tasks.items()},
        "inconsistent": {name: None for name, c in known.items() if c.inconsistent},
    }
    for name, wanted in expected.items():
        shown = getattr(event, name)
        held = dict.fromkeys(shown) if name == "inconsistent" else dict(shown)
        for item in sorted(wanted.keys() | held.keys()):
            if (item in wanted, wanted.get(item)) != (item in held, held.get(item)):
                says = f"holds {held.get(item, 'nothing')} as {name} of {item}"
                yield _slip(event, readers, says, f"says so, its reads say {wanted.get(item, 'nothing')}")


def _each(known: Mapping[str, Connector], value: Callable[[Connector], Any]) -> dict[str, Any]:
    return {name: said for name, one in known.items() if (said := value(one)) is not None}


def _slip(event: ConfigSnapshotTaken, readers: ConfigReaders, headline: str, text: str) -> Finding:
    latest = readers.of(event.member).latest
    before = () if latest is None else ((f"the last record that {event.member} read came at {STEP}.", latest),)
    return broken(
        f"{event.member} {headline}",
        *before,
        (f"the snapshot of offset {event.offset} at {STEP} {text}: contradiction.", event),
    )


SnapshotFollowsReads: Final = Invariant(
    name="config_snapshot_follows_reads",
    family="config",
    claim="a config snapshot is the fold of the records that its worker read, in their order, not those that it wrote "
    "itself, and its offset lies behind the last of them whose value could be converted",
    source="KafkaConfigBackingStore, ClusterConfigState; KAFKA-14147, KAFKA-16838",
    premises=("every read of a store is recorded, from its start",),
    exempted_by=(ConfigRead,),
    evidence=Evidence.CONCERNED,
    fold=form({ConfigSnapshotTaken: _follows_reads}, views=(ConfigReaders,), needs=((ConfigRead,),)),
    breaks="""
        ConfigRead(member="w0", offset=0, key="connector-c", value='{"properties":{}}')
        ConfigSnapshotTaken(member="w0", offset=1)
    """,
    holds="""
        ConfigRead(member="w0", offset=0, key="connector-c", value="{", converted=False)
        ConfigSnapshotTaken(member="w0", offset=-1)
    """,
)

LAWS: Final = (SnapshotsAgree, SnapshotFollowsReads)
"""In the order in which reports name them."""
