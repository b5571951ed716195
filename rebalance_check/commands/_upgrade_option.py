"""The option ``--upgrade``: from one assignor, or one mode of Connect workers, to another while the group runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.upgrade_paths import PATHS, UpgradePath
from rebalance_check.model.vocabulary.worker_modes import MODE_PATHS, WorkerMode, mode_path_number, mode_path_numbered

F = TypeVar("F", bound=Callable[..., Any])

MODE_NAMES: Final = tuple(path.name for path in MODE_PATHS)
"""The names of the paths of worker modes."""


def path_option(what: str, more: tuple[str, ...] = ()) -> Callable[[F], F]:
    """``--upgrade NAME``; ``what`` says what the command does on it, ``more`` adds names to the paths of consumers."""
    return click.option("--upgrade", "path", type=click.Choice([*(path.name for path in PATHS), *more]), help=what)


def first_protocol(path: UpgradePath) -> RebalanceProtocol:
    """The protocol of the group before its first restart."""
    return RebalanceProtocol.COOPERATIVE if path.cooperative else RebalanceProtocol.EAGER


def was_given(name: str) -> bool:
    """Whether the user wrote this option."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def sized_for(path: UpgradePath, sizes: dict[str, int]) -> dict[str, int]:
    """The sizes given, and for the rest the smallest group in which the path matters, and restarts for all of it."""
    members = sizes["members"] if was_given("members") else path.members
    restarts = sizes["rolling_restarts"] if was_given("rolling_restarts") else members * (len(path.lists) - 1)
    own = {"members": members, "partitions": 1, "crashes": 0, "generations": 3 * restarts, "rolling_restarts": restarts}
    return {name: size if was_given(name) else own.get(name, size) for name, size in sizes.items()}


def sized_for_modes(name: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Protocol, path and sizes of a path of worker modes: without sizes two workers, all restarted."""
    number = mode_path_number(name)
    modes = mode_path_numbered(number).modes
    members = sizes["members"] if was_given("members") else 2
    restarts = sizes["rolling_restarts"] if was_given("rolling_restarts") else members * (len(modes) - 1)
    own = {
        "members": members, "partitions": 2, "crashes": 0, "config_changes": 0, "generations": 4 * restarts,
        "rolling_restarts": restarts,
    }  # fmt: skip
    eager = modes[0] is WorkerMode.EAGER
    protocol = RebalanceProtocol.CONNECT_EAGER if eager else RebalanceProtocol.CONNECT_INCREMENTAL
    kept = {name: size if was_given(name) else own.get(name, size) for name, size in sizes.items()}
    return {**kept, "protocol": protocol, "modes": number}
