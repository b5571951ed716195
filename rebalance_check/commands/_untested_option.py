"""The option ``--untested``, and whether it was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_CHOSEN: Final = f"{__name__}.lists"


def untested_option(command: F) -> F:
    """The option of every sub-command that judges histories; `lists_untested` says whether it was given."""

    def choose(context: click.Context, _option: click.Parameter, every: bool) -> None:
        context.meta[_CHOSEN] = every

    return click.option(
        "--untested", is_flag=True, expose_value=False, callback=choose,
        help="List the invariants that nothing could have broken, and why, instead of their number.",
    )(command)  # fmt: skip


def lists_untested() -> bool:
    """Whether the invariants that nothing could have broken are listed."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_CHOSEN, False))
