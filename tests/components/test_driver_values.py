"""Values of the driver's and the plugin's charts: every key exists in its release, and known traps
are avoided.
"""

from typing import Any

import pytest
from msgspec.structs import replace

from dra_planner.drivers import nvidia
from pulumi_dra.dra.device_plugin.plugin_values import device_plugin_values
from pulumi_dra.dra.nvidia.chart_keys import GENERATIONS, unknown_keys
from pulumi_dra.dra.nvidia.driver_values import (
    DriverSettings,
    WebhookSettings,
    driver_values,
    has_network_policy,
    has_webhook,
)
from pulumi_dra.dra.nvidia.quota import critical_pods, critical_pods_quota
from pulumi_dra.dra.releases.images import ImageSettings

RELEASES = [release.version for release in nvidia.driver_releases() if release.is_installable]
EVERYTHING = DriverSettings(
    platform="gke",
    compute_domains=True,
    feature_gates={"MPSSupport": True},
    webhook=WebhookSettings(issuer_type="issuer", issuer_name="internal"),
    image=ImageSettings("mirror.example/driver", "sha256:0", ("pull",)),
    tolerations=({"key": "team", "operator": "Exists"},),
    keep_old_names=False,
)
BY_SECRET = WebhookSettings(secret_name="webhook", ca_bundle="Q0E=")


def values(version: str, **settings: Any) -> dict[str, Any]:
    return driver_values(
        nvidia.driver_release(version), DriverSettings(**{"platform": "eks", **settings})
    )


