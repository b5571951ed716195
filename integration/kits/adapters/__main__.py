"""Runs a ready client: ``python -m rebalance_check.integration.kits.adapters NAME --bootstrap HOST:PORT ...``.

It is built if this was never done, and then takes the place of this process, signals and exit code included.
"""

from __future__ import annotations

import os
import sys

from rebalance_check.integration.kits.adapters.ready import ADAPTERS, OURS, adapter
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.exit_codes import ExitCode


def main() -> None:
    """Read the name, and become the program; without a name, print all names."""
    if len(sys.argv) == 1:
        print(*(each.name for each in (*ADAPTERS, OURS)), sep="\n")
        return
    try:
        command = adapter(sys.argv[1]).program.command()
    except RebalanceCheckError as refused:
        print(refused, file=sys.stderr)
        sys.exit(ExitCode.USAGE)
    os.execv(command[0], [*command, *sys.argv[2:]])


if __name__ == "__main__":
    main()
