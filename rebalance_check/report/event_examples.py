"""One example of each event, for the page of events; each section of that page is one object of `event_examples.json`.

The examples belong to small runs: a consumer group `orders` of two members, a scenario of one client, a status store,
and a group of Connect workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

import msgspec

from rebalance_check.model.vocabulary.event_base import Event
from rebalance_check.properties.history import decode


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: its heading, the common trait of its events, and an example of each."""

    title: str
    about: str
    examples: tuple[Event, ...]


def _section(of: dict[str, Any]) -> Section:
    return Section(of["title"], of["about"], tuple(decode(msgspec.json.encode(each)) for each in of["examples"]))


SECTIONS: Final = tuple(
    map(_section, msgspec.json.decode(files("rebalance_check.report").joinpath("event_examples.json").read_bytes()))
)
