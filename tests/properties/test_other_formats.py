"""A history in another version of the format is refused, with the number of that version."""

from __future__ import annotations

import pytest

from rebalance_check.model.vocabulary.events import FORMAT
from rebalance_check.properties.history import decode
from rebalance_check.properties.malformed import MalformedHistory


@pytest.mark.parametrize("version", [FORMAT - 1, FORMAT + 1])
@pytest.mark.parametrize("fields", [b"", b',"a_field_of_the_future":1'])
def test_another_format__is_refused_by_its_number(version: int, fields: bytes) -> None:
    line = b'{"event":"RunStarted","subject":"simulator","format":%d%s}' % (version, fields)
    with pytest.raises(MalformedHistory, match=f"has format {version}, and this version .* reads format {FORMAT}"):
        decode(line)
