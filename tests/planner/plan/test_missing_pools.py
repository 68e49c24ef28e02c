"""The missing part of a fleet for a pod that doesn't fit any pool. Each test applies the fix and
plans again.
"""

from __future__ import annotations

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.fleet import Fleet, read_fleet
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.model import Toleration
from dra_planner.plan.suggestion.missing.missing_pools import fleet_changes
from dra_planner.sources import Source

TOLERANT = "tolerations: [{key: nvidia.com/gpu, operator: Exists}]"
INTOLERANT = "tolerations: []"
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
    """Return the fixes that add the missing part to the fleet, after checking that the demand fits
    on each changed fleet.
    """
    plan = plan_of(where, *sources)
    assert plan.verdict == "does-not-fit"
    (shape,) = plan.demand.shapes
    for change in fleet_changes(plan.judgement, shape):
        changed = sources
        for edit in change.edits:
            if isinstance(edit.toleration, Toleration):
                changed = tuple(
                    Source(s.name, s.text.replace(INTOLERANT, TOLERANT)) for s in changed
                )
                continue
            of_class = f"deviceClassName: {edit.name}"
            changed = tuple(
                Source(s.name, s.text.replace("deviceClassName: gpu.nvidia.com", of_class))
                for s in changed
            )
        assert plan_of(change.fleet, *changed).running == "fits"
    (workload,) = plan.workloads
    return [reason.fix for reason in workload.reasons if reason.code == "pool-missing"]


L4 = fleet(("g6.2xlarge", {"min": 0, "max": 4}))
A100 = fleet(("p4d.24xlarge", {"min": 0, "max": 1}))


