"""Client libraries whose processes hang when they are asked to leave: such a run says nothing about the group."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from rebalance_check.integration.live.process import ClientHungError
from rebalance_check.integration.live.settings import ClientName
from rebalance_check.model.vocabulary.events import Event


def repeated_when_hung(run: Callable[[], list[Event]]) -> list[Event]:
    """The history of a live run, which is repeated once, with a warning, when the process of a library's member hung.

    librdkafka's did once (TRACK_RECORD.md). A second hang fails, and so does one of ours.
    """
    try:
        return run()
    except ClientHungError as hung:
        if hung.client is ClientName.OURS:
            raise
        warnings.warn(f"the run is repeated: {hung}", stacklevel=2)
        return run()
