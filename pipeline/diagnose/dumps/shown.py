"""The text of a place: as much of a line as may be shown."""

from __future__ import annotations

import re
from typing import Final

from rebalance_check.pipeline.diagnose.dumps.connect_topics import LONGEST_TEXT

_SECRET: Final = re.compile(r"(?<![\w.-])(?:connector-|task-|session-key|logger-cluster-)|\"(?:properties|config)\"")
"""Signs of a record of the config topic, or of a connector's configuration."""


def excerpt(text: str) -> str:
    """The beginning of a line; only its part before the values of the config topic."""
    found = _SECRET.search(text)
    return (text if found is None else text[: found.start()])[:LONGEST_TEXT]
