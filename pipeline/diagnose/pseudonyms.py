"""Names replaced by others: one name has one replacement in a run, in fields and in the lines of logs.

A line may hold a name anywhere, so that known names are searched as whole words, the longest first. Member ids, UUIDs
and addresses are recognised by their form. A name that is also a word of Kafka's sentences (a client ``consumer``) is
replaced where the line uses it as a name: behind ``=``, a quote or the word *group*, before a number, a port or a UUID.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final

from rebalance_check.pipeline.diagnose.logs.templates import SENTENCE_WORDS

HEX_UUID: Final = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
UUID: Final = re.compile(rf"(?<![0-9a-zA-Z]){HEX_UUID}(?![0-9a-zA-Z])")
MEMBER_ID: Final = re.compile(rf"^(?P<client>.+)-(?P<uuid>{HEX_UUID})$", re.DOTALL)
"""A member id as brokers make it: the client id or the instance id, and a UUID (KIP-394)."""
MEMBER_IN_TEXT: Final = re.compile(rf"(?P<client>[^\s,;='\"(){{}}\[\]<>|]+?)-{HEX_UUID}(?![0-9a-zA-Z])")
IPV4: Final = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\w)")
IPV6: Final = re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-fA-F]{0,4})(?![\w:])")
HOST: Final = re.compile(
    r"(?<![\w.-])(?:[A-Za-z][\w-]*(?:\.[\w-]+)*(?=:\d{4,5}(?!\w))"
    r"|[\w-]+(?:\.[\w-]+)*\.(?:internal|local|lan|corp|intra|svc|com|net|org|io|dev|cloud)(?![\w.-]*\w))"
)
"""A host before its port, or with the end of a domain name."""
NO_HOST: Final = re.compile(r"(?:^|\.)(?:java|scala|kt|py|go|[A-Z]\w*[a-z]\w*)$")
"""A source file or a class, which a line number follows."""
KEPT: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata"})
"""Topics of Kafka itself."""
KINDS: Final = ("group", "topic", "instance", "client", "member", "host", "connector", "process", "file")
"""The first one names what is known as several."""
OTHER_WORDS: Final = frozenset({
    "the", "consumer", "is", "being", "closed", "normal", "operation", "shutting", "down", "closing", "poll",
    "timeout", "has", "expired", "need", "to", "re", "join", "with", "given", "member", "id", "group", "already",
    "rebalancing", "cached", "metadata", "changed", "subscription", "does", "not", "match", "current", "revoke",
    "partitions", "after", "revoking", "and", "rebalance", "failed", "due", "pro", "actively", "leaving", "adding",
    "new", "static", "leader", "joining", "during", "updating", "for", "removing", "on", "heartbeat", "expiration",
    "pending", "sync", "request", "explicit", "client", "reason", "error", "when", "while", "storing", "assignment",
    "over", "capacity", "downgrade", "instance", "kafka", "org", "apache", "clients", "internals", "coordinator",
    "common", "java", "main", "topic", "partition", "offset", "offsets", "commit", "session", "generation",
    "protocol", "range", "sticky", "cooperative", "roundrobin", "state", "info", "warn", "debug", "from", "at",
    "of", "in", "or", "no", "a", "an", "s", "it", "by", "was", "be", "as",
})  # fmt: skip
"""Words of reasons, of packages and of levels: rules search for some of them after names are replaced."""

_WORD: Final = re.compile(r"[^\W_]+")
_WORD_OR_SIGN: Final = re.compile(r"[^\W_]+|[\W_]")
_BEFORE_A_NAME: Final = re.compile(r"(?:[='\"]|\b(?:group|groups|groupId|topic|member|client|instance|connector) )$")
_BEHIND_A_NAME: Final = re.compile(rf"-(?:{HEX_UUID}|\d+(?!\w))|:\d{{4,5}}(?!\w)")
_NUMBERS: Final = re.compile(r"(\d+)")


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key for sorting: ``m2`` stands before ``m10``."""
    words = (word for word in _NUMBERS.split(name) if word)
    return [(1, int(word), "") if word.isdecimal() and len(word) < 10 else (0, 0, word) for word in words]


