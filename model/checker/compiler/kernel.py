"""The inner loops of the compiled search, in the subset that models are written in.

These functions are never called as they stand: `program` compiles them with the model's functions and with the
generated ones declared below. An array of states has two sides: ``states[i]`` is a record for the model's functions,
``states.words[i, j]`` its words, to copy, hash and compare.

A level is searched in rounds (`safety.workers`). Every worker writes all successors of a chunk of its frontier into its
part of the buffer; when all have, every worker takes its share out of everybody's part: the fingerprints that
`owner_of` gives it. So no two threads write to one place, and the findings do not depend on which was faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    Config: TypeAlias = Any
    State: TypeAlias = Any
    Permutation: TypeAlias = Any
    Sets: TypeAlias = Any
    Permutations: TypeAlias = Any
    AllSets: TypeAlias = Any
    Hash: TypeAlias = Any
    States: TypeAlias = Any
    Hashes: TypeAlias = Any
    Numbers: TypeAlias = Any
    Labels: TypeAlias = Any
    Signatures: TypeAlias = Any
    Achieved: TypeAlias = Any
    # generated for each model by `glue` and `layout_source`

    def successors(
        c: Config, s: State, states: States, i: int, out: States, labels: Numbers, z: int, st: Numbers
    ) -> int:
        """Write the successors of state i from slot z on; the first slot beyond them."""
        ...

    def violated(c: Config, s: State) -> int:
        """The number of the first claim that the state breaks, from 1; 0 when all hold."""
        ...

    def violated_step(c: Config, s: State, t: State) -> int:
        """The number of the first step claim that the step breaks, counted on from the claims; 0 when all hold."""
        ...

    def witness(c: Config, s: State, met: int) -> int:
        """The bit mask of the reachable states met so far, with those added that the state is one of."""
        ...

    def reached_step(c: Config, s: State, t: State, met: int) -> int:
        """The bit mask of the reachable steps met so far, with those added that the step is one of."""
        ...

    def achieved(c: Config, s: State, out: Achieved, i: int) -> None:
        """Write into row i of ``out`` which liveness properties hold in the state (`Model.liveness`)."""
        ...

    def within_bounds(c: Config, s: State) -> bool:
        """Whether the state is explored further."""
        ...

    def relabel(dst: State, src: State, perm: Permutation, sets: Sets) -> None:
        """Write the state with its members renamed."""
        ...

    def signature(s: State, m: int) -> int:
        """A number that does not depend on how members are named."""
        ...

    # provided by the compiler (`runtime.RUNTIME`)

    def prefetch(table: Hashes, i: int) -> None:
        """Begin to load an item that will be needed soon."""
        ...


# ------------------------------------------------------------------------------------------------ counters of a worker

STATES: Final = 0  # distinct states of this worker
NEXT: Final = 1  # of them, those in the next frontier
CUT: Final = 2  # successors beyond the bounds
CLAIM: Final = 3  # the claim that was broken first (0: none) ...
BAD: Final = 4  # ... by this state, or by the step from this state ...
LABEL: Final = 5  # ... with this label (-1: by the state itself)
MET: Final = 6  # bit mask of the reachable states met
HAPPENED: Final = 7  # bit mask of the reachable steps met
AT: Final = 8  # the next state of the frontier to be expanded
SIZE: Final = 9  # how many states the frontier has
BASE: Final = 10  # the number of its first state
FILLED: Final = 11  # successors in this worker's part of the buffer
FIRED: Final = 12  # from here on: how often each rule fired

RULE_SHIFT: Final = 24
"""Where a label (32 bits) holds the rule; the member stands 8 bits below, the choice in the lowest 16."""

AHEAD: Final = 16
"""So many probes before its own turn, the slot of a fingerprint begins to be loaded."""

K1: Final = np.uint64(0x87C37B91114253D5)
K2: Final = np.uint64(0x4CF5AD432745937F)
M1: Final = np.uint64(0xFF51AFD7ED558CCD)
M2: Final = np.uint64(0xC4CEB9FE1A85EC53)
SEED: Final = np.uint64(0x52DCE729)
ZERO: Final = np.uint64(0)
ONE: Final = np.uint64(1)
FIVE: Final = np.uint64(5)
R27: Final = np.uint64(27)
R31: Final = np.uint64(31)
R33: Final = np.uint64(33)
R37: Final = np.uint64(37)
OWNER_SHIFT: Final = np.uint64(40)
OWNER_BITS: Final = 24
"""`owner_of` looks at the highest bits of a fingerprint, so many."""


SLOT_BITS: Final = 32
SLOT_MASK: Final = np.uint64(0xFFFFFFFF)
"""`slot_of` looks at the lowest bits of a fingerprint, so many."""


def mix(states: States, i: int) -> Hash:
    """64 bits of the packed state at row i (MurmurHash3's mixing)."""
    h = SEED
    for j in range(states.words.shape[1]):
        x = states.words[i, j] * K1
        x = ((x << R31) | (x >> R33)) * K2
        h = h ^ x
        h = ((h << R27) | (h >> R37)) * FIVE + SEED
    h = (h ^ (h >> R33)) * M1
    h = (h ^ (h >> R33)) * M2
    return h ^ (h >> R33)


def fingerprint(states: States, i: int) -> Hash:
    """64 bits of the packed state at row i, never 0."""
    h = mix(states, i)
    return h if h != ZERO else ONE


def owner_of(fp: Hash, workers: int) -> int:
    """The worker that keeps this fingerprint; uses bits that do not choose the slot in its table, and no division."""
    return (int(np.int64(fp >> OWNER_SHIFT)) * workers) >> OWNER_BITS


def slot_of(table: Hashes, fp: Hash) -> int:
    """Where in a table, of any length, the search for a fingerprint begins: in the order of their lowest bits."""
    slots: int = table.shape[0]
    return (int(np.int64(fp & SLOT_MASK)) * slots) >> SLOT_BITS


def insert(table: Hashes, fp: Hash) -> bool:
    """Put a fingerprint into the open-addressing table; True if it is new."""
    i = slot_of(table, fp)
    while True:
        seen = table[i]
        if seen == ZERO:
            table[i] = fp
            return True
        if seen == fp:
            return False
        i += 1
        if i == table.shape[0]:
            i = 0


def rehash(old: Hashes, new: Hashes) -> None:
    """Move all fingerprints into a larger table."""
    for i in range(old.shape[0]):
        if old[i] != ZERO:
            insert(new, old[i])


def copy_state(dst: States, i: int, src: States, j: int) -> None:
    """Copy packed state j of ``src`` to row i of ``dst``."""
    for x in range(src.words.shape[1]):
        dst.words[i, x] = src.words[j, x]


def less(states: States, i: int, j: int) -> bool:
    """Whether row i comes before row j."""
    for x in range(states.words.shape[1]):
        if states.words[i, x] != states.words[j, x]:
            return bool(states.words[i, x] < states.words[j, x])
    return False


def commit(c: Config, states: States, i: int, out: States, labels: Numbers, z: int, label: int, st: Numbers) -> int:
    """Keep the successor in slot z unless it is beyond the bounds; the slot for the next one holds the parent again."""
    if within_bounds(c, out[z]):
        st[FIRED + (label >> RULE_SHIFT)] += 1
        labels[z] = label
        z += 1
    else:
        st[CUT] += 1
    copy_state(out, z, states, i)
    return z


def respects(perms: Permutations, p: int, signs: Signatures) -> bool:
    """Whether permutation p puts members in the order of their signatures."""
    for x in range(signs.shape[0]):
        for y in range(signs.shape[0]):
            if signs[x] < signs[y] and perms[p, x] > perms[p, y]:
                return False
    return True


def canonicalise(out: States, z: int, spare: States, perms: Permutations, sets: AllSets, signs: Signatures) -> None:
    """Replace the state in slot z by the least of its relabellings that sort the members by signature."""
    ordered = True
    for m in range(signs.shape[0]):
        signs[m] = signature(out[z], m)
        if m > 0 and signs[m] <= signs[m - 1]:
            ordered = False
    if ordered:
        return
    found = False
    for p in range(perms.shape[0]):
        if respects(perms, p, signs):
            relabel(spare[1], out[z], perms[p], sets[p])
            if not found or less(spare, 1, 0):
                copy_state(spare, 0, spare, 1)
            found = True
    copy_state(out, z, spare, 0)


def expand(
    c: Config, frontier: States, st: Numbers, out: States, out_fp: Hashes, out_parent: Numbers, labels: Numbers,
    first: int, chunk: int, symmetric: bool, spare: States, perms: Permutations, sets: AllSets, signs: Signatures,
) -> None:  # fmt: skip
    """Write the successors of the frontier from slot ``first`` on, until ``chunk`` are there or no state is left."""
    i = st[AT]
    z = first
    while i < st[SIZE] and z < first + chunk:
        begin = z
        copy_state(out, z, frontier, i)
        z = successors(c, frontier[i], frontier, i, out, labels, z, st)
        for y in range(begin, z):
            claim = violated_step(c, frontier[i], out[y])
            if claim != 0 and st[CLAIM] == 0:
                st[CLAIM] = claim
                st[BAD] = st[BASE] + i
                st[LABEL] = labels[y]
            st[HAPPENED] = reached_step(c, frontier[i], out[y], st[HAPPENED])
            if symmetric:
                canonicalise(out, y, spare, perms, sets, signs)
            out_fp[y] = fingerprint(out, y)
            out_parent[y] = st[BASE] + i
        i += 1
    st[AT] = i
    st[FILLED] = z - first


def absorb(
    c: Config, me: int, other: int, workers: int, capacity: int, n: int,
    out: States, out_fp: Hashes, out_parent: Numbers, out_label: Numbers,
    found: States, table: Hashes, parents: Labels, labels: Labels, st: Numbers,
) -> None:  # fmt: skip
    """Take the new states of mine out of the n successors of worker ``other``."""
    first = other * capacity
    for z in range(first, min(first + AHEAD, first + n)):
        prefetch(table, slot_of(table, out_fp[z]))
    for z in range(first, first + n):
        if z + AHEAD < first + n:
            prefetch(table, slot_of(table, out_fp[z + AHEAD]))
        if (workers == 1 or owner_of(out_fp[z], workers) == me) and insert(table, out_fp[z]):
            record(c, out, z, out_parent[z] * workers + other, out_label[z], found, parents, labels, st)


def record(
    c: Config, out: States, z: int, parent: int, label: int, found: States, parents: Labels, labels: Labels, st: Numbers
) -> None:
    """Append a new state to the next frontier, remember where it came from, and judge it."""
    j = st[NEXT]
    n = st[STATES]
    copy_state(found, j, out, z)
    parents[n] = parent
    labels[n] = label
    st[NEXT] = j + 1
    st[STATES] = n + 1
    claim = violated(c, found[j])
    if claim != 0 and st[CLAIM] == 0:
        st[CLAIM] = claim
        st[BAD] = n
        st[LABEL] = -1
    st[MET] = witness(c, found[j], st[MET])


def begin(out: States, out_fp: Hashes, out_parent: Numbers, out_label: Numbers) -> None:
    """Make the state in the first slot of the buffer the first that is found."""
    out_fp[0] = fingerprint(out, 0)
    out_parent[0] = 0
    out_label[0] = 0


def survey(c: Config, states: States, n: int, out: Achieved) -> None:
    """Of each of n states, which liveness properties hold in it."""
    for i in range(n):
        achieved(c, states[i], out, i)
