"""`await_until` and `ask_until`: what they return, and what the error says."""

from collections.abc import Iterator

import pytest

from rebalance_check.integration.waiting import NotYet, ask_until, await_until
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def test_it_returns_what_the_probe_found__once_it_did() -> None:
    answers: Iterator[str | NotYet] = iter([NotYet("nothing"), NotYet("little"), "found", "too late"])
    assert await_until(lambda: next(answers), timeout_s=60, pause_s=0, otherwise="it is not there") == "found"
    assert next(answers) == "too late"


def test_its_error_says_what_is_not_so__after_how_long__what_was_seen_last_and_what_to_do() -> None:
    answers: Iterator[NotYet] = iter([NotYet("a shadow")])
    with pytest.raises(RebalanceCheckError) as failure:
        await_until(lambda: next(answers), timeout_s=0, pause_s=0, otherwise="it is not there", hint="look again")
    assert str(failure.value) == "it is not there after 0 s (a shadow): look again"


def test_an_error_of_the_probe_ends_the_wait() -> None:
    def probe() -> NotYet:
        raise RebalanceCheckError("the process ended")

    with pytest.raises(RebalanceCheckError, match="the process ended"):
        await_until(probe, timeout_s=60, pause_s=0, otherwise="it is not there")


def test_the_last_answer_is_returned__accepted_or_not() -> None:
    answers = iter([1, 2, 3, 4])
    assert ask_until(lambda: next(answers), lambda n: n == 3, timeout_s=60, pause_s=0) == 3
    assert ask_until(lambda: next(answers), lambda n: n == 3, timeout_s=0, pause_s=0) == 4
