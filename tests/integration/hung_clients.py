"""Client libraries whose processes hang when they are asked to leave: such a run says nothing about the group."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.live.process import ClientHungError
from rebalance_check.integration.live.settings import ClientName, LiveOptions
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.model.vocabulary.schedule import Schedule, run
from rebalance_check.properties.history import read_history, recorded


def repeated_when_hung(once: Callable[[], list[Event]]) -> list[Event]:
    """The history of a live run, which is repeated once, with a warning, when the process of a library's member hung.

    librdkafka's did once (TRACK_RECORD.md). A second hang fails, and so does one of ours.
    """
    try:
        return once()
    except ClientHungError as hung:
        if hung.client is ClientName.OURS:
            raise
        warnings.warn(f"the run is repeated: {hung}", stacklevel=2)
        return once()


def recorded_run(where: Broker, settings: LiveOptions, schedule: Schedule, folder: Path) -> list[Event]:
    """The history of a live run as it was written to disk, in a folder of its own within ``folder``."""

    def once() -> list[Event]:
        own = Path(mkdtemp(dir=folder))
        path = own / "history.jsonl"
        for _event in recorded(path, run(LiveSubject(where, settings, own / "raw"), schedule)):
            pass
        return list(read_history(path))

    return repeated_when_hung(once)
