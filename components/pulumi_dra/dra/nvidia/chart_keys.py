"""The chart values that this package can set, by generation of the NVIDIA DRA driver's chart.

Helm silently ignores unknown keys, so a misspelled key or a key of another generation would have no
effect. Source: values.yaml of each tag (kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm at
v25.3.2, v25.8.1, v25.12.0, v0.4.1 and main of 2026-08-07 for 0.5).
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

GENERATIONS = ("25.3", "25.8", "25.12", "0.4", "0.5")
"""Oldest first: 0.4 follows 25.12."""

_SINCE: dict[str, tuple[str, ...]] = {
    "25.3": (
        "resources.gpus.enabled",
        "resources.computeDomains.enabled",
        "gpuResourcesEnabledOverride",
        "nvidiaDriverRoot",
        "nameOverride",
        "image.repository",
        "image.tag",
        "image.pullPolicy",
        "imagePullSecrets",
        "kubeletPlugin.affinity",
        "kubeletPlugin.tolerations",
        "kubeletPlugin.nodeSelector",
        "kubeletPlugin.priorityClassName",
        "kubeletPlugin.podAnnotations",
        "controller.affinity",
        "controller.tolerations",
        "controller.nodeSelector",
        "controller.priorityClassName",
    ),
    "25.8": (
        "featureGates",
        "logVerbosity",
        "webhook.enabled",
        "webhook.replicas",
        "webhook.failurePolicy",
        "webhook.priorityClassName",
        "webhook.tls.mode",
        "webhook.tls.certManager.issuerType",
        "webhook.tls.certManager.issuerName",
        "webhook.tls.secret.name",
        "webhook.tls.secret.caBundle",
        "kubeletPlugin.updateStrategy.rollingUpdate.maxUnavailable",
        "kubeletPlugin.containers.gpus.healthcheckPort",
    ),
    "25.12": (
        "resourceApiVersion",
        "kubeletPlugin.networkPolicy.enabled",
        "controller.networkPolicy.enabled",
    ),
    "0.4": (
        "controller.replicas",
        "controller.leaderElection.enabled",
        "controller.metrics.enabled",
        "kubeletPlugin.metrics.enabled",
    ),
    "0.5": (
        "consumableShares",
        "resources.computeDomains.imex.mode",
        "resources.computeDomains.imex.isolation",
        "kubeletPlugin.containers.computeDomains.gpuCliqueLabelEnabled",
    ),
}
KEYS_SINCE: dict[str, str] = {
    key: generation for generation, keys in _SINCE.items() for key in keys
}
"""Dotted key → the first generation whose chart has the key. Keys below it can have any name (an
affinity, a map).
"""


def unknown_keys(generation: str, values: Mapping[str, Any]) -> list[str]:
    """Return the dotted keys in `values` that the chart of this generation doesn't have."""
    newest = GENERATIONS.index(generation)
    known = {key for key, since in KEYS_SINCE.items() if GENERATIONS.index(since) <= newest}
    return sorted(_unknown(values, known, ""))


def _unknown(values: Mapping[str, Any], known: set[str], prefix: str) -> Iterator[str]:
    for name, value in values.items():
        key = f"{prefix}{name}"
        if key in known:
            continue
        if isinstance(value, Mapping) and any(other.startswith(f"{key}.") for other in known):
            yield from _unknown(cast(Mapping[str, Any], value), known, f"{key}.")
        else:
            yield key
