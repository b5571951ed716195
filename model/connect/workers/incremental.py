"""One round of ``IncrementalCooperativeAssignor``: items lost, created, deleted, duplicated; the delay; balance.

The steps follow ``performTaskAssignment``. Of time only order matters: a scheduled rebalance is in the future or has
passed. How long a back-off between successive revocations lasts is left out; that there is one is not.
"""

from rebalance_check.model.connect.workers.state import (
    Config,
    Memory,
    Schedule,
    State,
    claimed_items,
    claimed_twice,
    contains,
    size_of,
)


def next_items(s: State, w: int) -> int:
    """A worker's items after the round, as far as it is computed: its claim without the revoked ones, and the rest."""
    return (s.workers[w].claim & ~s.workers[w].taken) | s.workers[w].given


def reset_delay(memory: Memory) -> None:
    """No rebalance is scheduled, and no worker is a candidate for lost work."""
    memory.candidates = 0
    memory.schedule = Schedule.NONE


def assign_incrementally(c: Config, s: State, m: int, k: int) -> None:
    """The leader m computes a round with the workers in order k."""
    memory = s.workers[m].memory
    configured = s.configs[s.offset]
    active = claimed_items(c, s)
    if memory.generation != s.workers[m].completed:
        memory.previous = 0
    if memory.revoked & active != 0:
        memory.previous = active
    memory.revoked = 0
    deleted = memory.previous & ~configured
    lost = memory.previous & ~active & ~deleted
    created = configured & ~memory.previous & ~active
    duplicated = claimed_twice(c, s)
    for w in range(c.members):
        if contains(s.members, w):
            s.workers[w].taken = s.workers[w].claim & (deleted | duplicated)
    created |= handle_lost(c, s, memory, lost, k)
    balance(c, s, memory, configured, k)
    place(c, s, created, k)
    remember(c, s, memory, lost)
    s.delayed = 1 if memory.schedule != Schedule.NONE else 0


# ------------------------------------------------------------------------------------------------ lost work


def handle_lost(c: Config, s: State, memory: Memory, lost: int, k: int) -> int:
    """Lost work waits for its worker to return, goes to the candidates, or (the result) is placed like new work."""
    if lost == 0 and memory.revoking == 0:
        reset_delay(memory)
        return 0
    if memory.schedule == Schedule.NONE and memory.departed == 0:
        return lost
    if c.rebalance_delay == 0:
        return lost
    if memory.schedule == Schedule.PASSED:
        left = deal_to_candidates(c, s, memory.candidates & s.members, lost, k)
        reset_delay(memory)
        memory.revoking = 0
        return left
    for w in range(c.members):
        if contains(s.members, w) and next_items(s, w) == 0:
            memory.candidates |= 1 << w
    memory.schedule = Schedule.RUNNING
    return 0


def deal_to_candidates(c: Config, s: State, candidates: int, lost: int, k: int) -> int:
    """Deal lost items to the candidates in turn, however loaded; those left when there are none."""
    if candidates == 0:
        return lost
    at = 0
    for x in range(c.items):
        if contains(lost, x):
            while not contains(candidates, c.orders[k * c.members + at]):
                at = (at + 1) % c.members
            s.workers[c.orders[k * c.members + at]].given |= 1 << x
            at = (at + 1) % c.members
    return 0


# ------------------------------------------------------------------------------------------------ balance


def count_members(c: Config, s: State) -> int:
    """How many members the group has."""
    count = 0
    for w in range(c.members):
        count += (s.members >> w) & 1
    return count


def is_balanced(c: Config, s: State, total: int) -> bool:
    """Whether the members hold floor or floor + 1 of ``total`` items, as many the latter as there is a remainder."""
    members = count_members(c, s)
    floor = total // members
    more = 0
    for w in range(c.members):
        if contains(s.members, w):
            held = size_of(c, next_items(s, w))
            if held == floor + 1:
                more += 1
            elif held != floor:
                return False
    return more == total % members


def has_any(c: Config, s: State) -> bool:
    """Whether some member keeps or gets an item."""
    for w in range(c.members):
        if contains(s.members, w) and next_items(s, w) != 0:
            return True
    return False


def revoke_surplus(c: Config, s: State, total: int, k: int, apply: int) -> int:
    """How many items members hold beyond their share, in order k; with ``apply`` the lowest are revoked."""
    members = count_members(c, s)
    extras, surplus = total % members, 0
    for i in range(c.members):
        w = c.orders[k * c.members + i]
        if contains(s.members, w):
            held, share = size_of(c, next_items(s, w)), total // members
            if held > share and extras > 0:
                extras -= 1
                share += 1
            if held > share:
                surplus += held - share
                if apply == 1:
                    revoke_lowest(c, s, w, held - share)
    return surplus


def revoke_lowest(c: Config, s: State, w: int, count: int) -> None:
    """Take ``count`` items from a worker's items after the round, also from those that the round dealt to it."""
    for x in range(c.items):
        if count > 0 and contains(next_items(s, w), x):
            count -= 1
            s.workers[w].taken |= 1 << x
            s.workers[w].given &= ~(1 << x)


def balance(c: Config, s: State, memory: Memory, configured: int, k: int) -> None:
    """Revoke items beyond a member's share: in the second of two rounds after a delay, and during one not at all."""
    if memory.schedule != Schedule.NONE:
        memory.revoking = 0
        return
    total = size_of(c, configured)
    surplus = 0
    if has_any(c, s) and total > 0 and not is_balanced(c, s, total):
        surplus = revoke_surplus(c, s, total, k, 0)
    if surplus == 0:
        memory.revoking = 0
    elif memory.revoking == 1 and c.rebalance_delay == 1:
        memory.schedule = Schedule.RUNNING
    else:
        revoke_surplus(c, s, total, k, 1)
        memory.revoking = 1


# ------------------------------------------------------------------------------------------------ new work


def place(c: Config, s: State, created: int, k: int) -> None:
    """New items go one by one to the members with the fewest, in order k."""
    at = c.members
    least = 0
    for x in range(c.items):
        if contains(created, x):
            while at >= c.members or not is_next(c, s, c.orders[k * c.members + at], least):
                at += 1
                if at >= c.members:
                    at = 0
                    least = fewest(c, s)
            s.workers[c.orders[k * c.members + at]].given |= 1 << x
            at += 1


def is_next(c: Config, s: State, w: int, least: int) -> bool:
    """Whether a worker is a member that has no more than ``least`` items."""
    return contains(s.members, w) and size_of(c, next_items(s, w)) <= least


def fewest(c: Config, s: State) -> int:
    """The number of items of the member that has the fewest."""
    least = c.items
    for w in range(c.members):
        if contains(s.members, w):
            least = min(least, size_of(c, next_items(s, w)))
    return least


def remember(c: Config, s: State, memory: Memory, lost: int) -> None:
    """Keep the state that the next round of this leader compares with."""
    kept, revoked = 0, 0
    for w in range(c.members):
        if contains(s.members, w):
            kept |= next_items(s, w)
            revoked |= s.workers[w].taken
    memory.previous = (kept & ~revoked) | lost
    memory.revoked = revoked
    memory.generation = s.generation
    memory.members = s.members
    memory.departed = 0
