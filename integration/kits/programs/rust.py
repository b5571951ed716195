"""Programs in Rust: a crate of crates.io, built with the versions of its own lock file."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from rebalance_check.integration.jvm import cache_folder, made_once
from rebalance_check.integration.kits.programs.program import run_builder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@dataclass(frozen=True, slots=True)
class CrateProgram:
    """A `Program`: the ``name`` of a crate and of its command, its ``release``, and the ``features`` to build."""

    name: str
    release: str
    features: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """See `Program`. Building a large crate takes many minutes."""
        cargo = shutil.which("cargo")
        if cargo is None:
            raise RebalanceCheckError(f"{self.name} needs Rust, and no 'cargo' is on the PATH: install Rust")
        call = [
            cargo,
            "install",
            self.name,
            "--version",
            self.release,
            "--locked",
            "--features",
            ",".join(self.features),
        ]
        place = cache_folder() / "programs" / "-".join((self.name, self.release, *self.features))
        built = made_once(place, lambda target: run_builder(self.name, [*call, "--root", str(target)], target))
        return [str(built / "bin" / self.name)]
