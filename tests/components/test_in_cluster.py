"""The resources in the cluster: driver, installer, classes, device plugin, tenants, and admin
access.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from pulumi_dra.dra import (
    AdminAccessPolicy,
    DeviceClasses,
    DevicePlugin,
    DraDriver,
    DriverInstaller,
    TenantAccess,
)
from pulumi_dra.dra.nvidia.class_selectors import class_selectors, refusal_of
from pulumi_dra.dra.releases.release_status import ReleaseFailed, require_deployed
from pulumi_dra.dra.tenants.admin_access_policy import admin_access_rule

DRIVER: dict[str, Any] = {"version": "25.8.1", "platform": "eks", "max_nodes": 4}


@pytest.fixture
def driver(declare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **args: declare(lambda: DraDriver("driver", {**DRIVER, **args}))


def test_only_the_drivers_namespace_is_privileged(driver: Any) -> None:
    metadata = driver().one("Namespace").inputs["metadata"]
    assert metadata["name"] == "nvidia-dra-driver"
    assert metadata["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"


@pytest.mark.parametrize(
    ("platform", "quotas"), [("aks", 0), ("eks", 0), ("gke", 1), ("gpu-operator", 0)]
)
def test_gke_needs_a_quota_for_critical_pods(driver: Any, platform: str, quotas: int) -> None:
    declared = driver(platform=platform, max_nodes=12, compute_domains=True)
    assert [q.inputs["spec"]["hard"]["pods"] for q in declared.all("ResourceQuota")] == [
        "14"
    ] * quotas
    waits = declared.one("Release").depends_on
    assert ("driver-critical-pods" in waits) is bool(quotas)


@pytest.mark.parametrize(
    ("version", "chart", "repo"),
    [
        ("25.8.1", "nvidia-dra-driver-gpu", "https://helm.ngc.nvidia.com/nvidia"),
        ("0.4.1", "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu", None),
    ],
)
def test_chart_is_pinned_to_its_repository(
    driver: Any, version: str, chart: str, repo: str | None
) -> None:
    release = driver(version=version).one("Release")
    assert (release.inputs["chart"], release.inputs["version"]) == (chart, version)
    assert (release.inputs.get("repositoryOpts") or {}).get("repo") == repo
    assert release.delete_before_replace  # two releases would own the same cluster-wide objects
    assert release.replace_on_changes == ("values.nameOverride",)


CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: computedomains.resource.nvidia.com, annotations: {made-by: controller-gen}}
spec: {group: resource.nvidia.com, scope: Namespaced, names: {plural: computedomains}, versions: []}
---
"""


def test_definitions_are_upgraded_before_the_release_and_retained(driver: Any) -> None:
    declared = driver(compute_domains=True, crd_manifests=CRD)
    definition = declared.one("CustomResourceDefinitionPatch", "driver-computedomains")
    assert definition.retain_on_delete
    assert definition.inputs["metadata"]["annotations"] == {
        "made-by": "controller-gen",
        "pulumi.com/patchForce": "true",  # Helm made them, where an older release is there
    }
    assert definition.inputs["spec"]["names"]["plural"] == "computedomains"
    release = declared.one("Release")
    assert definition.name in release.depends_on
    assert release.inputs["skipCrds"] is True
    assert driver().one("Release").inputs["skipCrds"] is False


def test_driver_pod_can_write_only_its_own_nodes_slices(driver: Any) -> None:
    declared = driver(namespace="gpu-driver")
    policy = declared.one("ValidatingAdmissionPolicy")
    assert policy.inputs["metadata"]["name"] == "gpu-driver-own-slices"
    spec = policy.inputs["spec"]
    assert spec["failurePolicy"] == "Fail"
    assert spec["matchConstraints"]["resourceRules"][0]["operations"] == [
        "CREATE",
        "UPDATE",
        "DELETE",
    ]
    assert "system:serviceaccount:gpu-driver:" in spec["matchConditions"][0]["expression"]
    assert declared.one("ValidatingAdmissionPolicyBinding").inputs["spec"]["validationActions"] == [
        "Deny"
    ]
    assert policy.name in declared.one("Release").depends_on
    assert not driver(own_slices_only=False).all("ValidatingAdmissionPolicy")


def test_custom_chart_is_used_unchanged(driver: Any) -> None:
    inputs = driver(chart="./charts/driver.tgz").one("Release").inputs
    assert inputs["chart"] == "./charts/driver.tgz"
    assert inputs.get("version") is None
    assert inputs.get("repositoryOpts") is None


def test_cluster_resources_are_deleted_with_the_cluster(declare: Any) -> None:
    def make() -> None:
        cluster = pulumi.CustomResource("test:index:Cluster", "cluster", {})
        DraDriver("driver", DRIVER, opts=pulumi.ResourceOptions(deleted_with=cluster))  # type: ignore[arg-type]  # plain

    declared = declare(make)
    assert {
        r.name: r.deleted_with for r in declared.resources if r.type.startswith("kubernetes:")
    } == {
        "driver-namespace": "cluster",
        "driver-own-slices": "cluster",
        "driver-own-slices-binding": "cluster",
        "driver-release": "cluster",
    }


@pytest.mark.parametrize(
    ("status", "fails"), [("deployed", False), (None, False), ("failed", True), ("pending", True)]
)
def test_failed_release_is_not_hidden_by_a_refresh(status: str | None, fails: bool) -> None:
    if fails:
        with pytest.raises(ReleaseFailed, match=f'release "r" is "{status}", not deployed'):
            require_deployed("r", SimpleNamespace(status=status))
    else:
        assert require_deployed("r", SimpleNamespace(status=status)) == "deployed"


