"""Claims about an answer, one by one: each a function from problem and answer to the first thing that is wrong.

Sources: the Javadoc of ConsumerPartitionAssignor and of the four assignors, KIP-54, KIP-429, KIP-792, KIP-881. A claim
looks at nothing but a problem and its answer; where one speaks only under a premise, the premise is its first line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rebalance_check.properties.assignment.problem import (
    ASSIGNORS,
    COOPERATIVE_STICKY,
    RANGE,
    ROUNDROBIN,
    STICKY,
    STICKY_FAMILY,
    Answer,
    Partition,
    Problem,
    partition_name,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim: its name, its sentence, its check, which returns the finding or nothing, and the assignors it holds for.

    With ``on_request`` it is judged only when it is named: Kafka does not fulfil it to this day.
    """

    name: str
    sentence: str
    check: Callable[..., str]
    assignors: frozenset[str]
    on_request: bool = False


def claim(sentence: str, *assignors: str, on_request: bool = False) -> Callable[[Callable[..., str]], Claim]:
    """Make a check a claim of the same name about ``assignors``, without any about all of Kafka's consumers."""
    return lambda check: Claim(check.__name__, sentence, check, frozenset(assignors or ASSIGNORS), on_request)


@dataclass(frozen=True, slots=True)
class Broken:
    """A claim that an answer breaks, and the exact finding."""

    claim: str
    finding: str


def broken_claims(assignor: str, problem: Problem, answer: Answer) -> Iterator[Broken]:
    """The claims that an answer breaks, in the order of `CLAIMS`; of one that failed, nothing else is asked.

    An ``assignor`` that is none of Kafka's is held to the claims about any assignor.
    """
    for one in CLAIMS:
        held_to = assignor in one.assignors or (assignor not in ASSIGNORS and one.name in OF_ANY_ASSIGNOR)
        if held_to and (finding := one.check(assignor, problem, answer)):
            yield Broken(one.name, finding)
        if answer.failure:
            return


@claim("An assignor answers all that members may claim: it throws nothing, it ends.")
def answers(_: str, _problem: Problem, answer: Answer) -> str:
    return answer.failure


@claim("Every member of the group has an entry, and no other.")
def members(_: str, problem: Problem, answer: Answer) -> str:
    missing, strange = sorted(set(problem.members) - set(answer.assigned)), set(answer.assigned) - set(problem.members)
    return f"no entry for {missing}, an entry for {sorted(strange)} outside the group" if missing or strange else ""


@claim("A partition is given to one member at most.")
def exclusive(_: str, _problem: Problem, answer: Answer) -> str:
    for partition, count in sorted(answer.counts().items()):
        if count > 1:
            holders = [name for name in sorted(answer.assigned) for tp in answer.assigned[name] if tp == partition]
            return f"{partition_name(partition)} is given {count} times: to {' and '.join(holders)}"
    return ""


@claim("Only partitions that exist are given.")
def existing(_: str, problem: Problem, answer: Answer) -> str:
    for partition, member in sorted(answer.receivers().items()):
        if not problem.exists(partition):
            count = problem.topics.get(partition[0], 0)
            return f"{partition_name(partition)} is given to {member}; the topic has {count} partitions"
    return ""


@claim("A member is given partitions of topics that it subscribes to.")
def subscribed(_: str, problem: Problem, answer: Answer) -> str:
    for member in sorted(answer.assigned):
        topics = problem.members[member].topics if member in problem.members else ()
        for partition in answer.assigned[member]:
            if partition[0] not in topics:
                return f"{partition_name(partition)} is given to {member}, which subscribes to {list(topics)}"
    return ""


@claim("Every wanted partition is given to a member.", RANGE, ROUNDROBIN, STICKY)
def complete(_: str, problem: Problem, answer: Answer) -> str:
    missing = sorted(problem.wanted() - set(answer.counts()))
    return f"{partition_name(missing[0])} is wanted and given to nobody" if missing else ""


@claim(
    "A partition that a cooperative round gives to no member is one that a member may still hold.",
    COOPERATIVE_STICKY,
)
def withheld_is_claimed(_: str, problem: Problem, answer: Answer) -> str:
    claimants = problem.claimants()
    for partition in sorted(problem.wanted() - set(answer.counts())):
        if partition not in claimants:
            return f"{partition_name(partition)} is given to nobody, and nobody claims it"
    return ""


@claim(
    "A partition that is taken from its owner is given to no other in the same round (KIP-429).",
    COOPERATIVE_STICKY,
)
def transfer(_: str, problem: Problem, answer: Answer) -> str:
    """Of several claimants the newest is the owner. One that claims it, too, is no new owner (KIP-792 decides that)."""
    receivers, claimants = answer.receivers(), problem.claimants()
    for partition, owner in sorted(problem.owners().items()):
        receiver = receivers.get(partition, owner)
        if receiver not in claimants[partition] and partition not in answer.assigned.get(owner, ()):
            return (
                f"{partition_name(partition)} is claimed by {owner} in generation {problem.generation(owner)}, "
                f"is taken away from it and given to {receiver} in the same round"
            )
    return ""