def terms(of: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = of["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    return found


@pytest.mark.parametrize("version", RELEASES)
def test_every_key_exists_in_the_chart(version: str) -> None:
    release = nvidia.driver_release(version)
    assert unknown_keys(release.generation, values(version)) == []
    if has_webhook(release):
        assert unknown_keys(release.generation, driver_values(release, EVERYTHING)) == []
        assert (
            unknown_keys(
                release.generation, driver_values(release, replace(EVERYTHING, webhook=BY_SECRET))
            )
            == []
        )


def test_generations_are_ordered_by_age_not_by_number() -> None:
    assert list(GENERATIONS) == list(dict.fromkeys(r.generation for r in nvidia.driver_releases()))


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
def test_keys_belong_to_their_generation(generation: str, key: str, known: bool) -> None:
    nested: Any = True
    for part in reversed(key.split(".")):
        nested = {part: nested}
    assert (unknown_keys(generation, nested) == []) is known


@pytest.mark.parametrize("version", RELEASES)
def test_override_is_a_boolean_because_the_chart_requires_it(version: str) -> None:
    assert values(version)["gpuResourcesEnabledOverride"] is True


def test_gpus_are_a_nested_key() -> None:
    assert values("25.8.1")["resources"] == {
        "gpus": {"enabled": True},
        "computeDomains": {"enabled": False},
    }
    assert not [key for key in values("25.8.1") if "." in key]


@pytest.mark.parametrize(
    ("platform", "root"),
    [
        ("aks", "/"),
        ("eks", "/"),
        ("gke", "/home/kubernetes/bin/nvidia"),
        ("gpu-operator", "/run/nvidia/driver"),
    ],
)
def test_driver_root_depends_on_the_platform(platform: str, root: str) -> None:
    assert values("25.8.1", platform=platform)["nvidiaDriverRoot"] == root


@pytest.mark.parametrize("version", RELEASES)
def test_plugin_runs_only_on_dra_nodes_and_tolerates_their_taint(version: str) -> None:
    plugin = values(version)["kubeletPlugin"]
    assert terms(plugin) == [
        {"matchExpressions": [{"key": "nvidia.com/gpu.dra", "operator": "In", "values": ["true"]}]}
    ]
    assert plugin["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    ]


def test_plugin_tolerates_the_taints_that_gke_adds() -> None:
    plugin = values("25.8.1", platform="gke")["kubeletPlugin"]
    assert {each["key"]: each.get("value") for each in plugin["tolerations"]} == {
        "nvidia.com/gpu": None,
        "google.com/tpu": "present",
        "kubernetes.io/arch": "arm64",
        "cloud.google.com/gke-queued": "true",
    }


@pytest.mark.parametrize("version", ["25.8.1", "25.12.0", "0.4.1"])
def test_controller_needs_no_control_plane_node(version: str) -> None:
    (term,) = terms(values(version, compute_domains=True)["controller"])
    assert term["matchExpressions"] == [
        {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}
    ]


def test_controller_is_not_installed_without_compute_domains() -> None:
    assert "controller" not in values("25.8.1")


@pytest.mark.parametrize(
    ("version", "has"), [("25.8.1", False), ("25.12.0", True), ("0.4.1", True)]
)
def test_network_policies_are_on_if_the_chart_has_them(version: str, has: bool) -> None:
    assert has_network_policy(nvidia.driver_release(version)) is has
    assert ("networkPolicy" in values(version)["kubeletPlugin"]) is has


@pytest.mark.parametrize("version", RELEASES)
def test_objects_keep_their_old_names_by_default(
    version: str,
) -> None:
    new = nvidia.driver_release(version).generation not in ("25.3", "25.8", "25.12")
    assert values(version)["nameOverride"] == "nvidia-dra-driver-gpu"
    renamed = "dra-driver-nvidia-gpu" if new else "nvidia-dra-driver-gpu"
    assert values(version, keep_old_names=False)["nameOverride"] == renamed


@pytest.mark.parametrize("version", RELEASES)
def test_custom_image_is_pinned_by_digest_and_version_tag(
    version: str,
) -> None:
    image = ImageSettings("m.example/d", "sha256:1", ("pull",))
    found = values(version, image=image)
    assert found["image"] == {"repository": "m.example/d", "tag": f"v{version}@sha256:1"}
    assert found["imagePullSecrets"] == [{"name": "pull"}]


def test_chart_chooses_the_image_by_default() -> None:
    assert "image" not in values("0.4.1")
    assert "imagePullSecrets" not in values("0.4.1")


@pytest.mark.parametrize(
    ("webhook", "tls"),
    [
        (WebhookSettings(), {"mode": "cert-manager", "certManager": {"issuerType": "selfsigned"}}),
        (
            WebhookSettings(issuer_type="clusterissuer", issuer_name="internal"),
            {
                "mode": "cert-manager",
                "certManager": {"issuerType": "clusterissuer", "issuerName": "internal"},
            },
        ),
        (BY_SECRET, {"mode": "secret", "secret": {"name": "webhook", "caBundle": "Q0E="}}),
    ],
    ids=["signs itself", "an issuer", "a Secret"],
)
def test_webhook_certificate_is_configured(webhook: WebhookSettings, tls: dict[str, Any]) -> None:
    found = values("0.4.1", webhook=webhook)["webhook"]
    assert found["enabled"] is True
    assert found["tls"] == tls


def test_webhook_uses_the_requested_priority_class() -> None:
    settings = {"webhook": WebhookSettings(replicas=2, failure_policy="Ignore")}
    webhook = values("0.4.1", **settings)["webhook"]
    assert (webhook["replicas"], webhook["failurePolicy"]) == (2, "Ignore")
    assert webhook["priorityClassName"] == "system-cluster-critical"
    assert (
        values("0.4.1", priority_class="gpu", **settings)["webhook"]["priorityClassName"] == "gpu"
    )


@pytest.mark.parametrize("version", RELEASES)
def test_custom_priority_class_applies_to_plugin_and_controller(version: str) -> None:
    found = values(version, priority_class="gpu", compute_domains=True)
    assert (
        found["kubeletPlugin"]["priorityClassName"]
        == found["controller"]["priorityClassName"]
        == "gpu"
    )


@pytest.mark.parametrize("version", RELEASES)
def test_additional_taints_are_tolerated(version: str) -> None:
    more = ({"key": "team", "operator": "Equal", "value": "vision"},)
    tolerations = values(version, tolerations=more)["kubeletPlugin"]["tolerations"]
    assert [toleration["key"] for toleration in tolerations] == ["nvidia.com/gpu", "team"]


def test_custom_driver_root_is_used() -> None:
    assert (
        values("25.8.1", platform="gke", driver_root="/opt/nvidia")["nvidiaDriverRoot"]
        == "/opt/nvidia"
    )


@pytest.mark.parametrize(
    ("version", "reference", "is_oci"),
    [
        ("25.12.0", "nvidia-dra-driver-gpu", False),
        ("0.4.1", "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu", True),
    ],
)
def test_chart_has_the_repository_of_its_generation(
    version: str, reference: str, is_oci: bool
) -> None:
    release = nvidia.driver_release(version)
    assert (release.chart_reference, release.is_oci) == (reference, is_oci)


def test_device_plugin_keeps_its_affinity_terms_and_excludes_dra_nodes() -> None:
    found = terms(device_plugin_values("0.17.4", ImageSettings()))
    assert len(found) == 3
    exclusion = {"key": "nvidia.com/gpu.dra", "operator": "NotIn", "values": ["true"]}
    assert all(exclusion in term["matchExpressions"] for term in found)
    assert all(len(term["matchExpressions"]) == 2 for term in found)


def test_device_plugin_image_can_be_mirrored() -> None:
    found = device_plugin_values("0.20.0", ImageSettings("m.example/p", "sha256:1", ("pull",)))
    assert found["image"] == {"repository": "m.example/p", "tag": "v0.20.0@sha256:1"}
    assert found["imagePullSecrets"] == [{"name": "pull"}]


@pytest.mark.parametrize(
    ("settings", "pods"),
    [
        ({}, 100),
        ({"compute_domains": True}, 102),  # one controller, and one more while it is updated
        ({"webhook": WebhookSettings(replicas=4)}, 105),
        ({"priority_class": "gpu"}, 0),
        ({"priority_class": "gpu", "webhook": WebhookSettings()}, 0),
        ({"priority_class": "system-cluster-critical", "webhook": WebhookSettings()}, 102),
        ({"platform": "eks"}, 0),
        ({"platform": "gpu-operator", "compute_domains": True}, 0),
    ],
    ids=str,
)
def test_quota_covers_all_possible_critical_pods(settings: dict[str, Any], pods: int) -> None:
    assert critical_pods(DriverSettings(**{"platform": "gke", **settings}), 100) == pods


def test_quota_counts_pods_of_the_two_critical_classes() -> None:
    quota: Any = critical_pods_quota(101)
    assert quota["hard"] == {"pods": "101"}
    (expression,) = quota["scope_selector"]["match_expressions"]
    assert expression["values"] == ["system-node-critical", "system-cluster-critical"]
