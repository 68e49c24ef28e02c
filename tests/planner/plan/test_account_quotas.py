"""Exports of account quotas: they count the right machine types, and a plan reports by how much
they are too small.
"""

from __future__ import annotations

from typing import Any

import pytest
from plan_builders import fleet

from dra_planner.clouds.account_quotas import AccountQuota, read_account_quotas
from dra_planner.fleet import read_fleet
from dra_planner.plan.pools.account_quotas import fleet_quotas, pools_without_quota, quota_uses

P, G = "Running On-Demand P instances", "Running On-Demand G and VT instances"
STANDARD, P5_SPOT = (
    "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
    "All P5 Spot Instance Requests",
)


def aws(**values: float) -> dict[str, Any]:
    names = {
        "p": P,
        "g": G,
        "standard": STANDARD,
        "p5_spot": P5_SPOT,
        "hosts": "Running Dedicated p4d Hosts",
    }
    rows = [
        {"QuotaCode": f"L-{key}", "QuotaName": names[key], "Value": value}
        for key, value in values.items()
    ]
    return {"Quotas": rows}


def azure(**limits: tuple[int, int]) -> list[dict[str, Any]]:
    return [
        {
            "name": {"value": name, "localizedValue": name},
            "localName": name,
            "limit": str(limit),
            "currentValue": str(used),
        }
        for name, (limit, used) in limits.items()
    ]


def google(**limits: tuple[float, float]) -> dict[str, Any]:
    return {
        "name": "us-central1",
        "quotas": [{"metric": k, "limit": v, "usage": u} for k, (v, u) in limits.items()],
    }


def quotas(data: Any) -> dict[str, AccountQuota]:
    found = read_account_quotas(data)
    assert found is not None
    return {each.name: each for each in found[1]}


EC2 = aws(p=96, g=8, standard=5, p5_spot=192, hosts=1)
AZURE = azure(
    cores=(100, 4),
    standardNCASv3_T4Family=(64, 0),
    StandardNCADSA100v4Family=(48, 24),
    standardNDSv2Family=(0, 0),
    standardDSv5Family=(10, 0),
    standardDDSv5Family=(10, 0),
    StandardNDASv4_A100Family=(96, 0),
    lowPriorityCores=(100, 0),
)
GOOGLE = google(
    NVIDIA_L4_GPUS=(4, 1),
    NVIDIA_A100_GPUS=(8, 0),
    NVIDIA_A100_80GB_GPUS=(0, 0),
    PREEMPTIBLE_NVIDIA_T4_GPUS=(1, 0),
    G2_CPUS=(24, 0),
    NETWORKS=(5, 1),
)
COUNTED = [
    (EC2, P, "p5.48xlarge", "on-demand", True),
    (EC2, P, "p5.48xlarge", "spot", False),
    (EC2, G, "g6e.12xlarge", "on-demand", True),
    (EC2, G, "p5.48xlarge", "on-demand", False),
    (EC2, STANDARD, "m7i.large", "on-demand", True),
    (EC2, STANDARD, "inf2.xlarge", "on-demand", False),
    (EC2, P5_SPOT, "p5en.48xlarge", "spot", True),
    (EC2, P5_SPOT, "p4d.24xlarge", "spot", False),
    (AZURE, "standardNCASv3_T4Family", "Standard_NC64as_T4_v3", "on-demand", True),
    (AZURE, "StandardNCADSA100v4Family", "Standard_NC24ads_A100_v4", "on-demand", True),
    (AZURE, "StandardNCADSA100v4Family", "Standard_NC64as_T4_v3", "on-demand", False),
    (AZURE, "standardDSv5Family", "Standard_D4s_v5", "on-demand", True),
    (AZURE, "lowPriorityCores", "Standard_NC64as_T4_v3", "spot", True),
    (GOOGLE, "NVIDIA_L4_GPUS", "g2-standard-8", "on-demand", True),
    (GOOGLE, "NVIDIA_A100_GPUS", "a2-highgpu-1g", "on-demand", True),
    (GOOGLE, "NVIDIA_A100_GPUS", "a2-ultragpu-1g", "on-demand", False),
    (GOOGLE, "PREEMPTIBLE_NVIDIA_T4_GPUS", "n1-standard-8+nvidia-tesla-t4:2", "spot", True),
    (GOOGLE, "G2_CPUS", "g2-standard-8", "on-demand", True),
]


