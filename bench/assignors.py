"""Seconds per assignment: each assignor, members that subscribe alike or not, new or with claims, with racks or not."""

from __future__ import annotations

import argparse
import time
from itertools import product
from random import Random

from rebalance_check.impl.assignors.assignor import Assignor, Racks
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.protocol.consumer_protocol import Subscription
from rebalance_check.impl.protocol.topic_partition import TopicPartition

TOPICS = 20
RACKS: list[str] = ["r0", "r1", "r2"]


def problem(
    members: int, partitions: int, *, alike: bool, racks: bool, claims: bool
) -> tuple[dict[str, int], dict[str, Subscription], Racks | None]:
    """A group of which three quarters were there before, and its cluster."""
    random = Random(1)
    topics = {f"t{number}": partitions // TOPICS for number in range(TOPICS)}
    names = [f"m{number}" for number in range(members)]
    few = {name: tuple(random.sample(sorted(topics), random.randint(1, TOPICS))) for name in names}
    wishes = dict.fromkeys(names, tuple(topics)) if alike else few
    owned: dict[str, list[TopicPartition]] = {name: [] for name in names}
    veterans = names[: members * 3 // 4] if claims else []
    for topic, count in topics.items():
        takers = [name for name in veterans if topic in wishes[name]]
        for number in range(count if takers else 0):
            owned[random.choice(takers)].append(TopicPartition(topic, number))
    group = {
        name: Subscription(
            topics=wishes[name], owned=tuple(owned[name]), generation=3, rack=random.choice(RACKS) if racks else None
        )
        for name in names
    }
    replicas = {topic: [random.sample(RACKS, 2) for _ in range(count)] for topic, count in topics.items()}
    return topics, group, replicas if racks else None


def main() -> None:
    """Print a line for each assignor and kind of group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--partitions", type=int, default=2_000)
    given = parser.parse_args()
    assignors: list[Assignor] = [RangeAssignor(), RoundRobinAssignor(), CooperativeStickyAssignor()]
    print(f"{given.members} members, {given.partitions} partitions of {TOPICS} topics; seconds of CPU time")
    for assignor, alike, racks, claims in product(assignors, (True, False), (False, True), (False, True)):
        asked = problem(given.members, given.partitions, alike=alike, racks=racks, claims=claims)
        started = time.process_time()
        assignor.assign(*asked)
        took = time.process_time() - started
        kind = ("differently", "alike")[alike], ("no racks", "racks")[racks], ("new", "claims")[claims]
        print(f"  {assignor.name:<20} {', '.join(kind):<32} {took:6.3f}")


if __name__ == "__main__":
    main()
