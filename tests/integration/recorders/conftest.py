"""A group of recorded applications on the embedded broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rebalance_check.integration.embedded.embedded import EmbeddedBroker
    from tests.integration.recorders.applications import Group


@pytest.fixture
def group(broker: EmbeddedBroker, tmp_path: Path) -> Iterator[Group]:
    """A group whose applications write their histories to the test's folder."""
    from rebalance_check.integration.brokers import Broker  # noqa: PLC0415 - needs the extra `brokers`
    from tests.integration.recorders.applications import group_on  # noqa: PLC0415 - needs the extra `brokers`

    with group_on(Broker(broker.bootstrap, "embedded"), tmp_path) as opened:
        yield opened
