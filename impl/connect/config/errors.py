"""The errors that a config store raises or reports, and the exception of Kafka's that each one stands for."""

from __future__ import annotations

from typing import ClassVar

from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class ConfigStoreError(RebalanceCheckError):
    """The config store could not do as it was asked; ``java`` names Kafka's exception."""

    java: ClassVar[str] = "ConnectException"


class ConfigRecordError(ConfigStoreError):
    """A record was read at which Kafka's read callback throws: the rest of its batch is lost for this worker."""


class RecordKeyError(ConfigRecordError):
    """The record has no key (a null dereference in Kafka)."""

    java = "NullPointerException"


class TaskNumberError(ConfigRecordError):
    """A number of tasks is no integer."""


class SessionKeyError(ConfigRecordError):
    """A session key is no Base64, or empty."""

    java = "IllegalArgumentException"


class TaskCountError(ConfigStoreError):
    """A connector has less than no tasks: every caller of Kafka's ``tasks()`` gets an exception, the leader too."""

    java = "IllegalArgumentException"


class PartitionCountError(ConfigStoreError):
    """The config topic has another number of partitions than one."""

    java = "ConfigException"


class ConfigWriteError(ConfigStoreError):
    """A write, or the reading back after it, failed. The record may have been appended all the same."""


class ConfigTimeoutError(ConfigStoreError):
    """The end of the config topic was not reached in time (``refresh``)."""

    java = "TimeoutException"


class PrivilegeError(ConfigStoreError):
    """A privileged write without a producer that could be fenced: claim write privileges first."""

    java = "IllegalStateException"


class PrivilegedWriteError(ConfigWriteError):
    """A transaction failed; its producer is closed, and privileges must be claimed again."""

    java = "PrivilegedWriteException"


class UnsupportedError(ConfigStoreError):
    """Kafka's store has no such operation."""

    java = "UnsupportedOperationException"
