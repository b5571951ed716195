"""A child process that does not end by itself is not waited for after an interruption."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from rebalance_check.integration.jvm import JavaChild


def test_a_child_that_goes_on__is_killed_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(SystemExit), closing(JavaChild("a sleeper", ["sleep", "600"])):
        raise SystemExit(143)
    assert time.monotonic() - began < 5  # without an interruption: ten