@claim(
    "Numbers differ by one at most: per topic (range), in all (the others, subscribed alike); sticky has no single "
    "move left that helps."
)
def balanced(assignor: str, problem: Problem, answer: Answer) -> str:
    if assignor == RANGE:
        return _balanced_by_topic(problem, answer)
    if problem.subscribed_alike():
        return _balanced_to_the_partition(assignor, problem, answer)
    return _no_move_would_help(problem, answer) if assignor == STICKY and problem.racks is None else ""


def _balanced_by_topic(problem: Problem, answer: Answer) -> str:
    for topic in _wanted_topics(problem):
        takers = sorted(_takers(problem, topic))
        sizes = [sum(partition[0] == topic for partition in answer.assigned.get(name, ())) for name in takers]
        if max(sizes) - min(sizes) > 1:
            return f"of {topic} {' and '.join(takers)} get {sizes} partitions"
    return ""


def _balanced_to_the_partition(assignor: str, problem: Problem, answer: Answer) -> str:
    """A partition withheld goes to a member that is full only with it: cooperative answers have an upper bound only."""
    low, extra = divmod(len(problem.wanted()), len(problem.members))
    sizes = {name: len(answer.assigned.get(name, ())) for name in sorted(problem.members)}
    high = low + (1 if extra else 0)
    too_few = assignor != COOPERATIVE_STICKY and min(sizes.values()) < low
    too_many = max(sizes.values()) > high or sum(size > low for size in sizes.values()) > extra
    return f"the members get {sizes}, and all could have {low} or {high}" if too_few or too_many else ""


def _no_move_would_help(problem: Problem, answer: Answer) -> str:
    load = {name: len(partitions) for name, partitions in answer.assigned.items()}
    for partition, owner in sorted(answer.receivers().items()):
        for name, member in sorted(problem.members.items()):
            if partition[0] in member.topics and load[name] + 1 < load[owner]:
                loads = f"{owner} has {load[owner]} partitions and {name} {load[name]}"
                return f"{loads}: {partition_name(partition)} could move"
    return ""


@claim(
    "As much stays with the newest claimant as balance allows (subscribed alike); a perfect assignment stays as it is.",
    *STICKY_FAMILY,
)
def sticky(_: str, problem: Problem, answer: Answer) -> str:
    if problem.racks is not None or len(problem.owners()) < len(problem.claimants()):
        return ""  # where racks count more, or two members claim the same in one generation
    owned = _wanted_by_owner(problem)
    if problem.subscribed_alike():
        return _keeps_the_most(problem, answer, owned)
    return _keeps_what_is_perfect(problem, answer, owned)


def _wanted_by_owner(problem: Problem) -> dict[str, set[Partition]]:
    """The partitions that each member owns of topics that it subscribes to."""
    owned: dict[str, set[Partition]] = {name: set() for name in problem.members}
    for partition, name in problem.owners().items():
        if partition[0] in problem.members[name].topics:
            owned[name].add(partition)
    return owned


def _keeps_the_most(problem: Problem, answer: Answer, owned: dict[str, set[Partition]]) -> str:
    low, extra = divmod(len(problem.wanted()), len(problem.members))
    most = sum(min(len(mine), low) for mine in owned.values())
    most += min(extra, sum(len(mine) > low for mine in owned.values()))
    kept = sum(len(mine & set(answer.assigned.get(name, ()))) for name, mine in owned.items())
    return f"{kept} partitions stay where they were, and {most} could" if kept < most else ""


def _keeps_what_is_perfect(problem: Problem, answer: Answer, owned: dict[str, set[Partition]]) -> str:
    before = Answer({name: tuple(sorted(mine)) for name, mine in owned.items()})
    if set(before.counts()) != problem.wanted() or _no_move_would_help(problem, before):
        return ""
    moved = [name for name, mine in sorted(owned.items()) if mine != set(answer.assigned.get(name, ()))]
    return f"all was assigned and in balance, and the partitions of {moved} change" if moved else ""


@claim("Of n partitions and k members, in order, the first n mod k get one more, all of them in one piece.", RANGE)
def ranges(_: str, problem: Problem, answer: Answer) -> str:
    """Instance ids have an order of their own, and racks may count more."""
    if problem.racks is not None or any(member.instance for member in problem.members.values()):
        return ""
    for topic in _wanted_topics(problem):
        takers = sorted(_takers(problem, topic))
        quota, extra = divmod(problem.topics[topic], len(takers))
        start = 0
        for position, name in enumerate(takers):
            end = start + quota + (position < extra)
            got = sorted(number for each, number in answer.assigned.get(name, ()) if each == topic)
            if got != list(range(start, end)):
                return f"{name} gets partitions {got} of {topic}, and its range is {list(range(start, end))}"
            start = end
    return ""


