"""Reading scenarios, and telling one to a coordinator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.scenarios.commands import perform
from rebalance_check.impl.scenarios.coordinator import InProcess, Played
from rebalance_check.impl.scenarios.runner import SETTINGS, Stage, settings_of
from rebalance_check.model.vocabulary.events import Event


def scenarios_in(text: str) -> Iterator[tuple[str, list[str]]]:
    """Title and lines of each scenario: a paragraph each, its title in brackets."""
    for paragraph in text.split("\n\n"):
        title, *lines = [line for line in paragraph.splitlines() if line and not line.startswith("#")]
        yield title.strip("[]"), lines


def history_of(lines: Sequence[str], defects: frozenset[str] = frozenset()) -> list[Event]:
    """What our coordinator tells of itself while a scenario is told to it."""
    made = count(1)
    events: list[Event] = []

    def cast(config: GroupConfig) -> Played:
        return InProcess(
            config, new_member_id=lambda prefix: f"{prefix}-{next(made)}", defects=defects, listener=events.append
        )

    tell(lines, cast)
    return events


def tell(lines: Sequence[str], cast: Callable[[GroupConfig], Played]) -> tuple[list[str], list[str]]:
    """A scenario as it is written, and as it happens with the coordinator that ``cast`` makes."""
    settings = settings_of(lines[0])
    stage = Stage(cast(settings or GroupConfig(**SETTINGS)))
    expected, seen = [], []
    for line in lines[1:] if settings else lines:
        step, _, observed = line.partition("->")
        expected.append(f"{step.strip()} -> {observed.strip()}".strip())
        seen.append(f"{step.strip()} -> {perform(stage, step)}".strip())
    return expected, seen
