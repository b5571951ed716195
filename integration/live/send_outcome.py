"""A failed send of kafka-python's producer, as a status store sees it."""

from __future__ import annotations

from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.integration.live.kafka_python_api import errors


def outcome_of(failure: BaseException) -> SendOutcome:
    """RETRIABLE where the producer of Java fails with a ``RetriableException``, FATAL otherwise.

    ``CorruptRecordException`` is one there; kafka-python does not count it among its own.
    """
    retriable = isinstance(failure, (errors.RetriableError, errors.CorruptRecordError))
    return SendOutcome.RETRIABLE if retriable else SendOutcome.FATAL
