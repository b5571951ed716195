"""The table of what is seen from outside is enforced: each kind of recording by a test that makes one."""

from pathlib import Path

import pytest

from rebalance_check.model.vocabulary.events import (
    ConfigRead,
    ConfigSnapshotTaken,
    ConfigStoreStarted,
    Event,
    MemberStarted,
    RunEnded,
    RunStarted,
)
from rebalance_check.properties.seen_from_outside import MINIMAL, SEEN_IN
from tests.integration.seen import assert_seen

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"


def test_a_test_makes_each_kind_of_recording() -> None:
    sources = "\n".join(path.read_text() for path in HERE.rglob("test_*.py") if path != Path(__file__))
    assert [kind for kind in SEEN_IN if f'"{kind}"' not in sources] == []


def test_the_documents_name_what_a_coordinator_of_another_kind_records() -> None:
    text = "".join((DOCS / name).read_text() for name in ("judging-your-own-coordinator.md", "mapping.md"))
    assert [kind.__name__ for kind in MINIMAL if kind.__name__ not in text] == []


def test_what_is_missing_and_what_nobody_else_records_is_found() -> None:
    config: list[Event] = [
        ConfigRead(member="w0", offset=0, key="connector-c", value=None), ConfigSnapshotTaken(member="w0", offset=1),
        ConfigStoreStarted(member="w0", offset=1), MemberStarted(member="w0"), RunEnded(), RunStarted(subject="s"),
    ]  # fmt: skip
    assert_seen("lockstep: config", config)
    with pytest.raises(AssertionError, match="RunStarted"):
        assert_seen("lockstep: config", config[:-1])
    with pytest.raises(AssertionError, match=r"\['Event'\]"):
        assert_seen("lockstep: config", config, [Event()])
