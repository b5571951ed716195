"""What claims about assignments are built on: each SyncGroup, with the reply to the JoinGroup that it follows."""

from __future__ import annotations

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import RequestObserved
from rebalance_check.properties.wire.client import Client
from rebalance_check.properties.wire.errors import CONSUMER
from rebalance_check.properties.wire.rounds import Round
from rebalance_check.properties.wire.wire_fold import RequestFold


class SyncFold(RequestFold):
    """Looks at the SyncGroups of clients that know who leads, with the JoinGroups of the members in that generation."""

    apis = frozenset({Api.SYNC_GROUP})

    def look(self, client: Client, event: RequestObserved) -> None:
        """The request belongs to the generation of the client's last accepted JoinGroup."""
        round_ = client.round
        if round_ is not None and round_.generation == event.request_generation:
            self.compare(client, round_, event)

    def compare(self, client: Client, round_: Round, event: RequestObserved) -> None:
        """Compare the SyncGroup with the reply to the JoinGroup."""

    def joins(self, round_: Round) -> dict[str, RequestObserved]:
        """The JoinGroups of the members that the leader was listed, as far as they passed the recorder."""
        listed = dict(round_.joined.members)
        return {member: join for member, join in self.memory.joins_of(round_.generation).items() if member in listed}


class AssignmentFold(SyncFold):
    """Looks at assignments of leaders that had to compute one."""

    def compare(self, client: Client, round_: Round, event: RequestObserved) -> None:
        """A leader by the reply, that must not skip it."""
        joined = round_.joined
        leads = joined.leader == joined.assigned_member_id and bool(joined.members) and not joined.skip_assignment
        if leads and round_.join.protocol_type == CONSUMER:
            self.compare_assignment(client, round_, event)

    def compare_assignment(self, client: Client, round_: Round, event: RequestObserved) -> None:
        """Compare what the leader assigns."""
