"""The list of known findings: what its entries account for, and how a file of them is read and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.known import KnownEntry, KnownFindings, read_known

CLAIM = "one_leader"


def entry(finding: str) -> KnownEntry:
    return KnownEntry(claim=CLAIM, finding=finding, reason="planted")


@pytest.mark.parametrize(
    ("finding", "headline", "accounts"),
    [
        ("*", "anything at all", True),
        ("m0 leads generation 3", "m1 leads generation 17", True),
        ("m# leads generation #", "m1 leads generation 17", True),
        ("m# leads*", "m1 leads generation 17", True),
        ("*generation #", "m1 leads generation 17", True),
        ("m# leads", "m1 leads generation 17", False),
        ("m# leads [generation] #", "m1 leads generation 17", False),
        ("m. leads generation #", "m1 leads generation 17", False),
    ],
)
def test_an_entry_accounts_for_findings_that_differ_in_their_numbers(
    finding: str, headline: str, accounts: bool
) -> None:
    assert entry(finding).accounts_for(CLAIM, headline) is accounts
    assert not entry(finding).accounts_for("one_protocol", headline)


def test_the_first_entry_that_accounts_for_a_finding_counts() -> None:
    narrow, wide = entry("m# leads"), entry("*")
    assert KnownFindings((narrow, wide)).entry_for(CLAIM, "m3 leads") is narrow
    assert KnownFindings((narrow, wide)).entry_for(CLAIM, "m3 follows") is wide
    assert KnownFindings((narrow,)).entry_for(CLAIM, "m3 follows") is None


def test_a_file_is_a_table_for_each_finding(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(
        '[[known]]\nclaim = "one_leader"\nreason = "KAFKA-1"\n\n'
        '[[known]]\nclaim = "one_leader"\nfinding = "m# leads"\nof = "a client"\nreason = "KAFKA-2"\n',
        encoding="utf-8",
    )
    assert read_known(path).entries == (
        KnownEntry(claim="one_leader", reason="KAFKA-1"),
        KnownEntry(claim="one_leader", finding="m# leads", of="a client", reason="KAFKA-2"),
    )
    assert [str(each) for each in read_known(path).entries] == [
        "known: one_leader",
        "known of a client: one_leader: m# leads",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("known = ", "is no TOML"),
        ("", "holds nothing: write a [[known]] table"),
        ("other = 1", "holds other"),
        ("known = 1", "write a [[known]] table"),
        ("known = [1]", "entry 1 of"),
        ('[[known]]\nclaim = "one_leader"', "has no reason"),
        ('[[known]]\nreason = "x"', "has no claim"),
        ('[[known]]\nclaim = "one_leader"\nreason = ""', "none of them empty"),
        (
            '[[known]]\nclaim = "one_leader"\nreason = "x"\nseed = "4"',
            "has seed: choose from claim",
        ),
        ('[[known]]\nclaim = "one_reader"\nreason = "x"', "'one_reader' names no invariant"),
    ],
)
def test_a_file_that_does_not_serve_is_refused_with_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "known.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RebalanceCheckError) as refused:
        read_known(path)
    assert said in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RebalanceCheckError, match=r"missing\.toml cannot be read"):
        read_known(tmp_path / "missing.toml")
