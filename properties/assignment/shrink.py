"""Smaller problems that still break a claim: greedy, deterministic, until nothing more can be left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from rebalance_check.model.shrink import reduced
from rebalance_check.properties.assignment.problem import Member, Problem

T = TypeVar("T")


def shrink(problem: Problem, still_broken: Callable[[Problem], bool]) -> Problem:
    """A smallest problem, in the sense that no single reduction of `smaller` breaks the claim any more.

    ``still_broken`` is asked about every candidate; the first that is accepted is reduced further.
    """
    return reduced(problem, smaller, still_broken)


def smaller(problem: Problem) -> Iterator[Problem]:
    """Every problem that is one reduction smaller, the greatest steps first."""
    for name in problem.members:
        yield replace(problem, members=_without(problem.members, name))
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
    for name, member in problem.members.items():
        yield from (replace(problem, members={**problem.members, name: less}) for less in _smaller_member(member))
    if problem.racks is not None:
        yield from _fewer_racks(problem, problem.racks)


def _without_topic(problem: Problem, topic: str) -> Problem:
    members = {
        name: replace(
            member,
            topics=tuple(one for one in member.topics if one != topic),
            owned=tuple(partition for partition in member.owned if partition[0] != topic),
        )
        for name, member in problem.members.items()
    }
    return Problem(_without(problem.topics, topic), members, problem.racks and _without(problem.racks, topic))


def _without(entries: Mapping[str, T], key: str) -> dict[str, T]:
    return {name: entry for name, entry in entries.items() if name != key}


def _less_one(entries: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """The entries without one of them, each in turn."""
    return (entries[:i] + entries[i + 1 :] for i in range(len(entries)))


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


def _smaller_member(member: Member) -> Iterator[Member]:
    """No generation only where nothing is claimed: a claim without a generation is a rarer thing than one with."""
    yield from (replace(member, owned=fewer) for fewer in _less_one(member.owned))
    yield from (replace(member, topics=fewer) for fewer in _less_one(member.topics))
    if member.instance is not None:
        yield replace(member, instance=None)
    if member.generation is not None and not member.owned:
        yield replace(member, generation=None)
    elif member.generation is not None and member.generation > 1:
        yield replace(member, generation=member.generation - 1)


def _fewer_racks(problem: Problem, racks: Mapping[str, tuple[tuple[str, ...], ...]]) -> Iterator[Problem]:
    for topic, partitions in racks.items():
        for number, replicas in enumerate(partitions):
            for fewer in _less_one(replicas) if len(replicas) > 1 else ():
                changed = (*partitions[:number], fewer, *partitions[number + 1 :])
                yield replace(problem, racks={**racks, topic: changed})
