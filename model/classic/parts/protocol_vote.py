"""Lists of assignors: the vote for one that all members list, what a list makes of a member, and rolling bounces.

A concern of its own: with ``path`` 0 every member has the one assignor of the protocol, and none of this happens. See
`model.vocabulary.upgrade_paths` for the paths. Ties in a vote, which hash order decides in Kafka, do not arise: no path has two lists
that prefer different names of the same two.
"""

from rebalance_check.model.classic.state import Config, State, has

WAIT_FOR_PROCESSES = 1
ALL_NAMES = 14
LAST_NAME = 3

# ------------------------------------------------------------------------------------------------ the member


def keeps_partitions(c: Config, s: State, m: int) -> bool:
    """Whether m is COOPERATIVE: all assignors of its own list are, whatever assignor the group selects."""
    if c.path == 0:
        return c.cooperative
    return c.keeps[s.member[m].step] == 1


def withholds(c: Config, s: State, m: int) -> bool:
    """Whether m, told that it leads, runs code that withholds what another member still owns."""
    if c.path == 0:
        return c.cooperative
    return has(c.withholding[s.member[m].step], s.member[m].net.protocol)


def reached_in_group(c: Config, s: State, x: int) -> int:
    """How far x is along the path, as process and as member.

    One that was loaded from the log counts as far as it is if the name in the log is on the last list, too.
    """
    reached = s.member[x].step
    if not has(s.members, x):
        return reached
    if listed(c, s, x) < c.steps:
        return min(reached, listed(c, s, x))
    return reached if c.offered[listed(c, s, x)] & c.offered[c.steps - 1] != 0 else 0


def may_bounce(c: Config, s: State, m: int) -> bool:
    """Whether there is a next list for m, and what the operator of this path waits for has come."""
    me = s.member[m]
    if me.bouncing == 1 or me.step + 1 == c.steps:
        return False
    for x in range(c.members):
        reached = reached_in_group(c, s, x)
        if c.order == WAIT_FOR_PROCESSES:
            reached = s.member[x].step + s.member[x].bouncing
        if c.order != 0 and reached < me.step:
            return False
    return True


def take_next_list(c: Config, s: State, m: int) -> None:
    """A process starts, after a bounce with the next list."""
    if c.path != 0:
        s.member[m].step += s.member[m].bouncing
        s.member[m].bouncing = 0


# ------------------------------------------------------------------------------------------------ the coordinator


def listed(c: Config, s: State, x: int) -> int:
    """The place of the list that the coordinator has of member x: of a static one that restarted it may be an old one.

    Dynamic members come back when the old id is forgotten.
    """
    me = s.member[x]
    return me.listed if c.list_kept else me.step


def take_list(c: Config, s: State, x: int, step: int) -> None:
    """The coordinator keeps a member's list; 0 where it forgets the member."""
    if c.list_kept:
        s.member[x].listed = step


def list_with_only(c: Config, name: int) -> int:
    """The place of the list that has only this name: such lists stand behind those of the path."""
    return c.steps + name - 1


def repeats_its_list(c: Config, s: State, m: int, copied: bool) -> bool:
    """Whether m's JoinGroup, or the copy of one, has the list that the coordinator knows."""
    if c.path == 0:
        return True
    step = s.stray.step if copied else s.member[m].step
    return c.lists[listed(c, s, m)] == c.lists[step]


def candidates(c: Config, s: State) -> int:
    """The names that every member lists (``ClassicGroup.candidateProtocols``)."""
    names = ALL_NAMES
    for x in range(c.members):
        if has(s.members, x):
            names = names & c.offered[listed(c, s, x)]
    return names


def is_compatible(c: Config, s: State, m: int) -> bool:
    """Whether m's process offers a name that every member lists; the first member may offer anything."""
    return c.path == 0 or s.members == 0 or candidates(c, s) & c.offered[s.member[m].step] != 0


def is_compatible_copy(c: Config, s: State) -> bool:
    """`is_compatible` for the copy, whose process may have another list by now."""
    return c.path == 0 or s.members == 0 or candidates(c, s) & c.offered[s.stray.step] != 0


def ballot(c: Config, s: State, x: int, names: int) -> int:
    """The name that x votes for: the first of its list that every member lists."""
    names_left = c.lists[listed(c, s, x)]
    while names_left != 0 and not has(names, names_left & 3):
        names_left = names_left >> 2
    return names_left & 3


def vote(c: Config, s: State) -> None:
    """The members of the next generation select its protocol (``selectProtocol``); nobody selects none."""
    if c.path != 0:
        s.selected = elected(c, s)


def elected(c: Config, s: State) -> int:
    """The name that the members would select now."""
    names = candidates(c, s)
    most = 0
    found = 0
    for name in range(1, LAST_NAME + 1):
        votes = 0
        for x in range(c.members):
            if has(s.members, x) and ballot(c, s, x, names) == name:
                votes += 1
        if votes > most:
            most = votes
            found = name
    return found


def would_change_the_protocol(c: Config, s: State) -> bool:
    """Whether the members would select another protocol than that of the generation."""
    return c.path != 0 and elected(c, s) != s.selected
