"""Answers about configs: DescribeConfigs and IncrementalAlterConfigs. Those of topics can be set; the broker's few are
its running values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

from rebalance_check.integration.embedded.answers_cluster import INVALID_REQUEST_MESSAGE
from rebalance_check.integration.embedded.paced import paced
from rebalance_check.integration.embedded.topic_configs import (
    INVALID_CONFIG,
    TOPIC_CONFIGS,
    ConfigType,
    canonical,
    items_of,
    wrong_config,
)
from rebalance_check.integration.embedded.topic_names import wrong_name
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, errors
from rebalance_check.model.vocabulary.errors import Error

INVALID_TOPIC: Final[int] = errors.InvalidTopicError.errno


class Resource(IntEnum):
    """Kinds of resources that have configs (``ConfigResource.Type``)."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Source(IntEnum):
    """Where a config was set (``DescribeConfigsResponse.ConfigSource``)."""

    TOPIC = 1
    BROKER = 4
    DEFAULT = 5


class Operation(IntEnum):
    """Changes of a config (``AlterConfigOp.OpType``)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Shown(NamedTuple):
    """A config as it is described; ``synonyms`` are name, value and source of its sources, itself first."""

    name: str
    value: str
    source: Source
    type: ConfigType
    synonyms: tuple[tuple[str, str, Source], ...]
    is_read_only: bool = False


class _Wrong(Exception):  # noqa: N818 - it carries an answer
    """A resource that cannot be described or changed: Kafka's error code and message."""

    def __init__(self, code: int, message: str | None) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def shown_configs(configs: Mapping[str, str]) -> Iterator[Shown]:
    """All configs of a topic of which ``configs`` were set."""
    for name, known in TOPIC_CONFIGS.items():
        inherited = ((known.inherited, known.default, Source.DEFAULT),) if known.inherited else ()
        value = configs.get(name)
        if value is None:
            yield Shown(name, known.default, Source.DEFAULT, known.type, inherited)
        else:
            yield Shown(name, value, Source.TOPIC, known.type, ((name, value, Source.TOPIC), *inherited))


# ------------------------------------------------------------------------------------------------ DescribeConfigs


async def describe_configs(request: Any, topics: Topics, settings: Mapping[str, str]) -> ApiMessage:
    """The configs of each resource, as often as it is named; ``settings`` are the broker's.

    Loggers, client metrics and groups have none here. There are no texts that explain a config.
    """
    result = admin.DescribeConfigsResponse.DescribeConfigsResult
    results = []
    async for resource in paced(request.resources):
        code, message, configs = 0, "", list[Any]()
        try:
            found = _configs_of(resource, topics, settings)
            wanted = {*(resource.configuration_keys or ())}
            configs = [_described(request, each) for each in found if not wanted or each.name in wanted]
        except _Wrong as wrong:
            code, message = wrong.code, wrong.message or ""
        named = {"resource_type": resource.resource_type, "resource_name": resource.resource_name}
        results.append(result(error_code=code, error_message=message, configs=configs, **named))
    return admin.DescribeConfigsResponse(results=results)


def _configs_of(resource: Any, topics: Topics, settings: Mapping[str, str]) -> list[Shown]:
    name = resource.resource_name
    match resource.resource_type:
        case Resource.TOPIC:
            _check_topic(name, topics, missing="")
            return [*shown_configs(topics.configs(name))]
        case Resource.BROKER:
            _check_broker(name, settings["node.id"])
            return [_of_broker(key, value) for key, value in settings.items()] if name else []
        case Resource.GROUP if not name:
            raise _Wrong(int(Error.INVALID_REQUEST), "Group name must not be empty")
        case Resource.GROUP | Resource.CLIENT_METRICS | Resource.BROKER_LOGGER:
            return []
    raise _Wrong(int(Error.INVALID_REQUEST), INVALID_REQUEST_MESSAGE)


def _check_topic(name: str, topics: Topics, *, missing: str) -> None:
    if why := wrong_name(name):
        raise _Wrong(INVALID_TOPIC, why)
    if topics.partitions(name) is None:
        raise _Wrong(int(Error.UNKNOWN_TOPIC_OR_PARTITION), missing)


