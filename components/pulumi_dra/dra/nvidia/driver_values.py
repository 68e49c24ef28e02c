"""Values of the NVIDIA DRA driver's Helm chart by version, without access to a cluster.

A Release's preview never renders its chart, so this module checks everything that would fail at
deployment.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from dra_planner import clouds
from dra_planner.drivers.nvidia import DriverRelease
from pulumi_dra.dra.node_terms import GPU_TOLERATION, dra_node_terms
from pulumi_dra.dra.nvidia.chart_keys import unknown_keys
from pulumi_dra.dra.releases.images import ImageSettings

GPU_OPERATOR, GPU_OPERATOR_ROOT = "gpu-operator", "/run/nvidia/driver"


def platforms() -> tuple[str, ...]:
    """Return the possible sources of the NVIDIA driver: a cloud's node image or the GPU Operator's
    container.
    """
    return (*clouds.names(), GPU_OPERATOR)


def driver_root(platform: str) -> str:
    """Return the folder of the NVIDIA driver on a platform's nodes."""
    return GPU_OPERATOR_ROOT if platform == GPU_OPERATOR else clouds.cloud(platform).driver_root


PLUGIN_PRIORITY = "system-node-critical"
WEBHOOK_PRIORITY = "system-cluster-critical"
"""The charts' default priority class of their webhook."""

OLD_NAME, NEW_NAME = "nvidia-dra-driver-gpu", "dra-driver-nvidia-gpu"
"""Object names of the charts: up to 25.12, and from 0.4 on."""


class WebhookSettings(Struct, frozen=True, kw_only=True):
    """The webhook that validates opaque configuration when a claim is created."""

    failure_policy: str = "Fail"
    replicas: int = 1
    issuer_type: str = "selfsigned"  # for cert-manager: selfsigned, clusterissuer, or issuer
    issuer_name: str = ""
    secret_name: str = ""  # a custom certificate instead of cert-manager
    ca_bundle: str = ""


class DriverSettings(Struct, frozen=True, kw_only=True):
    """Driver settings that the user chooses."""

    platform: str  # one of platforms()
    driver_root: str = ""  # "" for the platform's
    compute_domains: bool = False
    feature_gates: Mapping[str, bool] = {}
    consumable_shares: str = ""  # "", disabled, memory, unlimited, or a number
    network_policy: bool = True
    webhook: WebhookSettings | None = None
    image: ImageSettings = field(default_factory=ImageSettings)
    priority_class: str = PLUGIN_PRIORITY
    tolerations: tuple[Mapping[str, str], ...] = ()  # tolerations in addition to the GPU taint
    keep_old_names: bool = True  # in 0.4 and later, the object names of 25.x

    @property
    def webhook_priority(self) -> str:
        """The webhook's priority class: the chart's, or the requested one."""
        return WEBHOOK_PRIORITY if self.priority_class == PLUGIN_PRIORITY else self.priority_class


def driver_values(release: DriverRelease, settings: DriverSettings) -> dict[str, Any]:
    """Return the chart's values for a version. Every key exists in that version's chart."""
    values: dict[str, Any] = {
        "resources": {
            "gpus": {"enabled": True},
            "computeDomains": {"enabled": settings.compute_domains},
        },
        # All versions refuse to install GPU support without this value. It must be a boolean,
        # because the chart treats the text "false" as true.
        "gpuResourcesEnabledOverride": True,
        "nvidiaDriverRoot": settings.driver_root or driver_root(settings.platform),
        # Always set explicitly, so that a new name changes the values; see `object_name`.
        "nameOverride": object_name(release, settings),
        "kubeletPlugin": _kubelet_plugin(release, settings),
    }
    if settings.compute_domains:
        values["controller"] = _controller(release, settings)
    if settings.feature_gates:
        values["featureGates"] = dict(sorted(settings.feature_gates.items()))
    if settings.consumable_shares:
        values["consumableShares"] = settings.consumable_shares
    if image := settings.image.values(release.version):
        values["image"] = image
    if settings.image.pull_secrets:
        values["imagePullSecrets"] = [{"name": name} for name in settings.image.pull_secrets]
    if settings.webhook:
        values["webhook"] = _webhook(settings.webhook, settings.webhook_priority)
    unknown = unknown_keys(release.generation, values)
    assert not unknown, f"chart {release.version} doesn't have {', '.join(unknown)}"
    return values


