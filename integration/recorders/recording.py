"""`recording`: a consumer of a running application is recorded, whichever of the libraries it is of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

from rebalance_check.integration.recorders.history_file import HistoryFile
from rebalance_check.integration.recorders.observer import Observer
from rebalance_check.integration.recorders.wrapped import RecordingConsumer, Shown
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import MemberStarted

C = TypeVar("C")

NOT_GIVEN: Final[Mapping[str, Any]] = MappingProxyType({})


@contextmanager
def recording(consumer: C, history: str | Path, *, member: str, config: Mapping[str, Any] = NOT_GIVEN) -> Iterator[C]:
    """Record a consumer of kafka-python, confluent-kafka or aiokafka while the block runs: use the yielded one in place
    of the consumer, and close it inside the block::

        with recording(consumer, "m0.jsonl", member="m0") as consumer:
            consumer.subscribe(["orders"])

    ``history`` is the file of this process, which it goes on with if it is there. ``member`` is the name of the process
    in its group: a process that is started again keeps it, and no two have one. ``config`` is the dictionary with which
    a consumer of confluent-kafka was made, as that library does not show its protocol and its timeouts.

    Raises: RebalanceCheckError when the consumer is of no known library, has no group, is of a group of KIP-848, or is
    one of confluent-kafka that has joined already, and when another recorder writes the file.
    """
    wrap, shown = _adapter(consumer, config)
    if not shown.group:
        raise RebalanceCheckError(f"the consumer of {member} has no group id, so it takes part in no rebalance")
    with HistoryFile(history) as file:
        observer = Observer(member, file.recorder(shown.group, member))
        settings = asdict(shown)
        del settings["group"]
        observer.started(MemberStarted(member=member, **settings))
        recorded = wrap(consumer, observer)
        if owned := recorded.owned():
            observer.assigned(tuple(_split(name) for name in owned))
        yield cast(C, recorded)


def _adapter(consumer: Any, config: Mapping[str, Any]) -> tuple[Callable[[Any, Observer], RecordingConsumer], Shown]:
    """The recording consumer of its library, and its settings. Only that library is imported."""
    libraries = {cls.__module__.partition(".")[0] for cls in type(consumer).__mro__}
    if "kafka" in libraries:
        from rebalance_check.integration.recorders import kafka_python  # noqa: PLC0415 - one library is enough

        return kafka_python.RecordingKafkaConsumer, kafka_python.shown(consumer)
    if "aiokafka" in libraries:
        from rebalance_check.integration.recorders import aiokafka  # noqa: PLC0415 - one library is enough

        return aiokafka.RecordingAioKafkaConsumer, aiokafka.shown(consumer)
    if "cimpl" in libraries:
        from rebalance_check.integration.recorders import librdkafka  # noqa: PLC0415 - one library is enough

        return librdkafka.RecordingConfluentConsumer, librdkafka.shown(consumer, config)
    raise RebalanceCheckError(
        f"{type(consumer).__module__}.{type(consumer).__name__} is no consumer of kafka-python, confluent-kafka or "
        "aiokafka: record what it does with Vocabulary"
    )


def _split(name: str) -> tuple[str, int]:
    topic, _, index = name.rpartition("-")
    return topic, int(index)
