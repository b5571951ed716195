"""The JSON of leader election as Schema Registry speaks it (protocol type ``sr``, protocol ``v0``).

The fields and their order are those of ``SchemaRegistryIdentity`` and ``SchemaRegistryProtocol``; readers ignore fields
that they do not know, and writers leave out null fields.
"""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from rebalance_check.impl.protocol.wire import MalformedBytes

PROTOCOL_TYPE: Final = "sr"
PROTOCOL_NAME: Final = "v0"

NO_ERROR: Final = 0
DUPLICATE_URLS: Final = 1
"""Two members are to be reached at one URL, so that no client could reach the elected one for sure."""

S = TypeVar("S", bound=Struct)


class Identity(Struct, frozen=True):
    """A member's identity: its address, whether it may be elected, and whether it believes to be the primary."""

    host: str
    port: int
    master_eligibility: bool = True
    scheme: str | UnsetType = UNSET
    version: int = 1
    leader: bool = False

    @property
    def url(self) -> str:
        """``http://host:port``; a scheme that is missing reads ``null``, as in Java."""
        return f"{'null' if self.scheme is UNSET else self.scheme}://{self.host}:{self.port}"


class Election(Struct, frozen=True):
    """The assignment of every member: an error, or the elected member; none, where no member is eligible.

    ``master`` is a member id.
    """

    error: int = NO_ERROR
    master: str | UnsetType = UNSET
    master_identity: Identity | UnsetType = UNSET
    version: int = 1


def write_identity(identity: Identity) -> bytes:
    """A member's metadata."""
    return msgspec.json.encode(identity)


def read_identity(data: bytes) -> Identity:
    """A member's metadata; `MalformedBytes` for bytes that are none."""
    return _read(data, Identity, "an identity")


def write_election(election: Election) -> bytes:
    """The assignment of every member."""
    return msgspec.json.encode(election)


def read_election(data: bytes) -> Election:
    """An assignment; `MalformedBytes` for bytes that are none."""
    return _read(data, Election, "the outcome of an election")


def _read(data: bytes, kind: type[S], what: str) -> S:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise MalformedBytes(what, "JSON", 0, f"is {data[:80]!r} ({problem})") from None
