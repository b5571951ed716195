"""Waits between attempts grow and vary as Kafka's ``ExponentialBackoff`` makes them."""

from __future__ import annotations

from random import Random

from rebalance_check.impl.client.backoff import JITTER, ExponentialBackoff


def waits(backoff: ExponentialBackoff, count: int = 6) -> list[int]:
    return [backoff.next_ms() for _ in range(count)]


def test_waits_double_up_to_the_maximum__and_begin_anew_after_a_success() -> None:
    backoff = ExponentialBackoff(100, 1_600)
    assert waits(backoff) == [100, 200, 400, 800, 1_600, 1_600]
    backoff.reset()
    assert backoff.next_ms() == 100


def test_the_longest_wait_is_the_maximum_to_the_millisecond() -> None:
    """As Kafka computes it, by natural logarithms: log2 loses one millisecond of Connect's defaults."""
    assert waits(ExponentialBackoff(100, 1_000), 5) == [100, 200, 400, 800, 1_000]


def test_a_first_wait_that_is_the_maximum_stays() -> None:
    assert waits(ExponentialBackoff(100, 100, Random(1)), 3) == [100, 100, 100]


def test_the_seed_decides_the_jitter__which_stays_in_its_bounds() -> None:
    assert waits(ExponentialBackoff(100, 1_000, Random(7))) == waits(ExponentialBackoff(100, 1_000, Random(7)))
    assert waits(ExponentialBackoff(100, 1_000, Random(7))) != waits(ExponentialBackoff(100, 1_000, Random(8)))
    for seed in range(50):
        for wait, middle in zip(
            waits(ExponentialBackoff(100, 1_000, Random(seed)), 4), (100, 200, 400, 800), strict=True
        ):
            assert int(middle * (1 - JITTER)) <= wait <= min(middle * (1 + JITTER), 1_000)
