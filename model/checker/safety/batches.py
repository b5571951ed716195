"""How many candidates a search on disk looks up at once, so that it keeps within its limit of memory."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.safety.limits import Limits, resident_bytes
from rebalance_check.model.checker.safety.shard import BATCH, BLOCK
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MOST_BATCH: Final = 1 << 25
"""More candidates than this are not looked up at once, however much memory there is."""

CANDIDATE_BYTES: Final = 80
"""What a candidate that is looked up takes of memory: copies of its fingerprint, and slots of a table."""

THREAD_BYTES: Final = 48 << 20
"""What a thread takes beyond that: the buffer of successors, blocks of files."""


def batch_of(limits: Limits, threads: int) -> int:
    """How many candidates a thread may look up at once, within the limit of memory.

    Raises: RebalanceCheckError where it is too low.
    """
    if limits.memory is None:
        return BATCH
    least = resident_bytes() + threads * (THREAD_BYTES + BLOCK * CANDIDATE_BYTES)
    if limits.memory < least:
        raise RebalanceCheckError(
            f"the limit of memory is {limits.memory / 2**20:,.0f} MiB, and a search on disk with {threads} threads "
            f"needs {least / 2**20:,.0f} MiB: allow more, or search with fewer threads"
        )
    return min(MOST_BATCH, (limits.memory - resident_bytes() - threads * THREAD_BYTES) // threads // CANDIDATE_BYTES)
