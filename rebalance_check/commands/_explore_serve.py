"""``rebalance-check explore --serve``: a page on which one walks through the states of the bounds."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from rebalance_check.browser.api import ExplorerApi
from rebalance_check.browser.kafka_walks import VIRTUAL, KafkaWalks
from rebalance_check.browser.searches import Searches, SearchOptions
from rebalance_check.browser.server import ExplorerServer
from rebalance_check.commands._console import Console
from rebalance_check.integration.interrupts import stop_requests
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.exit_codes import ExitCode


def serve_explorer(
    console: Console, start: Path, *, port: int, broker: str | None, limits: Limits, threads: int, symmetry: bool,
    interpreted: bool, refused: Mapping[str, Any],
) -> ExitCode:  # fmt: skip
    """Serve the explorer until Ctrl-C; its page opens with the walk ``start``, and each search has the ``limits``.

    ``refused`` has the options that only a search in the terminal serves; each must be empty.

    Raises: RebalanceCheckError when an option does not apply, or the port is taken.
    """
    if given := [name for name, value in refused.items() if value]:
        raise RebalanceCheckError(f"{', '.join(given)} does not go with --serve: leave it out, or leave out --serve")
    if broker is not None and broker.partition(":")[0] != VIRTUAL:
        raise RebalanceCheckError(f"the explorer does walks on virtual Kafka, and not on {broker!r}: write {VIRTUAL}")
    compiled = not interpreted and find_spec("llvmlite") is not None
    options = SearchOptions(limits=limits, threads=threads, symmetry=symmetry, compiled=compiled)
    api = ExplorerApi(start.address(), Searches(options), KafkaWalks(broker or VIRTUAL))
    with stop_requests() as stop, ExplorerServer(api, port) as server:
        console.say(f"explore {start.bounds.address()} at {server.url} until Ctrl-C")
        try:
            server.serve_until(stop)
        finally:
            api.close()
    console.say("ended")
    return console.finish({"url": server.url}, ExitCode.HELD)