def test_larger_gpu_is_suggested_on_the_cheapest_machine_types() -> None:
    (fix,) = fixes(L4, requesting(f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'))
    assert fix.startswith(
        "add a pool with one of these machine types: g6e.xlarge (1 × NVIDIA L40S, 44.99 GiB "
        "each, USD 1.86 per hour), "
    )


def test_suggested_pool_on_aks_has_a_short_name() -> None:
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
    assert fix.startswith("add a pool with one of these machine types: Standard_NC24ads_A100_v4 ")


def test_several_devices_in_a_claim_need_a_larger_machine_type() -> None:
    (fix,) = fixes(L4, requesting(gpus=4))
    assert "(4 × NVIDIA L4, 22.49 GiB each" in fix


@pytest.mark.parametrize("profile", ["1g.5gb", "3g.20gb"])
def test_suggested_mig_configuration_has_most_instances_of_the_profile(
    profile: str,
) -> None:
    selector = f'device.attributes["gpu.nvidia.com"].profile == "{profile}"'
    (fix,) = fixes(A100, requesting(selector, "mig.nvidia.com"))
    assert fix == f'set `mig: all-{profile}` on pool "p4d-24xlarge"'


def test_pool_with_requested_whole_gpus_is_not_partitioned() -> None:
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
    assert fix == (
        "add a pool with machine type p4d.24xlarge (8 × NVIDIA A100-SXM4-40GB, 40 GiB each, USD "
        "21.96 per hour) and `mig: all-1g.5gb`"
    )


def test_attribute_of_a_newer_driver_suggests_that_version() -> None:
    (fix,) = fixes(L4, requesting('"pciBusID" in device.attributes["resource.kubernetes.io"]'))
    assert fix == (
        'set the NVIDIA driver version to 0.5.0, so that the pod fits in pool "g6-2xlarge"'
    )


def test_pod_that_fits_no_machine_type_has_a_reason_without_a_fix() -> None:
    plan = plan_of(L4, requesting(f'{MEMORY}.compareTo(quantity("9000Gi")) >= 0'))
    (workload,) = plan.workloads
    (reason,) = (each for each in workload.reasons if each.code == "pool-missing")
    assert reason.fix == ""
    assert reason.message.startswith(
        "no machine type with NVIDIA GPUs in us-east-1 fits the pod, with or without MIG"
    )


def test_pod_that_lacks_only_a_toleration_needs_no_other_pool() -> None:
    text = deployment().text.replace(TOLERANT, INTOLERANT)
    assert fixes(L4, Source("web.yaml", text)) == []


@pytest.mark.parametrize(
    ("source", "machine"),
    [
        (requesting(f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'), "g6e.xlarge"),
        (requesting(gpus=8), "g4dn.metal"),
        (requesting('device.attributes["gpu.nvidia.com"].productName == "NVIDIA B200"'),
         "p6-b200.48xlarge"),
    ],
    ids=["memory", "number of GPUs", "product"],
)  # fmt: skip
def test_pod_that_also_lacks_a_toleration_gets_both_changes(source: Source, machine: str) -> None:
    (fix,) = fixes(L4, Source("web.yaml", source.text.replace(TOLERANT, INTOLERANT)))
    assert fix.startswith("add to the pod's tolerations: {key: nvidia.com/gpu, ")
    assert ", and add a pool with " in fix
    assert f" {machine} (" in fix


INSTANCE_TYPE = "node.kubernetes.io/instance-type"
OF_TYPES = (
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    f"[{{matchExpressions: [{{key: {INSTANCE_TYPE}, operator: In, values: [p5.48xlarge]}}]}}]}}}}}}"
)


@pytest.mark.parametrize(
    "selection",
    [f"{TOLERANT}\n      nodeSelector: {{{INSTANCE_TYPE}: p5.48xlarge}}",
     f"{TOLERANT}\n      {OF_TYPES}",
     f"{INTOLERANT}\n      nodeSelector: {{{INSTANCE_TYPE}: p5.48xlarge}}"],
    ids=["selector", "affinity", "selector without toleration"],
)  # fmt: skip
def test_pod_for_another_machine_type_gets_a_pool_of_that_type(selection: str) -> None:
    (fix,) = fixes(L4, Source("web.yaml", deployment().text.replace(TOLERANT, selection)))
    assert "add a pool with machine type p5.48xlarge (8 × NVIDIA H100 80GB HBM3" in fix


@pytest.mark.parametrize(
    "selection",
    [{INSTANCE_TYPE: "m7i.large"}, {INSTANCE_TYPE: "p5.48xlarge", "team": "a"}, {"team": "a"}],
    ids=["machine type without GPUs", "another label, too", "only another label"],
)
def test_no_pool_is_suggested_for_labels_of_no_gpu_machine_type(selection: dict[str, str]) -> None:
    labels = ", ".join(f"{key}: {value}" for key, value in selection.items())
    text = deployment().text.replace(TOLERANT, f"{TOLERANT}\n      nodeSelector: {{{labels}}}")
    assert fixes(L4, Source("web.yaml", text)) == []


def test_mig_devices_are_suggested_on_other_machine_types() -> None:
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
def test_driver_gate_is_suggested_if_it_helps(
    selector: str, device_class: str, driver: str, setting: str
) -> None:
    where = change_fleet(L4, [read_change("kubernetes=1.36"), read_change(f"driver={driver}")])
    (fix,) = fixes(where, requesting(selector, device_class))
    assert fix == f'set {setting} in the fleet, so that the pod fits in pool "g6-2xlarge"'


USE_CLASS = 'use DeviceClass mig.nvidia.com in request "gpu", and '


def test_mig_selector_on_whole_gpus_suggests_class_and_configuration() -> None:
    selector = 'device.attributes["gpu.nvidia.com"].profile == "3g.20gb"'
    (fix,) = fixes(A100, requesting(selector))
    assert fix == f'{USE_CLASS}set `mig: all-3g.20gb` on pool "p4d-24xlarge"'


def test_cheaper_new_pools_come_before_an_expensive_existing_pool() -> None:
    (fix,) = fixes(A100, requesting('device.attributes["gpu.nvidia.com"].type == "mig"'))
    cheapest, second, own = fix.split(", or ")
    assert cheapest.startswith(f"{USE_CLASS}add a pool with machine type g7e.2xlarge ")
    assert second.startswith("add a pool with machine type p5.4xlarge ")
    assert own == (
        'set `mig: all-1g.5gb` on pool "p4d-24xlarge" (USD 21.96 per hour for each node)'
    )


@pytest.mark.parametrize(
    ("case", "pools", "first"),
    [
        (
            "nodes that exist anyway",
            [("p5.48xlarge", {"min": 1, "max": 2})],
            'set `mig: all-1g.10gb` on pool "p5-48xlarge"',
        ),
        (
            "nodes that only this pod needs",
            [("p5.48xlarge", {"min": 0, "max": 2})],
            "add a pool with machine type p5.4xlarge (",
        ),
        (
            "the cheaper of two pools",
            [("p5.48xlarge", {"min": 0, "max": 2}), ("p5.4xlarge", {"min": 0, "max": 2})],
            'set `mig: all-1g.10gb` on pool "p5-4xlarge"',
        ),
        (
            "a pool with nodes before a cheaper one without",
            [("p5.48xlarge", 1), ("p5.4xlarge", {"min": 0, "max": 2})],
            'set `mig: all-1g.10gb` on pool "p5-48xlarge"',
        ),
    ],
)
def test_cheapest_way_to_mig_devices_comes_first(
    case: str, pools: list[tuple[str, object]], first: str
) -> None:
    selector = 'device.attributes["gpu.nvidia.com"].profile == "1g.10gb"'
    where = change_fleet(fleet(*pools), [read_change("driver=0.4.1")])
    (fix,) = fixes(where, requesting(selector, "mig.nvidia.com"))
    assert fix.startswith(first), case
    assert (", or " in fix) == (first[:3] == "add")


def test_whole_gpus_are_suggested_on_a_cheaper_new_pool() -> None:
    (row,) = fleet(("p5.4xlarge", {"min": 0, "max": 2})).document()["pools"]
    where = read_fleet({**L4.document(), "pools": [{**row, "mig": "all-1g.10gb"}]})
    (fix,) = fixes(where, requesting())
    assert fix.startswith("add a pool with one of these machine types: g6f.large (1 × NVIDIA L4-3Q")
    assert fix.endswith(
        'set `mig: all-disabled` on pool "p5-4xlarge" (USD 6.88 per hour for each node)'
    )


def test_cloud_without_mig_configurations_suggests_dynamic_mig() -> None:
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
        "`drivers.nvidia.featureGates.DynamicMIG=true`, and "
    )
    assert fix == (
        f"set {settings}`pools.a100.mig=all-enabled` in the fleet, so that the pod "
        'fits in pool "a100"'
    )


def test_fleet_without_mig_support_gets_a_pool_with_dynamic_mig() -> None:
    where = read_fleet(
        {
            "cloud": "aks",
            "region": "eastus",
            "kubernetes": "1.36",
            "systemPool": {"machine": "Standard_D4s_v5"},
            "drivers": {"nvidia": {"version": "0.5.0"}},
            "pools": [{"name": "t4", "machine": "Standard_NC4as_T4_v3", "count": {"max": 1}}],
        }
    )
    (fix,) = fixes(
        where,
        requesting('device.attributes["gpu.nvidia.com"].profile == "1g.10gb"', "mig.nvidia.com"),
    )
    assert fix.startswith(
        "set `drivers.nvidia.featureGates.DynamicMIG=true` in the fleet, and add a pool with "
        "machine type Standard_NC24ads_A100_v4 (1 × NVIDIA A100 80GB PCIe"
    )
    assert fix.endswith(" and `mig: all-enabled`")


GKE = read_fleet(
    {
        "cloud": "gke",
        "region": "us-central1",
        "kubernetes": "1.35",
        "systemPool": {"machine": "e2-standard-4"},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "pools": [{"name": "h100", "machine": "a3-highgpu-8g", "count": {"max": 2}}],
    }
)
NO_MIG = "the pod requests MIG devices, but GKE doesn't support MIG with DRA (docs.cloud.google.com"


@pytest.mark.parametrize(
    ("selector", "device_class", "fix"),
    [
        (
            "true",
            "mig.nvidia.com",
            'use DeviceClass gpu.nvidia.com in request "gpu"',
        ),
        (
            'device.attributes["gpu.nvidia.com"].profile == "1g.10gb"',
            "mig.nvidia.com",
            'use DeviceClass gpu.nvidia.com in request "gpu" and remove '
            '`device.attributes["gpu.nvidia.com"].profile == "1g.10gb"`',
        ),
        (
            'device.attributes["gpu.nvidia.com"].type == "mig"',
            "gpu.nvidia.com",
            'remove `device.attributes["gpu.nvidia.com"].type == "mig"`',
        ),
    ],
)
def test_cloud_without_mig_is_reported_as_the_reason(
    selector: str, device_class: str, fix: str
) -> None:
    plan = plan_of(GKE, requesting(selector, device_class))
    (workload,) = plan.workloads
    (reason,) = (each for each in workload.reasons if each.code == "pool-missing")
    assert reason.message.startswith(NO_MIG)
    assert reason.fix == f"if a whole GPU is acceptable, {fix}"
    assert plan_of(GKE, requesting()).verdict == "fits"  # the claim after the fix


def test_cloud_without_mig_is_irrelevant_for_whole_gpus() -> None:
    plan = plan_of(GKE, requesting(f'{MEMORY}.compareTo(quantity("9000Gi")) >= 0'))
    (workload,) = plan.workloads
    assert not any("MIG devices" in reason.message for reason in workload.reasons)


def other_fleet(cloud: str, region: str, system: str, driver: str, machine: str) -> Fleet:
    return read_fleet(
        {
            "cloud": cloud,
            "region": region,
            "kubernetes": "1.36",
            "systemPool": {"machine": system},
            "drivers": {driver: True},
            "autoscaler": {"gke": "gke"}.get(cloud, "cluster-autoscaler"),
            "pools": [{"name": "pool", "machine": machine, "count": {"min": 0, "max": 2}}],
        }
    )


TPUS = other_fleet("gke", "us-central1", "n2-standard-4", "tpu", "ct5lp-hightpu-4t")
TRAINIUM = other_fleet("eks", "us-east-1", "m7i.large", "neuron", "trn1.2xlarge")
V710 = other_fleet("aks", "westus", "Standard_D4s_v5", "amd", "Standard_NV4ads_V710_v5")


@pytest.mark.parametrize(
    ("where", "device_class", "rest", "machine"),
    [
        (TPUS, "tpu.google.com", ("All", 'tpuGen == "v6e"'), "ct6e-standard-1t (1 × TPU v6e)"),
        (TPUS, "tpu.google.com", ("All", 'tpuGen == "v5p"'), "ct5p-hightpu-4t (4 × TPU v5p)"),
        (TPUS, "tpu.google.com", ("All", 'topology == "2x4"'), "ct5lp-hightpu-8t (8 × TPU v5e)"),
        (TRAINIUM, "neuron.aws.com", (16, "true"), "trn1.32xlarge (16 × Trainium, USD 21.50 per hour)"),
        (V710, "gpu.amd.com", (8, "true"), "Standard_ND96isr_MI300X_v5 (8 × MI300X"),
    ],
    ids=["TPU v6e", "TPU v5p", "TPU topology", "Trainium", "AMD"],
)  # fmt: skip
def test_machine_types_of_other_devices_are_suggested(
    where: Fleet, device_class: str, rest: tuple[object, str], machine: str
) -> None:
    count, condition = rest
    selector = (
        condition if condition == "true" else f'device.attributes["{device_class}"].{condition}'
    )
    text = requesting(selector, device_class).text.replace(
        TOLERANT, "tolerations: [{operator: Exists}]"
    )
    amount = "allocationMode: All" if count == "All" else f"count: {count}"
    (fix,) = fixes(where, Source("web.yaml", text.replace("count: 1", amount)))
    assert f" {machine}" in fix
