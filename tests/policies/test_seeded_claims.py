"""Realistic faults, each seeded into correct manifests, with the rule that must find it and the fix
that the finding must name.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dra_planner.errors import Diagnostic
from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_policies.rules import check_all, view_of

Path = tuple[str | int, ...]
SLICING = {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Long"}}
MPS = {
    "strategy": "MPS",
    "mpsConfig": {"defaultActiveThreadPercentage": 50, "defaultPinnedDeviceMemoryLimit": "10Gi"},
}


def opaque(
    kind: str = "GpuConfig", driver: str = "gpu.nvidia.com", **fields: Any
) -> dict[str, Any]:
    parameters = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": kind, **fields}
    return {"opaque": {"driver": driver, "parameters": parameters}}


def good(**sharing: Any) -> list[dict[str, Any]]:
    """Return a correct template, claim, Job, and scaled Deployment."""
    devices: dict[str, Any] = {
        "requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]
    }
    config = [opaque(**sharing)]
    spec = {
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [
            {
                "name": "main",
                "image": "i",
                "resources": {"claims": [{"name": "gpu", "request": "gpu"}]},
            }
        ],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
    }
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "gpu"},
            "spec": {"spec": {"devices": {**devices, "config": config}}},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app": "web"}},
                "template": template,
            },
        },
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web"},
            "spec": {
                "maxReplicas": 2,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            },
        },
    ]


def put(objects: list[dict[str, Any]], path: Path, value: Any) -> list[dict[str, Any]]:
    """Return a copy of the objects with one value set, or removed (None)."""
    copied: Any = yaml.safe_load(yaml.safe_dump(objects, sort_keys=False))
    here = copied
    for key in path[:-1]:
        here = here[key]
    if value is None:
        del here[path[-1]]
    else:
        here[path[-1]] = value
    return list(copied)


def findings_of(
    objects: list[dict[str, Any]], gates: dict[str, bool] | None = None, version: str = ""
) -> list[Diagnostic]:
    """Return all findings, for a fleet whose driver has these feature gates."""
    sources = (
        Source("all.yaml", "---\n".join(yaml.safe_dump(each, sort_keys=False) for each in objects)),
    )
    if gates is None:
        features = features_of(36)
        return list(check_all(view_of(read_checked(sources, features), features)))
    fleet = read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": "1.36",
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": version or "25.12.0", "featureGates": gates}},
            "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": 4}],
        }
    )
    plan = make_plan(PlanRequest(fleet=fleet, sources=sources))
    assert plan.manifests is not None
    return list(check_all(view_of(plan.manifests, features_of(36), plan)))


CONFIG: Path = (0, "spec", "spec", "devices", "config", 0, "opaque")
PARAMETERS: Path = (*CONFIG, "parameters")
REQUEST: Path = (0, "spec", "spec", "devices", "requests", 0)
POD: Path = (1, "spec", "template", "spec")
CONTAINER: Path = (*POD, "containers", 0)
REFUSED, IGNORED, PAST = "driver-config-refused", "configuration-ignored", "device-taken-past-claim"

# Fault → where, value, rule, severity, words of the finding, words of the fix.
FAULTS: dict[str, tuple[Path, Any, str, str, str, str]] = {
    "the previous API group": (
        (*PARAMETERS, "apiVersion"),
        "gpu.nvidia.com/v1alpha1",
        REFUSED,
        "error",
        "renamed",
        "nvidia.com/v1beta1",
    ),
    "a newer version": (
        (*PARAMETERS, "apiVersion"),
        "resource.nvidia.com/v1",
        REFUSED,
        "error",
        "unknown",
        "v1beta1",
    ),
    "no version": ((*PARAMETERS, "apiVersion"), None, REFUSED, "error", 'apiVersion ""', "v1beta1"),
    "no kind": ((*PARAMETERS, "kind"), None, REFUSED, "error", 'kind ""', "set kind:"),
    "a misspelled kind": (
        (*PARAMETERS, "kind"),
        "GPUConfig",
        REFUSED,
        "error",
        "GPUConfig",
        "use kind: GpuConfig",
    ),
    "the previous kind": (
        (*PARAMETERS, "kind"),
        "GpuClaimParameters",
        REFUSED,
        "error",
        "unknown",
        "GpuConfig",
    ),
    "a kind of another driver": (
        (*PARAMETERS, "kind"),
        "ComputeDomainChannelConfig",
        REFUSED,
        "error",
        "unknown to gpu.nvidia",
        "set kind",
    ),
    "an unknown field": ((*PARAMETERS, "replicas"), 4, REFUSED, "error", '"replicas"', "remove it"),
    "an unknown strategy": (
        (*PARAMETERS, "sharing", "strategy"),
        "TimeSlice",
        REFUSED,
        "error",
        '"TimeSlice"',
        "TimeSlicing",
    ),
    "a strategy in small letters": (
        (*PARAMETERS, "sharing", "strategy"),
        "timeslicing",
        REFUSED,
        "error",
        "unknown",
        "set strategy",
    ),
    "no strategy": (
        (*PARAMETERS, "sharing", "strategy"),
        None,
        REFUSED,
        "error",
        'strategy ""',
        "set strategy",
    ),
    "the interval with its previous name": (
        (*PARAMETERS, "sharing", "timeSlicingConfig"),
        {"timeSlice": "Long"},
        REFUSED,
        "error",
        "timeSlice",
        "remove",
    ),
    "an unknown interval": (
        (*PARAMETERS, "sharing", "timeSlicingConfig", "interval"),
        "VeryLong",
        REFUSED,
        "error",
        "VeryLong",
        "Medium",
    ),
    "settings of the other strategy": (
        (*PARAMETERS, "sharing", "mpsConfig"),
        {"defaultActiveThreadPercentage": 50},
        REFUSED,
        "error",
        "mpsConfig",
        "remove mpsConfig",
    ),
    "misspelled sharing": (
        (*PARAMETERS, "sharng"),
        SLICING,
        REFUSED,
        "error",
        '"sharng"',
        "use sharing",
    ),
    "a configuration for another driver": (
        (*CONFIG, "driver"),
        "gpu.acme.example",
        IGNORED,
        "warning",
        "gpu.acme.example",
        "set driver to gpu.nvidia.com",
    ),
    "a configuration for a misspelled driver": (
        (*CONFIG, "driver"),
        "gpu.nvdia.com",
        IGNORED,
        "warning",
        "the drivers ignore the configuration",
        "gpu.nvidia.com",
    ),
    "a request that the claim does not have": (
        (*CONTAINER, "resources", "claims", 0, "request"),
        "gpus",
        "request-not-in-claim",
        "error",
        '"gpus"',
        "set request to gpu",
    ),
    "a misspelled class": (
        (*REQUEST, "exactly", "deviceClassName"),
        "gpu.nvida.com",
        "class-misspelt",
        "warning",
        "gpu.nvida.com",
        "gpu.nvidia.com",
    ),
    "a GPU requested twice": (
        (*CONTAINER, "resources", "limits"),
        {"nvidia.com/gpu": 1},
        "device-requested-twice",
        "warning",
        "and a second GPU from the device plugin",
        "remove nvidia.com/gpu",
    ),
    "a device file of the host": (
        (*POD, "volumes"),
        [{"name": "d", "hostPath": {"path": "/dev/nvidia0"}}],
        PAST,
        "warning",
        "/dev/nvidia0",
        "because the claim provides the device files",
    ),
    "all device files of the host": (
        (*POD, "volumes"),
        [{"name": "d", "hostPath": {"path": "/dev"}}],
        PAST,
        "warning",
        "mounts /dev",
        "because the claim provides the device files",
    ),
    "all GPUs through a variable": (
        (*CONTAINER, "env"),
        [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
        PAST,
        "warning",
        '"all"',
        "remove",
    ),
    "one GPU through a variable": (
        (*CONTAINER, "env"),
        [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "0"}],
        PAST,
        "warning",
        '"0"',
        "because the claim provides the device files",
    ),
    "a privileged container": (
        (*CONTAINER, "securityContext"),
        {"privileged": True},
        PAST,
        "warning",
        "privileged",
        "because the claim provides the device files",
    ),
    "a scaler without a target": (
        (2, "spec", "scaleTargetRef", "name"),
        "webb",
        "scaler-without-target",
        "warning",
        "Deployment web",
        "set scaleTargetRef.name to web",
    ),
    "a scaler of another kind": (
        (2, "spec", "scaleTargetRef", "kind"),
        "StatefulSet",
        "scaler-without-target",
        "warning",
        "Deployment web instead",
        "set scaleTargetRef.kind to Deployment",
    ),
    "a scaler in another namespace": (
        (2, "metadata", "namespace"),
        "team",
        "scaler-without-target",
        "warning",
        'namespace "default"',
        "move",
    ),
}


@pytest.mark.parametrize("sharing", [SLICING, MPS], ids=["time slices", "MPS"])
def test_valid_manifests_have_no_findings(sharing: dict[str, Any]) -> None:
    assert findings_of(good(sharing=sharing)) == []
    gates = {"TimeSlicingSettings": True, "MPSSupport": True}
    assert findings_of(good(sharing=sharing), gates) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_with_a_specific_fix(name: str) -> None:
    path, value, rule, severity, words, fix = FAULTS[name]

    found = findings_of(put(good(sharing=SLICING), path, value))

    assert {(each.severity, each.code) for each in found} == {(severity, rule)}
    if rule == REFUSED:  # the texts are tested with the code that reads the configuration
        assert all(each.fix for each in found)
    else:
        assert any(words in each.message and fix in each.fix for each in found)


@pytest.mark.parametrize(
    ("sharing", "gate", "version"),
    [
        (SLICING, "TimeSlicingSettings", "25.8.1"),
        (SLICING, "TimeSlicingSettings", "25.12.0"),
        (SLICING, "TimeSlicingSettings", "0.4.1"),
        (MPS, "MPSSupport", "25.8.1"),
        (MPS, "MPSSupport", "0.4.1"),
    ],
)
def test_a_strategy_with_a_disabled_gate_is_rejected(
    sharing: dict[str, Any], gate: str, version: str
) -> None:
    (finding,) = findings_of(good(sharing=sharing), {}, version)

    assert (finding.severity, finding.code) == ("error", REFUSED)
    assert gate in finding.fix
    assert findings_of(good(sharing=sharing), {gate: True}, version) == []


def test_gates_are_not_required_before_25_8() -> None:
    assert [each.code for each in findings_of(good(sharing=SLICING), {}, "25.3.2")] == []


@pytest.mark.parametrize("value", [101, -1])
def test_an_invalid_thread_percentage_is_rejected(value: int) -> None:
    path = (*PARAMETERS, "sharing", "mpsConfig", "defaultActiveThreadPercentage")
    (finding,) = findings_of(put(good(sharing=MPS), path, value))
    assert (finding.code, str(value) in finding.message) == (REFUSED, True)


@pytest.mark.parametrize("value", ["10", "512Ki", "ten"])
def test_an_invalid_memory_limit_is_rejected(value: str) -> None:
    path = (*PARAMETERS, "sharing", "mpsConfig", "defaultPinnedDeviceMemoryLimit")
    (finding,) = findings_of(put(good(sharing=MPS), path, value))
    assert (finding.code, "memory limit" in finding.message) == (REFUSED, True)


def test_a_channel_does_not_count_as_a_second_gpu() -> None:
    channel = "compute-domain-default-channel.nvidia.com"
    objects = put(good(sharing=SLICING), (*REQUEST, "exactly", "deviceClassName"), channel)
    objects = put(objects, (0, "spec", "spec", "devices", "config"), [])
    objects = put(objects, (*CONTAINER, "resources", "limits"), {"nvidia.com/gpu": 1})
    assert findings_of(objects) == []


# Forms that look like faults but are correct.
QUIET: dict[str, tuple[Path, Any]] = {
    "only the GPUs of the claim are visible": (
        (*CONTAINER, "env"), [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
    ),
    "shared memory": ((*POD, "volumes"), [{"name": "m", "hostPath": {"path": "/dev/shm"}}]),
    "a class of another vendor": ((*REQUEST, "exactly", "deviceClassName"), "gpu.amd.com"),
    "all requests of a claim": ((*CONTAINER, "resources", "claims", 0), {"name": "gpu"}),
}  # fmt: skip


def test_a_scaler_with_an_external_target_is_a_note() -> None:
    path = (2, "spec", "scaleTargetRef", "name")
    (found,) = findings_of(put(good(sharing=SLICING), path, "other-service"))
    assert (found.severity, found.code) == ("note", "scaler-without-target")
    assert "Deployment web doesn't have an autoscaler" in found.message


@pytest.mark.parametrize("name", QUIET)
def test_valid_changes_have_no_findings(name: str) -> None:
    path, value = QUIET[name]
    assert findings_of(put(good(sharing=SLICING), path, value)) == []
