"""The page of events: each event in prose, with its fields and an example line, from the code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from rebalance_check.model.vocabulary.event_base import Event
from rebalance_check.properties.history import encode
from rebalance_check.properties.malformed import TAG
from rebalance_check.properties.schema import history_schema
from rebalance_check.report.event_examples import SECTIONS, Section

_HEAD: Final = """\
# The events

[The history format](../history-format.md) explains the file, and this page each event. A
field without a default must be given. Every line also has the fields of all events: `group` (text), `source` (text: the
observer), `seq` (whole number, counted per source from 0) and `time_ms` (whole number, on the observer's clock). Values
that an observer cannot see keep their default. In Python each event is a class that `rebalance_check` exports.
"""
_WORDS: Final = {"string": "text", "integer": "whole number", "boolean": "true or false", "null": "null"}


def events_markdown() -> str:
    """A section per group of events, an entry per event."""
    definitions: Mapping[str, Any] = history_schema()["$defs"]
    return "\n".join([_HEAD, *(_section(section, definitions) for section in SECTIONS)])


def type_in_words(schema: Mapping[str, Any]) -> str:
    """The type of a field of the schema: ``text``, ``list of (text, whole number)``."""
    if "anyOf" in schema:
        return " or ".join(type_in_words(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(str(value) for value in schema["enum"])
    if schema["type"] != "array":
        return _WORDS[schema["type"]]
    if "prefixItems" in schema:
        return f"({', '.join(type_in_words(one) for one in schema['prefixItems'])})"
    return f"list of {type_in_words(schema['items'])}"


def _section(section: Section, definitions: Mapping[str, Any]) -> str:
    entries = [_entry(example, definitions[type(example).__name__]) for example in section.examples]
    return "\n".join([f"## {section.title}\n\n{section.about}\n", *entries])


def _entry(example: Event, definition: Mapping[str, Any]) -> str:
    common = {TAG, *Event.__dataclass_fields__}
    fields = [
        f"- `{name}`: {type_in_words(schema)}{_default(schema)}"
        for name, schema in definition["properties"].items()
        if name not in common
    ]
    parts = [f"### {type(example).__name__}\n", f"{_prose(type(example))}\n"]
    parts += [*fields, ""] if fields else []
    return "\n".join([*parts, "```json", encode(example).decode(), "```"]) + "\n"


def _default(schema: Mapping[str, Any]) -> str:
    return f" (default `{msgspec.json.encode(schema['default']).decode()}`)" if "default" in schema else ""


def _prose(event_type: type[Event]) -> str:
    """The docstring of an event, as Markdown: one paragraph a line, code in single backticks."""
    text = re.sub(r"``?([^`]+)``?", r"`\1`", inspect.getdoc(event_type) or "")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
