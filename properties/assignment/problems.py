"""Random problems, a pure function of a shape and a seed.

A shape says how the claims of the members look: how a group may come to them, and which guarantees an assignor
gives for them. Half of all problems have members that subscribe alike: assignors have a way of their own for these.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.assignment.problem import Member, Partition, Problem

_TOPICS: Final = ("a", "b", "c")
_UNKNOWN: Final = "gone"
_RACKS: Final = ("r0", "r1", "r2")
_MOST_PARTITIONS: Final = 6

Topics: TypeAlias = dict[str, int]
Wishes: TypeAlias = dict[str, tuple[str, ...]]
Claims: TypeAlias = dict[str, tuple[tuple[Partition, ...], int | None]]
"""The partitions that each member claims, and in which generation."""


def random_problem(shape: str, seed: int) -> Problem:
    """The problem of a shape and a seed; `RebalanceCheckError` when there is no such shape."""
    if shape not in SHAPES:
        raise RebalanceCheckError(f"there is no shape {shape!r} of assignment problems: choose {', '.join(SHAPES)}")
    random = Random(f"{shape}/{seed}")
    most_members, most_partitions = (9, 25) if shape == "scattered" else (5, _MOST_PARTITIONS)
    topics = {name: random.randint(0, most_partitions) for name in _TOPICS[: random.randint(1, len(_TOPICS))]}
    names = [f"m{n}" for n in range(random.randint(1, most_members))]
    random.shuffle(names)
    wishes = _wishes(random, names, [*topics, _UNKNOWN], least=0 if shape == "empty" else 1)
    claims = SHAPES[shape](random, topics, wishes)
    racks = _racks(random, shape, topics)
    instances = random.random() < 0.25
    return Problem(
        topics,
        {
            name: Member(
                topics=wishes[name],
                owned=claims[name][0],
                generation=claims[name][1],
                instance=f"i{9 - int(name[1:])}" if instances and random.random() < 0.5 else None,
                rack=random.choice(_MEMBER_RACKS[shape]) if racks is not None else None,
            )
            for name in names
        },
        racks,
    )


def _wishes(random: Random, names: list[str], topics: list[str], least: int) -> Wishes:
    """Topics of each member; the unknown one now and then."""
    pool = topics if random.random() < 0.15 else topics[:-1]
    if random.random() < 0.5:
        common = tuple(sorted(random.sample(pool, random.randint(1, len(pool)))))
        wishes = dict.fromkeys(names, common)
        if least == 0 and random.random() < 0.3:
            wishes[random.choice(names)] = ()
        return wishes
    return {name: tuple(sorted(random.sample(pool, random.randint(least, len(pool))))) for name in names}


_MEMBER_RACKS: Final[dict[str, tuple[str | None, ...]]] = {
    "racks": _RACKS,
    "scattered": (*_RACKS, *_RACKS, "elsewhere", None, None),
}
"""The racks that members name, in the shapes that have any."""


def _racks(random: Random, shape: str, topics: Topics) -> dict[str, tuple[tuple[str, ...], ...]] | None:
    if shape not in _MEMBER_RACKS:
        return None
    fewest = 0 if shape == "scattered" else 1
    return {topic: _replicas(random, count, fewest) for topic, count in topics.items()}


def _replicas(random: Random, count: int, fewest: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(sorted(random.sample(_RACKS, random.randint(fewest, 2)))) for _ in range(count))


def _everything(topics: Topics) -> list[Partition]:
    return [(topic, number) for topic, count in topics.items() for number in range(count)]


def _disjoint(random: Random, topics: Topics, wishes: Wishes) -> dict[str, list[Partition]]:
    """Each partition has one owner that subscribes to it, or none; some members are new and own nothing."""
    veterans = [name for name in wishes if random.random() < 0.75]
    held: dict[str, list[Partition]] = {name: [] for name in wishes}
    for partition in _everything(topics):
        eligible = [name for name in veterans if partition[0] in wishes[name]]
        if eligible and random.random() < 0.85:
            held[random.choice(eligible)].append(partition)
    return held


def _wide(topics: Topics, wishes: Wishes) -> Wishes:
    """The wishes, and beyond these all topics: members changed their subscriptions since they claimed."""
    return {name: (*wanted, *topics) for name, wanted in wishes.items()}


def _tame(random: Random, topics: Topics, wishes: Wishes) -> Claims:
    """Claims of one generation that do not overlap: a group in which everybody took part in every round."""
    held = _disjoint(random, topics, wishes)
    return {name: (tuple(partitions), 3 if partitions else None) for name, partitions in held.items()}


def _stale(random: Random, topics: Topics, wishes: Wishes) -> Claims:
    """Claims that do not overlap, of several generations: a member missed a round, and none took its partitions."""
    held = _disjoint(random, topics, wishes)
    return {name: (tuple(partitions), random.randint(1, 3)) for name, partitions in held.items()}


def _dropped(random: Random, topics: Topics, wishes: Wishes) -> Claims:
    """Tame claims, also to topics that the member does not want any more: it changed its subscription since."""
    return _tame(random, topics, _wide(topics, wishes))


def _lapsed(random: Random, topics: Topics, wishes: Wishes) -> Claims:
    """Stale claims, also to topics that the member does not want any more: it changed its mind while it was away."""
    return _stale(random, topics, _wide(topics, wishes))


def _some(random: Random, topics: Topics, wanted: tuple[str, ...]) -> tuple[Partition, ...]:
    return tuple(tp for tp in _everything(topics) if tp[0] in wanted and random.random() < 0.4)


def _outdated(random: Random, topics: Topics, wishes: Wishes) -> Claims:
    """Stale claims that newer ones have overtaken: no two claims to a partition are of one generation."""
    generations = random.sample(range(1, 10), len(wishes))
    return {name: (_some(random, topics, wishes[name]), one) for name, one in zip(wishes, generations, strict=True)}


def _contested(random: Random, topics: Topics, wishes: Wishes) -> Claims:
    """Claims that contradict each other, also within one generation: a member claims partitions that it lost."""
    generations = (None, 1, 2, 2, 3)
    return {name: (_some(random, topics, wanted), random.choice(generations)) for name, wanted in wishes.items()}


def _beyond(random: Random, topics: Topics, wishes: Wishes) -> Claims:
    """Claims that go beyond the existing: the topic was made anew with fewer partitions, or is gone."""
    held = _disjoint(random, topics, wishes)
    claims: Claims = {}
    for name, partitions in held.items():
        strange = [(topic, random.randint(_MOST_PARTITIONS, _MOST_PARTITIONS + 3)) for topic in (*topics, _UNKNOWN)]
        claims[name] = (tuple(partitions + [each for each in strange if random.random() < 0.3]), 3)
    return claims


def _below(random: Random, topics: Topics, wishes: Wishes) -> Claims:
    """Claims with a partition of a negative number: no client writes that, and bytes can say it."""
    held = _disjoint(random, topics, wishes)
    return {
        name: ((*partitions, *((topic, -1) for topic in wishes[name] if random.random() < 0.3)), 3)
        for name, partitions in held.items()
    }


def _twice(random: Random, topics: Topics, wishes: Wishes) -> Claims:
    """Claims that name a partition twice: no client of Kafka's writes that, and bytes can say it."""
    held = _disjoint(random, topics, wishes)
    return {
        name: (tuple(one for tp in partitions for one in [tp] * random.choice((1, 1, 2))), 3)
        for name, partitions in held.items()
    }


