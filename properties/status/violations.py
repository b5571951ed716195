"""The exceptions of safe status writes: one class per claim, all of one family."""

from __future__ import annotations

from rebalance_check.properties.verdict import Violation


class SafeStatusWritesViolated(Violation):
    """A claim about the status store is broken; each claim has its own subclass."""


class CacheDoesNotFollowReads(SafeStatusWritesViolated):
    """S1: a store answered with, or left out, something that its reads do not explain."""


class ListDoesNotFollowReads(SafeStatusWritesViolated):
    """S1: a store listed what it does not know, or left out what it knows."""


class AppendWithoutSend(SafeStatusWritesViolated):
    """S3: a record has no send behind it, a send became two records, or a send followed no retriable failure."""


class WronglySuppressed(SafeStatusWritesViolated):
    """S4: a write was suppressed, or sent, against what its cache said."""


class WronglyRetried(SafeStatusWritesViolated):
    """S5: a failed write was sent again, or given up, against the rules of the completion callback."""


class FlushReturnedEarly(SafeStatusWritesViolated):
    """S8: flush returned before an earlier send was answered."""


class UnexplainedOverwrite(SafeStatusWritesViolated):
    """P1: a safe write replaced a newer status of another worker that its writer had read."""


class QuiescentOverwrite(SafeStatusWritesViolated):
    """P2: a safe write replaced a newer status although nothing was in flight and everything had been read."""


class SelfReordered(SafeStatusWritesViolated):
    """P3: a safe write was retried although a younger write of the same entry had been admitted."""


class SuppressedWithoutReason(SafeStatusWritesViolated):
    """P4: a write was suppressed although no newer status of another worker had ever been read."""


class ResurrectedByRetry(SafeStatusWritesViolated):
    """P5: a write was retried although the tombstone of its entry had been read."""


class StaleUnassignedApplied(SafeStatusWritesViolated):
    """P6: an UNASSIGNED replaced a RUNNING of its own or a later generation in a cache."""


class ReadersDiverged(SafeStatusWritesViolated):
    """P7: two stores that read the same records hold different statuses."""
