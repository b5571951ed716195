"""Facts without the names of a user: groups, topics, members, clients, instances, hosts, connectors, files.

It works on facts, before anything is derived from them, so that every report is made of replaced names alone. The line
of a fact loses its envelope, logger and thread, and each known name in it is replaced; of a line that no template knows
only the words of Kafka's own sentences stay. Free texts, such as the reason of an ``enforceRebalance``, stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from enum import Enum, auto
from typing import Any, Final

from rebalance_check.pipeline.diagnose.commits import Commits, Fold
from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood, OffsetRecorded, Place, RecordedMember
from rebalance_check.pipeline.diagnose.logs.records import records
from rebalance_check.pipeline.diagnose.pseudonyms import Pseudonyms, is_word_of_sentences
from rebalance_check.pipeline.diagnose.sources import Source


class Holds(Enum):
    """The content of a field, in itself or in its items."""

    GROUP = auto()
    TOPIC = auto()
    PARTITION = auto()
    """``topic-number``."""
    MEMBER = auto()
    CLIENT = auto()
    INSTANCE = auto()
    HOST = auto()
    """Perhaps with a slash before it, as Java prints it."""
    ADDRESS = auto()
    """A host and a port, or the URL of a Connect worker."""
    WORK = auto()
    """A connector, or ``connector-number`` for a task."""
    WORK_KEY = auto()
    """A key of the config topic: ``connector-``, ``task-``, ``commit-`` or ``target-state-`` and the work."""
    CONFIG = auto()
    """Pairs of a config's name and its value."""
    TEXT = auto()
    """Words with names among them."""
    PLAIN = auto()
    """Numbers, and words of Kafka itself."""


FIELDS: Final = {
    "group": Holds.GROUP, "topics": Holds.TOPIC, "partition": Holds.PARTITION, "partitions": Holds.PARTITION,
    "owned": Holds.PARTITION, "assignment": Holds.PARTITION, "member": Holds.MEMBER, "members": Holds.MEMBER,
    "ids": Holds.MEMBER, "old": Holds.MEMBER, "current": Holds.MEMBER, "leader": Holds.MEMBER, "client": Holds.CLIENT,
    "instance": Holds.INSTANCE, "host": Holds.HOST, "worker": Holds.ADDRESS, "leader_url": Holds.ADDRESS,
    "work": Holds.WORK, "assigned": Holds.WORK, "revoked": Holds.WORK, "key": Holds.WORK_KEY, "values": Holds.CONFIG,
    "reason": Holds.TEXT, "error": Holds.TEXT, "value": Holds.TEXT, "trace": Holds.TEXT, "time_ms": Holds.PLAIN,
    "generation": Holds.PLAIN, "change": Holds.PLAIN, "operation": Holds.PLAIN, "session_timeout_ms": Holds.PLAIN,
    "rebalance_timeout_ms": Holds.PLAIN, "assignors": Holds.PLAIN, "kind": Holds.PLAIN, "epoch": Holds.PLAIN,
    "release": Holds.PLAIN, "protocol": Holds.PLAIN, "count": Holds.PLAIN, "over_ms": Holds.PLAIN,
    "limit_ms": Holds.PLAIN, "request": Holds.PLAIN, "claimed_generation": Holds.PLAIN, "protocol_type": Holds.PLAIN,
    "state_time_ms": Holds.PLAIN, "offset": Holds.PLAIN, "state": Holds.PLAIN, "assignor": Holds.PLAIN,
    "deleted": Holds.PLAIN, "committed": Holds.PLAIN, "end": Holds.PLAIN, "config_offset": Holds.PLAIN,
    "delay_ms": Holds.PLAIN,
}  # fmt: skip
"""By the name of the field; any other is taken for a text."""
ASSIGNMENTS: Final = "assignments"
"""Pairs of a member id and its partitions."""
CONFIGS: Final = {
    "group.id": Holds.GROUP,
    "client.id": Holds.CLIENT,
    "group.instance.id": Holds.INSTANCE,
    "group.protocol": Holds.PLAIN,
}
WORK_KEY: Final = re.compile(
    r"^(?P<head>connector-|task-|commit-|target-state-|restart-connector-)(?P<work>.+)$", re.DOTALL
)
NUMBERED: Final = re.compile(r"^(?P<name>.+)-(?P<number>\d+)$", re.DOTALL)
ADDRESS: Final = re.compile(r"^(?P<scheme>\w+://)?(?P<host>\[[^\]]*\]|[^:/]+)(?P<rest>(?::\d+)?(?:/.*)?)$", re.DOTALL)
MESSAGE: Final = re.compile(r"\[(?:Consumer|Worker|Group(?:Coordinator|MetadataManager|Id)?)\b|Loaded member ")
"""The begin of a message of Kafka, behind level, thread and logger."""
Change = Callable[[Holds, str], str]
Messages = dict[Place, str]
"""The messages of one source by their places."""


