"""The JSON Schema of a history line, generated from the event classes.

Write it anew after a change of the events: ``python -m rebalance_check.properties.schema docs/history.schema.json``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from rebalance_check.properties.history import LINE


def history_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of one line of a history: one definition per event, chosen by the field ``event``."""
    schema = msgspec.json.schema(LINE)
    for name, definition in schema["$defs"].items():
        definition["title"] = name
        definition["description"] = " ".join(definition.get("description", "").split())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One line of a rebalance-check history",
        "description": (
            "A history is a file of JSON lines in order of observation. source is the observer; seq numbers the "
            "events of one source in one group from 0 without a gap (-1: not numbered); time_ms is milliseconds on "
            "the observer's clock; error null is an outcome that is unknown; incarnation -1 is an unknown one."
        ),
        **schema,
    }


def schema_text() -> str:
    """The schema as it stands in ``docs/history.schema.json``."""
    return msgspec.json.format(msgspec.json.encode(history_schema()), indent=2).decode() + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema_text(), encoding="utf-8")
