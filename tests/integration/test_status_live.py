"""When the stores of a live status run are at rest."""

from collections.abc import Sequence
from typing import cast

from rebalance_check.integration.live.status_stores import settle
from rebalance_check.integration.live.status_workers import KafkaStatusWorker


class SlowReader:
    """A worker whose one record is answered while the second question is put to it, and read two questions later."""

    def __init__(self) -> None:
        self.questions = 0

    def _ask(self) -> int:
        self.questions += 1
        return self.questions

    def unanswered(self) -> str:
        return "a send in flight" if self._ask() < 2 else ""

    def ends(self) -> dict[int, int]:
        return {0: 4 if self._ask() < 2 else 5}

    def unread(self, ends: dict[int, int]) -> str:
        read_to = 4 if self._ask() < 5 else 5
        return "" if read_to == ends[0] else "behind"


def test_stores_are_at_rest__only_when_what_was_answered_last_is_read_too() -> None:
    worker = SlowReader()
    assert settle(cast(Sequence[KafkaStatusWorker], [worker])) == ()
    assert worker.unread({0: 5}) == ""
    assert worker.questions > 5
