"""What a round with a delay may take from its workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import ConnectAssignmentComputed, Event
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
CLAIM: Final = "delay_postpones_revocations"
Work = tuple[tuple[str, tuple[str, ...]], ...]
ONE: Final[Work] = (("a", ("c", "d")), ("b", ()))


def computed(
    claims: Work, revoked: Work, *, delay_ms: int = 9, protocol: str = "compatible", error: str = "NONE"
) -> ConnectAssignmentComputed:
    return ConnectAssignmentComputed(
        member="w0", generation=2, protocol=protocol, leader="a", leader_url="u", config_offset=2, error=error,
        configured=("c", "d"), claims=claims, revoked=revoked, delay_ms=delay_ms,
    )  # fmt: skip


CASES: Final[dict[str, tuple[Outcome, ConnectAssignmentComputed]]] = {
    "it takes nothing": (Outcome.HELD, computed(ONE, (("a", ()),))),
    "what is configured no more": (Outcome.HELD, computed((("a", ("x",)),), (("a", ("x",)),))),
    "what two claim": (Outcome.HELD, computed((("a", ("c",)), ("b", ("c",))), (("a", ("c",)), ("b", ("c",))))),
    "what one has too much": (Outcome.VIOLATED, computed(ONE, (("a", ("d",)),))),
    "without a delay": (Outcome.UNTESTED, computed(ONE, (("a", ("d",)),), delay_ms=0)),
    "an eager round": (Outcome.UNTESTED, computed(ONE, (("a", ("d",)),), protocol="default")),
    "a round that failed": (Outcome.UNTESTED, computed(ONE, (("a", ("d",)),), error="CONFIG_MISMATCH")),
}


@pytest.mark.parametrize(("outcome", "event"), CASES.values(), ids=CASES)
def test_a_delay_postpones_what_is_taken_for_the_balance(
    history: History, outcome: Outcome, event: ConnectAssignmentComputed
) -> None:
    assert judge(history(event), select([CLAIM])).verdict(CLAIM).outcome is outcome
