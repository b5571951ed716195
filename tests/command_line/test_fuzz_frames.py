"""``rebalance-check fuzz --subject broker``: figures and a verdict, and of each finding the command that repeats it."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("kafka", reason="the embedded broker needs the extra 'brokers'")

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.embedded.groups import Groups
from rebalance_check.properties.exit_codes import ExitCode

ARGUMENTS = ("fuzz", "--subject", "broker", "--seeds", "3:5", "--frames", 100)


@pytest.mark.parametrize("over", ["in-process", "sockets"])
def test_frames_that_are_answered_or_refused_hold(command: Callable[..., Any], over: str) -> None:
    answer = command(*ARGUMENTS, "--over", over, "--json")
    assert answer.code == ExitCode.HELD, answer.err
    document = answer.document
    assert (document["verdict"], document["findings"], document["seeds"]) == ("held", [], 2)
    assert document["p99_ms"] > 0
    assert "verdict: held (0 findings)" in answer.err


def test_a_finding_comes_with_the_command_that_repeats_it(
    command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_self: Groups, _request: msg.GroupRequest) -> msg.GroupReply:
        raise KeyError("planted")

    monkeypatch.setattr(Groups, "_leave", broken)
    answer = command(*ARGUMENTS)
    assert answer.code == ExitCode.SAFETY
    assert "the broker raised KeyError('planted')" in answer.out
    assert "replay: rebalance-check fuzz --subject broker --seeds 3:4 --frames 100 --over in-process" in answer.out
