"""C1 and C2: a snapshot is the fold of the records that were read, and of nothing else."""

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
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP

_READS: Final = ("every read of a store is recorded, from its start",)


class SnapshotFollowsReadsViolated(ConfigStoreViolated):
    """C1: a snapshot holds something that the records read do not explain."""


class OffsetFollowsConversionViolated(ConfigStoreViolated):
    """C2: the offset is not the one behind the last record whose value could be converted."""


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
