"""Redacted facts: no name of a user is in any output, one name has one replacement, and the answers are the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest

from rebalance_check.commands._ci_options import junit_of
from rebalance_check.commands.diagnose import results
from rebalance_check.pipeline.diagnose import facts as all_facts
from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, of_sources, read_paths
from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood, Place, RecordedMember
from rebalance_check.pipeline.diagnose.pseudonyms import HEX_UUID, Pseudonyms, is_word_of_sentences
from rebalance_check.pipeline.diagnose.redaction import ASSIGNMENTS, FIELDS, Holds, message_of, redacted
from rebalance_check.pipeline.diagnose.sources import Source
from rebalance_check.report.diagnosis.document import diagnosis_document
from rebalance_check.report.diagnosis.page import diagnosis_page
from rebalance_check.report.diagnosis.text import lines
from rebalance_check.report.github import summary

DATA: Final = Path(__file__).parents[2] / "data" / "diagnose"
SAMPLES: Final = sorted({path.parent for path in DATA.rglob("*") if path.is_file()} - {DATA}, key=Path.as_posix)
NAMES: Final = re.compile(
    rf"groupId=(?P<group>[^\],]+)|clientId=(?P<client>[^,\]]+)|\bgroup (?P<group2>[\w.-]+) (?:in|generation|for)\b|"
    rf"(?P<topic>\bt-[a-z0-9-]*[a-z])-\d+\b|(?P<ip>\b\d+\.\d+\.\d+\.\d+\b)|(?P<client2>[\w.-]+)-{HEX_UUID}|"
    rf"(?P<uuid>\b{HEX_UUID}\b)|instanceId=(?P<instance>[\w.-]+)|member_id (?P<member>[\w.-]+)|"
    r"Group \"(?P<group3>[^\"]+)\""
)
"""Names as the logs of the samples have them, without the readers of this project."""


def names_in(folder: Path) -> set[str]:
    """The names of the files and of their content; a word of Kafka's own sentences is none."""
    found = {path.name for path in folder.iterdir()}
    for path in folder.iterdir():
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            found.update(each for one in NAMES.finditer(text) for each in one.groups() if each)
    return {name for name in found if not is_word_of_sentences(name) and not name.isdecimal()}


def outputs(found: Diagnosis) -> Iterator[tuple[str, str]]:
    """All that the command can print."""
    yield "text", "\n".join(lines(found, whole=True))
    yield "json", json.dumps(diagnosis_document(found))
    page = diagnosis_page(found)
    yield "html", page[page.index("<body>") :].partition('<script>"use strict"')[0]  # all but the program
    yield "junit", junit_of(results(found)).decode()
    yield "github", summary("diagnose", results(found))


def whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])")


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda path: path.relative_to(DATA).as_posix())
def test_no_name_of_the_samples__is_in_any_output(folder: Path) -> None:
    names = names_in(folder)
    sources, _ = redacted(read_paths(sorted(folder.iterdir())))
    left = [
        (kind, name, found[0])
        for kind, text in outputs(of_sources(sources))
        for name in sorted(names)
        if name in text and (found := re.findall(rf".{{0,40}}{whole(name).pattern}.{{0,40}}", text))
    ]
    assert left == []


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda path: path.relative_to(DATA).as_posix())
def test_the_answers_are_those_of_the_original_names(folder: Path) -> None:
    sources = read_paths(sorted(folder.iterdir()))
    found, original = of_sources(redacted(sources)[0]), of_sources(sources)
    assert sorted(answers(found), key=str) == sorted(answers(original), key=str)
    assert found.exit_code() == original.exit_code()


def answers(found: Diagnosis) -> Iterator[Any]:
    """The content of a diagnosis that has no name in it."""
    for one in found.groups:
        yield (
            sorted((finding.rule.name, finding.severity, finding.since_ms or 0) for finding in one.findings),
            [(each.generation, each.began_ms, each.duration_ms, each.trigger.cause) for each in one.group.rebalances],
            sorted((span.begin_ms, span.end_ms or 0, span.stop) for span in one.group.spans),
            len(one.group.members.by_id),
        )