SHAPES: Final[dict[str, Callable[[Random, Topics, Wishes], Claims]]] = {
    "tame": _tame,
    "stale": _stale,
    "outdated": _outdated,
    "contested": _contested,
    "beyond": _beyond,
    "below": _below,
    "dropped": _dropped,
    "lapsed": _lapsed,
    "twice": _twice,
    "empty": _tame,
    "racks": _tame,
    "scattered": _outdated,
}
"""The shapes; ``empty`` and ``racks`` are tame, with empty subscriptions and with racks of members and replicas."""

_LOOSE: Final = frozenset({"beyond", "below", "dropped", "lapsed"})
"""Shapes whose members also claim partitions that do not exist, or of topics that they do not subscribe to."""


def fits(shape: str, problem: Problem) -> bool:
    """Whether a problem is still one of a shape, so that shrinking does not end at another shape's problem."""
    members = problem.members.values()
    if not members or (shape != "empty" and not all(member.topics for member in members)):
        return False
    claims = [(partition, member.topics) for member in members for partition in member.owned]
    if shape not in _LOOSE and not all(tp[0] in topics and problem.exists(tp) for tp, topics in claims):
        return False
    claimants = problem.claimants().values()
    if shape == "contested":
        return True
    if shape in {"outdated", "scattered"}:
        return all(len({problem.generation(name) for name in names}) == len(names) for names in claimants)
    return all(len(names) == 1 for names in claimants)
