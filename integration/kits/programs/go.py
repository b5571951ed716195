"""Programs in Go: a module with go.mod and go.sum, built with the Go that its go.mod asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rebalance_check.integration.jvm import made_once
from rebalance_check.integration.kits.programs.program import place_in_cache, run_builder
from rebalance_check.integration.kits.programs.toolchain import GO


@dataclass(frozen=True, slots=True)
class GoProgram:
    """A `Program`: ``name`` in errors and in the cache, the ``folder`` of its sources, the ``module`` that it tries."""

    name: str
    folder: Path
    module: str

    @property
    def release(self) -> str:
        """See `Program`."""
        return self._in_go_mod(rf"{re.escape(self.module)} v(\S+)")

    def command(self) -> list[str]:
        """See `Program`."""
        go = GO.at_least(self._in_go_mod(r"go ([\d.]+)"), self.name, self.folder)
        sources = sorted(path for path in self.folder.iterdir() if path.suffix in {".go", ".mod", ".sum"})
        built = made_once(place_in_cache(self.name, sources), lambda target: self._build(go, target))
        return [str(built / self.name)]

    def _build(self, go: str, target: Path) -> None:
        call = [go, "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-o", str(target / self.name), "."]
        run_builder(self.name, call, self.folder)

    def _in_go_mod(self, pattern: str) -> str:
        found = re.search(pattern, (self.folder / "go.mod").read_text(encoding="utf-8"))
        assert found is not None, f"go.mod of {self.name} has no {pattern!r}"
        return found[1]
