"""Lists of assignors: the vote for one that all members list, and rolling restarts along an upgrade path.

With ``upgrade`` 0 every member has the one assignor of the protocol. `model.vocabulary.upgrade_paths` has the paths.
Ties in a vote, which hash order decides in Kafka, do not occur: no path has two lists that prefer different names of
the same two.
"""

from rebalance_check.model.classic.state import Config, State, has

WAIT_FOR_PROCESSES = 1
ALL_NAMES = 14
LAST_NAME = 3

# ------------------------------------------------------------------------------------------------ the member


def keeps_partitions(c: Config, s: State, m: int) -> bool:
    """Whether m is COOPERATIVE: all assignors of its own list are, whatever the group selects.

    Source: ``ConsumerCoordinator`` (constructor); KIP-429.
    """
    if c.upgrade == 0:
        return c.cooperative
    return c.cooperative_lists[s.member[m].list_index] == 1


def withholds(c: Config, s: State, m: int) -> bool:
    """Whether m, if it leads, runs an assignor that withholds what another member still owns.

    Source: ``CooperativeStickyAssignor.adjustAssignment``.
    """
    if c.upgrade == 0:
        return c.cooperative
    return has(c.withholding[s.member[m].list_index], s.member[m].net.protocol)


def reached_in_group(c: Config, s: State, x: int) -> int:
    """How far x is along the upgrade path, as a process and as the coordinator knows it.

    A member that was loaded from the log counts as far as its process, if the name in the log is also on the last list.
    """
    reached = s.member[x].list_index
    if not has(s.members, x):
        return reached
    if known_list(c, s, x) < c.list_count:
        return min(reached, known_list(c, s, x))
    return reached if c.offered[known_list(c, s, x)] & c.offered[c.list_count - 1] != 0 else 0


def may_restart_with_next_list(c: Config, s: State, m: int) -> bool:
    """Whether there is a next list for m, and the wait of this path's operator is over."""
    me = s.member[m]
    if me.is_restarting == 1 or me.list_index + 1 == c.list_count:
        return False
    for x in range(c.members):
        reached = reached_in_group(c, s, x)
        if c.upgrade_order == WAIT_FOR_PROCESSES:
            reached = s.member[x].list_index + s.member[x].is_restarting
        if c.upgrade_order != 0 and reached < me.list_index:
            return False
    return True


def take_next_list(c: Config, s: State, m: int) -> None:
    """A process starts, after a rolling restart with the next list."""
    if c.upgrade != 0:
        s.member[m].list_index += s.member[m].is_restarting
        s.member[m].is_restarting = 0


# ------------------------------------------------------------------------------------------------ the coordinator


def known_list(c: Config, s: State, x: int) -> int:
    """The index of the list that the coordinator knows of member x.

    The one known of a restarted static member may be older; a dynamic member comes back after its old id is
    forgotten.
    """
    me = s.member[x]
    return me.kept_list_index if c.list_kept else me.list_index


def keep_list(c: Config, s: State, x: int, step: int) -> None:
    """The coordinator keeps the list of a member; 0 when it forgets the member."""
    if c.list_kept:
        s.member[x].kept_list_index = step


def list_with_only(c: Config, name: int) -> int:
    """The index of the list that has only this name: such lists follow those of the path."""
    return c.list_count + name - 1


def joins_with_its_list(c: Config, s: State, m: int, is_duplicate: bool) -> bool:
    """Whether m's JoinGroup, or its duplicate, has the list that the coordinator knows.

    Source: ``ClassicGroupMember.matches``.
    """
    if c.upgrade == 0:
        return True
    step = s.duplicate.list_index if is_duplicate else s.member[m].list_index
    return c.lists[known_list(c, s, m)] == c.lists[step]


def candidates(c: Config, s: State) -> int:
    """The names that every member lists.

    Source: ``ClassicGroup.candidateProtocols``.
    """
    names = ALL_NAMES
    for x in range(c.members):
        if has(s.members, x):
            names = names & c.offered[known_list(c, s, x)]
    return names


def is_compatible(c: Config, s: State, m: int) -> bool:
    """Whether m's process offers a name that every member lists; the first member may offer anything.

    Source: ``ClassicGroup.supportsProtocols``.
    """
    return c.upgrade == 0 or s.members == 0 or candidates(c, s) & c.offered[s.member[m].list_index] != 0


def is_compatible_duplicate(c: Config, s: State) -> bool:
    """`is_compatible` for the duplicate, whose process may have another list by now."""
    return c.upgrade == 0 or s.members == 0 or candidates(c, s) & c.offered[s.duplicate.list_index] != 0


def ballot(c: Config, s: State, x: int, names: int) -> int:
    """The name that x votes for: the first on its list that every member lists.

    Source: ``ClassicGroupMember.vote``.
    """
    names_left = c.lists[known_list(c, s, x)]
    while names_left != 0 and not has(names, names_left & 3):
        names_left = names_left >> 2
    return names_left & 3


def vote(c: Config, s: State) -> None:
    """The members of the new generation select its protocol; an empty group selects none.

    Source: ``ClassicGroup.selectProtocol``.
    """
    if c.upgrade != 0:
        s.selected_protocol = elected(c, s)


def elected(c: Config, s: State) -> int:
    """The name that the members would select now: the one with the most votes."""
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
    return c.upgrade != 0 and elected(c, s) != s.selected_protocol
