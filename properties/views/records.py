"""The records of a group in the log, as events of its coordinator show them: committed ones, and those that may be."""

from __future__ import annotations

from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.events import (
    Event,
    GroupDeleted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    IncarnationStarted,
    LogTailLost,
    RunStarted,
)
from rebalance_check.properties.kinds import Handler, Memory

KEPT_GENERATIONS: Final = 64
"""So many generations of records are remembered."""


class Image(NamedTuple):
    """The generation and the members of a record."""

    generation: int
    members: tuple[str, ...]


NO_GROUP: Final = Image(0, ())


class Records(Memory):
    """The committed records by generation, and the last one: ``image``, ``committed`` by that event (None: unknown).

    A record may be in the log though no event shows its commit: ``possible`` are those written after the last one. A
    coordinator that loads the group (`IncarnationStarted`) reads the records from before: ``loaded`` is the image of
    the last committed one, ``loadable`` are those that were possible. A log may lose its tail without a word of its
    coordinator, so ``loaded`` is known only within a run (`RunStarted`), whose harness records that (`LogTailLost`).
    """

    def __init__(self) -> None:
        handlers: dict[type[Event], Handler] = {
            GroupMetadataAppended: self._on_appended,
            GroupMetadataWritten: self._on_written,
            GroupDeleted: self._on_deleted,
            LogTailLost: self._on_lost,
            IncarnationStarted: self._on_incarnation,
            RunStarted: self._on_run,
        }
        super().__init__(handlers)
        self._is_watched = False
        self.of: dict[int, list[GroupMetadataAppended]] = {}
        self.image: Image | None = None
        self.committed: Event | None = None
        self.possible: list[Image] = []
        self.loaded: Image | None = None
        self.loadable: list[Image] = []
        self.loaded_from: Event | None = None

    def _on_appended(self, event: GroupMetadataAppended) -> None:
        self.of.setdefault(event.generation, []).append(event)
        while len(self.of) > KEPT_GENERATIONS:
            del self.of[next(iter(self.of))]
        image = Image(event.generation, event.members)
        if image in self.possible:
            del self.possible[: self.possible.index(image) + 1]
        self.committed, self.image = event, image

    def _on_written(self, event: GroupMetadataWritten) -> None:
        self.possible.append(Image(event.generation, event.members))

    def _on_deleted(self, _event: GroupDeleted) -> None:
        """A deleted group begins anew, or is still there: its tombstone is a write like another."""
        self.possible.append(NO_GROUP)

    def _on_lost(self, _event: LogTailLost) -> None:
        self.image = None
        self.possible.clear()

    def _on_run(self, _event: RunStarted) -> None:
        self._is_watched = True

    def _on_incarnation(self, event: IncarnationStarted) -> None:
        self.loaded = self.image if self._is_watched else None
        self.loadable, self.loaded_from = list(self.possible), self.committed
        image = Image(event.generation, event.members)
        if event.status and image != NO_GROUP:  # one that creates a group read no record
            self.possible.clear()
            self.committed, self.image = event, image
