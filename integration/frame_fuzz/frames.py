"""Random frames, from the schemas of the apis that the embedded broker serves."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

from rebalance_check.integration.frame_fuzz.values import INT_BITS, Values
from rebalance_check.integration.wire.apis import APIS, Api

_PREFIX: Final = struct.Struct(">hhi")

BENT_SHARE: Final = 0.12
"""How many frames have wrong bytes; the others are malformed only where they have a null that must not be."""

OFTEN: Final = ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "OffsetFetch", "DescribeGroups")
"""Apis that every second frame is of: the ones that change or show groups."""


class FrameGenerator:
    """The frames of one seed, one after another: equal seeds and equal replies give equal frames.

    ``apis`` are those that the frames are of (default: all that the embedded broker serves), ``bent_share`` is how many
    of the frames have wrong bytes.
    """

    def __init__(
        self, seed: int, *, apis: Sequence[Api] = (), bent_share: float = BENT_SHARE, values: Values | None = None
    ) -> None:
        self.values = values or Values(seed)
        self._apis = [*apis] or [APIS[key] for key in sorted(APIS)]
        self._often = [api for api in self._apis if api.name in OFTEN]
        self._bent_share = bent_share
        self._sent = 0
        self._last = b""

    def frame(self) -> bytes:
        """The next frame, without its length."""
        chosen = self.values.draws
        self._sent += 1
        api = chosen.choice(self._often if chosen.random() < 0.5 else self._apis)
        frame = self.request(api, chosen.randint(api.low, api.high))
        if chosen.random() < self._bent_share:
            frame = self._bent(frame)
        self._last = frame
        return frame

    def request(self, api: Api, version: int) -> bytes:
        """A request of this api and version."""
        self.values.begin(api.name)
        message: Any = api.request
        request = self._struct(message._struct, message, version)
        client_id = None if self.values.is_null() else self.values.draws.choice(("c", "", "client-\u00e9", "x" * 200))
        request.with_header(correlation_id=self._sent, client_id=client_id)
        return bytes(request.encode(header=True))

    def _struct(self, struct_: Any, made: Any, version: int) -> Any:
        filled = object.__new__(made)
        filled._version, filled.tags, filled.unknown_tags = version, None, None
        for field in struct_.untagged_fields(version):
            setattr(filled, field.name, self._value(field, version))
        return filled

    def _value(self, field: Any, version: int) -> Any:
        if not field.is_array():
            return self._simple(field.name, field.type_str)
        if self.values.is_null():
            return None
        inner = field.array_of
        if field.is_struct_array():
            elements = [self._struct(inner, inner.data_class, version) for _ in range(self.values.count())]
        else:
            elements = [self._simple(f"{field.name} element", inner.type_str) for _ in range(self.values.count())]
        return self.values.repeated(elements)

    def _simple(self, name: str, type_: str) -> Any:
        if type_ in INT_BITS:
            return self.values.number(name, INT_BITS[type_])
        if type_ == "bool":
            return self.values.draws.random() < 0.5
        if self.values.is_null():
            return None
        return self.values.text(name) if type_ == "string" else self.values.octets(name)

    def _bent(self, frame: bytes) -> bytes:
        """The frame with some bytes changed, cut off, doubled, or with another header."""
        chosen, bent = self.values.draws, bytearray(frame)
        match chosen.randrange(6):
            case 0:
                for _ in range(chosen.randint(1, 4)):
                    bent[chosen.randrange(len(bent))] = chosen.choice((0, 1, 0x7F, 0x80, 0xFF, chosen.randrange(256)))
            case 1:
                del bent[chosen.randrange(len(bent)) :]
            case 2:
                at = chosen.randrange(len(bent))
                bent[at:at] = chosen.randbytes(chosen.randint(1, 8))
            case 3:
                cut = chosen.randrange(len(bent))
                bent[cut:] = self._last[min(cut, len(self._last)) :]
            case 4:
                bent[:4] = struct.pack(
                    ">hh", chosen.choice((*sorted(APIS), -1, 99)), chosen.choice((0, 1, 5, 9, 99, -1))
                )
            case _:
                bent[8:] = b"\xff" * chosen.randrange(200)
        return bytes(bent).ljust(_PREFIX.size, b"\0")
