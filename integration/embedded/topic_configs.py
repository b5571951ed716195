"""The configs of topics that Kafka 4.3.1 knows, with their defaults, and what it says of a value that they cannot have.

They are kept and shown; none of them has an effect here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from rebalance_check.integration.wire.kafka_python import errors

INVALID_CONFIG: Final[int] = errors.InvalidConfigurationError.errno
LONG_MAX: Final = (1 << 63) - 1
DAY_MS: Final = 86_400_000

_WHOLE: Final = re.compile(r"[+-]?[0-9]+")


class ConfigType(IntEnum):
    """How DescribeConfigs numbers types."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


_NUMBER: Final = {
    ConfigType.INT: _WHOLE,
    ConfigType.LONG: _WHOLE,
    ConfigType.DOUBLE: re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"),
}


class TopicConfig(NamedTuple):
    """A config with its default, the bounds of numbers or the values of texts that it may have, and the broker's config
    that it inherits from ("" for none that DescribeConfigs names)."""

    type: ConfigType
    default: str
    inherited: str = ""
    least: float = float("-inf")
    most: float = float("inf")
    allowed: tuple[str, ...] = ()


def _boolean(inherited: str = "") -> TopicConfig:
    return TopicConfig(ConfigType.BOOLEAN, "false", inherited)


def _long(default: int, inherited: str = "", least: float = 0) -> TopicConfig:
    return TopicConfig(ConfigType.LONG, str(default), inherited, least, LONG_MAX)


def _int(default: int, inherited: str = "", least: float = 0, most: float = (1 << 31) - 1) -> TopicConfig:
    return TopicConfig(ConfigType.INT, str(default), inherited, least, most)


def _text(default: str, inherited: str, *allowed: str) -> TopicConfig:
    return TopicConfig(ConfigType.STRING, default, inherited, allowed=allowed)


def _list(default: str, inherited: str = "", *allowed: str) -> TopicConfig:
    return TopicConfig(ConfigType.LIST, default, inherited, allowed=allowed)


TOPIC_CONFIGS: Final[Mapping[str, TopicConfig]] = {
    "compression.type": _text(
        "producer", "compression.type", "uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"
    ),
    "remote.log.delete.on.disable": _boolean(),
    "leader.replication.throttled.replicas": _list(""),
    "remote.storage.enable": _boolean(),
    "min.insync.replicas": _int(1, "min.insync.replicas", least=1),
    "segment.jitter.ms": _long(0),
    "remote.log.copy.disable": _boolean(),
    "local.retention.ms": _long(-2, "log.local.retention.ms", least=-2),
    "cleanup.policy": _list("delete", "log.cleanup.policy", "compact", "delete"),
    "flush.ms": _long(LONG_MAX),
    "follower.replication.throttled.replicas": _list(""),
    "compression.lz4.level": _int(9, "compression.lz4.level", 1, 17),
    "segment.bytes": _int(1 << 30, "log.segment.bytes", least=1 << 20),
    "retention.ms": _long(7 * DAY_MS, least=-1),
    "compression.gzip.level": _int(-1, "compression.gzip.level", -1, 9),
    "flush.messages": _long(LONG_MAX, "log.flush.interval.messages", least=1),
    "compression.zstd.level": _int(3, "compression.zstd.level", -(1 << 17), 22),
    "max.compaction.lag.ms": _long(LONG_MAX, "log.cleaner.max.compaction.lag.ms", least=1),
    "file.delete.delay.ms": _long(60_000, "log.segment.delete.delay.ms"),
    "max.message.bytes": _int(1_048_588, "message.max.bytes"),
    "min.compaction.lag.ms": _long(0, "log.cleaner.min.compaction.lag.ms"),
    "message.timestamp.type": _text("CreateTime", "log.message.timestamp.type", "CreateTime", "LogAppendTime"),
    "local.retention.bytes": _long(-2, "log.local.retention.bytes", least=-2),
    "preallocate": _boolean("log.preallocate"),
    "index.interval.bytes": _int(4096, "log.index.interval.bytes"),
    "min.cleanable.dirty.ratio": TopicConfig(ConfigType.DOUBLE, "0.5", "log.cleaner.min.cleanable.ratio", 0, 1),
    "unclean.leader.election.enable": _boolean("unclean.leader.election.enable"),
    "retention.bytes": _long(-1, "log.retention.bytes", least=-LONG_MAX),
    "delete.retention.ms": _long(DAY_MS, "log.cleaner.delete.retention.ms"),
    "message.timestamp.after.max.ms": _long(3_600_000, "log.message.timestamp.after.max.ms"),
    "message.timestamp.before.max.ms": _long(LONG_MAX, "log.message.timestamp.before.max.ms"),
    "segment.ms": _long(7 * DAY_MS, least=1),
    "segment.index.bytes": _int(10 << 20, "log.index.size.max.bytes", least=4),
}
"""In the order of Kafka's answer."""


def wrong_config(configs: Mapping[str, str]) -> str:
    """Kafka's message about the first config that is unknown or has a value that it cannot have; "" for good ones."""
    for name, value in configs.items():
        known = TOPIC_CONFIGS.get(name)
        why = f"Unknown topic config name: {name}" if known is None else _wrong_value(known, name, value)
        if why:
            return why
    return ""


def _wrong_value(config: TopicConfig, name: str, value: str) -> str:
    why = ""
    match config.type:
        case ConfigType.BOOLEAN:
            is_good = value.strip().lower() in ("true", "false")
            why = "" if is_good else "Expected value to be either true or false"
        case ConfigType.INT | ConfigType.LONG | ConfigType.DOUBLE:
            why = _wrong_number(config, value)
        case _:
            parts = items_of(value) if config.type is ConfigType.LIST else [value]
            is_good = not config.allowed or all(part in config.allowed for part in parts)
            why = "" if is_good else f"String must be one of: {', '.join(config.allowed)}"
    return f"Invalid value {value} for configuration {name}: {why}" if why else ""


def _wrong_number(config: TopicConfig, value: str) -> str:
    if _NUMBER[config.type].fullmatch(value.strip()) is None:
        return f"Not a number of type {config.type.name}"
    number = float(value) if config.type is ConfigType.DOUBLE else int(value)
    if number < config.least:
        return f"Value must be at least {config.least}"
    return f"Value must be no more than {config.most}" if number > config.most else ""


def items_of(value: str) -> list[str]:
    """The items of a list, as a config writes them: with commas between them."""
    return [item.strip() for item in value.split(",")] if value else []


def canonical(name: str, value: str) -> str:
    """A good value as Kafka shows it."""
    known = TOPIC_CONFIGS.get(name)
    return value.strip().lower() if known is not None and known.type is ConfigType.BOOLEAN else value
