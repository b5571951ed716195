"""C1, C2, C5-C8, C13: a snapshot is the fold of the records that were read, and of nothing else."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rebalance_check.model.vocabulary.events import ConfigRead, ConfigSnapshotTaken, Event
from rebalance_check.properties.config_store.readers import (
    SOURCE,
    ConfigFold,
    ConfigStoreViolated,
    Connector,
    Reader,
    kind_and_name,
    task_of,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP

_READS: Final = ("every read of a store is recorded, from its start",)


class SnapshotFollowsReadsViolated(ConfigStoreViolated):
    """C1: a snapshot holds something that the records read do not explain."""


class OffsetFollowsConversionViolated(ConfigStoreViolated):
    """C2: the offset is not the one behind the last record whose value could be converted."""


class ChangeAtCommitsViolated(ConfigStoreViolated):
    """C5: a committed task configuration changed without a commit or a removal."""


class IncompleteCommitViolated(ConfigStoreViolated):
    """C6: a commit that lacks tasks changed them, or left the connector consistent."""


class FencingPendingViolated(ConfigStoreViolated):
    """C7: after a commit no fencing is pending, although no task count record followed."""


class GenerationCountsCommitsViolated(ConfigStoreViolated):
    """C8: the generation of task configurations fell, or rose by more than the commits that were read."""


class AppliedConfigViolated(ConfigStoreViolated):
    """C13: the applied configuration is not the connector's at its last complete commit."""


class _OfSnapshots(ConfigFold):
    """A fold that looks at each snapshot of a worker whose reads are recorded."""

    needs = ((ConfigRead,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConfigSnapshotTaken: self._taken})

    def _taken(self, event: ConfigSnapshotTaken) -> None:
        reader = self.recorded(event)
        if reader is None:
            return
        for headline, text, evidence in self.slips(event, reader):
            self.broken(
                f"{event.member} {headline}",
                f"the snapshot of offset {event.offset} at {STEP} {text}: contradiction.",
                event,
                evidence or (f"the last record that {event.member} read came at {STEP}.", reader.latest),
            )

    @abstractmethod
    def slips(self, event: ConfigSnapshotTaken, reader: Reader) -> Iterator[Slip]:
        """What is wrong with a snapshot: a headline, what the snapshot says, and the event before that shows why."""


Slip = tuple[str, str, tuple[str, Event | None] | None]


class _FollowsReads(_OfSnapshots):
    def slips(self, event: ConfigSnapshotTaken, reader: Reader) -> Iterator[Slip]:
        """Everything but what further claims speak about."""
        known = reader.connectors
        expected: dict[str, Any] = {
            "connectors": _each(known, lambda c: c.config),
            "target_states": _each(known, lambda c: c.target),
            "task_counts": _each(known, lambda c: c.count),
            "count_records": _each(known, lambda c: c.count_record),
            "task_configs": {f"{n}-{i}": text for n, c in known.items() for i, text in c.tasks.items()},
            "inconsistent": {n: None for n, c in known.items() if c.inconsistent},
        }
        for name, wanted in expected.items():
            shown = getattr(event, name)
            held = dict.fromkeys(shown) if name == "inconsistent" else dict(shown)
            if held == wanted:
                continue
            for item in sorted(wanted.keys() | held.keys()):
                if (item in wanted, wanted.get(item)) != (item in held, held.get(item)):
                    yield (
                        f"holds {held.get(item, 'nothing')} as {name} of {item}",
                        f"says so, its reads say {wanted.get(item, 'nothing')}",
                        None,
                    )


def _each(known: Mapping[str, Connector], value: Callable[[Connector], Any]) -> dict[str, Any]:
    return {name: said for name, one in known.items() if (said := value(one)) is not None}


class _Offset(_OfSnapshots):
    def slips(self, event: ConfigSnapshotTaken, reader: Reader) -> Iterator[Slip]:
        """A record that could not be converted does not move it."""
        if event.offset != reader.offset:
            yield f"is at offset {event.offset}", f"should have offset {reader.offset}", None


