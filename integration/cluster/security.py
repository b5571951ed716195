"""The settings of a client, from a properties file as Kafka's own tools take it (``--command-config``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

LOGIN: Final = re.compile(r'(?P<name>username|password)\s*=\s*"(?P<value>(?:[^"\\]|\\.)*)"')
_LINE: Final = re.compile(r"^\s*(?P<key>[^#!\s=:][^\s=:]*)\s*[=:\s]\s*(?P<value>.*?)\s*$")
_PEM_ONLY: Final = (
    "{key} names a {kind} store, and this client reads PEM: convert it (`keytool -exportcert -rfc`, `openssl pkcs12`) "
    "and set {prefix}.type=PEM"
)

_DIRECT: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "security.protocol": ("security_protocol", str),
    "sasl.mechanism": ("sasl_mechanism", str),
    "sasl.kerberos.service.name": ("sasl_kerberos_service_name", str),
    "ssl.key.password": ("ssl_password", str),
    "ssl.cipher.suites": ("ssl_ciphers", lambda text: text.replace(",", ":")),
    "client.id": ("client_id", str),
    "request.timeout.ms": ("request_timeout_ms", int),
}
_STORES: Final[Mapping[str, tuple[str, ...]]] = {
    "ssl.truststore": ("ssl_cafile",),
    "ssl.keystore": ("ssl_certfile", "ssl_keyfile"),
}


def client_settings(path: Path | None) -> dict[str, Any]:
    """kafka-python's settings from a properties file; none without one. Settings that do not concern a client are left.

    Raises:
        RebalanceCheckError: the file cannot be read, a number is none, or a store is no PEM file.
    """
    if path is None:
        return {}
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RebalanceCheckError(f"the settings {str(path)!r} cannot be read: {error}") from error
    return settings_of(properties(text))


def properties(text: str) -> dict[str, str]:
    """The pairs of a properties file: comments and continued lines as Java reads them."""
    joined = re.sub(r"\\\r?\n\s*", "", text)
    found = (_LINE.match(line) for line in joined.splitlines())
    return {one["key"]: one["value"] for one in found if one is not None}


def settings_of(values: Mapping[str, str]) -> dict[str, Any]:
    """kafka-python's settings of Kafka's.

    Raises:
        RebalanceCheckError: a number is none, or a store is no PEM file.
    """
    settings: dict[str, Any] = {}
    for key, (name, read) in _DIRECT.items():
        if key in values:
            try:
                settings[name] = read(values[key])
            except ValueError:
                raise RebalanceCheckError(f"{key} is {values[key]!r}, and a number is needed") from None
    for prefix, names in _STORES.items():
        settings |= dict.fromkeys(names, _pem(values, prefix)) if f"{prefix}.location" in values else {}
    if values.get("ssl.endpoint.identification.algorithm") == "":
        settings["ssl_check_hostname"] = False
    logins = {one["name"]: one["value"] for one in LOGIN.finditer(values.get("sasl.jaas.config", ""))}
    if logins:
        settings |= {f"sasl_plain_{name}": value.replace("\\", "") for name, value in logins.items()}
    return settings


def _pem(values: Mapping[str, str], prefix: str) -> str:
    kind = values.get(f"{prefix}.type", "JKS")
    if kind.upper() != "PEM":
        raise RebalanceCheckError(_PEM_ONLY.format(key=f"{prefix}.location", kind=kind, prefix=prefix))
    return values[f"{prefix}.location"]
