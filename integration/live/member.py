"""One live member: an unmodified consumer of some client library in a process of its own, recorded from outside.

``python -m rebalance_check.integration.live.member ORDER`` where ORDER is a `MemberOrder` as JSON. The end of standard
input asks it to leave; signals act on it as on any process.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
from pathlib import Path

import msgspec

from rebalance_check.integration.live.clients import open_consumer
from rebalance_check.integration.live.clients.consumer import GaveUpError, LiveConsumer
from rebalance_check.integration.live.recording import RawRecording
from rebalance_check.integration.live.settings import GAVE_UP, SHOW_STACKS, LiveProtocol, MemberOrder
from rebalance_check.integration.parent import end_with_parent
from rebalance_check.integration.recorders.observer import Observer
from rebalance_check.model.vocabulary.events import MemberCrashed, MemberStarted


def run(order: MemberOrder, recording: RawRecording, leaving: threading.Event) -> None:
    """Poll until asked to leave, then leave; or until the consumer gives up, which ends the process."""
    observer = Observer(order.member, recording.recorder(order.group, order.member))
    consumer = open_consumer(order, observer)
    observer.started(_started(order, consumer))
    commit_at = time.monotonic()
    while not leaving.is_set():
        try:
            consumer.poll(order.settings.poll_timeout_ms)
        except GaveUpError:
            observer.emit(MemberCrashed(member=order.member))
            raise
        if time.monotonic() >= commit_at:
            consumer.commit()
            commit_at = time.monotonic() + order.settings.commit_interval_ms / 1000
    consumer.close()


def _started(order: MemberOrder, consumer: LiveConsumer) -> MemberStarted:
    choice = order.choice
    return MemberStarted(
        member=order.member,
        protocol=choice.protocol,
        client=choice.client,
        release=consumer.release,
        assignors=choice.assignors,
        topics=() if choice.protocol is LiveProtocol.ELECTION else (order.topic,),
        rebalance_timeout_ms=order.settings.max_poll_interval_ms,
        session_timeout_ms=order.settings.session_timeout_ms,
    )


def _await_end_of_input(leaving: threading.Event) -> None:
    sys.stdin.buffer.read()
    leaving.set()


def main() -> None:
    """Run the member that the command line orders."""
    # Ctrl-C reaches the whole process group; the harness decides the fate of its members.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.register(SHOW_STACKS)
    end_with_parent()
    order = msgspec.json.decode(sys.argv[1], type=MemberOrder)
    leaving = threading.Event()
    threading.Thread(target=_await_end_of_input, args=(leaving,), daemon=True).start()
    with RawRecording(Path(order.recording)) as recording:
        try:
            run(order, recording, leaving)
        except GaveUpError as reason:
            print(reason, file=sys.stderr, flush=True)  # the last words, which the harness reads
            os._exit(GAVE_UP)  # as a process that dies: the thread that reads standard input would not let it go


if __name__ == "__main__":
    main()
