"""The key with which workers sign requests to each other (KIP-507): who writes it when, and who uses which."""

from __future__ import annotations

import pytest

from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.values import SessionKey
from rebalance_check.impl.connect.herder.config import HerderConfig
from rebalance_check.impl.connect.herder.peers import Signature
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.model.vocabulary.events import ConfigCallbackCalled, ConfigReadEnded
from tests.impl.herder_alone import LoneHerder

HOUR_MS = 3_600_000
GOOD = SessionKey(b"k" * 32, "HmacSHA256", 0)


def keys(alone: LoneHerder) -> int:
    """How many session keys the topic holds."""
    return alone.keys().count("session-key")


def topic_reads(alone: LoneHerder) -> int:
    """How often the herder's store read the config topic to its end."""
    return sum(isinstance(event, ConfigReadEnded) for event in alone.events)


def fence(alone: LoneHerder) -> None:
    """Another worker claims the topic: the leader is fenced and does not know it yet."""
    other, _channel = alone.config_store("other", ExactlyOnce.ENABLED)
    other.start().result()
    other.claim_privileges().result()


def started_on(key: SessionKey, *, leads: bool = True, settings: HerderConfig | None = None) -> LoneHerder:
    """A herder that reads this key after it has started."""
    alone = LoneHerder(leads=leads, settings=settings, mode=ConnectMode.COMPATIBLE)
    alone.knows_key(key)
    alone.group.mode = ConnectMode.SESSIONED
    alone.assign()
    return alone


@pytest.mark.parametrize(
    ("leads", "mode", "written"),
    [
        (True, ConnectMode.SESSIONED, 1),
        (False, ConnectMode.SESSIONED, 0),
        (True, ConnectMode.COMPATIBLE, 0),
        (True, ConnectMode.EAGER, 0),
    ],
)
def test_the_leader_of_a_sessioned_group_writes_the_first_key(leads: bool, mode: ConnectMode, written: int) -> None:
    alone = LoneHerder(leads=leads, mode=mode)
    alone.assign()
    assert keys(alone) == written


def test_a_key_is_written_with_the_leaders_clock_and_settings() -> None:
    alone = LoneHerder(mode=ConnectMode.COMPATIBLE, settings=HerderConfig(key_algorithm="HmacSHA512", key_bytes=64))
    alone.run(700)
    alone.group.mode = ConnectMode.SESSIONED
    alone.assign()
    key = alone.configs.snapshot().session_key
    assert key is not None
    assert (len(key.key), key.algorithm, key.created_ms) == (64, "HmacSHA512", 700)


@pytest.mark.parametrize(
    ("key", "replaced"),
    [
        (GOOD, False),
        (SessionKey(b"k" * 32, "HmacSHA512", 0), True),
        (SessionKey(b"k" * 16, "HmacSHA256", 0), True),
    ],
    ids=["fits", "another algorithm", "another length"],
)
def test_a_key_of_another_algorithm_or_length_is_replaced(key: SessionKey, replaced: bool) -> None:
    assert keys(started_on(key)) == (2 if replaced else 1)


@pytest.mark.parametrize("leads", [True, False])
def test_a_key_expires_after_its_time__and_only_the_leader_looks_at_that(leads: bool) -> None:
    alone = started_on(GOOD, leads=leads)
    alone.run(HOUR_MS - alone.clock.now_ms - 1)
    assert keys(alone) == 1
    alone.run(2)
    assert keys(alone) == (2 if leads else 1)


def test_a_key_without_a_time_to_live_does_not_expire() -> None:
    alone = started_on(GOOD, settings=HerderConfig(key_ttl_ms=0))
    alone.run(10 * HOUR_MS)
    assert keys(alone) == 1


def test_a_worker_that_starts_uses_the_key_that_its_snapshot_holds() -> None:
    first = LoneHerder()
    first.assign()
    known = first.configs.snapshot().session_key
    assert known is not None
    second = LoneHerder(leads=False, topic=first.topic)  # a key that is read at the start is reported by no callback
    assert not any(isinstance(event, ConfigCallbackCalled) for event in second.events)
    assert second.herder.session_key == known
    assert second.herder.signature() == Signature(known.key, known.algorithm)


def test_a_rotation_that_fails_has_the_topic_read_and_claimed__and_is_not_tried_again_until_a_key_is_read() -> None:
    alone = started_on(GOOD, settings=HerderConfig(exactly_once=ExactlyOnce.ENABLED))
    fence(alone)
    reads = topic_reads(alone)
    alone.run(HOUR_MS)
    assert (keys(alone), alone.configs.privileged, topic_reads(alone)) == (1, True, reads + 1)
    alone.run(5 * HOUR_MS)
    assert keys(alone) == 1
    alone.knows_key(GOOD)  # long expired by now
    assert keys(alone) == 3


def test_a_leader_whose_first_key_is_fenced_claims_the_topic_again_and_writes_another() -> None:
    """``writeToConfigTopicAsLeader`` writes the key: the leader notes that it was fenced, and goes on with a claim."""
    alone = LoneHerder(mode=ConnectMode.COMPATIBLE, settings=HerderConfig(exactly_once=ExactlyOnce.ENABLED))
    alone.assign()
    fence(alone)
    alone.group.mode = alone.herder.mode = ConnectMode.SESSIONED
    alone.herder.wake()
    alone.run()
    assert (keys(alone), alone.configs.privileged) == (1, True)


def test_a_worker_that_no_longer_leads_leaves_the_topic_to_the_next_leader_after_a_fenced_key() -> None:
    alone = started_on(GOOD, settings=HerderConfig(exactly_once=ExactlyOnce.ENABLED))
    fence(alone)
    alone.group.leads = False
    alone.run(2 * HOUR_MS)
    assert (keys(alone), alone.herder._fenced) == (1, False)


def test_a_request_is_signed_with_the_present_key() -> None:
    alone = LoneHerder(leads=False)
    alone.configure("a", more={"tasks.max": "1"})
    alone.assign(("a",))
    alone.knows_key(GOOD)
    alone.herder.request_reconfiguration("a")
    alone.run()
    signatures = [signature for _at, _url, _request, signature in alone.peers.sent]
    assert signatures == [None, Signature(GOOD.key, GOOD.algorithm)]
