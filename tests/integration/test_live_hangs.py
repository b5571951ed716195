"""A member whose client hangs when it is asked to leave: it is killed, and what it did is said."""

import re
from pathlib import Path

import pytest

pytest.importorskip("kafka", reason="live clients need the extra 'brokers'")

from rebalance_check.integration.live import process
from rebalance_check.integration.live.process import ClientHungError, MemberProcess
from rebalance_check.integration.live.settings import SHOW_STACKS, ClientName, LiveOptions, MemberOrder
from rebalance_check.model.vocabulary.events import Event
from tests.integration.hung_clients import repeated_when_hung

NEVER_ENDS = f"""
import faulthandler, sys, time
faulthandler.register({int(SHOW_STACKS)})
def closes_for_ever():
    time.sleep(600)
print("m0 closes", flush=True)
closes_for_ever()
"""
"""A process that never ends, whatever becomes of its input."""


def order(folder: Path, client: ClientName) -> MemberOrder:
    settings = LiveOptions(clients=(client,))
    return MemberOrder(
        bootstrap="127.0.0.1:1", group="g", topic="t", member="m0", recording=str(folder / "000-m0.raw"),
        choice=settings.choice(0), settings=settings,
    )  # fmt: skip


def test_a_member_that_does_not_leave_is_killed__and_the_error_shows_where_its_client_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "PROGRAM", ("-c", NEVER_ENDS))
    monkeypatch.setattr(process, "LEAVE_TIMEOUT_S", 3.0)
    member = MemberProcess(order(tmp_path, ClientName.LIBRDKAFKA))
    member.ask_to_leave()
    with pytest.raises(ClientHungError) as hung:
        member.await_end()
    assert not member.alive
    assert hung.value.client is ClientName.LIBRDKAFKA
    expected = r"member m0 \(confluent-kafka\) did not leave within 3 s and was killed; it printed:\nm0 closes\n"
    assert re.match(expected, str(hung.value))
    assert "in closes_for_ever" in str(hung.value)


def hanging(client: ClientName, times: int) -> tuple[list[int], list[Event] | str]:
    """How often a run was made that hangs this many times, and its history or what was raised."""
    runs: list[int] = []

    def run() -> list[Event]:
        runs.append(len(runs))
        if len(runs) <= times:
            raise ClientHungError("m0 hangs", client)
        return []

    try:
        return runs, repeated_when_hung(run)
    except ClientHungError as hung:
        return runs, str(hung)


def test_a_run_in_which_a_library_hung_is_repeated_once() -> None:
    with pytest.warns(UserWarning, match="the run is repeated: m0 hangs"):
        assert hanging(ClientName.LIBRDKAFKA, times=1) == ([0, 1], [])
    with pytest.warns(UserWarning, match="the run is repeated: m0 hangs"):
        assert hanging(ClientName.LIBRDKAFKA, times=2) == ([0, 1], "m0 hangs")


def test_a_run_in_which_a_member_of_ours_hung_is_not_repeated() -> None:
    assert hanging(ClientName.OURS, times=1) == ([0], "m0 hangs")
