"""The collector of Python looks seldom while a history is made or judged, and as often as before afterwards."""

import gc
from collections.abc import Iterator

import pytest

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import simulate, simulate_into
from rebalance_check.model.collecting import RARELY, rarely_collected
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.judge import judge

USUAL = (700, 10, 10)


@pytest.fixture(autouse=True)
def _usual_pace() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*USUAL)
    yield
    gc.set_threshold(*before)


def test_a_simulation_is_rarely_collected() -> None:
    seen: list[tuple[int, int, int]] = []
    simulate_into(0, SimulationOptions(), lambda _: seen.append(gc.get_threshold()))
    assert seen
    assert set(seen) == {RARELY}
    assert gc.get_threshold() == USUAL


def test_a_judgement_is_rarely_collected() -> None:
    seen: list[tuple[int, int, int]] = []

    def noted() -> Iterator[Event]:
        for event in simulate(0, SimulationOptions()):
            seen.append(gc.get_threshold())
            yield event

    judge(noted())
    assert seen
    assert set(seen) == {RARELY}
    assert gc.get_threshold() == USUAL


def test_the_pace_is_the_usual_one_after_a_fault() -> None:
    def fails(_: Event) -> None:
        raise ValueError("the listener fails")

    with pytest.raises(ValueError, match="the listener fails"):
        simulate_into(0, SimulationOptions(), fails)
    assert gc.get_threshold() == USUAL


@pytest.mark.parametrize("own", [(0, 10, 10), (100_000, 5, 5)], ids=["switched off", "more seldom"])
def test_a_pace_that_somebody_chose_stays(own: tuple[int, int, int]) -> None:
    gc.set_threshold(*own)
    with rarely_collected():
        assert gc.get_threshold() == own
    assert gc.get_threshold() == own
