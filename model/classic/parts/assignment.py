"""The decisions open to a leader: every balanced target, under COOPERATIVE only the stickiest; what it withholds.

An assignor's pick among legal targets depends on map order and member ids, so the model leaves it open: targets
are numbered, and the choice index picks one. The targets of each group stand in one table, made once per bounds. Legal
under COOPERATIVE is the constrained builder of ``AbstractStickyAssignor`` (balanced, and no balanced target
keeps more) with the adjustment of ``CooperativeStickyAssignor`` (the next generation only hands out a partition that
changes hands).
"""

from itertools import product

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.classic.state import Config, Message, State, has, size, with_

DIGIT = 3  # bits of a target that say who gets a partition; the lowest belong to partition 0


def target_table(members: int, partitions: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Where the targets of each group (a bit mask) start, and all targets, group after group.

    A target is balanced when loads differ by at most one: each member gets ceil(p/n) or floor(p/n) partitions.
    """
    starts, targets = [0], list[int]()
    for group in range(1 << members):
        present = [x for x in range(members) if group >> x & 1]
        targets += [
            encode(takers) for takers in product(present, repeat=partitions) if present and balanced(takers, present)
        ]
        starts.append(len(targets))
    return tuple(starts), tuple(targets)


def encode(takers: tuple[int, ...]) -> int:
    """A target as one number."""
    return sum(taker << (DIGIT * p) for p, taker in enumerate(takers))


def balanced(takers: tuple[int, ...], present: list[int]) -> bool:
    """Whether the loads of the members present differ by at most one."""
    loads = [takers.count(x) for x in present]
    return max(loads) - min(loads) <= 1


# ------------------------------------------------------------------------------------------------ the leader


def target_count(c: Config, group: int) -> int:
    """How many balanced targets a group has."""
    return c.target_start[group + 1] - c.target_start[group]


def taker(target: int, p: int) -> int:
    """The member to which a target gives partition p."""
    return (target >> (DIGIT * p)) & 7


def clean_owned_partitions(c: Config, s: State, reply: Message) -> None:
    """Fill a leader's reply: who owns what when the newest generation wins, and what two members of one generation own.

    Of two members that say they own a partition, the one with the older generation missed a rebalance. If both have the
    same generation neither is believed. Cleaning depends on the metadata in the reply alone, so it is done when the
    reply is written.

    Source: ``AbstractStickyAssignor.allSubscriptionsEqual``; KIP-792.
    """
    reply.group = s.members
    for p in range(c.partitions):
        newest = -1
        owner = NIL
        for x in range(c.members):
            if has(s.members, x) and has(s.member[x].owned_partitions, p):
                if s.member[x].owned_generation > newest:
                    newest = s.member[x].owned_generation
                    owner = x
                elif s.member[x].owned_generation == newest:
                    owner = NIL
        if owner != NIL:
            reply.owners[owner] = with_(reply.owners[owner], p)
        elif newest >= 0:
            reply.claimed_twice = with_(reply.claimed_twice, p)


def kept(c: Config, reply: Message, target: int) -> int:
    """How many partitions a target leaves with their owner."""
    count = 0
    for p in range(c.partitions):
        if has(reply.owners[taker(target, p)], p):
            count += 1
    return count


def most_kept(c: Config, reply: Message) -> int:
    """How many partitions the stickiest balanced target keeps.

    Each member keeps at most the lower quota, and as many members as there are larger shares keep one more.

    Source: ``AbstractStickyAssignor.ConstrainedAssignmentBuilder``.
    """
    members = size(reply.group)
    low = c.partitions // members
    larger = c.partitions - low * members
    count = 0
    candidates = 0
    for x in range(c.members):
        owned = size(reply.owners[x])
        count += min(owned, low)
        if owned > low:
            candidates += 1
    return count + min(larger, candidates)


def is_withheld(c: Config, reply: Message, receiver: int, p: int) -> bool:
    """Whether p may not go to the receiver yet: another member owns it, or two members say so.

    The owner has to revoke it first; the next generation hands it on.

    Source: ``CooperativeStickyAssignor.adjustAssignment``; KIP-429.
    """
    if has(reply.claimed_twice, p):
        return True
    for x in range(c.members):
        if x != receiver and has(reply.owners[x], p):
            return True
    return False


def assign_partitions(c: Config, reply: Message, target: int, withholding: bool) -> None:
    """Turn a leader's reply, which says who owns what, into the assignment of its SyncGroup.

    With ``withholding`` a partition that changes hands is left out of it.

    Source: ``CooperativeStickyAssignor.adjustAssignment``.
    """
    given = 0
    for p in range(c.partitions):
        if not (withholding and is_withheld(c, reply, taker(target, p), p)):
            given = with_(given, p)
    for x in range(c.members):
        reply.assignments[x] = 0
    for p in range(c.partitions):
        if has(given, p):
            x = taker(target, p)
            reply.assignments[x] = with_(reply.assignments[x], p)
