"""What a fleet lacks for a pod that fits none of its pools; every answer is applied, and the plan
made again.
"""

from __future__ import annotations

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.fleet import Fleet, read_fleet
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.plan.suggestion.missing_pools import fleet_changes
from dra_planner.sources import Source

MEMORY = 'device.capacity["gpu.nvidia.com"].memory'


def requesting(
    selector: str = "true", device_class: str = "gpu.nvidia.com", gpus: int = 1
) -> Source:
    text = deployment(gpus=gpus).text.replace(
        "deviceClassName: gpu.nvidia.com", f"deviceClassName: {device_class}"
    )
    return Source(
        "web.yaml",
        text.replace("count: ", f"selectors: [{{cel: {{expression: '{selector}'}}}}], count: "),
    )


def fixes(where: Fleet, *sources: Source) -> list[str]:
    """The fixes that name what the fleet lacks, each tried: the changed fleet holds the demand."""
    plan = plan_of(where, *sources)
    assert plan.verdict == "does-not-fit"
    (shape,) = plan.demand.shapes
    for change in fleet_changes(plan.judgement, shape):
        changed = sources
        for edit in change.edits:
            of_class = f"deviceClassName: {edit.name}"
            changed = tuple(
                Source(s.name, s.text.replace("deviceClassName: gpu.nvidia.com", of_class))
                for s in changed
            )
        assert plan_of(change.fleet, *changed).verdict == "fits"
    (workload,) = plan.workloads
    return [reason.fix for reason in workload.reasons if reason.code == "pool-missing"]


L4 = fleet(("g6.2xlarge", {"min": 0, "max": 4}))
A100 = fleet(("p4d.24xlarge", {"min": 0, "max": 1}))


