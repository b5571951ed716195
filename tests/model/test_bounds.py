"""Bounds as addresses, names and defaults left out; and what bounds must not be."""

from dataclasses import fields, replace
from typing import Any

import pytest

from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.upgrade_paths import PATHS, path_number

OTHER = {"members": 4, "upgrade": 1, "rolling_restarts": 2, "static_members": 2, "failovers": 2, "generations": 7}
"""Values that differ from the defaults, where not any will do."""

NEEDS: dict[str, dict[str, Any]] = {
    "rolling_restarts": {"upgrade": 1},
    "shared_instances": {"static_members": 2},
    "zombie_coordinators": {"failovers": 1},
}

PROTOCOL_OF = {
    "writes": RebalanceProtocol.STATUS,
    "failures": RebalanceProtocol.STATUS,
    "config_changes": RebalanceProtocol.CONNECT_EAGER,
    "rebalance_delay": RebalanceProtocol.CONNECT_INCREMENTAL,
    "modes": RebalanceProtocol.CONNECT_EAGER,
    "compactions": RebalanceProtocol.CONNECT_CONFIG,
    "task_rewrites": RebalanceProtocol.CONNECT_CONFIG,
    "fencing": RebalanceProtocol.CONNECT_CONFIG,
}
"""The protocol that reads a bound which the classic ones do not."""


@pytest.mark.parametrize(
    ("bounds", "address"),
    [
        (Bounds(), "eager"),
        (Bounds(protocol=RebalanceProtocol.STATUS, writes=2), "status?writes=2"),
        (
            Bounds(members=2, crashes=0, initial_delay=False, timeouts=True, static_members=2, shared_instances=1),
            "eager?members=2&crashes=0&initial_delay=off&timeouts&static_members=2&shared_instances=1",
        ),
        (Bounds(upgrade=2, rolling_restarts=1), "eager?upgrade=single-upgrade&rolling_restarts=1"),
        (
            Bounds(protocol=RebalanceProtocol.CONNECT_EAGER, rebalance_delay=False, modes=1, rolling_restarts=2),
            "connect-eager?rolling_restarts=2&rebalance_delay=off&modes=eager-to-sessioned",
        ),
    ],
)
def test_an_address_has_the_names_of_what_differs_from_a_default(bounds: Bounds, address: str) -> None:
    assert bounds.address() == address
    assert Bounds.from_address(address) == bounds


@pytest.mark.parametrize("name", [field.name for field in fields(Bounds) if field.name != "protocol"])
def test_every_bound_comes_back_from_the_address(name: str) -> None:
    default = getattr(Bounds(), name)
    protocol = PROTOCOL_OF.get(name, RebalanceProtocol.EAGER)
    other = not default if isinstance(default, bool) else OTHER.get(name, 0 if default == 1 else 1)
    if other == default:
        other = 0
    values: dict[str, Any] = {**NEEDS.get(name, {}), name: other}
    bounds = replace(Bounds(protocol=protocol), **values)
    assert name in bounds.address()
    assert Bounds.from_address(bounds.address()) == bounds


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("lazy?members=2", "'lazy' in the address"),
        ("eager?membres=2", "'membres' in the address .* is no bound: choose among members, partitions"),
        ("eager?members=two", "'members=two' in the address .* cannot be read: write members=NUMBER"),
        ("eager?initial_delay=3", "initial_delay is 3: choose a number from 0 to 1"),
        ("eager?upgrade=nowhere", "'nowhere' is no upgrade path: choose one of legal"),
        ("connect-eager?modes=up", "'up' is no path of worker modes: choose one of eager-to-sessioned"),
        ("connect-eager?modes=sessioned-to-eager", "begins with sessioned workers, .* choose connect-incremental"),
        ("eager?members=9", "members is 9: choose a number from 1 to 6"),
        ("eager/3j", "'eager/3j' in the address"),
    ],
)
def test_an_address_that_cannot_be_read_is_refused_with_the_part(address: str, error: str) -> None:
    with pytest.raises(RebalanceCheckError, match=error):
        Bounds.from_address(address)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"losses": 101}, "losses is 101: choose a number from 0 to 100"),
    ({"failovers": 1, "duplicates": 2}, "failovers is 1 with duplicates 2: choose 0 for one of them"),
    ({"failovers": 1, "zombie_coordinators": 2}, "zombie_coordinators is 2 with failovers 1: choose as many failovers"),
    ({"static_members": 1, "failovers": 1, "zombie_coordinators": 1}, "static_members is 1 with zombie_coordinators 1"),
    ({"members": 2, "static_members": 1, "shared_instances": 1}, "static_members is 1 and shared_instances is 1"),
    ({"new_members": True, "failovers": 1}, "new_members is 1 with failovers 1: choose 0 for one of them"),
    ({"new_members": True, "static_members": 1}, "new_members is 1 with static_members 1"),
    ({"heartbeats_during_sync": 2, "failovers": 1}, "heartbeats_during_sync is 2 with failovers 1"),
    ({"upgrade": len(PATHS) + 1}, f"upgrade is {len(PATHS) + 1}: choose a number from 0 to {len(PATHS)}"),
    ({"rolling_restarts": 2}, "rolling_restarts is 2 without an upgrade path: choose a path, too"),
    (
        {"upgrade": path_number("downgrade")},
        "the upgrade path downgrade begins with cooperative members, and the protocol is eager: choose cooperative",
    ),
]


@pytest.mark.parametrize(("bounds", "said"), REFUSED)
def test_bounds_that_make_no_sense_are_refused(bounds: dict[str, Any], said: str) -> None:
    with pytest.raises(RebalanceCheckError, match=said):
        Bounds(**bounds)
