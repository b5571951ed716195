"""Workers' plug-ins, restarts, stops and task configs: histories in which each invariant holds, and breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    Event,
    MemberStarted,
    ProducerFenced,
    ProducerInitialised,
    RunStarted,
    WorkerConfigured,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]

BEGIN: Final = (
    RunStarted(subject="simulator", punctual=True),
    MemberStarted(member="w0"),
    WorkerConfigured(member="w0", mode="compatible", store="w0"),
)


HOLDS: Final[dict[str, tuple[str, list[Event]]]] = {
    "a fencing takes an epoch of its own": (
        "producer_epochs_grow",
        [ProducerFenced(transactional_id="t", epoch=0, used=1),
         ProducerInitialised(member="w0", transactional_id="t", epoch=2, work="c-0")],
    ),
}  # fmt: skip

BREAKS: Final[dict[str, tuple[str, list[Event]]]] = {
    "a fencing leaves the epoch": (
        "producer_epochs_grow",
        [ProducerInitialised(member="w0", transactional_id="t", epoch=2, work="c-0"),
         ProducerFenced(transactional_id="t", epoch=2, used=2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLDS)
def test_the_claim_holds(history: History, name: str) -> None:
    claim, events = HOLDS[name]
    judgement = judge(history(*BEGIN, *events), select([claim]))
    assert judgement.verdict(claim).outcome is Outcome.HELD, judgement.verdict(claim)


@pytest.mark.parametrize("name", BREAKS)
def test_the_claim_breaks(history: History, name: str) -> None:
    claim, events = BREAKS[name]
    judgement = judge(history(*BEGIN, *events), select([claim]))
    assert judgement.verdict(claim).outcome is Outcome.VIOLATED
