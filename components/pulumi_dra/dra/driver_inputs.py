"""Inputs of DraDriver: what they are, and what is wrong with them."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from dra_planner import catalog
from dra_planner.catalog import DriverRelease
from dra_planner.errors import PlannerError
from pulumi_dra.dra.driver_values import (
    DRIVER_ROOTS,
    PLUGIN_PRIORITY,
    DriverSettings,
    has_network_policy,
    has_webhook,
)
from pulumi_dra.inputs import InputReader

NAMESPACE = "nvidia-dra-driver"
NAMESPACE_NAME = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


class DraDriverArgs(TypedDict):
    """Inputs of DraDriver."""

    version: str
    """Version of the Helm chart: 25.8.1, 25.12.0, 0.4.1, …"""
    platform: str
    """Where the NVIDIA driver lies on the nodes: eks, gke, or gpu-operator."""
    max_nodes: int
    """The most nodes that all DRA pools together may have; GKE needs a quota for that many driver pods."""
    namespace: NotRequired[str]
    """Namespace to make for the driver. Default nvidia-dra-driver."""
    compute_domains: NotRequired[bool]
    """Whether to run the part for multi-node NVLink (GB200, GB300). Default false."""
    feature_gates: NotRequired[dict[str, bool]]
    """Feature gates of the driver, by name; 25.8 and later."""
    network_policy: NotRequired[bool]
    """Whether the driver's pods get the chart's network policies; 25.12 and later. Default true where the chart
    has them."""
    webhook: NotRequired[bool]
    """Whether a webhook validates opaque configuration when a claim is created; needs cert-manager. Default false."""
    webhook_failure_policy: NotRequired[str]
    """What happens to claims while the webhook is down: Fail (default) or Ignore."""
    image_repository: NotRequired[str]
    """Image to run instead of the chart's, without a tag: a mirror."""
    image_digest: NotRequired[str]
    """Digest that pins the image (sha256:…)."""
    priority_class: NotRequired[str]
    """Priority class of the driver's pods. Default system-node-critical."""
    chart: NotRequired[str]
    """Chart to install instead of the published one: a path, an archive or an oci:// address."""
    keep_old_names: NotRequired[bool]
    """For an upgrade from 25.x to 0.4 or later: keep the names of 25.x, so that the plugin is updated in place
    instead of a second one starting beside it. Default false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraDriverInputs:
    """The same, checked, with defaults filled in; `release` is None only where it was refused."""

    release: DriverRelease | None
    namespace: str
    max_nodes: int
    chart: str
    settings: DriverSettings


def read_driver_inputs(read: InputReader) -> DraDriverInputs:
    """Return the checked inputs; faults are noted in `read`."""
    release = _read_release(read)
    namespace = read.text("namespace", NAMESPACE, pattern=NAMESPACE_NAME, meaning="a name")
    if namespace == "default":
        read.refuse("namespace", "must not be default: the chart refuses it")
    if not read.has("platform"):
        read.refuse("platform", f"is missing; it is one of {', '.join(DRIVER_ROOTS)}")
    settings = _read_settings(read, release)
    if release is not None:
        _check_release(read, release, settings)
    return DraDriverInputs(
        release=release,
        namespace=namespace,
        max_nodes=read.whole("max_nodes", least=0),
        chart=read.text("chart", ""),
        settings=settings,
    )


def _read_release(read: InputReader) -> DriverRelease | None:
    version = read.text("version")
    if not version:
        return None
    try:
        return catalog.require_installable(catalog.driver_release(version))
    except PlannerError as error:
        read.refuse("version", str(error))
        return None


def _read_settings(read: InputReader, release: DriverRelease | None) -> DriverSettings:
    digest = read.text("image_digest", "", pattern="sha256:[0-9a-f]{64}", meaning="a digest (sha256: and 64 digits)")
    return DriverSettings(
        platform=read.choice("platform", tuple(DRIVER_ROOTS), "eks"),
        compute_domains=read.flag("compute_domains", False),
        feature_gates=read.flags("feature_gates"),
        network_policy=read.flag("network_policy", True),
        webhook=read.flag("webhook", False),
        webhook_failure_policy=read.choice("webhook_failure_policy", ("Fail", "Ignore"), "Fail"),
        image_repository=read.text("image_repository", ""),
        image_tag=f"v{release.version}@{digest}" if digest and release else "",
        priority_class=read.text("priority_class", PLUGIN_PRIORITY),
        keep_old_names=read.flag("keep_old_names", False),
    )


def _check_release(read: InputReader, release: DriverRelease, settings: DriverSettings) -> None:
    """Refuse what this release cannot do."""
    gates = settings.feature_gates
    for gate in gates:
        if not release.has_gate(gate):
            known = ", ".join(release.feature_gates) or "none"
            read.refuse(f"feature_gates.{gate}", f"driver {release.version} has no such gate; it has {known}")
    if gates.get("DynamicMIG"):
        others = ("PassthroughSupport", "NVMLDeviceHealthCheck", "MPSSupport")
        for other in (gate for gate in others if gates.get(gate)):
            read.refuse(f"feature_gates.{other}", "cannot be on together with DynamicMIG")
    if read.has("network_policy") and settings.network_policy and not has_network_policy(release):
        read.refuse("network_policy", f"the chart of {release.version} has none; it begins with 25.12.0")
    if settings.webhook and not has_webhook(release):
        read.refuse("webhook", f"the chart of {release.version} has none; it begins with 25.8.0")
    if read.has("webhook_failure_policy") and not settings.webhook:
        read.refuse("webhook_failure_policy", "is for webhook: true")