class _AtCommits(ConfigFold):
    """Compares a snapshot with the one before, and with what was read between them."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConfigSnapshotTaken: self._taken, ConfigRead: self._read})
        self.bookkeeping = frozenset({ConfigRead})
        self._before: dict[str, ConfigSnapshotTaken] = {}
        self._touched: dict[str, set[str]] = {}

    def _read(self, event: ConfigRead) -> None:
        kind, name = kind_and_name(event.key)
        if kind == "commit-" or (kind == "connector-" and event.converted):
            self._touched.setdefault(event.member, set()).add(name)

    def _taken(self, event: ConfigSnapshotTaken) -> None:
        before, self._before[event.member] = self._before.get(event.member), event
        touched = self._touched.pop(event.member, set())
        if before is None or before.offset > event.offset or self.recorded(event) is None:
            return  # a new process reads from the beginning
        old, new = dict(before.task_configs), dict(event.task_configs)
        for work in sorted(old.keys() | new.keys()):
            if old.get(work) != new.get(work) and task_of(work)[0] not in touched:
                self.broken(
                    f"the configuration of {work} changed at {event.member} without a commit",
                    f"at {STEP} it is {new.get(work, 'gone')}: contradiction.",
                    event,
                    (f"at {STEP} it was {old.get(work, 'unknown')}.", before),
                )


class _Incomplete(_OfSnapshots):
    def slips(self, event: ConfigSnapshotTaken, reader: Reader) -> Iterator[Slip]:
        """After a commit that lacks tasks."""
        for name, known in sorted(reader.connectors.items()):
            if known.committed is None or known.complete:
                continue
            evidence = (f"the commit that {event.member} read at {STEP} lacked tasks of {name}.", known.committed)
            if name not in event.inconsistent:
                yield f"takes {name} for consistent", f"does not say that {name} is inconsistent", evidence
            if dict(event.applied).get(name) != known.applied:
                yield f"applied the configuration of {name}", "holds it as applied", evidence
            if dict(event.generations).get(name) != known.generation:
                yield f"counted an incomplete commit of {name}", "has another generation than before", evidence


class _Pending(_OfSnapshots):
    def slips(self, event: ConfigSnapshotTaken, reader: Reader) -> Iterator[Slip]:
        """In both directions."""
        for name, known in sorted(reader.connectors.items()):
            if known.pending != (name in event.pending_fencing):
                held = "no fencing" if known.pending else "fencing"
                evidence = (f"{event.member} read the last commit of {name} at {STEP}.", known.committed)
                yield f"has {held} pending for {name}", f"says so of {name}", evidence


class _Generations(_OfSnapshots):
    def slips(self, event: ConfigSnapshotTaken, reader: Reader) -> Iterator[Slip]:
        """A process counts the complete commits that it read."""
        held = dict(event.generations)
        for name, known in sorted(reader.connectors.items()):
            if held.get(name) != known.generation:
                evidence = (f"{event.member} read the last commit of {name} at {STEP}.", known.committed)
                yield f"counts generation {held.get(name)} of {name}", f"should count {known.generation}", evidence


class _Applied(_OfSnapshots):
    def slips(self, event: ConfigSnapshotTaken, reader: Reader) -> Iterator[Slip]:
        """After complete commits; that of an incomplete one is another claim's."""
        for name, known in sorted(reader.connectors.items()):
            held = dict(event.applied).get(name)
            if held != known.applied and (known.committed is None or known.complete):
                evidence = (f"{event.member} read the last commit of {name} at {STEP}.", known.committed)
                yield f"applied {held} for {name}", f"should hold {known.applied} as applied", evidence


