"""The bytes that consumers exchange through the coordinator: subscriptions in JoinGroup, assignments in SyncGroup."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import RequestObserved
from rebalance_check.properties.engines import CHECKED, Findings, broken, form
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.laws.asking import FAMILY, ONE_MEMBER, observed
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.client import Client
from rebalance_check.properties.views.clients import Clients


def _is_readable(client: Client, sent: RequestObserved) -> Findings:
    kind = "subscription" if sent.api == Api.JOIN_GROUP else "assignment"
    for owner, data in sent.malformed:
        return broken(
            f"{client.name} sends a malformed {kind} for {owner}",
            (f"the {kind} for {owner} in the {sent.api} of {client.name} at {STEP} has the bytes {data or '(none)'}: "
             "contradiction.", sent),
        )  # fmt: skip
    return CHECKED if sent.subscription_version >= 0 or sent.assignments else None


MetadataIsReadable: Final = Invariant(
    name="wire_metadata_is_readable",
    family=FAMILY,
    claim="Kafka's consumer can read each subscription and each assignment that a client sends",
    source="ConsumerProtocol.deserializeSubscription, deserializeAssignment; KIP-429, KIP-792, KIP-881",
    premises=(ONE_MEMBER, "the group is one of consumers, as the protocol type of its JoinGroups says"),
    evidence=Evidence.PRESENCE,
    fold=form(observed(_is_readable, Api.JOIN_GROUP, Api.SYNC_GROUP), views=(Clients,)),
    breaks="""
        RequestObserved(api="JoinGroup", protocols=("range",), protocol_type="consumer", topics=("t",),
                        malformed=(("range", "00010000000100017400000000"),))
    """,
    holds="""
        RequestObserved(api="JoinGroup", protocols=("range",), protocol_type="consumer", topics=("t",),
                        subscription_version=1)
    """,
)

LAWS: Final = declared(__name__)