def _check_broker(name: str, node: str) -> None:
    """A node answers for itself; an empty name asks for the configs that all brokers share: none here."""
    if name and not name.isdecimal():
        raise _Wrong(int(Error.INVALID_REQUEST), f"Broker id must be an integer, but it is: {name}")
    if name and int(name) != int(node):
        why = f"Unexpected broker id, expected {node} or empty string, but received {name}"
        raise _Wrong(int(Error.INVALID_REQUEST), why)


def _of_broker(name: str, value: str) -> Shown:
    is_flag = value in ("true", "false")
    of_type = ConfigType.BOOLEAN if is_flag else ConfigType.INT if value.isdecimal() else ConfigType.STRING
    return Shown(name, value, Source.BROKER, of_type, ((name, value, Source.BROKER),), is_read_only=True)


def _described(request: Any, config: Shown) -> Any:
    result = admin.DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult
    synonyms = config.synonyms if request.include_synonyms else ()
    return result(
        name=config.name,
        value=config.value,
        read_only=config.is_read_only,
        config_source=config.source,
        is_sensitive=False,
        synonyms=[
            result.DescribeConfigsSynonym(name=name, value=value, source=source) for name, value, source in synonyms
        ],
        config_type=config.type,
        documentation=None,
    )


# ------------------------------------------------------------------------------------------------ changes


async def alter_configs(request: Any, topics: Topics) -> ApiMessage:
    """Change the configs of each resource, or say why not; with ``validate_only`` only say. Only topics have some."""
    result = admin.IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    named = Counter([(each.resource_type, each.resource_name) async for each in paced(request.resources)])
    responses = []
    async for resource in paced(request.resources):
        key = (resource.resource_type, resource.resource_name)
        code, message = 0, None
        try:
            _alter(resource, topics, times_named=named[key], is_tried=request.validate_only)
        except _Wrong as wrong:
            code, message = wrong.code, wrong.message
        responses.append(result(error_code=code, error_message=message, resource_type=key[0], resource_name=key[1]))
    return admin.IncrementalAlterConfigsResponse(responses=responses)


def _alter(resource: Any, topics: Topics, *, times_named: int, is_tried: bool) -> None:
    name = resource.resource_name
    if times_named > 1:
        raise _Wrong(int(Error.INVALID_REQUEST), "Each resource must appear at most once.")
    if len({each.name for each in resource.configs}) < len(resource.configs):
        raise _Wrong(int(Error.INVALID_REQUEST), "Error due to duplicate config keys")
    null = next((each.name for each in resource.configs if _lacks_value(each)), None)
    if null is not None:
        raise _Wrong(int(Error.INVALID_REQUEST), f"Null value not supported for : {null}")
    if resource.resource_type not in {*Resource}:
        raise _Wrong(int(Error.INVALID_REQUEST), f"Unknown resource type {resource.resource_type}")
    if resource.resource_type != Resource.TOPIC:
        names = ", ".join(each.name for each in resource.configs)
        raise _Wrong(int(Error.INVALID_REQUEST), f"Cannot update these configs dynamically: [{names}]")
    _check_topic(name, topics, missing=f"The topic '{name}' does not exist.")
    configs = dict(topics.configs(name))
    for each in resource.configs:
        _apply(each, configs)
    if why := wrong_config(configs):
        raise _Wrong(INVALID_CONFIG, why)
    if not is_tried:
        topics.configure(name, {key: canonical(key, value) for key, value in configs.items()})


def _lacks_value(change: Any) -> bool:
    return change.value is None and change.config_operation != Operation.DELETE


def _apply(change: Any, configs: dict[str, str]) -> None:
    """Do one change to the configs of a topic."""
    known = TOPIC_CONFIGS.get(change.name)
    is_list = known is not None and known.type is ConfigType.LIST
    match change.config_operation:
        case Operation.SET:
            configs[change.name] = change.value
        case Operation.DELETE:
            configs.pop(change.name, None)
        case Operation.APPEND | Operation.SUBTRACT as operation if not is_list:
            why = f"Can't {Operation(operation).name} to key {change.name} because its type is not LIST."
            raise _Wrong(INVALID_CONFIG, why)
        case Operation.APPEND | Operation.SUBTRACT as operation:
            present = items_of(configs.get(change.name, known.default if known is not None else ""))
            named = items_of(change.value)
            kept = [item for item in present if operation == Operation.APPEND or item not in named]
            added = [item for item in named if operation == Operation.APPEND and item not in kept]
            configs[change.name] = ",".join([*kept, *added])
        case _:
            raise _Wrong(int(Error.UNKNOWN_SERVER_ERROR), None)
