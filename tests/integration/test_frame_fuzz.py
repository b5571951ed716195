"""Random frames at the embedded broker: none is an unhandled exception, and a well-behaved client is served meanwhile.

The millions are for the command (``rebalance-check fuzz --subject broker --seeds 0:1000``); here are some seconds.
"""

import asyncio
import time
from typing import Any

import pytest

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.embedded.broker import WireBroker
from rebalance_check.integration.embedded.groups import Groups
from rebalance_check.integration.embedded.listening import Where
from rebalance_check.integration.frame_fuzz.frames import FrameGenerator
from rebalance_check.integration.frame_fuzz.in_process import fuzz_in_process
from rebalance_check.integration.frame_fuzz.result import Fate
from rebalance_check.integration.frame_fuzz.sockets import fuzz_over_sockets
from rebalance_check.integration.wire.apis import APIS, VERSIONS
from rebalance_check.integration.wire.frames import read_prefix

BUDGET_S = 7.0
LEAST_SEEDS = 2


def test_random_frames_in_process_are_answered_or_refused() -> None:
    end, seed = time.monotonic() + BUDGET_S, 0
    while seed < LEAST_SEEDS or time.monotonic() < end:
        run = fuzz_in_process(seed, 500)
        assert [finding.text for finding in run.findings] == []
        assert run.frames == 500
        assert run.fates[Fate.ANSWERED] > 300
        assert run.fates[Fate.CLOSED] > 20
        seed += 1


def test_random_frames_over_sockets_are_answered_or_refused__and_a_client_is_served() -> None:
    end, seed = time.monotonic() + BUDGET_S, 0
    while seed < LEAST_SEEDS or time.monotonic() < end:
        run = fuzz_over_sockets(seed, 300)
        assert [finding.text for finding in run.findings] == []
        assert run.fates[Fate.ANSWERED] > 100
        assert run.fates[Fate.CLOSED] > 10
        assert run.latencies_ms
        seed += 1


def test_a_seed_is_a_run_that_repeats() -> None:
    first, again = fuzz_in_process(11, 300), fuzz_in_process(11, 300)
    assert first.fates == again.fates


def test_frames_are_of_every_api_and_version() -> None:
    frames = FrameGenerator(5)
    seen = {_version_of(frames.frame()) for _ in range(5_000)}
    served = {(key, version) for key, (low, high) in VERSIONS.items() for version in range(low, high + 1)}
    assert served <= seen


def _version_of(frame: bytes) -> tuple[int, int]:
    prefix = read_prefix(frame)
    return prefix.api_key, prefix.api_version


def test_an_exception_of_the_broker_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_self: Groups, _request: msg.GroupRequest) -> msg.GroupReply:
        raise KeyError("planted")

    monkeypatch.setattr(Groups, "_leave", broken)
    for run in (fuzz_in_process(1, 200), fuzz_over_sockets(1, 200)):
        found = [finding for finding in run.findings if "planted" in finding.what]
        assert found
        assert "seed 1" in found[0].text


def test_a_poisoned_group_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = WireBroker._respond

    async def poisons(self: WireBroker, request: Any, peer: str, where: Where, *, is_long: bool) -> Any:
        if APIS[request.API_KEY].name == "OffsetDelete":
            groups = self.coordinators.of("").coordinator._shard.groups
            groups[None] = next(iter(groups.values()))  # type: ignore[index]  # the poison
        return await plain(self, request, peer, where, is_long=is_long)

    monkeypatch.setattr(WireBroker, "_respond", poisons)
    assert any("looked around" in finding.what for finding in fuzz_in_process(1, 400).findings)


def test_an_answer_that_never_comes_holds_up_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(_self: Groups, _request: msg.GroupRequest) -> msg.GroupReply:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(Groups, "_leave", silent)
    assert fuzz_in_process(1, 200).fates[Fate.WAITING] > 5