SnapshotFollowsReads: Final = Invariant(
    name="config_snapshot_follows_reads",
    family="config_store",
    claim="a config snapshot is the fold of the records that its worker read, in their order, whatever it wrote itself",
    source=SOURCE,
    premises=_READS,
    exempted_by=(ConfigRead,),
    violation=SnapshotFollowsReadsViolated,
    fold=_FollowsReads,
)
"""C1. The smallest history that breaks it::

    ConfigRead(member="w0", offset=0, key="connector-c", value='{"properties":{}}')
    ConfigSnapshotTaken(member="w0", offset=1)
"""
OffsetFollowsConversion: Final = Invariant(
    name="config_offset_follows_conversion",
    family="config_store",
    claim="the offset of a config snapshot lies behind the last record whose value could be converted",
    source=SOURCE,
    premises=_READS,
    exempted_by=(ConfigRead,),
    violation=OffsetFollowsConversionViolated,
    fold=_Offset,
)
"""C2. The smallest history that breaks it::

    ConfigRead(member="w0", offset=0, key="connector-c", value="{", converted=False)
    ConfigSnapshotTaken(member="w0", offset=1)
"""
ChangeAtCommits: Final = Invariant(
    name="committed_configs_change_at_commits",
    family="config_store",
    claim="committed task configurations change only when a commit or the removal of their connector is read",
    source=SOURCE,
    premises=_READS,
    exempted_by=(ConfigRead,),
    violation=ChangeAtCommitsViolated,
    fold=_AtCommits,
)
"""C5. The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=4, task_configs=(("c-0", "old"),))
    ConfigRead(member="w0", offset=4, key="task-c-0", value='{"properties":{}}')
    ConfigSnapshotTaken(member="w0", offset=5, task_configs=(("c-0", "new"),))
"""
IncompleteCommit: Final = Invariant(
    name="incomplete_commit_changes_no_config",
    family="config_store",
    claim="a commit that lacks tasks leaves generation and applied configuration as they are, and its connector "
    "inconsistent",
    source=SOURCE,
    premises=_READS,
    violation=IncompleteCommitViolated,
    fold=_Incomplete,
)
"""C6. The smallest history that breaks it::

    ConfigRead(member="w0", offset=0, key="connector-c", value='{"properties":{}}')
    ConfigRead(member="w0", offset=1, key="commit-c", value='{"tasks":1}')
    ConfigSnapshotTaken(member="w0", offset=2)
"""
FencingPending: Final = Invariant(
    name="fencing_is_pending_after_a_commit",
    family="config_store",
    claim="after a commit of a configured connector fencing is pending until a task count record is read (KIP-618)",
    source=SOURCE,
    premises=_READS,
    violation=FencingPendingViolated,
    fold=_Pending,
)
"""C7. The smallest history that breaks it::

    ConfigRead(member="w0", offset=0, key="connector-c", value='{"properties":{}}')
    ConfigRead(member="w0", offset=1, key="commit-c", value='{"tasks":0}')
    ConfigSnapshotTaken(member="w0", offset=2)
"""
GenerationCountsCommits: Final = Invariant(
    name="generation_counts_complete_commits",
    family="config_store",
    claim="the generation of a connector's task configurations counts the complete commits that its worker read",
    source=SOURCE,
    premises=_READS,
    violation=GenerationCountsCommitsViolated,
    fold=_Generations,
)
"""C8. The smallest history that breaks it::

    ConfigRead(member="w0", offset=0, key="connector-c", value='{"properties":{}}')
    ConfigSnapshotTaken(member="w0", offset=1, generations=(("c", 1),))
"""
AppliedConfig: Final = Invariant(
    name="applied_is_current_at_the_commit",
    family="config_store",
    claim="the applied configuration is the connector's at its last complete commit",
    source=SOURCE,
    premises=_READS,
    violation=AppliedConfigViolated,
    fold=_Applied,
)
"""C13. The smallest history that breaks it::

    ConfigRead(member="w0", offset=0, key="connector-c", value='{"properties":{}}')
    ConfigSnapshotTaken(member="w0", offset=1, applied=(("c", "{}"),))
"""