class Pseudonyms:
    """Learns the names of a run, all before the first is replaced."""

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}
        self._uuids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._by_head: dict[str, list[tuple[str, str]]] = {}
        self._tokens = _WORD

    # ---------------------------------------------------------------------------------------------- learning

    def learn(self, kind: str, name: str) -> None:
        """Take a name of one of `KINDS`."""
        if name and name not in KEPT:
            rank = KINDS.index(kind)
            self._kinds[name] = min(rank, self._kinds.get(name, rank))

    def learn_member(self, member: str) -> None:
        """Take a member id: that of a broker holds the name of its client."""
        found = MEMBER_ID.match(member)
        if found is None:
            self.learn("member", member)
        else:
            self.learn("client", found["client"])
            self.uuid(found["uuid"])

    def learn_text(self, text: str) -> None:
        """Take the names that a line shows by their form: of members and hosts."""
        for found in MEMBER_IN_TEXT.finditer(text):
            self.learn("client", found["client"])
        for found in UUID.finditer(text):
            self.uuid(found[0])
        for address in _addresses(text):
            self.learn("host", address)

    def finish(self) -> None:
        """Give each name its replacement, in the order of the names."""
        counts = dict.fromkeys(range(len(KINDS)), 0)
        for name, rank in sorted(self._kinds.items(), key=lambda item: (item[1], natural(item[0]), item[0])):
            counts[rank] += 1
            self._names[name] = f"{KINDS[rank]}-{counts[rank]}"
        for name, new in self._names.items():
            if self._kinds[name] == KINDS.index("file"):
                continue
            for form in dict.fromkeys((name, _in_json(name), _in_json(_in_json(name)))):
                head = _WORD_OR_SIGN.match(form)
                assert head is not None  # it matches any character
                self._by_head.setdefault(head[0], []).append((form, new))
                if _WORD.match(form) is None:
                    self._tokens = _WORD_OR_SIGN
        for forms in self._by_head.values():
            forms.sort(key=lambda one: (-len(one[0]), one[0]))

    # ---------------------------------------------------------------------------------------------- replacing

    def name(self, name: str) -> str:
        """The replacement of a name that is known; any other is left out."""
        return self._names.get(name, name if name in KEPT else "hidden") if name else ""

    def knows(self, name: str) -> bool:
        """Whether it has learned the name."""
        return name in self._names

    def member(self, member: str) -> str:
        """The replacement of a member id, of the same form."""
        found = MEMBER_ID.match(member)
        return self.name(member) if found is None else f"{self.name(found['client'])}-{self.uuid(found['uuid'])}"

    def uuid(self, uuid: str) -> str:
        """A UUID whose head counts the UUIDs of the run."""
        number = len(self._uuids) + 1
        head = f"{number % 0x10000:04x}{number // 0x10000:04x}"
        return self._uuids.setdefault(uuid.lower(), f"{head}-0000-4000-8000-{number:012x}")

    def text(self, text: str) -> str:
        """A line with each name replaced."""
        pieces: list[str] = []
        done = 0
        for begin, end, new in self._found(text):
            pieces += (self._by_form(text[done:begin]), new)
            done = end
        return "".join([*pieces, self._by_form(text[done:])])

    def _found(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Begin, end and replacement of the names in a text."""
        uuids = [found.span() for found in UUID.finditer(text)]
        done = 0
        for token in self._tokens.finditer(text):
            if token.start() < done or token[0] not in self._by_head:
                continue
            for form, new in self._by_head[token[0]]:
                end = token.start() + len(form)
                if text.startswith(form, token.start()) and _is_name(text, token.start(), end, uuids):
                    yield token.start(), end, new
                    done = end
                    break

    def _by_form(self, text: str) -> str:
        """The text between two names: UUIDs have no other form."""
        return UUID.sub(lambda found: self.uuid(found[0]), text) if "-" in text else text


def _in_json(name: str) -> str:
    """The name as the text of a JSON log has it."""
    return json.dumps(name)[1:-1]


def _addresses(text: str) -> Iterator[str]:
    """IP addresses and hosts that a text shows by their form."""
    for found in (*IPV4.finditer(text), *IPV6.finditer(text)):
        if _is_ip(found[0]):
            yield found[0]
    for found in HOST.finditer(text):
        if NO_HOST.search(found[0]) is None and not is_word_of_sentences(found[0]):
            yield found[0]


def _is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return text != "::"


def is_word_of_sentences(text: str) -> bool:
    """Whether Kafka's own sentences have the word."""
    return text in SENTENCE_WORDS or text in OTHER_WORDS


def _is_name(text: str, begin: int, end: int, uuids: list[tuple[int, int]]) -> bool:
    """Whether the text from ``begin`` to ``end`` is a whole word, and no part of a UUID or of a sentence."""
    if end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        return False
    place = bisect_right(uuids, (begin, len(text))) - 1
    if place >= 0 and begin < uuids[place][1] and (begin > uuids[place][0] or end < uuids[place][1]):
        return False
    word = text[begin:end]
    if not word.isdecimal() and not is_word_of_sentences(word):
        return True
    return _BEFORE_A_NAME.search(text[max(0, begin - 12) : begin]) is not None or (
        _BEHIND_A_NAME.match(text, end) is not None
    )
