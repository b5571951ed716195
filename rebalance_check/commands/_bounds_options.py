"""The options that say how large a model is: ``--protocol``, ``--bounds`` and ``--upgrade``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from rebalance_check.commands._options import Decorator, option, was_given
from rebalance_check.model.vocabulary.bounds import DEFAULTS, Bounds, RebalanceProtocol, value_of
from rebalance_check.model.vocabulary.upgrade_paths import PATHS, UpgradePath, path_named, path_number
from rebalance_check.model.vocabulary.worker_modes import MODE_PATHS, WorkerMode, mode_path_number, mode_path_numbered

MODE_NAMES: Final = tuple(path.name for path in MODE_PATHS)
"""The names of the paths of worker modes."""

SMALL_SIZES: Final = {
    RebalanceProtocol.STATUS: {"members": 2, "partitions": 1, "generations": 2, "crashes": 0, "writes": 2},
    RebalanceProtocol.CONNECT_EAGER: {"members": 2, "partitions": 2},
    RebalanceProtocol.CONNECT_INCREMENTAL: {"members": 2, "partitions": 2},
    RebalanceProtocol.CONNECT_CONFIG: {"members": 2, "partitions": 2, "crashes": 0},
    RebalanceProtocol.CONNECT_EXACTLY_ONCE: {"members": 2, "partitions": 2, "crashes": 0, "writes": 2, "expiries": 1},
}
"""The sizes of each protocol of Connect where none is given: logs and claims make more states than a group alone."""

NOT_AS_BOUNDS: Final = ("protocol", "upgrade", "modes")
"""Options of their own."""


def path_option(what: str, more: tuple[str, ...] = (), *, rare: bool = False) -> Decorator:
    """``--upgrade NAME``; ``what`` says how the command uses it, ``more`` adds names to the paths of consumers."""
    names = [*(path.name for path in PATHS), *more]
    return option("--upgrade", "path", type=click.Choice(names), rare=rare, metavar="NAME",
                  help=f"{what} NAME is {', '.join(names)}.")  # fmt: skip


def bounds_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--protocol``, ``--bounds`` and ``--upgrade``; `chosen_bounds` makes bounds of them."""
    names = ", ".join(f"{name} ({_shown(value)})" for name, value in DEFAULTS.items() if name not in NOT_AS_BOUNDS)
    for one in (
        path_option("Members are upgraded from one assignor, or Connect workers from one mode, to another. The "
                    "bounds are then small by default: 2 or 3 members, 1 partition, no crash, every member restarted "
                    "to the end.", MODE_NAMES),
        option("--bounds", default="", metavar="NAME=N,...",
               help="The size of the model, and how often it is disturbed, such as members=2,crashes=0,timeouts: "
               f"{names}. Models of Connect are smaller by default: 2 workers and 2 items of work, for the status log "
               "1 key."),
        option("--protocol", type=click.Choice([protocol.value for protocol in RebalanceProtocol]), default="eager",
               show_default=True, help="The members' protocol."),
    ):  # fmt: skip
        command = one(command)
    return command


def _shown(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def named_bounds(text: str) -> dict[str, Any]:
    """The bounds of ``members=2,crashes=0,timeouts``, by name.

    Raises: RebalanceCheckError for a name that is no bound, and a value that is no number.
    """
    return dict(value_of(word.strip().replace("-", "_"), text) for word in text.split(",") if word.strip())


def chosen_bounds(protocol: str, text: str, path: str | None, defaults: Mapping[str, Any] | None = None) -> Bounds:
    """The bounds that ``text`` names; the rest as the upgrade or the protocol needs it, or else ``defaults``.

    Raises: RebalanceCheckError for a number out of range, and for bounds that do not go together.
    """
    named = named_bounds(text)
    base = {**DEFAULTS, **(defaults or {}), **named}
    if path in MODE_NAMES:
        return Bounds(**{**base, **_sized_for_modes(path, named), **named})
    if path is not None:
        upgraded = path_named(path)
        first = RebalanceProtocol.COOPERATIVE if upgraded.cooperative else RebalanceProtocol.EAGER
        own = {
            "protocol": RebalanceProtocol(protocol) if was_given("protocol") else first,
            "upgrade": path_number(path),
        }
        return Bounds(**{**base, **_sized_for(upgraded, named), **own, **named})
    chosen = RebalanceProtocol(protocol)
    return Bounds(**{**base, **SMALL_SIZES.get(chosen, {}), **named, "protocol": chosen})


def _sized_for(path: UpgradePath, named: Mapping[str, Any]) -> dict[str, Any]:
    """The smallest group in which the path matters, and restarts for all of it."""
    members = named.get("members", path.members)
    restarts = named.get("rolling_restarts", members * (len(path.lists) - 1))
    return {
        "members": members,
        "partitions": 1,
        "crashes": 0,
        "generations": 3 * restarts,
        "rolling_restarts": restarts,
    }


def _sized_for_modes(name: str, named: Mapping[str, Any]) -> dict[str, Any]:
    """Protocol, path and sizes of a path of worker modes: without sizes two workers, all restarted."""
    number = mode_path_number(name)
    modes = mode_path_numbered(number).modes
    members = named.get("members", 2)
    restarts = named.get("rolling_restarts", members * (len(modes) - 1))
    eager = modes[0] is WorkerMode.EAGER
    return {
        "members": members, "partitions": 2, "crashes": 0, "config_changes": 0, "generations": 4 * restarts,
        "rolling_restarts": restarts, "modes": number,
        "protocol": RebalanceProtocol.CONNECT_EAGER if eager else RebalanceProtocol.CONNECT_INCREMENTAL,
    }  # fmt: skip
