"""Claims about the config topic: what its readers may see, how transactions end, what compaction must keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigRead,
    ConfigReadStarted,
    ConfigTransactionEnded,
    Event,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]

READER: Final = ConfigReadStarted(member="r", isolation="read_committed")
SEES_ALL: Final = ConfigReadStarted(member="r", isolation="read_uncommitted")


def plain(offset: int, key: str = "connector-c", value: str | None = "{}") -> ConfigAppended:
    return ConfigAppended(writer="w", offset=offset, key=key, value=value)


def within(offset: int, key: str = "connector-c", value: str | None = "{}", epoch: int = 0) -> ConfigAppended:
    return ConfigAppended(writer="w", offset=offset, key=key, value=value, transactional_id="t", epoch=epoch)


def ended(offset: int, outcome: str = "committed", epoch: int = 0) -> ConfigTransactionEnded:
    return ConfigTransactionEnded(transactional_id="t", epoch=epoch, offset=offset, outcome=outcome)


def read(offset: int, key: str = "connector-c", value: str | None = "{}") -> ConfigRead:
    return ConfigRead(member="r", offset=offset, key=key, value=value)


RETURN: Final = "config_readers_return_the_topic"

HOLDS: Final[dict[str, tuple[str, list[Event]]]] = {
    "a committed record is read": (RETURN, [READER, within(0), ended(1), read(0)]),
    "what was aborted is read by a reader of all": (RETURN, [SEES_ALL, within(0), ended(1, "aborted"), read(0)]),
    "what is open is read by a reader of all": (RETURN, [SEES_ALL, within(0), read(0)]),
    "a record that lies below an open transaction is read": (RETURN, [READER, plain(0), within(1), read(0)]),
}  # fmt: skip

BREAKS: Final[dict[str, tuple[str, list[Event]]]] = {
    "what is open is read": (RETURN, [READER, within(0), read(0)]),
    "what lies behind an open transaction is read": (RETURN, [READER, within(0), plain(1), read(1)]),
    "what was aborted is read": (RETURN, [READER, within(0), ended(1, "aborted"), read(0)]),
    "another value is read": (RETURN, [READER, plain(0), read(0, value=None)]),
}  # fmt: skip


def outcome(history: History, name: str, events: list[Event]) -> Outcome:
    return judge(history(*events), [name]).outcome


@pytest.mark.parametrize("case", HOLDS)
def test_it_holds(history: History, case: str) -> None:
    assert outcome(history, *HOLDS[case]) is not Outcome.VIOLATED


@pytest.mark.parametrize("case", BREAKS)
def test_it_breaks(history: History, case: str) -> None:
    assert outcome(history, *BREAKS[case]) is Outcome.VIOLATED