def test_names_have_the_same_replacement__in_any_order_of_the_sources() -> None:
    sources = read_paths(sorted((DATA / "logs" / "client" / "java-3.9.2").glob("ship-upgrade-*.log")))
    there, back = redacted(sources)[0], redacted(sources[::-1])[0]
    assert there == redacted(sources)[0]
    assert {fact.group for source in there for fact in source.facts} == {"group-1"}

    def topics(found: list[Source]) -> list[Any]:
        return [getattr(fact, "partitions", ()) for source in found for fact in source.facts]

    assert topics(there) == topics(back[::-1])


def kinds_of_facts() -> Iterator[type[Any]]:
    for kind in vars(all_facts).values():
        if isinstance(kind, type) and (issubclass(kind, Fact) or kind is RecordedMember):
            yield kind


def test_the_content_of_every_field_is_known() -> None:
    """A new field of a fact is classified in `FIELDS` before it can be shown."""
    names = {each.name for kind in kinds_of_facts() for each in fields(kind)}
    assert names - {"place", ASSIGNMENTS} == set(FIELDS)


UUID: Final = "78c36e5b-907c-4b2d-876f-d0cd968bcff6"
NEW_UUID: Final = "00010000-0000-4000-8000-000000000001"
LEARNED: Final = (
    ("group", "orders"), ("group", "test"), ("group", f"anonymous.{UUID}"), ("topic", "orders-dlq"), ("client", "m1"),
    ("client", "consumer"), ("client", "7"), ("client", 'a "b"'), ("instance", "m1"), ("host", "kafka"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[Consumer clientId=m1, groupId=orders]", "[Consumer clientId=instance-1, groupId=group-2]"),
        ("orders_v2 and reorders and orders-dlq-3", "group-2_v2 and reorders and topic-1-3"),
        (f"member-id: m1-{UUID}", f"member-id: instance-1-{NEW_UUID}"),
        (f"groupId=anonymous.{UUID}]", "groupId=group-1]"),
        ("member 7 in generation 7 of group 7", "member client-3 in generation 7 of group client-3"),
        ("the consumer is closed", "the consumer is closed"),
        (f"clientId=consumer, consumer-{UUID}", f"clientId=client-2, client-2-{NEW_UUID}"),
        ('{"message":"clientId=a \\"b\\"","x":1}', '{"message":"clientId=client-1","x":1}'),
        ("kafka:9092 at 14:10:03,233", "host-1:9092 at 14:10:03,233"),
        (f"Cluster {UUID.upper()}", f"Cluster {NEW_UUID}"),
    ],
)  # fmt: skip
def test_a_line__keeps_all_but_the_names(text: str, expected: str) -> None:
    names = Pseudonyms()
    for kind, name in LEARNED:
        names.learn(kind, name)
    names.learn_text(text)
    names.finish()
    assert names.text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coordinator 10.1.2.3:9092 (id: 1)", "coordinator host-1:9092 (id: 1)"),
        ("at [2001:db8::1]:9092 since 14:10:03", "at [host-1]:9092 since 14:10:03"),
        ("b-1.prod.example.com:9096 said", "host-1:9096 said"),
        ("kafka-0.kafka.svc and AbstractCoordinator.java:1234", "host-1 and AbstractCoordinator.java:1234"),
        ("Kafka 3.9.2, not 1.2.3", "Kafka 3.9.2, not 1.2.3"),
        (f"Adding new member web 1-{UUID} with", f"Adding new member web client-1-{NEW_UUID} with"),
    ],
)
def test_hosts_and_members_are_recognised_by_their_form(text: str, expected: str) -> None:
    names = Pseudonyms()
    names.learn_text(text)
    names.finish()
    assert names.text(text) == expected


SENTENCE: Final = "[Consumer clientId=c, groupId=g] (Re-)joining group"


