"""The jars of a release that a Java program of ours needs: in a folder that a setting names, or fetched by Maven."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm.jdk import (
    JARS_SETTING,
    cache_folder,
    compiled_once,
    fetched_jars,
    fingerprint,
)
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

OLDEST: Final = (2, 4)
"""The first release whose assignors speak of owned partitions (KIP-429), and Connect's take a list of members."""

_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.\d+")


@dataclass(frozen=True, slots=True)
class ReleaseJars:
    """The parts of a Java program of ours: ``sources``, and the jars that a ``pom`` names for a release.

    ``whose``, ``product`` and ``cache`` name the program and Kafka's part in errors, and it in the cache;
    ``first`` is the artifact whose jar shows that a folder holds the release, ``others`` the rest that it needs;
    ``patterns`` pick the jars; ``jdk`` names the part that needs a JDK, and its oldest Java.
    """

    whose: str
    product: str
    cache: str
    first: str
    others: str
    patterns: tuple[str, ...]
    pom: Path
    profile: str
    sources: tuple[Path, ...]
    jdk: tuple[str, int]

    def folder_of(self, version: str) -> Path:
        """The folder with the jars of a release: below the one of REBALANCE_CHECK_KAFKA_JARS, or filled by Maven.

        Raises: `RebalanceCheckError` when the text is no release, or its jars cannot be had.
        """
        match = _VERSION.fullmatch(version)
        if match is None or (int(match[1]), int(match[2])) < OLDEST:
            raise RebalanceCheckError(f"{version!r} is no release of {self.product} since 2.4.0: write one like 4.3.1")
        setting = os.environ.get(JARS_SETTING)
        if setting:
            folder = Path(setting.replace("{version}", version)).expanduser()
            for place in (folder / version, folder):
                if (place / f"{self.first}-{version}.jar").is_file():
                    return place
        return self._from_maven(version)

    def class_path(self, version: str) -> str:
        """The classes, and the jars of a release.

        Raises: `RebalanceCheckError` when there is no JDK, or the jars cannot be had.
        """
        folder = self.folder_of(version)
        jars = os.pathsep.join(str(path) for pattern in self.patterns for path in sorted(folder.glob(pattern)))
        return os.pathsep.join([str(self._compiled(jars)), jars])

    def _from_maven(self, version: str) -> Path:
        advice = f"put {self.first}-{version}.jar{self.others} into a folder and set {JARS_SETTING} to it"
        needs = f"the {self.whose} of Kafka {version} need its jars: install Maven, or {advice}"
        folder = cache_folder() / self.cache / "jars" / f"{version}-{fingerprint([self.pom])}"
        return fetched_jars(self.pom, version, folder, profile=self.profile, without_maven=needs, otherwise=advice)

    def _compiled(self, class_path: str) -> Path:
        """The classes, one set for all releases: they use the API of the oldest, and reflection for the rest."""
        otherwise = f"the Java side of the {self.whose} does not compile:"
        return compiled_once(f"{self.cache}/classes", self.sources, class_path, self.jdk, otherwise=otherwise)