def redacted(sources: Sequence[Source], only: Iterable[str] = ()) -> tuple[list[Source], tuple[str, ...]]:
    """The sources with replaced names, and the groups of ``only`` as they are called there."""
    messages = [{fact.place: message_of(fact.place.text) for fact in source.facts} for source in sources]
    names = _learned(sources, messages)
    chosen = tuple(names.name(group) if names.knows(group) else f"{group} (not in the sources)" for group in only)
    return [_source(source, own, names) for source, own in zip(sources, messages, strict=True)], chosen


# ------------------------------------------------------------------------------------------------------------- learning


def _learned(sources: Sequence[Source], messages: Sequence[Messages]) -> Pseudonyms:
    names = Pseudonyms()
    work: set[str] = set()

    def learn(kind: Holds, text: str) -> str:
        match kind:
            case Holds.WORK:
                work.add(text)
            case Holds.WORK_KEY if found := WORK_KEY.match(text):
                work.add(found["work"])
            case _:
                _learn(names, kind, text)
        return text

    for source, own in zip(sources, messages, strict=True):
        names.learn("file", source.name)
        for text in (source.fault, *own.values()):
            names.learn_text(text)
        for fact in source.facts:
            _learn_origin(names, fact.place, source.name)
            for name in _names(type(fact)):
                _mapped(name, getattr(fact, name), learn)
        for (group, partition), (place, _) in source.commits.folds.items():
            _learn_origin(names, Place(place, 0), source.name)
            learn(Holds.GROUP, group)
            learn(Holds.PARTITION, partition)
        for example in source.examples:
            _learn_origin(names, example.place, source.name)
    connectors = {_connector(each) for each in work}
    for each in work:
        names.learn("connector", each if each in connectors else _connector(each))
    names.finish()
    return names


def _learn_origin(names: Pseudonyms, place: Place, source: str) -> None:
    if place.source != source:
        names.learn("process", _origin(place.source, source))


def _origin(place: str, source: str) -> str:
    """The container or pod of a place ``file[pod/web]``."""
    return place.removeprefix(source).removeprefix("[").removesuffix("]")


def _connector(work: str) -> str:
    """The connector of a task. A connector's own name may end in a number, too: its tasks have two then."""
    found = NUMBERED.match(work)
    return found["name"] if found is not None else work


def _learn(names: Pseudonyms, kind: Holds, text: str) -> None:
    match kind:
        case Holds.GROUP | Holds.TOPIC | Holds.CLIENT | Holds.INSTANCE:
            names.learn(kind.name.lower(), text)
        case Holds.PARTITION:
            found = NUMBERED.match(text)
            names.learn("topic", found["name"] if found is not None else text)
        case Holds.MEMBER:
            names.learn_member(text)
        case Holds.HOST:
            names.learn("host", text.lstrip("/"))
        case Holds.ADDRESS:
            address = ADDRESS.match(text)
            names.learn("host", address["host"] if address is not None else text)
        case Holds.TEXT:
            names.learn_text(text)
        case _:
            pass


# ------------------------------------------------------------------------------------------------------------ replacing


def _source(source: Source, messages: Messages, names: Pseudonyms) -> Source:
    texts = {place: names.text(text) for place, text in messages.items()}

    def change(kind: Holds, text: str) -> str:
        return _changed(names, kind, text)

    return replace(
        source, name=names.name(source.name), fault=names.text(source.fault),
        facts=[_fact(fact, _place(fact.place, source.name, names, texts[fact.place]), change) for fact in source.facts],
        commits=_commits(source, names),
        examples=[_example(one, source.name, names) for one in source.examples],
    )  # fmt: skip


def _commits(source: Source, names: Pseudonyms) -> Commits:
    folds: dict[tuple[str, str], tuple[str, Fold]] = {}
    for (group, partition), (place, fold) in source.commits.folds.items():
        named = names.name(group), _numbered(names, partition)
        back = [_commit(one, *named, source.name, names) for one in fold.back]
        last = fold.last_back and _commit(fold.last_back, *named, source.name, names)
        folds[named] = _origin_named(place, source.name, names), Fold(*named, fold.run, back, last)
    return replace(source.commits, folds=folds)


