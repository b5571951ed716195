"""Waiting for something outside this process: asked again after each pause, until it is there or time is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NotYet:
    """The answer of a probe that has to be asked again; ``seen`` says what it saw instead."""

    seen: str = ""


def await_until(
    probe: Callable[[], T | NotYet], *, timeout_s: float, pause_s: float, otherwise: str, hint: str = ""
) -> T:
    """Ask ``probe``, with pauses of ``pause_s`` seconds, until it returns something other than `NotYet`; return that.

    ``otherwise`` is the sentence that is true when ``timeout_s`` seconds are over, ``hint`` what to do then.

    Raises:
        RebalanceCheckError: the time is over; with ``otherwise``, the time, what was seen last, and ``hint``.
    """
    deadline = time.monotonic() + timeout_s
    while isinstance(found := probe(), NotYet):
        if time.monotonic() >= deadline:
            seen = f" ({found.seen})" if found.seen else ""
            raise RebalanceCheckError(f"{otherwise} after {timeout_s:g} s{seen}" + (f": {hint}" if hint else ""))
        time.sleep(pause_s)
    return found


def ask_until(probe: Callable[[], T], is_good: Callable[[T], bool], *, timeout_s: float, pause_s: float) -> T:
    """Ask ``probe``, with pauses of ``pause_s`` seconds, until ``is_good`` accepts the answer or time is over.

    The time is ``timeout_s`` seconds. The last answer is returned in both cases: the caller decides what an answer that
    is not good means.
    """
    deadline = time.monotonic() + timeout_s
    while not is_good(found := probe()) and time.monotonic() < deadline:
        time.sleep(pause_s)
    return found