def test_installer_runs_on_dra_nodes_without_googles_installer(declare: Any) -> None:
    daemon_set = (
        declare(lambda: DriverInstaller("installer", {"driver": "default"})).one("DaemonSet").inputs
    )
    assert daemon_set["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}
    pod = daemon_set["spec"]["template"]["spec"]
    affinity = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = affinity["nodeSelectorTerms"]
    assert [(e["key"], e["operator"]) for e in term["matchExpressions"]] == [
        ("nvidia.com/gpu.dra", "In"),
        ("cloud.google.com/gke-accelerator", "Exists"),
        ("cloud.google.com/gke-gpu-driver-version", "DoesNotExist"),
    ]
    (installer, *_) = pod["initContainers"]
    assert {"name": "DRIVER_VERSION", "value": "default"} in installer["env"]
    assert '--version="$DRIVER_VERSION"' in installer["command"][-1]
    assert pod["automountServiceAccountToken"] is False
    assert pod["containers"][0]["image"] == "registry.k8s.io/pause:3.10"


def test_installer_uses_a_mirrored_pause_image(declare: Any) -> None:
    installer = declare(
        lambda: DriverInstaller("installer", {"pause_image": "m.example/pause:3"})
    ).one("DaemonSet")
    assert (
        installer.inputs["spec"]["template"]["spec"]["containers"][0]["image"]
        == "m.example/pause:3"
    )


def test_device_plugin_release_skips_waiting_for_pods(declare: Any) -> None:
    release = declare(lambda: DevicePlugin("plugin", {"version": "0.17.4"})).one("Release").inputs
    assert release["skipAwait"] is True
    assert release["version"] == "0.17.4"


def test_existing_device_plugin_is_patched_in_place(declare: Any) -> None:
    declared = declare(
        lambda: DevicePlugin("plugin", {"existing_daemon_set": "nvidia-device-plugin-daemonset"})
    )
    patch = declared.one("DaemonSetPatch").inputs
    assert patch["metadata"]["namespace"] == "kube-system"
    assert patch["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}
    affinity = patch["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    assert affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] == [
        {
            "matchExpressions": [
                {"key": "nvidia.com/gpu.dra", "operator": "NotIn", "values": ["true"]}
            ]
        }
    ]


@pytest.mark.parametrize(
    ("intent", "selectors"),
    [
        ({"device": "any"}, ['device.driver == "gpu.nvidia.com"']),
        (
            {"device": "gpu"},
            [
                'device.driver == "gpu.nvidia.com"',
                'device.attributes["gpu.nvidia.com"].type == "gpu"',
            ],
        ),
        (
            {"memory_gib_at_least": 40},
            [
                'device.driver == "gpu.nvidia.com"',
                'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0',
            ],
        ),
        (
            {"mig_profile": "1g.10gb"},
            [
                'device.driver == "gpu.nvidia.com"',
                'device.attributes["gpu.nvidia.com"].type == "mig"',
                'device.attributes["gpu.nvidia.com"].profile == "1g.10gb"',
            ],
        ),
    ],
    ids=["any", "whole GPU", "memory", "MIG"],
)
def test_predefined_classes_have_valid_selectors(
    intent: dict[str, Any], selectors: list[str]
) -> None:
    assert class_selectors(**intent) == selectors
    assert [refusal_of(selector, 34) for selector in selectors] == [""] * len(selectors)


def test_extended_resource_is_set_only_if_the_version_supports_it(declare: Any) -> None:
    classes = [{"name": "large", "device": "gpu", "extended_resource_name": "example.com/large"}]
    made = declare(
        lambda: DeviceClasses("c", {"kubernetes_version": "1.36", "classes": classes})
    ).one("DeviceClass")  # type: ignore[typeddict-item]  # plain
    assert made.inputs["spec"]["extendedResourceName"] == "example.com/large"


def test_tenants_can_create_claims_only(declare: Any) -> None:
    tenants = [{"namespace": "vision", "groups": ["vision"], "device_quota": {"gpu.nvidia.com": 8}}]
    declared = declare(lambda: TenantAccess("tenants", {"tenants": tenants}))  # type: ignore[typeddict-item]  # plain
    rights = {
        resource: set(rule["verbs"])
        for rule in declared.one("ClusterRole").inputs["rules"]
        for resource in rule["resources"]
    }
    assert "create" in rights["resourceclaims"] & rights["resourceclaimtemplates"]
    assert rights["deviceclasses"] == rights["resourceslices"] == {"get", "list", "watch"}
    assert declared.one("ResourceQuota").inputs["spec"]["hard"] == {
        "gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "8"
    }
    labels = declared.one("Namespace").inputs["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    assert declared.one("RoleBinding").inputs["subjects"][0]["name"] == "vision"


def test_admin_access_is_limited_to_listed_namespaces(declare: Any) -> None:
    declared = declare(lambda: AdminAccessPolicy("admin", {"namespaces": ["monitoring"]}))
    spec = declared.one("ValidatingAdmissionPolicy").inputs["spec"]
    assert spec["failurePolicy"] == "Fail"
    assert spec["validations"][0]["expression"].endswith('object.metadata.name in ["monitoring"]')
    assert declared.one("ValidatingAdmissionPolicyBinding").inputs["spec"]["validationActions"] == [
        "Deny"
    ]
    assert admin_access_rule([]).endswith("in []")
