"""Values of the driver's and the plugin's charts: every key exists in its release, and the known traps are closed."""

from typing import Any

import pytest

from dra_planner import catalog
from pulumi_dra.dra.chart_keys import GENERATIONS, unknown_keys
from pulumi_dra.dra.driver_values import DriverSettings, controller_pods, driver_values, has_network_policy, has_webhook
from pulumi_dra.dra.plugin_values import device_plugin_values
from pulumi_dra.dra.quota import critical_pods_quota, needs_quota

RELEASES = [release.version for release in catalog.driver_releases() if release.is_installable]
EVERYTHING = DriverSettings(
    platform="gke",
    compute_domains=True,
    feature_gates={"MPSSupport": True},
    webhook=True,
    image_repository="mirror.example/driver",
    image_tag="v1@sha256:0",
    keep_old_names=True,
)


def values(version: str, **settings: Any) -> dict[str, Any]:
    return driver_values(catalog.driver_release(version), DriverSettings(**{"platform": "eks", **settings}))


def terms(of: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = of["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    return found


@pytest.mark.parametrize("version", RELEASES)
def test_every_key_exists_in_the_release(version: str) -> None:
    release = catalog.driver_release(version)
    assert unknown_keys(release.generation, values(version)) == []
    if has_webhook(release):
        assert unknown_keys(release.generation, driver_values(release, EVERYTHING)) == []


def test_generations_are_ordered_by_age_not_by_number() -> None:
    assert list(GENERATIONS) == list(dict.fromkeys(r.generation for r in catalog.driver_releases()))


@pytest.mark.parametrize(
    ("generation", "key", "known"),
    [
        ("25.3", "featureGates", False),
        ("25.8", "featureGates", True),
        ("25.8", "kubeletPlugin.networkPolicy.enabled", False),
        ("25.12", "kubeletPlugin.networkPolicy.enabled", True),
        ("25.12", "controller.replicas", False),
        ("0.4", "controller.replicas", True),
        ("0.4", "resources.gpus.enabled", True),
        ("0.4", "kubeletRootDirectory", False),
    ],
)
def test_keys_come_with_their_generation(generation: str, key: str, known: bool) -> None:
    nested: Any = True
    for part in reversed(key.split(".")):
        nested = {part: nested}
    assert (unknown_keys(generation, nested) == []) is known


@pytest.mark.parametrize("version", RELEASES)
def test_the_override_is_a_real_boolean_so_that_the_chart_renders(version: str) -> None:
    assert values(version)["gpuResourcesEnabledOverride"] is True


def test_gpus_are_nested_not_a_flat_key() -> None:
    assert values("25.8.1")["resources"] == {"gpus": {"enabled": True}, "computeDomains": {"enabled": False}}
    assert not [key for key in values("25.8.1") if "." in key]


@pytest.mark.parametrize(
    ("platform", "root"),
    [("eks", "/"), ("gke", "/home/kubernetes/bin/nvidia"), ("gpu-operator", "/run/nvidia/driver")],
)
def test_the_driver_root_is_the_platforms(platform: str, root: str) -> None:
    assert values("25.8.1", platform=platform)["nvidiaDriverRoot"] == root


@pytest.mark.parametrize("version", RELEASES)
def test_the_plugin_runs_on_dra_nodes_alone_and_tolerates_their_taint(version: str) -> None:
    plugin = values(version)["kubeletPlugin"]
    assert terms(plugin) == [
        {"matchExpressions": [{"key": "nvidia.com/gpu.dra", "operator": "In", "values": ["true"]}]}
    ]
    assert plugin["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]


@pytest.mark.parametrize("version", ["25.8.1", "25.12.0", "0.4.1"])
def test_the_controller_needs_no_control_plane_node(version: str) -> None:
    (term,) = terms(values(version, compute_domains=True)["controller"])
    assert term["matchExpressions"] == [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]


def test_without_compute_domains_there_is_no_controller() -> None:
    assert "controller" not in values("25.8.1")
    assert controller_pods(DriverSettings(platform="eks")) == 0
    assert controller_pods(EVERYTHING) == 2


@pytest.mark.parametrize(("version", "has"), [("25.8.1", False), ("25.12.0", True), ("0.4.1", True)])
def test_network_policies_are_on_where_the_chart_has_them(version: str, has: bool) -> None:
    assert has_network_policy(catalog.driver_release(version)) is has
    assert ("networkPolicy" in values(version)["kubeletPlugin"]) is has


def test_an_upgrade_to_the_new_names_can_keep_the_old_ones() -> None:
    assert values("0.4.1", keep_old_names=True)["nameOverride"] == "nvidia-dra-driver-gpu"
    assert "nameOverride" not in values("25.12.0", keep_old_names=True)


def test_an_image_is_pinned_by_digest() -> None:
    assert values("0.4.1", image_repository="m.example/d", image_tag="v0.4.1@sha256:1")["image"] == {
        "repository": "m.example/d",
        "tag": "v0.4.1@sha256:1",
    }


@pytest.mark.parametrize(
    ("version", "reference", "is_oci"),
    [
        ("25.12.0", "nvidia-dra-driver-gpu", False),
        ("0.4.1", "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu", True),
    ],
)
def test_the_chart_is_where_its_generation_is_published(version: str, reference: str, is_oci: bool) -> None:
    release = catalog.driver_release(version)
    assert (release.chart_reference, release.is_oci) == (reference, is_oci)


def test_the_device_plugin_keeps_its_own_terms_and_every_one_excludes_dra_nodes() -> None:
    found = terms(device_plugin_values())
    assert len(found) == 3
    exclusion = {"key": "nvidia.com/gpu.dra", "operator": "NotIn", "values": ["true"]}
    assert all(exclusion in term["matchExpressions"] for term in found)
    assert all(len(term["matchExpressions"]) == 2 for term in found)


def test_the_quota_covers_every_node_that_may_ever_be_there() -> None:
    quota = critical_pods_quota(100, 1)
    assert quota["hard"] == {"pods": "101"}  # type: ignore[typeddict-item]  # it is there
    assert needs_quota("gke", "system-node-critical")
    assert not needs_quota("gke", "")
    assert not needs_quota("eks", "system-node-critical")
