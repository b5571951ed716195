"""Programs in Python: modules of this package, run by the Python at hand, on a library of an extra."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@dataclass(frozen=True, slots=True)
class PythonProgram:
    """A `Program`: ``name`` in errors, the ``module`` that is run, and the ``package`` (distribution) that it tries."""

    name: str
    module: str
    package: str

    @property
    def release(self) -> str:
        """See `Program`. It is the one that is installed, within the bounds of the extra 'brokers'.

        Raises: `RebalanceCheckError` where none is.
        """
        try:
            return version(self.package)
        except PackageNotFoundError:
            raise RebalanceCheckError(
                f"{self.name} needs {self.package}, which is not installed: run pip install 'rebalance-check[brokers]'"
            ) from None

    def command(self) -> list[str]:
        """See `Program`."""
        assert self.release
        return [sys.executable, "-m", self.module]
