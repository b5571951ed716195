"""Shares whose tasks break down once, where it would show if a repeated task did something twice."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rebalance_check.pipeline.explored_shares import Block, Shares

__all__ = ["FailingOnce", "Shares"]

DEPTH = 3


def fail_once(marker: Path) -> None:
    """Raise, unless this was done before."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return
    raise ConnectionError(f"a worker is lost: {marker.name}")


class FailingOnce(Shares):
    """Level `DEPTH` breaks down when a share has sent all that it found, and when one has written what it keeps."""

    def expand(self, number: int, depth: int) -> Iterator[tuple[int, Block]]:
        yield from super().expand(number, depth)
        if depth == DEPTH:
            fail_once(self.folder / "failed-expand")

    def absorb(self, number: int, depth: int, blocks: Iterable[Block]) -> dict[str, Any]:
        state = super().absorb(number, depth, blocks)
        if depth == DEPTH:
            fail_once(self.folder / "failed-absorb")
        return state
