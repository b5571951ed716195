"""A read to the end of the config topic reaches what was the end when it began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigReadEnded,
    ConfigReadStarted,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    WorkerConfigured,
)
from rebalance_check.properties.config_store.readers import ConfigStoreViolated
from rebalance_check.properties.config_store.topic import TopicFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP

OK: Final = "ok"


class ReadsReachTheEndViolated(ConfigStoreViolated):
    """A read to the end was over before the store had read what was appended before it began."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A read that is not over: the end of the topic for its reader when it began."""

    started: ConfigReadStarted
    end: int


class _Reads(TopicFold):
    """Per worker: its reads that are not over, in the order in which they began."""

    bookkeeping = frozenset({ConfigReadStarted, MemberCrashed, MemberLeft, MemberStarted, WorkerConfigured})
    needs = ((ConfigReadStarted,), (ConfigAppended,), (WorkerConfigured,))

    def __init__(self, invariant: Invariant) -> None:
        gone: tuple[type[Event], ...] = (MemberStarted, MemberCrashed, MemberLeft)
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(gone, self.on_gone),
            WorkerConfigured: self.on_worker,
            ConfigReadStarted: self.on_started,
            ConfigReadEnded: self.on_ended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._begun: dict[str, list[Begun]] = {}
        self._workers: set[str] = set()

    def on_gone(self, event: MemberEvent) -> None:
        """Its reads end with the process."""
        self._begun.pop(event.member, None)

    def on_worker(self, event: WorkerConfigured) -> None:
        """Workers write nothing that a store cannot read."""
        self._workers.add(event.member)

    def on_started(self, event: ConfigReadStarted) -> None:
        """The end is that of now; a reader of committed records stops at an open transaction."""
        end = self.topic.end_for(self.topic.of(event.member))
        self._begun.setdefault(event.member, []).append(Begun(event, end))

    def on_ended(self, event: ConfigReadEnded) -> None:
        """Of several reads the oldest one reaches least."""
        begun = self._begun.get(event.member)
        if begun is None:
            return
        if not begun:
            self.contradiction(
                f"a read of {event.member} is over that had not begun",
                (f"a read of the config topic was over at {STEP}, and all that {event.member} began were over before: "
                 "contradiction.", event),
            )  # fmt: skip
            return
        read = begun.pop(0)
        if event.outcome == OK and event.member in self._workers:
            self._judge(event, read)

    def _judge(self, event: ConfigReadEnded, read: Begun) -> None:
        """Nothing is left below the end that the reader would return."""
        self.compared = (self.compared or 0) + 1
        reader = self.topic.of(event.member)
        left = next(self.topic.unread(reader, max(reader.position, event.offset), read.end), None)
        if left is not None:
            self.contradiction(
                f"{event.member} reads to the end of the config topic, and not as far as offset {left.offset}",
                (f"{left.key} was appended at {STEP}, at offset {left.offset};", left),
                (f"{event.member} began at {STEP} to read the topic to its end;", read.started),
                (f"the read was over at {STEP}, and the store had read as far as offset {event.offset}: contradiction.",
                 event),
            )  # fmt: skip


ReadsReachTheEnd: Final = Invariant(
    name="config_reads_reach_the_end",
    family="config_store",
    claim="when a read to the end of the config topic is over, it had begun, and the store has read what lay below the "
    "end when it began: with isolation.level=read_committed below the last stable offset, and not aborted",
    source="KafkaBasedLog.readToEnd; KafkaConfigBackingStore.refresh",
    premises=(
        "the topic's log is recorded, in one order with the reads",
        "of a transaction whose end is not recorded, and of what lies behind it, nothing is said",
        "the store is that of a worker: a record that it cannot read may cost a store the rest of a batch",
    ),
    exempted_by=(ConfigAppended, MemberCrashed, MemberLeft, MemberStarted),
    violation=ReadsReachTheEndViolated,
    fold=_Reads,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="eager")
    ConfigAppended(writer="w0", offset=3, key="connector-c", value=None)
    ConfigReadStarted(member="w0")
    ConfigReadEnded(member="w0", offset=3)
"""

CLAIMS: Final = (ReadsReachTheEnd,)
"""In the order in which reports name them."""
