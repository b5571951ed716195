"""How options are declared: those that several commands take stand here, once, and mean the same in each of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final, TypeAlias

import click
from click.core import ParameterSource

from rebalance_check.commands._extras import needs
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.report.excerpts import MOST_ROWS

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

MOST_MINUTES: Final = 100_000.0
"""Some seventy days."""

_SHOWS_ALL: Final = f"{__name__}.shows_all"
_VERBOSE: Final = f"{__name__}.verbose"


class Rare(click.Option):
    """An option that ``--help`` leaves out, and ``--help-all`` lists."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Its line of help; None where only common options are shown."""
        return super().get_help_record(ctx) if ctx.meta.get(_SHOWS_ALL) else None


class Command(click.Command):
    """A command with common options and rare ones."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its parameters, with ``--help-all`` where there is more to show."""
        found = super().get_params(ctx)
        if not any(isinstance(one, Rare) for one in found):
            return found
        more = click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all,
                            help="Show the rare options, too.")  # fmt: skip
        return [*found, more]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The sections of help: the common options, then the rare ones."""
        for title, kind in (("Options", False), ("Rare options", True)):
            chosen = [
                one for one in self.get_params(ctx) if isinstance(one, click.Option) and isinstance(one, Rare) is kind
            ]
            lines = [line for one in chosen if (line := one.get_help_record(ctx)) is not None]
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)


def _show_all(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[_SHOWS_ALL] = True
        click.echo(context.get_help())
        context.exit()


def option(*names: str, rare: bool = False, **settings: Any) -> Decorator:
    """An option of a command; a ``rare`` one stands in ``--help-all`` alone."""
    return click.option(*names, cls=Rare if rare else click.Option, **settings)


def was_given(name: str) -> bool:
    """Whether the command line has this option, by the name of its parameter."""
    context = click.get_current_context()
    return context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None)


def refuse_others(what: str, allowed: Collection[str]) -> None:
    """Refuse each option on the command line but those ``allowed``, by the names of their parameters.

    Raises: RebalanceCheckError that says that ``what`` does not take them.
    """
    ours = [one for one in click.get_current_context().command.params if isinstance(one, click.Option) and one.name]
    fitting = {*allowed, "as_json", "verbose"}
    given = [max(one.opts, key=len) for one in ours if one.name not in fitting and was_given(str(one.name))]
    if given:
        raise RebalanceCheckError(f"{', '.join(given)} does not go together with {what}: leave out one of the two")


# ------------------------------------------------------------------------------------------------- the shared options

FILE: Final = click.Path(path_type=Path, dir_okay=False)
FOLDER: Final = click.Path(path_type=Path, file_okay=False)

json_option: Final = option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on standard output; all else on standard error."
)


def verbose_option(*, rare: bool = False) -> Decorator:
    """``--verbose``; `is_verbose` says whether it was given."""

    def keep(context: click.Context, _option: click.Parameter, given: bool) -> None:
        context.meta[_VERBOSE] = given

    return option(
        "-v", "--verbose", is_flag=True, rare=rare, expose_value=False, callback=keep,
        help="Show every step, member and field of a counterexample, and each invariant that nothing could have "
        "broken.",
    )  # fmt: skip


def is_verbose() -> bool:
    """Whether everything is to be shown."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_VERBOSE, False))


def chosen_rows() -> int:
    """How many steps of a counterexample to show at most, those that its argument needs apart; 0 for all."""
    return 0 if is_verbose() else MOST_ROWS


def html_option(what: str) -> Decorator:
    """``--html FILE``; ``what`` is the content of the page."""
    path = click.Path(path_type=Path)
    return option("--html", type=path, metavar="FILE", callback=needs("jinja2"), help=f"Write a page: {what}.")


def out_option(what: str, **settings: Any) -> Decorator:
    """``--out``: where a command keeps its work; ``what`` names the work."""
    return option(
        "--out", type=click.Path(path_type=Path), metavar="DIR", show_default="default" in settings, **settings,
        help=f"Keep {what} there.",
    )  # fmt: skip


def spark_option(what: str) -> Decorator:
    """``--spark MASTER``; ``what`` is done on Spark."""
    return option("--spark", metavar="MASTER", rare=True, callback=needs("pyspark"),
                  help=f"{what} on this Spark master, such as 'local[*]', in the place of this machine.")  # fmt: skip


def workers_option(**settings: Any) -> Decorator:
    """``--workers N``."""
    return option("--workers", type=click.IntRange(1, 256), rare=True, **settings,
                  help="Work in so many processes, or threads, at once (default: one per core).")  # fmt: skip


seed_option: Final = option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Decides all random draws.",
)
stop_option: Final = option(
    "--stop-at-first", is_flag=True, rare=True, help="End at the first finding that is not known."
)


class Minutes(click.FloatRange):
    """A number of minutes; "not a number", which lies in every range, is refused."""

    name = "float"

    def __init__(self) -> None:
        super().__init__(0, MOST_MINUTES, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, within the range; click shows the message otherwise."""
        minutes = super().convert(value, param, ctx)
        if math.isnan(minutes):
            self.fail(f"{value} is no number of minutes.", param, ctx)
        return minutes


def minutes_option(what: str = "End", **settings: Any) -> Decorator:
    """``--minutes N``; ``what`` is done after so many."""
    return option("--minutes", type=Minutes(), metavar="N", **settings, show_default="default" in settings,
                  help=f"{what} after so many minutes.")  # fmt: skip


def over_after(minutes: float | None) -> Callable[[], bool]:
    """Whether so many minutes have passed since this call; None stands for no limit."""
    end = math.inf if minutes is None else time.monotonic() + minutes * 60
    return lambda: time.monotonic() >= end
