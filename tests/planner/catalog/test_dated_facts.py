"""Facts expire: the support calendar, releases of node images, and the days on which facts were
seen.
"""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from dra_planner import catalog
from dra_planner.catalog.dated_facts import dated_facts, fact, outdated
from dra_planner.catalog.image_releases import (
    image_release,
    image_release_fault,
    image_rules,
    unseen_release,
)
from dra_planner.catalog.kubernetes_support import (
    NOTICE,
    SETTLED,
    settled_minor,
    support,
    supported,
)
from dra_planner.catalog.tables import read_table

TODAY = date(2026, 11, 26)


@pytest.mark.parametrize(
    ("cloud", "today", "minor"),
    [
        pytest.param("eks", TODAY, 35, id="EKS 1.35, because 1.34 ends in days"),
        pytest.param("gke", TODAY, 35, id="GKE 1.35"),
        pytest.param("aks", TODAY, 36, id="AKS 1.36"),
        pytest.param("aks", date(2026, 9, 1), 35, id="1.36 is in its first months"),
        pytest.param("eks", date(2026, 3, 1), 34, id="1.35 is in its first months"),
        pytest.param("eks", date(2030, 1, 1), None, id="the calendar is too old"),
    ],
)
def test_new_cluster_uses_the_newest_settled_version(
    cloud: str, today: date, minor: int | None
) -> None:
    assert settled_minor(cloud, today) == minor


def test_end_of_support_is_reported_with_its_price() -> None:
    found = support("eks", 34)
    assert found is not None
    assert found.sentence(TODAY) == (
        "Standard support for Kubernetes 1.34 ends on 2026-12-02. Extended support until "
        "2027-12-02 costs an additional USD 0.50 per cluster per hour."
    )
    assert found.sentence(found.standard_until - NOTICE - timedelta(days=1)) == ""
    assert "ended on 2026-12-02" in found.sentence(date(2026, 12, 3))
    assert "costs" not in found.sentence(date(2028, 1, 1))


def test_calendars_are_in_order() -> None:
    for cloud in catalog.cloud_titles():
        calendar = supported(cloud)
        assert [each.minor for each in calendar] == sorted({each.minor for each in calendar})
        for each in calendar:
            assert each.released is not None
            assert each.released + SETTLED < each.standard_until
            assert each.extended_until is None or each.standard_until < each.extended_until
        assert support(cloud, 1) is None


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("1.34.2-20260115", "20260115"),
        ("v20260917", "20260917"),
        ("AKSUbuntu-2404gen2containerd-202607.02.0", "202607.02.0"),
        ("latest", ""),
        ("1.34.2", ""),
    ],
)
def test_release_is_parsed_from_an_image(text: str, release: str) -> None:
    assert image_release(text) == release


@pytest.mark.parametrize(
    ("cloud", "machine", "image", "fails"),
    [
        ("eks", "g7.12xlarge", "1.35.3-20260901", True),
        ("eks", "g7.12xlarge", "1.35.3-20260917", False),
        ("eks", "g7e.12xlarge", "1.35.3-20260901", False),
        ("eks", "g7.12xlarge", "", False),
        ("aks", "Standard_NV36ads_A10_v5", "AKSUbuntu-2204gen2containerd-202607.02.0", True),
        ("aks", "Standard_NV36ads_A10_v5", "AKSUbuntu-2204gen2containerd-202607.03.0", False),
        ("aks", "Standard_NV36ads_A10_v5", "AKSUbuntu-2204gen2containerd-202605.01.0", True),
        ("aks", "Standard_NC24ads_A100_v4", "AKSUbuntu-2204gen2containerd-202607.02.0", False),
    ],
)
def test_machine_types_that_fail_with_an_image_are_known(
    cloud: str, machine: str, image: str, fails: bool
) -> None:
    assert bool(image_release_fault(cloud, machine, image)) is fails


def test_every_image_rule_covers_a_machine_type_and_has_one_limit() -> None:
    for rule in image_rules():
        assert any(rule.covers(each.name) for each in catalog.machines(rule.cloud)), rule
        assert bool(rule.first) is not bool(rule.broken), rule


def test_unknown_newer_image_is_reported() -> None:
    assert "newer than 20260917" in unseen_release("eks", "1.35.4-20261101")
    assert unseen_release("eks", "1.35.4-20260917") == ""
    assert unseen_release("gke", "1.35.4-20260917") == ""


def test_outdated_facts_have_a_source_to_check() -> None:
    first = dated_facts()[0]
    assert not first.is_outdated(first.true_until)
    assert first.is_outdated(first.true_until + timedelta(days=1))
    assert all(each.verify and each.about for each in dated_facts())
    assert all(each in dated_facts() for each in outdated(TODAY))
    assert outdated(date(2020, 1, 1)) == ()
    assert len(outdated(date(2030, 1, 1))) == len(dated_facts())


def test_table_has_one_date_per_source() -> None:
    prices = {each.source: each.seen_on for each in dated_facts() if each.key == "prices"}
    oldest: dict[str, str] = {}
    for row in read_table("prices"):
        if row["as_of"]:
            key = row["source"].split()[0]
            oldest[key] = min(oldest.get(key, row["as_of"]), row["as_of"])
    assert {key: str(prices[key]) for key in oldest} == oldest


def test_every_table_of_a_fact_has_dates() -> None:
    for row in read_table("facts"):
        assert fact(row["fact"]) is not None, row
        assert bool(row["newest"] or row["table"]), row