def _commit(fact: OffsetRecorded, group: str, partition: str, source: str, names: Pseudonyms) -> OffsetRecorded:
    return replace(fact, place=_place(fact.place, source, names, ""), group=group, partition=partition)


def _fact(fact: Fact, place: Place, change: Change) -> Fact:
    values = {name: _mapped(name, getattr(fact, name), change) for name in _names(type(fact))}
    return replace(fact, place=place, **values)


def _example(one: NotUnderstood, source: str, names: Pseudonyms) -> NotUnderstood:
    """A line of an unknown form may hold a name anywhere: the words of Kafka's sentences stay."""
    text = message_of(one.place.text)
    words = re.sub(r"\w+", lambda found: found[0] if is_word_of_sentences(found[0]) else "_", text)
    return NotUnderstood(_place(one.place, source, names, words), re.sub(r"'[^']*'", "'_'", one.why))


def _place(place: Place, source: str, names: Pseudonyms, text: str) -> Place:
    return replace(place, source=_origin_named(place.source, source, names), text=text)


def _origin_named(place: str, source: str, names: Pseudonyms) -> str:
    name = names.name(source)
    return name if place == source else f"{name}[{names.name(_origin(place, source))}]"


def message_of(line: str) -> str:
    """The message of a line, without envelope, stamp, thread and logger, which name machines and applications."""
    text = next((record.message for record in records([(1, line)], "")), line)
    found = MESSAGE.search(text)
    return text[found.start() :] if found is not None else text


_NAMES: Final[dict[type[Any], tuple[str, ...]]] = {}


def _names(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a fact that may hold names."""
    if kind not in _NAMES:
        names = (each.name for each in fields(kind) if each.name != "place")
        _NAMES[kind] = tuple(name for name in names if FIELDS.get(name) is not Holds.PLAIN)
    return _NAMES[kind]


def _mapped(name: str, value: Any, change: Change, kind: Holds | None = None) -> Any:
    """The value of a field with each of its texts changed. ``kind`` is its content, where its name does not say it."""
    kind = kind or FIELDS.get(name, Holds.TEXT)
    if isinstance(value, str):
        return change(kind, value) if value else value
    if isinstance(value, tuple):
        if name == ASSIGNMENTS:
            return tuple((change(Holds.MEMBER, member), _mapped("partitions", own, change)) for member, own in value)
        if kind is Holds.CONFIG:
            return tuple((key, change(CONFIGS.get(key, Holds.TEXT), text)) for key, text in value)
        return tuple(_mapped(name, each, change, kind) for each in value)
    if isinstance(value, RecordedMember):
        owns = Holds.WORK if value.worker else Holds.PARTITION
        kinds = {"owned": owns, "assignment": owns}
        own = {each: _mapped(each, getattr(value, each), change, kinds.get(each)) for each in _names(RecordedMember)}
        return replace(value, **own)
    return value


def _changed(names: Pseudonyms, kind: Holds, text: str) -> str:
    match kind:
        case Holds.GROUP | Holds.TOPIC | Holds.CLIENT | Holds.INSTANCE:
            return names.name(text)
        case Holds.PARTITION:
            return _numbered(names, text)
        case Holds.WORK:
            return _work(names, text)
        case Holds.WORK_KEY:
            key = WORK_KEY.match(text)
            return key["head"] + _work(names, key["work"]) if key is not None else names.text(text)
        case Holds.MEMBER:
            return names.member(text)
        case Holds.HOST:
            host = text.lstrip("/")
            return text[: len(text) - len(host)] + names.name(host)
        case Holds.ADDRESS:
            address = ADDRESS.match(text)
            if address is None:
                return names.name(text)
            return f"{address['scheme'] or ''}{names.name(address['host'])}{address['rest']}"
        case Holds.TEXT:
            return names.text(text)
        case Holds.CONFIG | Holds.PLAIN:
            return text


def _work(names: Pseudonyms, work: str) -> str:
    return names.name(work) if names.knows(work) else _numbered(names, work)


def _numbered(names: Pseudonyms, text: str) -> str:
    """A partition or a task."""
    found = NUMBERED.match(text)
    return f"{names.name(found['name'])}-{found['number']}" if found is not None else names.name(text)