@pytest.mark.parametrize(
    "line",
    [
        SENTENCE,
        f"[2026-11-28 14:10:03,279] INFO {SENTENCE} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        f"2026-11-28T14:10:03.279Z INFO 1 --- [shop] [ntainer#0-0-C-1] o.a.k.c.c.i.ConsumerCoordinator : {SENTENCE}",
        f"[pod/shop-7/app] 2026-11-28T14:10:03.279123456Z 2026-11-28 14:10:03 INFO {SENTENCE}",
        f"Nov 28 14:10:03 vm-17 shop[812]: 2026-11-28 14:10:03,279 INFO {SENTENCE}",
        json.dumps({"@timestamp": "2026-11-28T14:10:03.279Z", "service.name": "shop", "message": SENTENCE}),
    ],
)
def test_a_line_is_shown_from_its_message_on(line: str) -> None:
    assert message_of(line) == SENTENCE


def test_names_that_are_words_of_kafka__change_no_answer(tmp_path: Path) -> None:
    """The sentences in which rules search for causes stay whole where a client, a topic or a group has such a name."""
    names = {"m1": "consumer", "m2": "member", "t-pay-polltimeout": "new", "pay-polltimeout": "group"}
    for path in (DATA / "logs").glob("*/*3.9.2/pay-polltimeout*.log"):
        text = path.read_text(encoding="utf-8")
        for name, word in names.items():
            text = re.sub(rf"\b{name}\b(?!\.log)", word, text)
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    sources = read_paths(sorted(tmp_path.iterdir()))
    found, original = of_sources(redacted(sources)[0]), of_sources(sources)
    assert [one.group.name for one in original.groups] == ["group"]
    assert list(answers(found)) == list(answers(original))
    text = "\n".join(text for _, text in outputs(found))
    for shown in ("clientId=consumer", "clientId=member", "groupId=group]", "new-0", f"consumer-{UUID[:4]}"):
        assert shown not in text


def test_of_a_line_that_is_not_understood__the_words_of_kafka_stay() -> None:
    place = Place("shop.log", 3, "[GroupCoordinator 1]: Member payroll-7 of group payroll was abducted")
    source = Source("shop.log", examples=[NotUnderstood(place, "key 'payroll'")])
    (found,) = redacted([source])[0]
    (example,) = found.examples
    assert example.place.text == "[GroupCoordinator _]: Member _-_ of group _ was _"
    assert (str(example.place), example.why) == ("file-1:3", "key '_'")


def test_the_groups_to_diagnose__are_named_as_the_user_knows_them() -> None:
    sources = read_paths([DATA / "logs" / "broker" / "3.9.2" / "mail-storm.log"])
    found, only = redacted(sources, ["stock-static", "absent"])
    assert only == ("group-2", "absent (not in the sources)")
    assert [one.group.name for one in of_sources(found, only).groups] == ["group-2"]


def test_a_task_is_named_after_its_connector() -> None:
    place = Place("w.log", 1)
    works = ("demo", "demo-0", "demo-1", "x-7", "x-7-0")
    facts: list[Fact] = [all_facts.WorkStarted(place=place, time_ms=1, client="", work=work) for work in works]
    facts.append(all_facts.ConfigRecorded(place=place, time_ms=1, key="commit-demo"))
    facts.append(all_facts.StatusRecorded(place=place, time_ms=1, work="x-7", state="RUNNING", worker="10.0.0.1:8083"))
    (source,) = redacted([Source("w.log", facts=facts)])[0]
    *named, config, status = source.facts
    assert [getattr(fact, "work", "") for fact in named] == [
        "connector-1", "connector-1-0", "connector-1-1", "connector-2", "connector-2-0",
    ]  # fmt: skip
    assert isinstance(config, all_facts.ConfigRecorded)
    assert isinstance(status, all_facts.StatusRecorded)
    assert (config.key, status.work, status.worker) == ("commit-connector-1", "connector-2", "host-1:8083")


def test_every_content_of_a_field_is_used() -> None:
    assert set(FIELDS.values()) == set(Holds)
