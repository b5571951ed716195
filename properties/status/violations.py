"""The exceptions of safe status writes: one class per claim, all of one family."""

from __future__ import annotations

from rebalance_check.properties.verdict import Violation


class SafeStatusWritesViolated(Violation):
    """A claim about the status store is broken; each claim has its own subclass."""


class CacheDoesNotFollowReads(SafeStatusWritesViolated):
    """S1: a store answered with, or left out, something that its reads do not explain."""


class TopicDoesNotFollowReads(SafeStatusWritesViolated):
    """S1: a store said of a topic what its reads do not explain."""


class ListDoesNotFollowReads(SafeStatusWritesViolated):
    """S1: a store listed what it does not know, or left out what it knows."""


class ReadsOutOfOrder(SafeStatusWritesViolated):
    """S2: a store read a record twice, backwards, or skipped one that compaction had not removed."""


class AppendWithoutSend(SafeStatusWritesViolated):
    """S3: a record has no send behind it, a send became two records, or a send followed no retriable failure."""


class WronglySuppressed(SafeStatusWritesViolated):
    """S4: a write was suppressed, or sent, against what its cache said."""


class WronglyRetried(SafeStatusWritesViolated):
    """S5: a failed write was sent again, or given up, against the rules of the completion callback."""


class RetryChangedBytes(SafeStatusWritesViolated):
    """S6: the sends of one write differ, or a tombstone is not what DESTROYED writes."""


class LogOrderContradictsSends(SafeStatusWritesViolated):
    """S7: first sends of one store were appended to a partition in another order than they were sent in."""


class FlushReturnedEarly(SafeStatusWritesViolated):
    """S8: flush returned before an earlier send was answered."""


class UnexplainedOverwrite(SafeStatusWritesViolated):
    """P1: a safe write replaced a newer status of another worker that its writer had read."""


class OverwriteFitsNoRace(SafeStatusWritesViolated):
    """P1: a safe write replaced a newer status in the log, and none of the known races explains it."""


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


class SentRecordNotUnderstood(SafeStatusWritesViolated):
    """S8: a store left out for its form a record that a store of Connect wrote."""


class WriteNeverSettled(SafeStatusWritesViolated):
    """P8: a write was neither appended nor given up when the run ended."""


class SentRecordSaysOtherwise(SafeStatusWritesViolated):
    """A store sent a record that does not say what it was to write."""


class StoppedStoreGoesOn(SafeStatusWritesViolated):
    """A store that was stopped sent or read something."""


class StoreStartedTwice(SafeStatusWritesViolated):
    """A store said twice that it had started."""


class StatusReadSaysOtherwise(SafeStatusWritesViolated):
    """A store read of a record something else than was sent."""


class StatusOffsetSkipped(SafeStatusWritesViolated):
    """A record of the status topic has another offset than the next one."""


class StoreStartedEarly(SafeStatusWritesViolated):
    """A store said that it had read what the topic held, and had not."""
