"""Recording a live run that may break off: its history is on disk up to there, and why it broke off is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from rebalance_check.integration.live.process import MemberFailedError
from rebalance_check.integration.live.recording import merge
from rebalance_check.model.vocabulary.errors import INTERRUPTIONS
from rebalance_check.model.vocabulary.events import Event, MemberStarted
from rebalance_check.properties.history import read_history, recorded, write_history
from rebalance_check.properties.incarnations import with_incarnations


def recorded_until_end(path: Path, folder: Path, history: Callable[[], Iterable[Event]], bootstrap: str) -> str:
    """Begin ``history``, and write it to the file ``path`` while it happens; why the run broke off, "" when it did not.

    Of a run that breaks off, the members' recordings in ``folder`` become the history.

    Raises: RebalanceCheckError or OSError when the run failed before a member had started; an interruption as it came.
    """
    try:
        for _event in recorded(path, history()):
            pass
    except INTERRUPTIONS:
        _keep(path, folder)
        raise
    except (MemberFailedError, ConnectionError, TimeoutError) as failure:
        _keep(path, folder)
        if not any(isinstance(event, MemberStarted) for event in read_history(path)):
            raise
        is_member = isinstance(failure, MemberFailedError)
        return str(failure) if is_member else f"the broker at {bootstrap} answers no more ({failure})"
    return ""


def _keep(path: Path, folder: Path) -> None:
    """Write the members' recordings as the history of a run that did not come to its end."""
    if not path.exists() or not path.stat().st_size:
        write_history(path, with_incarnations(list(merge(sorted(folder.glob("*.raw"))))))
