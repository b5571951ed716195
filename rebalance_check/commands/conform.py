"""``rebalance-check conform``: conformance kits for other people's clients and brokers, a module per kind."""

from __future__ import annotations

import click

from rebalance_check.commands import _conform_broker, _conform_client


@click.group("conform")
def command() -> None:
    """Try a client or a broker that speaks Kafka's group protocol, claim by claim. Every kit takes --json."""


command.add_command(_conform_client.command)
command.add_command(_conform_broker.command)
