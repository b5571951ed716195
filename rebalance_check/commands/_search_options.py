"""The options that bound a search: how much memory, time and states it may have, and where it can go on from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from rebalance_check.commands._minutes import Minutes
from rebalance_check.commands._upgrade_option import was_given
from rebalance_check.model.checker.safety.limits import resident_bytes
from rebalance_check.model.checker.safety.random_walks import DEFAULT_DEPTH
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.report.terminal import suggested

F = TypeVar("F", bound=Callable[..., Any])

UNITS: Final = ("", "K", "M", "G", "T")

INTERPRETED_INSTEAD: Final = (
    "llvmlite is not installed, so the model is interpreted, which takes 90 to 470 times as long: "
    "pip install 'rebalance-check[explore]'"
)
"""What a search says that would be compiled. Measured in states per second of one thread, at seven bounds of four
models, with symmetry and without it."""

SHARE_OF_FREE: Final = 0.9
"""Of the memory that is free, a search takes no more than this where no limit is given."""


PORT: Final = 8795
"""Where the explorer listens unless another port is named."""


def parsed_size(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """The bytes of ``2GiB``, ``1.5G``, ``500MB`` (decimal) or ``1048576``.

    Raises `click.BadParameter` where the text is no size.
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)(iB|B)?", text.strip(), re.IGNORECASE)
    if found is None or not float(found[1]):
        raise click.BadParameter(f"{text!r} is no size: write a number and a unit, such as 2GiB or 500MB")
    unit = found[2].upper()
    is_decimal = bool(unit) and (found[3] or "").upper() == "B"
    return int(float(found[1]) * (1000 if is_decimal else 1024) ** UNITS.index(unit))


def limit_options(command: F) -> F:
    """``--max-states``, ``--max-memory``, ``--spill``, ``--minutes``, ``--checkpoint`` and ``--resume``."""
    for option in (
        click.option("--resume", type=click.Path(path_type=Path, dir_okay=False),
                     help="Go on from a checkpoint; if the search ends early again, it is written anew."),
        click.option("--checkpoint", type=click.Path(path_type=Path, dir_okay=False),
                     help="Where to write what was done when the search ends early: at a limit, by Ctrl-C or SIGTERM."),
        click.option("--minutes", type=Minutes(zero=False),
                     help="Stop after so many minutes of searching (then undecided)."),
        click.option("--spill", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
                     help="Keep states in this folder where memory is not enough, instead of ending. The same command "
                     "goes on with what is there."),
        click.option("--max-memory", callback=parsed_size, metavar="SIZE",
                     help="Stop before the process has more memory than this, such as 2GiB (then undecided).  "
                     "[default: 90% of what is free]"),
        click.option("--max-states", type=click.IntRange(min=1),
                     help="Stop after so many distinct states (then undecided)."),
    ):  # fmt: skip
        command = option(command)
    return command


def walk_options(command: F) -> F:
    """``--walks``, ``--seed`` and ``--depth``."""
    for option in (
        click.option("--depth", type=click.IntRange(min=1), default=DEFAULT_DEPTH, show_default=True,
                     help="The most actions of a walk."),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
                     help="The seed of the first walk; they count on by one."),
        click.option("--walks", type=click.IntRange(min=1), metavar="N",
                     help="Take N random walks instead of exploring every state, where the bounds are too large."),
    ):  # fmt: skip
        command = option(command)
    return command


def serve_options(command: F) -> F:
    """``--serve`` and ``--port``."""
    command = click.option(
        "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True,
        help="With --serve: the port on this machine; 0 chooses a free one.",
    )(command)  # fmt: skip
    return click.option(
        "--serve", is_flag=True,
        help="Serve a page on which one walks through the states, searches, and does the same walk on virtual Kafka.",
    )(command)  # fmt: skip


def require_own_folder(spill: Path | None, refused: Mapping[str, object]) -> None:
    """Check that a search that keeps its states in a folder is given no option that it does not serve.

    Raises: RebalanceCheckError where it is.
    """
    given = [name for name, value in refused.items() if value]
    if spill is not None and given:
        raise RebalanceCheckError(
            f"{', '.join(given)} does not go together with --spill, which goes on with what its folder holds and "
            "judges no liveness: leave out one of the two"
        )


def is_compiled(interpreted: bool, spill: Path | None) -> bool:
    """Whether a search compiles the model; where it would, and llvmlite is missing, standard error says that.

    Only a compiled search can ``spill``: it is then not interpreted instead, but fails and says what to install.
    """
    if interpreted or spill is not None or find_spec("llvmlite") is not None:
        return not interpreted
    click.echo(INTERPRETED_INSTEAD, err=True)
    return False


def require_walks(refused: Mapping[str, object], walks: int | None) -> bool:
    """Whether walks are asked for; ``refused`` has the options that only a search serves.

    Raises `RebalanceCheckError` where an option does not apply.
    """
    given = [name for name, value in refused.items() if value]
    if walks is not None and given:
        raise RebalanceCheckError(f"{', '.join(given)} applies to the search alone: leave it out, or leave out --walks")
    if walks is None and (lonely := [f"--{name}" for name in ("seed", "depth") if was_given(name)]):
        raise RebalanceCheckError(f"{', '.join(lonely)} applies to random walks alone: give --walks N, too")
    return walks is not None


def free_memory() -> int | None:
    """The bytes of memory that this process may still get, by the system and its control group; None: unknown."""
    found = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except OSError:
        return None
    groups = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))
    for most, used in groups:
        try:
            limit, now = (Path("/sys/fs/cgroup", name).read_text(encoding="ascii").strip() for name in (most, used))
            found.append(int(limit) - int(now))
        except (OSError, ValueError):
            continue  # there is no such group, or it has no limit
    return max(0, min(found)) if found else None


def memory_limit(given: int | None) -> int | None:
    """The limit of the whole process: the one given, or what it has and most of what is free."""
    if given is not None:
        return given
    free = free_memory()
    return None if free is None else resident_bytes() + int(SHARE_OF_FREE * free)


def command_again(without: frozenset[str], **more: str) -> str:
    """The command as it was given, without some options and with others, to be pasted into a shell."""
    context = click.get_current_context()
    words = [str(context.info_name)]
    for option in context.command.params:
        name = option.name or ""
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and name not in without:
            words += _words(option, context.params[name])
    for name, value in more.items():
        words += [f"--{name}", value]
    return suggested(*words)


def _words(option: click.Parameter, value: Any) -> list[str]:
    """An option as it stands on a command line."""
    if isinstance(option, click.Option) and option.is_flag:
        return [option.opts[0] if value or not option.secondary_opts else option.secondary_opts[0]]
    return [option.opts[0], str(value)]
