"""Smaller problems that still break a claim: greedy, deterministic, until nothing more can be left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from rebalance_check.model.shrink import reduced
from rebalance_check.properties.assignment.problem import Member, Problem


def shrink(problem: Problem, still_broken: Callable[[Problem], bool]) -> Problem:
    """A smallest problem, in the sense that no single reduction of `smaller` breaks the claim any more.

    ``still_broken`` is asked about every candidate; the first that is accepted is reduced further.
    """
    return reduced(problem, smaller, still_broken)


def smaller(problem: Problem) -> Iterator[Problem]:
    """Every problem that is one reduction smaller, the greatest steps first."""
    for name in problem.members:
        yield replace(problem, members={one: member for one, member in problem.members.items() if one != name})
    for topic in problem.topics:
        yield _without_topic(problem, topic)
    if problem.racks is not None:
        yield replace(
            problem, racks=None, members={name: replace(one, rack=None) for name, one in problem.members.items()}
        )
    for topic, count in problem.topics.items():
        for fewer in sorted({1, count // 2, count - 1}):
            if 0 <= fewer < count:
                yield _with_count(problem, topic, fewer)
    yield from _smaller_members(problem)
    if problem.racks is not None:
        yield from _fewer_racks(problem, problem.racks)


def _without_topic(problem: Problem, topic: str) -> Problem:
    racks = problem.racks
    return Problem(
        {name: count for name, count in problem.topics.items() if name != topic},
        {
            name: replace(
                member,
                topics=tuple(one for one in member.topics if one != topic),
                owned=tuple(partition for partition in member.owned if partition[0] != topic),
            )
            for name, member in problem.members.items()
        },
        None if racks is None else {name: each for name, each in racks.items() if name != topic},
    )


def _with_count(problem: Problem, topic: str, count: int) -> Problem:
    """Fewer partitions of a topic; claims to those that go, go with them, and claims beyond the old count stay."""
    gone = {(topic, number) for number in range(count, problem.topics[topic])}
    members = {
        name: replace(member, owned=tuple(partition for partition in member.owned if partition not in gone))
        for name, member in problem.members.items()
    }
    racks = problem.racks
    if racks is not None:
        racks = {**racks, topic: racks[topic][:count]}
    return Problem({**problem.topics, topic: count}, members, racks)


def _smaller_members(problem: Problem) -> Iterator[Problem]:
    for name, member in problem.members.items():
        for less in _smaller_member(member):
            yield replace(problem, members={**problem.members, name: less})


def _smaller_member(member: Member) -> Iterator[Member]:
    for i in range(len(member.owned)):
        yield replace(member, owned=member.owned[:i] + member.owned[i + 1 :])
    for i in range(len(member.topics)):
        yield replace(member, topics=member.topics[:i] + member.topics[i + 1 :])
    if member.instance is not None:
        yield replace(member, instance=None)
    if member.generation is not None:
        yield from _smaller_generations(member, member.generation)


def _smaller_generations(member: Member, generation: int) -> Iterator[Member]:
    """None only where nothing is claimed: a claim without a generation is a rarer thing than one with."""
    if not member.owned:
        yield replace(member, generation=None)
    elif generation > 1:
        yield replace(member, generation=generation - 1)


def _fewer_racks(problem: Problem, racks: Mapping[str, tuple[tuple[str, ...], ...]]) -> Iterator[Problem]:
    for topic, partitions in racks.items():
        for number, replicas in enumerate(partitions):
            for i in range(len(replicas) if len(replicas) > 1 else 0):
                fewer = replicas[:i] + replicas[i + 1 :]
                changed = (*partitions[:number], fewer, *partitions[number + 1 :])
                yield replace(problem, racks={**racks, topic: changed})