@pytest.mark.parametrize(("data", "name", "machine", "capacity", "counts"), COUNTED)
def test_quota_counts_the_machine_types_of_its_family(
    data: Any, name: str, machine: str, capacity: str, counts: bool
) -> None:
    (row,) = fleet_quotas([quotas(data)[name]])
    assert row.counts(machine, capacity) is counts


def test_unrelated_quotas_are_skipped() -> None:
    assert set(quotas(EC2)) == {P, G, STANDARD, P5_SPOT}
    assert "cores" not in quotas(AZURE)
    assert "NETWORKS" not in quotas(GOOGLE)
    for data in ({}, [], "text", {"Quotas": []}, {"quotas": [{"limit": 1}]}, [{"name": 1}]):
        assert read_account_quotas(data) is None


ODD: tuple[Any, ...] = (
    None,
    -1,
    True,
    [],
    {},
    float("inf"),
    float("nan"),
    "²",
    "9" * 5000,
    10**30,
    "\0",
)


@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:20])
def test_odd_value_causes_no_exception(value: Any) -> None:
    planned = fleet(("p5.48xlarge", {"max": 4}), ("g6.2xlarge", {"max": 2}))
    for rows, export in ((EC2["Quotas"], aws), (AZURE, azure), (GOOGLE["quotas"], google)):
        for key in rows[0]:
            changed = [{**row, key: value} for row in rows]
            data: Any = (
                changed if export is azure else {"Quotas" if export is aws else "quotas": changed}
            )
            found = read_account_quotas(data)
            uses = quota_uses(planned, found[1], {}) if found is not None else ()
            assert all(use.missing >= 0 for use in uses)


def test_usage_reduces_the_free_quota() -> None:
    assert quotas(AZURE)["StandardNCADSA100v4Family"].free == 24
    assert quotas(GOOGLE)["NVIDIA_L4_GPUS"].free == 3


def test_missing_quota_is_the_need_beyond_the_free_quota() -> None:
    planned = fleet(("p5.48xlarge", {"max": 4}), ("g6.2xlarge", {"max": 2}))
    names = [pool.name for pool in planned.pools]
    uses = {
        use.quota.name: use
        for use in quota_uses(planned, list(quotas(EC2).values()), dict.fromkeys(names, 1))
    }
    assert (uses[P].planned, uses[P].at_most, uses[P].missing) == (192, 768, 96)
    assert (uses[G].planned, uses[G].at_most, uses[G].missing) == (8, 16, 0)
    assert (
        uses[P]
        .quota.request(192)
        .startswith("aws service-quotas request-service-quota-increase --service-code ec2")
    )
    assert "--quota-code L-p --desired-value 192" in uses[P].quota.request(192)


def test_pool_without_a_known_quota_is_unknown() -> None:
    document = {
        "cloud": "gke",
        "region": "us-central1",
        "kubernetes": "1.35",
        "systemPool": {"machine": "e2-standard-4"},
        "drivers": {"nvidia": {"version": "25.12.0"}},
        "network": {"zones": ["us-central1-a"]},
        "pools": [
            {"name": "h100", "machine": "a3-highgpu-8g", "count": {"max": 1}},
            {"name": "l4", "machine": "g2-standard-8", "count": {"max": 1}},
        ],
    }
    assert pools_without_quota(read_fleet(document), list(quotas(GOOGLE).values())) == ["h100"]
