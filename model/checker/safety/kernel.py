"""The inner loops of the compiled explorer.

These functions are never called as they stand: `compiled` clones them, with the model's functions and with the
generated ones declared below, into one namespace and compiles them there. They keep to what both Python and Numba
understand, and take their arrays one by one, because that is what a compiled function takes.

One round: `expand` writes all successors of a chunk of the frontier into a buffer, with their fingerprints; `absorb`
then puts those that are new into the fingerprint table, the next frontier and the record of parents. Each worker
absorbs only the fingerprints that it owns, from everybody's buffer, so no two threads write to one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    # generated for each model by `compiled.glue` and `layout_source.helper_source`
    def successors(c: Any, s: Any, words: Any, i: int, out: Any, out_words: Any, labels: Any, z: int, st: Any) -> int:
        """Write the successors of state i from slot z on; the first slot beyond them."""
        ...

    def violated(c: Any, s: Any) -> int:
        """The number of the first claim that the state breaks, from 1; 0 when all hold."""
        ...

    def violated_step(c: Any, s: Any, t: Any) -> int:
        """The number of the first step claim that the step breaks, counted on from the claims; 0 when all hold."""
        ...

    def witness(c: Any, s: Any, met: Any) -> Any:
        """The bit mask of the reachable states met so far, with those added that the state is one of."""
        ...

    def reached_step(c: Any, s: Any, t: Any, met: Any) -> Any:
        """The bit mask of the reachable steps met so far, with those added that the step is one of."""
        ...

    def achieved(c: Any, s: Any, out: Any, i: int) -> None:
        """Write into row i of ``out`` which liveness properties hold in the state (`Model.liveness`)."""
        ...

    def within_bounds(c: Any, s: Any) -> bool:
        """Whether the state is explored further."""
        ...

    def relabel(dst: Any, src: Any, perm: Any, sets: Any) -> None:
        """Write the state with its members renamed."""
        ...

    def signature(s: Any, m: int) -> int:
        """A number that does not depend on how members are named."""
        ...


STATES: Final = 0  # distinct states of this worker
NEXT: Final = 1  # of them, those in the next frontier
CUT: Final = 2  # successors beyond the bounds
CLAIM: Final = 3  # the claim that was broken first (0: none) ...
BAD: Final = 4  # ... by this state, or by the step from this state ...
LABEL: Final = 5  # ... with this label (-1: by the state itself)
MET: Final = 6  # bit mask of the reachable states met
TOUCHED: Final = 7  # keeps the compiler from dropping the loads that warm the cache
HAPPENED: Final = 8  # bit mask of the reachable steps met
FIRED: Final = 9  # from here on: how often each rule fired

RULE_SHIFT: Final = 24
"""Where a label (32 bits) holds the rule; the member stands 8 bits below, the choice in the lowest 16."""

BLOCK: Final = 32  # probes whose cache misses overlap

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


def mix(words: Any, i: int) -> Any:
    """64 bits of the packed state at row i (MurmurHash3's mixing)."""
    h = SEED
    for j in range(words.shape[1]):
        x = words[i, j] * K1
        x = ((x << R31) | (x >> R33)) * K2
        h = h ^ x
        h = ((h << R27) | (h >> R37)) * FIVE + SEED
    h = (h ^ (h >> R33)) * M1
    h = (h ^ (h >> R33)) * M2
    return h ^ (h >> R33)


def fingerprint(words: Any, i: int) -> Any:
    """64 bits of the packed state at row i, never 0."""
    h = mix(words, i)
    return h if h != ZERO else ONE


def owner_of(fp: Any, workers: int) -> int:
    """The worker that keeps this fingerprint; uses bits that do not choose the slot in its table."""
    return int(np.int64(fp >> OWNER_SHIFT)) % workers


def insert(table: Any, fp: Any) -> bool:
    """Put a fingerprint into the open-addressing table; True if it is new."""
    mask = np.uint64(table.shape[0] - 1)
    i = fp & mask
    while True:
        seen = table[i]
        if seen == ZERO:
            table[i] = fp
            return True
        if seen == fp:
            return False
        i = (i + ONE) & mask


def rehash(old: Any, new: Any) -> None:
    """Move all fingerprints into a larger table."""
    for i in range(old.shape[0]):
        if old[i] != ZERO:
            insert(new, old[i])


def copy_words(dst: Any, i: int, src: Any, j: int) -> None:
    """Copy packed state j of ``src`` to row i of ``dst``."""
    for x in range(src.shape[1]):
        dst[i, x] = src[j, x]


def less(words: Any, i: int, j: int) -> bool:
    """Whether row i comes before row j."""
    for x in range(words.shape[1]):
        if words[i, x] != words[j, x]:
            return bool(words[i, x] < words[j, x])
    return False


def commit(c: Any, words: Any, i: int, out: Any, out_words: Any, labels: Any, z: int, label: int, st: Any) -> int:
    """Keep the successor in slot z unless it is beyond the bounds; the slot for the next one holds the parent again."""
    if within_bounds(c, out[z]):
        st[FIRED + (label >> RULE_SHIFT)] += 1
        labels[z] = label
        z += 1
    else:
        st[CUT] += 1
    copy_words(out_words, z, words, i)
    return z


def respects(perms: Any, p: int, signs: Any) -> bool:
    """Whether permutation p puts members in the order of their signatures."""
    for x in range(signs.shape[0]):
        for y in range(signs.shape[0]):
            if signs[x] < signs[y] and perms[p, x] > perms[p, y]:
                return False
    return True


def canonicalise(
    out: Any, out_words: Any, z: int, spare: Any, spare_words: Any, perms: Any, sets: Any, signs: Any
) -> None:
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
            if not found or less(spare_words, 1, 0):
                copy_words(spare_words, 0, spare_words, 1)
            found = True
    copy_words(out_words, z, spare_words, 0)


def expand(
    c: Any, rec: Any, words: Any, lo: int, hi: int, base: int, z: int, soft: int,
    out: Any, out_words: Any, out_fp: Any, out_parent: Any, labels: Any, st: Any,
    symmetric: bool, spare: Any, spare_words: Any, perms: Any, sets: Any, signs: Any,
) -> tuple[int, int]:  # fmt: skip
    """Expand states of the frontier from lo until hi or a full buffer (from slot z on); the next state and the fill."""
    i = lo
    while i < hi and z < soft:
        first = z
        copy_words(out_words, z, words, i)
        z = successors(c, rec[i], words, i, out, out_words, labels, z, st)
        for y in range(first, z):
            claim = violated_step(c, rec[i], out[y])
            if claim != 0 and st[CLAIM] == 0:
                st[CLAIM] = claim
                st[BAD] = base + i
                st[LABEL] = labels[y]
            st[HAPPENED] = reached_step(c, rec[i], out[y], st[HAPPENED])
            if symmetric:
                canonicalise(out, out_words, y, spare, spare_words, perms, sets, signs)
            out_fp[y] = fingerprint(out_words, y)
            out_parent[y] = base + i
        i += 1
    return i, z


def absorb(
    c: Any, me: int, other: int, workers: int,
    out_words: Any, out_fp: Any, out_parent: Any, out_label: Any, n: int,
    rec: Any, words: Any, table: Any, parents: Any, labels: Any, st: Any,
) -> None:  # fmt: skip
    """Take what is new and mine out of worker ``other``'s buffer of n successors."""
    mask = np.uint64(table.shape[0] - 1)
    touched = ZERO
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        for z in range(start, stop):
            touched = touched ^ table[out_fp[z] & mask]
        for z in range(start, stop):
            if (workers == 1 or owner_of(out_fp[z], workers) == me) and insert(table, out_fp[z]):
                record(c, out_words, z, out_parent[z] * workers + other, out_label[z], rec, words, parents, labels, st)
    st[TOUCHED] = np.int64(touched & ONE)


def record(
    c: Any, out_words: Any, z: int, parent: int, label: int, rec: Any, words: Any, parents: Any, labels: Any, st: Any
) -> None:
    """Append a new state to the next frontier, remember where it came from, and judge it."""
    j = st[NEXT]
    n = st[STATES]
    copy_words(words, j, out_words, z)
    parents[n] = parent
    labels[n] = label
    st[NEXT] = j + 1
    st[STATES] = n + 1
    claim = violated(c, rec[j])
    if claim != 0 and st[CLAIM] == 0:
        st[CLAIM] = claim
        st[BAD] = n
        st[LABEL] = -1
    st[MET] = witness(c, rec[j], st[MET])


def survey(c: Any, rec: Any, n: int, out: Any) -> None:
    """Of each of n states, which liveness properties hold in it."""
    for i in range(n):
        achieved(c, rec[i], out, i)


ENTRY_POINTS: Final = ("expand", "absorb", "rehash", "survey")
"""What Python calls; the rest is compiled into these."""

FUNCTIONS: Final = (
    mix, fingerprint, owner_of, insert, rehash, copy_words, less, commit, respects, canonicalise, expand, absorb,
    record, survey,
)  # fmt: skip