def object_name(release: DriverRelease, settings: DriverSettings) -> str:
    """Return the base name of the chart's objects.

    The chart was renamed in 0.4. With the new name, an upgrade would start a second plugin for the
    same driver (kubernetes-sigs/dra-driver-nvidia-gpu:site/content/docs/upgrade.md@main). With the
    old name, it updates the plugin in place.
    """
    return NEW_NAME if has_new_names(release) and not settings.keep_old_names else OLD_NAME


def has_new_names(release: DriverRelease) -> bool:
    """Return whether the version's chart is called dra-driver-nvidia-gpu: 0.4 and later."""
    return release.chart == NEW_NAME


def has_network_policy(release: DriverRelease) -> bool:
    """Return whether the version's chart has network policies for the driver: 25.12 and later."""
    return not unknown_keys(
        release.generation, {"kubeletPlugin": {"networkPolicy": {"enabled": True}}}
    )


def has_webhook(release: DriverRelease) -> bool:
    """Return whether the version's chart has the webhook that validates opaque configuration: 25.8
    and later.
    """
    return not unknown_keys(release.generation, {"webhook": {"enabled": True}})


def tolerations(settings: DriverSettings) -> list[dict[str, str]]:
    """Return the plugin's tolerations: this project's taint, the cloud's automatic taints, and the
    requested ones.
    """
    added = (
        () if settings.platform == GPU_OPERATOR else clouds.cloud(settings.platform).possible_taints
    )
    of_cloud = [
        {"key": t.key, "operator": "Equal", "value": t.value, "effect": t.effect} for t in added
    ]
    return [
        dict(GPU_TOLERATION),
        *of_cloud,
        *(dict(toleration) for toleration in settings.tolerations),
    ]


def _kubelet_plugin(release: DriverRelease, settings: DriverSettings) -> dict[str, Any]:
    plugin: dict[str, Any] = {
        # This list replaces the chart's own terms, which also match nodes that run the device
        # plugin.
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": dra_node_terms()
                }
            }
        },
        "tolerations": tolerations(settings),
        "priorityClassName": settings.priority_class,
    }
    if settings.network_policy and has_network_policy(release):
        plugin["networkPolicy"] = {"enabled": True}
    return plugin


def _controller(release: DriverRelease, settings: DriverSettings) -> dict[str, Any]:
    """Return the ComputeDomain controller's values.

    Up to 25.12, the chart requires a control plane node, which managed clusters don't expose.
    Therefore, a term that matches every Linux node replaces the list. A list works with every
    version of the provider, unlike null.
    """
    linux = [
        {"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]}
    ]
    controller: dict[str, Any] = {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": linux}
            }
        },
        "priorityClassName": settings.priority_class,
    }
    if settings.network_policy and has_network_policy(release):
        controller["networkPolicy"] = {"enabled": True}
    return controller


def _webhook(webhook: WebhookSettings, priority_class: str) -> dict[str, Any]:
    tls: dict[str, Any]
    if webhook.secret_name:
        tls = {
            "mode": "secret",
            "secret": {"name": webhook.secret_name, "caBundle": webhook.ca_bundle},
        }
    else:
        issuer = {"issuerType": webhook.issuer_type}
        if webhook.issuer_name:
            issuer["issuerName"] = webhook.issuer_name
        tls = {"mode": "cert-manager", "certManager": issuer}
    return {
        "enabled": True,
        "replicas": webhook.replicas,
        "failurePolicy": webhook.failure_policy,
        "priorityClassName": priority_class,
        "tls": tls,
    }
