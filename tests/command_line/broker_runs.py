"""A broker that runs as the command runs it, in this process; and what a member on a socket asks of it."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.commands._broker_run import BrokerOrder, run_broker
from rebalance_check.commands._console import Console
from rebalance_check.impl.protocol import messages as msg
from rebalance_check.impl.protocol.consumer_protocol import Subscription, write_subscription
from rebalance_check.integration.exchange.faults import FaultPlan
from rebalance_check.integration.interrupts import StopRequest
from rebalance_check.integration.wire.raw_group import RawGroup

SUBSCRIPTION = write_subscription(Subscription(topics=("t",)))


def join(member_id: str = "", metadata: bytes = SUBSCRIPTION) -> msg.JoinGroupRequest:
    return msg.JoinGroupRequest(
        group_id="g", version=3, session_timeout_ms=60_000, rebalance_timeout_ms=60_000, member_id=member_id,
        protocol_type="consumer", protocols=(msg.JoinProtocol("range", metadata),),
    )  # fmt: skip


def reply_to(group: RawGroup, request: msg.GroupRequest) -> Any:
    group.request(0, request)
    ((_, reply),) = group.replies(at_least=1, timeout_s=10)
    return reply


class Run:
    """A run in a thread, whose end the test decides. As a context manager it hands over the address to connect to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, record: Path | None = None, **chosen: Any) -> None:
        self.said = io.StringIO()
        self.stop = StopRequest()
        self.code: Any = None
        self._addresses: list[str] = []
        self._listens = threading.Event()
        monkeypatch.setattr(Console, "say", lambda _console, text="": self._say(text))
        faults = chosen.pop("faults", FaultPlan())
        order = BrokerOrder(broker={"topics": {"t": 2}, **chosen}, faults=faults, record=record, is_judged=True)
        self.thread = threading.Thread(target=self._run, args=(order,))

    def _say(self, text: str) -> None:
        self.said.write(f"{text}\n")
        if "listens at" in text:
            self._addresses.append(text.rsplit(maxsplit=1)[-1])
        if text.startswith("it ends with"):
            self._listens.set()

    def _run(self, order: BrokerOrder) -> None:
        try:
            self.code = run_broker(Console(as_json=False), order, self.stop)
        except Exception as error:
            self.code = error

    def __enter__(self) -> str:
        self.thread.start()
        assert self._listens.wait(30)
        return self._addresses[0]

    def __exit__(self, *_: object) -> None:
        self.stop.wake()
        self.thread.join(30)