@claim("Members that subscribe alike get equal numbers of equally large topics.", RANGE)
def copartitioned(_: str, problem: Problem, answer: Answer) -> str:
    if not problem.subscribed_alike():
        return ""
    topics = _wanted_topics(problem)
    for name, partitions in sorted(answer.assigned.items()):
        for one, other in pairwise(topics):
            if problem.topics[one] == problem.topics[other]:
                numbers = [sorted(n for topic, n in partitions if topic == each) for each in (one, other)]
                if numbers[0] != numbers[1]:
                    return f"{name} gets partitions {numbers[0]} of {one} and {numbers[1]} of {other}, equally large"
    return ""


@claim("Partitions in order go round the circle of members in order, past those that do not subscribe.", ROUNDROBIN)
def circle(_: str, problem: Problem, answer: Answer) -> str:
    """Instance ids have an order of their own."""
    if any(member.instance for member in problem.members.values()):
        return ""
    names = sorted(problem.members)
    last = -1
    receivers = answer.receivers()
    for partition in sorted(problem.wanted()):
        takers = [place for place, name in enumerate(names) if partition[0] in problem.members[name].topics]
        last = min(takers, key=lambda place: (place - last - 1) % len(names))
        if (got := receivers.get(partition)) != names[last]:
            return f"{partition_name(partition)} is given to {got}, and {names[last]} is next in the circle"
    return ""


@claim(
    "Where racks matter, no partition goes to a member far from its replicas while one that is near them is given "
    "another that is far (KIP-881; sticky: subscribed alike, and partitions that were theirs before apart).",
    RANGE,
    *STICKY_FAMILY,
)
def near_first(assignor: str, problem: Problem, answer: Answer) -> str:
    """Only partitions that were dealt anew are judged: members keep those that they had, near or far."""
    if problem.racks is None or (assignor != RANGE and not problem.subscribed_alike()):
        return ""
    for group in _dealt_together(assignor, problem):
        if finding := _exchange(assignor, problem, answer, group):
            return finding
    return ""


def _dealt_together(assignor: str, problem: Problem) -> Iterator[list[Partition]]:
    """The partitions that racks decide about together: all, or with range those of a topic that is dealt alone."""
    wanted = sorted(problem.wanted())
    if assignor != RANGE:
        yield wanted
        return
    kinds = {topic: (_takers(problem, topic), problem.topics[topic]) for topic in _wanted_topics(problem)}
    for topic, kind in kinds.items():
        if list(kinds.values()).count(kind) == 1:
            yield [partition for partition in wanted if partition[0] == topic]


def _wanted_topics(problem: Problem) -> list[str]:
    return sorted({topic for topic, _ in problem.wanted()})


def _takers(problem: Problem, topic: str) -> frozenset[str]:
    return frozenset(name for name, member in problem.members.items() if topic in member.topics)


def _exchange(assignor: str, problem: Problem, answer: Answer, group: list[Partition]) -> str:
    """Two partitions of ``group``, both away from the racks of their new members, one of them near the other's."""
    if not _racks_matter(problem, group):
        return ""
    receivers, claimants = answer.receivers(), problem.claimants()
    away = [
        (partition, receivers[partition])
        for partition in group
        if partition in receivers
        and (assignor == RANGE or receivers[partition] not in claimants.get(partition, ()))
        and not _near(assignor, problem, receivers[partition], partition)
    ]
    for partition, member in away:
        for other, holder in away:
            if holder != member and _near(assignor, problem, holder, partition):
                return (
                    f"{partition_name(partition)} is given to {member}, whose rack has no replica of it, and "
                    f"{holder}, whose rack has one, gets {partition_name(other)}, of which it has none"
                )
    return ""


def _replicas(problem: Problem, partition: Partition) -> frozenset[str]:
    known = (problem.racks or {}).get(partition[0], ())
    return frozenset(known[partition[1]]) if partition[1] < len(known) else frozenset()


def _racks_matter(problem: Problem, group: list[Partition]) -> bool:
    """As KIP-881 has it: some taker's rack holds replicas, and not every partition has replicas in all racks."""
    replicas = {_replicas(problem, partition) for partition in group}
    takers = {name for topic, _ in group for name in _takers(problem, topic)}
    everywhere = frozenset[str]().union(*replicas)
    return any(problem.members[name].rack in everywhere for name in takers) and replicas != {everywhere}


def _near(assignor: str, problem: Problem, member: str, partition: Partition) -> bool:
    """Whether the member's rack has a replica; to range every partition is near a member without a rack."""
    rack = problem.members[member].rack
    return assignor == RANGE if rack is None else rack in _replicas(problem, partition)


OF_RACKS: Final = frozenset({near_first.name})
"""The claims about an assignor that looks at racks (KIP-881)."""

OF_ANY_ASSIGNOR: Final = frozenset(one.name for one in (answers, members, exclusive, existing, subscribed))
"""Claims that hold for every strategy of an assignor."""

CLAIMS: Final = (
    answers, members, exclusive, existing, subscribed, complete, withheld_is_claimed, transfer, balanced, sticky,
    copartitioned, ranges, circle, near_first,
)  # fmt: skip
"""All claims, those whose break explains others first."""