def test_a_larger_gpu_is_named_by_the_cheapest_machines_of_the_region() -> None:
    (fix,) = fixes(L4, requesting(f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'))
    assert fix.startswith(
        "add a pool with machine type g6e.xlarge (1 × NVIDIA L40S, 44.99 GiB each, USD 1.86 "
        "per hour), or "
    )


def test_a_larger_gpu_is_named_on_aks_which_limits_names_of_pools() -> None:
    small = read_fleet(
        {
            **L4.document(),
            "cloud": "aks",
            "region": "eastus",
            "systemPool": {"machine": "Standard_D4s_v5"},
            "pools": [{"name": "t4", "machine": "Standard_NC4as_T4_v3", "count": {"max": 4}}],
        }
    )
    (fix,) = fixes(small, requesting(f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'))
    assert fix.startswith("add a pool with machine type Standard_NC24ads_A100_v4 ")


def test_more_devices_in_one_claim_are_found_on_a_larger_machine() -> None:
    (fix,) = fixes(L4, requesting(gpus=4))
    assert "(4 × NVIDIA L4, 22.49 GiB each" in fix


@pytest.mark.parametrize("profile", ["1g.5gb", "3g.20gb"])
def test_a_pool_without_mig_is_given_the_layout_with_most_instances_of_the_profile(
    profile: str,
) -> None:
    selector = f'device.attributes["gpu.nvidia.com"].profile == "{profile}"'
    (fix,) = fixes(A100, requesting(selector, "mig.nvidia.com"))
    assert fix == f'set `mig: all-{profile}` on pool "p4d-24xlarge"'


def test_a_pool_whose_whole_gpus_are_requested_keeps_them() -> None:
    instances = requesting(
        'device.attributes["gpu.nvidia.com"].profile == "1g.5gb"', "mig.nvidia.com"
    )
    plan = plan_of(A100, deployment("whole"), instances)
    (fix,) = (
        reason.fix
        for each in plan.workloads
        for reason in each.reasons
        if reason.code == "pool-missing"
    )
    assert fix == "add a pool with machine type p4d.24xlarge and `mig: all-1g.5gb`"


def test_an_attribute_of_a_newer_driver_names_that_driver() -> None:
    (fix,) = fixes(L4, requesting('"pciBusID" in device.attributes["resource.kubernetes.io"]'))
    assert fix == 'set `version: 0.5.0` of the NVIDIA driver, for pool "g6-2xlarge"'


def test_a_pod_that_no_machine_type_fits_has_a_sentence_without_a_fix() -> None:
    plan = plan_of(L4, requesting(f'{MEMORY}.compareTo(quantity("9000Gi")) >= 0'))
    (workload,) = plan.workloads
    (reason,) = (each for each in workload.reasons if each.code == "pool-missing")
    assert reason.fix == ""
    assert reason.message.startswith(
        "the pod doesn't fit any machine type with NVIDIA GPUs in us-east-1, neither"
    )


def test_a_pod_that_only_a_taint_keeps_away_needs_no_other_pool() -> None:
    text = deployment().text.replace(
        "tolerations: [{key: nvidia.com/gpu, operator: Exists}]", "tolerations: []"
    )
    assert fixes(L4, Source("web.yaml", text)) == []


def test_instances_are_found_on_machines_of_other_gpus_with_the_layout_that_cuts_them() -> None:
    selector = 'device.attributes["gpu.nvidia.com"].profile == "1g.5gb"'
    (fix,) = fixes(L4, requesting(selector, "mig.nvidia.com"))
    assert fix.startswith("add a pool with machine type p4d.24xlarge (8 × NVIDIA A100-SXM4-40GB")
    assert fix.endswith("and `mig: all-1g.5gb`")


@pytest.mark.parametrize(
    ("selector", "device_class", "driver", "setting"),
    [
        (
            "device.allowMultipleAllocations == true",
            "gpu.nvidia.com",
            "0.5.0",
            (
                "`drivers.nvidia.featureGates.ConsumableShares=true` and "
                "`drivers.nvidia.consumableShares=memory`"
            ),
        ),
        (
            "true",
            "vfio.gpu.nvidia.com",
            "0.4.1",
            "`drivers.nvidia.featureGates.PassthroughSupport=true`",
        ),
    ],
)
def test_a_gate_of_the_driver_is_named_where_it_helps(
    selector: str, device_class: str, driver: str, setting: str
) -> None:
    where = change_fleet(L4, [read_change("kubernetes=1.36"), read_change(f"driver={driver}")])
    (fix,) = fixes(where, requesting(selector, device_class))
    assert fix == f'set {setting} in the fleet, for pool "g6-2xlarge"'


@pytest.mark.parametrize(
    ("selector", "layout"),
    [('type == "mig"', "all-1g.5gb"), ('profile == "3g.20gb"', "all-3g.20gb")],
)
def test_a_selector_for_mig_devices_in_a_claim_of_whole_gpus_names_their_class_and_a_layout(
    selector: str, layout: str
) -> None:
    (fix,) = fixes(A100, requesting(f'device.attributes["gpu.nvidia.com"].{selector}'))
    assert fix == (
        f"use DeviceClass mig.nvidia.com in request gpu of claim gpu, and set `mig: {layout}` on "
        'pool "p4d-24xlarge"'
    )


def test_a_cloud_that_lays_out_no_mig_cuts_gpus_by_claims_with_what_that_takes() -> None:
    where = read_fleet(
        {
            "cloud": "aks",
            "region": "eastus",
            "kubernetes": "1.35",
            "systemPool": {"machine": "Standard_D4s_v5"},
            "drivers": {"nvidia": {"version": "25.8.1"}},
            "pools": [
                {
                    "name": "a100",
                    "machine": "Standard_NC48ads_A100_v4",
                    "count": {"min": 0, "max": 1},
                }
            ],
        }
    )
    (fix,) = fixes(
        where,
        requesting('device.attributes["gpu.nvidia.com"].profile == "1g.10gb"', "mig.nvidia.com"),
    )
    settings = (
        "`kubernetes=1.36`, `drivers.nvidia.version=0.5.0`, "
        "`drivers.nvidia.featureGates.DynamicMIG=true` and "
    )
    assert fix == f'set {settings}`pools.a100.mig=all-enabled` in the fleet, for pool "a100"'
