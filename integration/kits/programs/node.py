"""Programs in JavaScript: a package.json with its lock file, installed with npm next to a copy of the sources."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from rebalance_check.integration.jvm import made_once
from rebalance_check.integration.kits.programs.program import place_in_cache, run_builder
from rebalance_check.integration.kits.programs.toolchain import NODE
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@dataclass(frozen=True, slots=True)
class NodeProgram:
    """A `Program`: ``name`` in errors and in the cache, the ``folder`` of its sources, the ``package`` that it tries,
    and the source that is the ``main`` one."""

    name: str
    folder: Path
    package: str
    main: str = "consumer.mjs"

    @property
    def release(self) -> str:
        """See `Program`."""
        return str(self._settings()["dependencies"][self.package])

    def command(self) -> list[str]:
        """See `Program`."""
        oldest = str(self._settings()["engines"]["node"]).removeprefix(">=")
        node = NODE.at_least(oldest, self.name, self.folder)
        sources = sorted(path for path in self.folder.iterdir() if path.suffix in {".mjs", ".json"})
        built = made_once(place_in_cache(self.name, sources), lambda target: self._install(sources, target))
        return [node, str(built / self.main)]

    def _install(self, sources: list[Path], target: Path) -> None:
        npm = shutil.which("npm")
        if npm is None:
            raise RebalanceCheckError(f"{self.name} needs npm, and no 'npm' is on the PATH: install it with Node")
        for source in sources:
            shutil.copy(source, target)
        run_builder(self.name, [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], target)

    def _settings(self) -> dict[str, Any]:
        read: dict[str, Any] = msgspec.json.decode((self.folder / "package.json").read_bytes())
        return read
