"""A limit in minutes on the command line."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Final

import click

MOST_MINUTES: Final = 100_000.0
"""Some seventy days."""


class Minutes(click.FloatRange):
    """A number of minutes; "not a number", which lies in every range, is refused."""

    def __init__(self, *, zero: bool) -> None:
        super().__init__(0, MOST_MINUTES, min_open=not zero)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, within the range; click shows the message otherwise."""
        minutes = super().convert(value, param, ctx)
        if math.isnan(minutes):
            self.fail(f"{value} is no number of minutes.", param, ctx)
        return minutes


def over_after(minutes: float) -> Callable[[], bool]:
    """Whether so many minutes have passed since this call; 0 stands for no limit."""
    end = time.monotonic() + minutes * 60
    return lambda: minutes > 0 and time.monotonic() >= end
