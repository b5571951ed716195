"""How much memory the judge needs for long histories, and how its time grows with members that claim one partition.

Churn: every hundredth event begins a generation, in which one member leaves and a new one, of another name, joins.
"""

from __future__ import annotations

import argparse
import gc
import resource
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from typing import Any

from rebalance_check.model.vocabulary import events as e
from rebalance_check.properties.judge import Judge, judge

GENERATION_EVENTS = 100


class ChurningGroup:
    """The events of a healthy group; ``size`` members, of which one is replaced in each generation."""

    def __init__(self, size: int, quiet: int = GENERATION_EVENTS - 46) -> None:
        self.quiet = quiet
        self.members = [f"consumer-{number}" for number in range(size)]
        self.generation = 0
        self.owners: set[str] = set()
        self.requests = count()
        self.names = count(size)
        self.seqs: dict[str, int] = {}

    def stamped(self, source: str, event: e.Event) -> e.Event:
        """The event of this source, numbered."""
        seq = self.seqs[source] = self.seqs.get(source, -1) + 1
        return replace(event, group="g", source=source, seq=seq, time_ms=self.generation)

    def events(self, number: int) -> Iterator[e.Event]:
        """So many events, the run's own included."""
        yield self.stamped("harness", e.RunStarted(subject="churn"))
        yield from islice(self._all(), number - 2)
        yield self.stamped("harness", e.RunEnded())

    def _all(self) -> Iterator[e.Event]:
        yield self._coordinator(e.IncarnationStarted, status="Empty")
        for member in self.members:
            yield self._coordinator(e.MemberAdded, member_id=member)
        while True:
            yield from self._rebalance()
            for number in range(self.quiet):
                member, request = self.members[number % len(self.members)], next(self.requests)
                fields = {"request_generation": self.generation, "member_id": member}
                yield self._coordinator(e.HeartbeatReplied, request=request, error="NONE", **fields)

    def _rebalance(self) -> Iterator[e.Event]:
        """One member is replaced; ten members say that they join."""
        old, new = self.members.pop(0), f"consumer-{next(self.names)}"
        before = "Stable" if self.generation else "Empty"
        yield self._coordinator(e.GroupStatusChanged, from_status=before, to_status="PreparingRebalance")
        self.owners.discard(old)
        yield self.stamped(old, e.MemberLeft(member=old))
        del self.seqs[old]
        yield self._coordinator(e.MemberRemoved, member_id=old, reason="left")
        yield self.stamped(new, e.MemberStarted(member=new, protocol="cooperative"))
        yield self._coordinator(e.MemberAdded, member_id=new)
        self.members.append(new)
        self.generation += 1
        ids = tuple(sorted(self.members))
        change = {"from_status": "PreparingRebalance", "to_status": "CompletingRebalance"}
        yield self._coordinator(e.GroupStatusChanged, **change)
        yield self._coordinator(e.GenerationStarted, members=ids, leader=ids[0], protocol="range")
        yield self._coordinator(e.GroupMetadataAppended, members=ids, offset=self.generation)
        yield self._coordinator(e.GroupStatusChanged, from_status="CompletingRebalance", to_status="Stable")
        for member in self.members[-9:]:
            fields: dict[str, Any] = {"member": member, "member_id": member, "generation": self.generation}
            request: dict[str, Any] = {"member": member, "api": "JoinGroup", "request": next(self.requests)}
            yield self.stamped(member, e.RequestSent(**request))
            yield self.stamped(member, e.RequestAnswered(error="NONE", **request))
            yield self.stamped(member, e.MemberJoined(protocol="range", **fields))
            if member not in self.owners:
                yield self.stamped(member, e.PartitionsAssigned(partitions=(f"t-{member}",), **fields))
            self.owners.add(member)
            yield self.stamped(member, e.AssignmentCompleted(owned=(f"t-{member}",), **fields))

    def _coordinator(self, event_type: type[e.CoordinatorEvent], **fields: Any) -> e.Event:
        return self.stamped("coordinator", event_type(incarnation=0, generation=self.generation, **fields))


def kept_bytes(number: int, group: ChurningGroup) -> int:
    """The memory of a judge after so many events of the group; the events themselves are not kept."""
    judging = Judge()
    gc.collect()
    tracemalloc.start()
    for event in group.events(number):
        judging.observe(event)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert judging.judgement().events == number
    return kept


def claimants(number: int) -> list[e.Event]:
    """A history in which so many members claim one partition in one generation."""
    return [
        e.PartitionsAssigned(source=f"m{i}", seq=0, member=f"m{i}", generation=1, partitions=("t-0",))
        for i in range(number)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=100)
    size = parser.parse_args().members
    for number in (50_000, 400_000):
        started = time.process_time()
        kept = kept_bytes(number, ChurningGroup(size))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{number:>9,} events, {size} members: the judge keeps {kept / 2**20:6.2f} MiB, the process had at most "
              f"{peak:.0f} MiB, {time.process_time() - started:.1f} s")  # fmt: skip
    for number in (1_000, 2_000, 4_000):
        history = claimants(number)
        started = time.process_time()
        judge(history)
        print(f"{number:>9,} members claim one partition: {time.process_time() - started:.2f} s")


if __name__ == "__main__":
    main()
