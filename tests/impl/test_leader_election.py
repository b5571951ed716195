"""Leader election: whom the rules choose, what goes over the wire, and that a group has one primary at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.elector import PRIMARY, ElectionFailed, LeaderElector, elect
from rebalance_check.impl.protocol.leader_election import (
    DUPLICATE_URLS,
    NO_ERROR,
    Election,
    Identity,
    read_election,
    read_identity,
    write_election,
    write_identity,
)
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback
from rebalance_check.model.vocabulary.events import TaskStarted, TaskStopped
from rebalance_check.properties.judge import judge

A, B, C = (Identity(host, 8081, scheme="http") for host in "abc")
CLAIMS_B = Identity("b", 8081, scheme="http", leader=True)
CLAIMS_C = Identity("c", 8081, scheme="http", leader=True)
NOT_ELIGIBLE = Identity("a", 8081, master_eligibility=False, scheme="http", leader=True)

# ------------------------------------------------------------------------------------------------ bytes


def test_an_identity_has_the_bytes_that_schema_registry_writes() -> None:
    written = b'{"host":"h","port":8081,"master_eligibility":true,"scheme":"http","version":1,"leader":false}'

    assert write_identity(Identity("h", 8081, scheme="http")) == written
    assert read_identity(written) == Identity("h", 8081, scheme="http")


def test_an_election_has_the_bytes_that_schema_registry_writes() -> None:
    assert write_election(elect({"m-1": A})) == (
        b'{"error":0,"master":"m-1","master_identity":{"host":"a","port":8081,"master_eligibility":true,'
        b'"scheme":"http","version":1,"leader":false},"version":1}'
    )
    assert write_election(elect({"m-1": NOT_ELIGIBLE})) == b'{"error":0,"version":1}'


def test_fields_that_are_missing_or_unknown_are_read_as_java_reads_them() -> None:
    read = read_identity(b'{"port":1,"host":"h","zone":"z"}')

    assert (read.leader, read.scheme, read.url) == (False, UNSET, "null://h:1")
    assert read_election(b'{"error":0,"master":"m-1","master_identity":{"host":"h","port":1}}').version == 1


@pytest.mark.parametrize("data", [b"", b"\x00\x01", b"[]", b'{"host":1,"port":2}', b'{"port":2}', b"\xff"])
def test_bytes_that_are_no_identity_are_refused(data: bytes) -> None:
    with pytest.raises(MalformedBytes, match="cannot read an identity"):
        read_identity(data)


# ------------------------------------------------------------------------------------------------ rules


def test_the_smallest_url_is_elected() -> None:
    assert elect({"m-2": C, "m-1": B, "m-3": A}).master == "m-3"


def test_urls_are_compared_as_text() -> None:
    assert elect({"m-1": Identity("a", 9000), "m-2": Identity("a", 10000)}).master == "m-2"


def test_who_is_not_eligible_is_not_elected() -> None:
    assert elect({"m-1": NOT_ELIGIBLE, "m-2": B}).master == "m-2"
    assert elect({"m-1": NOT_ELIGIBLE}) == Election()


@pytest.mark.parametrize(
    ("candidates", "master"),
    [
        ({"m-1": A, "m-2": CLAIMS_B, "m-3": C}, "m-2"),
        ({"m-1": A, "m-2": CLAIMS_B, "m-3": CLAIMS_C}, "m-1"),
        ({"m-1": NOT_ELIGIBLE, "m-2": B, "m-3": CLAIMS_C}, "m-3"),
    ],
)
def test_a_sticky_election_keeps_the_one_who_claims_the_role(candidates: dict[str, Identity], master: str) -> None:
    assert elect(candidates, sticky=True).master == master


def test_claims_count_for_nothing_unless_elections_are_sticky() -> None:
    assert elect({"m-1": A, "m-2": CLAIMS_B}).master == "m-1"


def test_members_that_share_a_url_make_the_election_fail__and_learn_whom_it_would_have_been() -> None:
    failed = elect({"m-1": B, "m-2": B})

    assert (failed.error, failed.master, failed.master_identity) == (DUPLICATE_URLS, "m-1", B)


identities = st.builds(
    Identity, st.sampled_from("abcd"), st.integers(1, 3), st.booleans(), leader=st.booleans(), scheme=st.just("http")
)


@given(st.dictionaries(st.sampled_from(["m-1", "m-2", "m-3", "m-4"]), identities, min_size=1), st.booleans())
def test_the_elected_leader_is_an_eligible_member__in_whatever_order_they_stand(
    candidates: dict[str, Identity], sticky: bool
) -> None:
    election = elect(candidates, sticky=sticky)

    assert election == elect(dict(reversed(candidates.items())), sticky=sticky)
    assert read_election(write_election(election)) == election
    if any(identity.master_eligibility for identity in candidates.values()):
        assert isinstance(election.master, str)
        assert candidates[election.master].master_eligibility
        assert candidates[election.master] == election.master_identity
    else:
        assert election.master is UNSET


# ------------------------------------------------------------------------------------------------ members


class Environment(Loopback):
    """Candidates in one group."""

    def start(self, member: str, identity: Identity, *, sticky: bool = False) -> None:
        config = ClientConfig(group_id="g", client_id=member, session_timeout_ms=10_000, rebalance_timeout_ms=60_000)

        def build(recorder: Recorder) -> LeaderElector:
            return LeaderElector(config, recorder, member=member, identity=identity, sticky=sticky)

        self.add(build, group="g", member=member)

    def elector(self, member: str) -> LeaderElector:
        client = self.clients[member]
        assert isinstance(client, LeaderElector)
        return client

    def primaries(self) -> list[str]:
        return [member for member in self.clients if self.elector(member).is_primary]


def test_a_candidate_joins_the_kind_of_group_that_schema_registry_forms() -> None:
    environment = Environment()
    environment.start("m0", A)
    elector = environment.elector("m0")

    assert (elector.protocol_type(), elector.metadata()) == ("sr", [("v0", write_identity(A))])


def test_all_members_agree_on_one_primary() -> None:
    environment = Environment()
    for member, identity in (("m0", C), ("m1", A), ("m2", B)):
        environment.start(member, identity)
    environment.run(10_000)

    assert environment.primaries() == ["m1"]
    assert [environment.elector(member).primary for member in environment.clients] == [A, A, A]
    judge(environment.events).check(allow_undecided=True)  # the run goes on


def test_another_takes_over__when_the_primary_leaves() -> None:
    environment = Environment()
    environment.start("m0", A)
    environment.start("m1", B)
    environment.run(10_000)
    environment.close("m0")
    environment.run(10_000)

    assert environment.primaries() == ["m1"]
    roles = [(type(e).__name__, e.member) for e in environment.events if isinstance(e, TaskStarted | TaskStopped)]
    assert roles == [("TaskStarted", "m0"), ("TaskStopped", "m0"), ("TaskStarted", "m1")]


def test_another_takes_over__when_the_session_of_the_primary_ends() -> None:
    environment = Environment()
    environment.start("m0", A)
    environment.start("m1", B)
    environment.run(10_000)
    environment.kill("m0")
    environment.run(80_000)

    assert environment.primaries() == ["m1"]


def test_nobody_is_the_primary_while_it_is_decided() -> None:
    environment = Environment()
    environment.start("m0", B)
    environment.run(5_000)
    assert environment.primaries() == ["m0"]
    environment.start("m1", A)
    environment.run(5_000)

    assert environment.primaries() == ["m1"]
    tasks = [(type(e).__name__, e.member) for e in environment.events if isinstance(e, TaskStarted | TaskStopped)]
    assert tasks == [("TaskStarted", "m0"), ("TaskStopped", "m0"), ("TaskStarted", "m1")]


def test_a_sticky_primary_stays__though_a_smaller_url_comes() -> None:
    environment = Environment()
    environment.start("m0", B, sticky=True)
    environment.run(5_000)
    environment.start("m1", A, sticky=True)
    environment.run(5_000)

    assert environment.primaries() == ["m0"]
    assert environment.elector("m1").primary is not None
    assert [e.task for e in environment.events if isinstance(e, TaskStopped)] == []


def test_with_nobody_eligible_all_know_that_there_is_no_primary() -> None:
    environment = Environment()
    environment.start("m0", NOT_ELIGIBLE)
    environment.run(5_000)

    assert (environment.primaries(), environment.elector("m0").primary) == ([], None)
    assert not environment.elector("m0").rejoin_needed_or_pending()


def test_an_election_that_failed_is_raised_at_each_poll() -> None:
    environment = Environment()
    environment.start("m0", A)
    environment.run(1_000)
    environment.start("m1", A)
    with pytest.raises(ElectionFailed, match="error 1: two members use one URL"):
        environment.run(5_000)
    for _ in range(2):
        with pytest.raises(ElectionFailed):
            environment.elector("m0").poll(environment.now_ms)


def test_the_role_is_part_of_what_an_answer_gives() -> None:
    environment = Environment()
    environment.start("m0", A)
    environment.run(1_000)
    elector = environment.elector("m0")
    mine = Election(NO_ERROR, elector.member_id(), A)

    assert elector.describe_assignment(write_election(mine)) == (PRIMARY,)
    assert elector.describe_assignment(write_election(Election(NO_ERROR, "m1-1", B))) == ()
    assert elector.describe_assignment(b"nonsense") == ()
