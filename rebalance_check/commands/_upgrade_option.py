"""The option ``--upgrade``: an upgrade from one assignor to another while the group runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.upgrade_paths import PATHS, UpgradePath

F = TypeVar("F", bound=Callable[..., Any])


def path_option(what: str) -> Callable[[F], F]:
    """``--upgrade NAME``; ``what`` says what the command does on it."""
    return click.option("--upgrade", "path", type=click.Choice([path.name for path in PATHS]), help=what)


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
