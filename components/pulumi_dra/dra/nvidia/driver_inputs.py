"""Inputs of DraDriver and their checks."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pulumi
from msgspec import Struct

from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia import DriverRelease
from dra_planner.errors import PlannerError
from pulumi_dra.dra.nvidia.crds import read_crds
from pulumi_dra.dra.nvidia.driver_values import (
    GPU_OPERATOR,
    PLUGIN_PRIORITY,
    DriverSettings,
    WebhookSettings,
    has_network_policy,
    has_new_names,
    has_webhook,
    platforms,
)
from pulumi_dra.dra.releases.driver_tolerations import DriverToleration, read_tolerations
from pulumi_dra.dra.releases.images import read_image
from pulumi_dra.inputs.reader import InputReader

NAMESPACE = "nvidia-dra-driver"
NAMESPACE_NAME = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


ISSUERS = ("selfsigned", "clusterissuer", "issuer")


class WebhookTls(TypedDict):
    """Source of the webhook's certificate: cert-manager or your own Secret."""

    issuer_type: NotRequired[str]
    """Type of the cert-manager issuer: selfsigned (default), clusterissuer, or issuer."""
    issuer_name: NotRequired[str]
    """Name of the issuer. Not used with selfsigned."""
    secret_name: NotRequired[str]
    """Secret in the driver's namespace that contains tls.crt and tls.key, to use instead of
    cert-manager.
    """
    ca_bundle: NotRequired[str]
    """CA certificates of the Secret, in base64."""


class DraDriverArgs(TypedDict):
    """Inputs of DraDriver."""

    version: str
    """Version of the Helm chart: 25.8.1, 25.12.0, 0.4.1, …"""
    platform: str
    """Source of the NVIDIA driver on the nodes: the name of a cloud, as in a fleet, for the driver
    in the cloud's node image, or gpu-operator.
    """
    max_nodes: int
    """Maximum number of nodes in all DRA pools. On GKE, the component creates a quota for this
    number of driver pods.
    """
    namespace: NotRequired[str]
    """Namespace to create for the driver. Default: nvidia-dra-driver."""
    driver_root: NotRequired[str]
    """Folder of the NVIDIA driver on the nodes. Default: the platform's folder."""
    compute_domains: NotRequired[bool]
    """Enable ComputeDomains for multi-node NVLink (GB200, GB300). Default: false."""
    crd_manifests: NotRequired[str]
    """Text of the CustomResourceDefinitions in the chart's crds folder. Helm installs these
    definitions only with the first installation. Therefore, set this input if you use
    ComputeDomains and upgrade the driver.
    """
    feature_gates: NotRequired[dict[str, bool]]
    """Feature gates of the driver by name. Requires 25.8 or later."""
    consumable_shares: NotRequired[str]
    """Method for sharing a GPU between claims: memory, unlimited, a number of shares, or
    disabled. Requires driver 0.5.0 or later with the ConsumableShares feature gate.
    """
    network_policy: NotRequired[bool]
    """Create the chart's network policies for the driver's pods. Requires 25.12 or later. Default:
    true if the chart supports them.
    """
    webhook: NotRequired[bool]
    """Install a webhook that validates opaque configuration when a claim is created. Requires
    cert-manager. Default: false.
    """
    webhook_failure_policy: NotRequired[str]
    """Effect on new claims while the webhook is unavailable: Fail (default, rejects the claims) or
    Ignore (accepts the claims).
    """
    webhook_replicas: NotRequired[int]
    """Number of webhook pods. Default: 1."""
    webhook_tls: NotRequired[WebhookTls]
    """Certificate of the webhook. Default: a self-signed certificate from cert-manager."""
    own_slices_only: NotRequired[bool]
    """Create an admission policy that allows each driver pod to write only the ResourceSlices of
    its own node. Default: true.
    """
    image_repository: NotRequired[str]
    """Image repository, without a tag, to use instead of the chart's repository, for example a
    mirror.
    """
    image_digest: NotRequired[str]
    """Digest of the image (sha256:…)."""
    image_pull_secrets: NotRequired[list[str]]
    """Image pull secrets in the driver's namespace."""
    priority_class: NotRequired[str]
    """Priority class of the driver's pods. Default: system-node-critical."""
    tolerations: NotRequired[list[pulumi.Input[DriverToleration]]]
    """Additional node taints that the plugin tolerates. The plugin always tolerates nvidia.com/gpu.
    """
    chart: NotRequired[str]
    """Chart to use instead of the published chart: a path, an archive, or an oci:// address."""
    keep_old_names: NotRequired[bool]
    """Keep the object names from 25.x in 0.4 and later, so that an upgrade to 0.4 updates the
    plugin in place. Set to false to use the chart's new names. Changing this value deletes the
    release and then installs it again. Default: true.
    """


class DraDriverInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs, with default values. `release` is None only if it was rejected."""

    release: DriverRelease | None
    namespace: str
    max_nodes: int
    chart: str
    crds: list[dict[str, Any]]
    own_slices_only: bool
    settings: DriverSettings


def read_driver_inputs(read: InputReader) -> DraDriverInputs:
    """Return the checked inputs, and record errors in `read`."""
    release = _read_release(read)
    namespace = read.text("namespace", NAMESPACE, pattern=NAMESPACE_NAME, meaning="a name")
    if namespace == "default":
        read.refuse("namespace", "must not be default, because the chart rejects it")
    if not read.has("platform"):
        read.refuse("platform", f"is missing; use one of {', '.join(platforms())}")
    settings = _read_settings(read)
    if release is not None:
        _check_release(read, release, settings)
    return DraDriverInputs(
        release=release,
        namespace=namespace,
        max_nodes=read.whole("max_nodes", least=0),
        chart=read.text("chart", ""),
        crds=read_crds(read, "crd_manifests"),
        own_slices_only=read.flag("own_slices_only", True),
        settings=settings,
    )


def _read_release(read: InputReader) -> DriverRelease | None:
    version = read.text("version")
    if not version:
        return None
    try:
        return nvidia.require_installable(nvidia.driver_release(version))
    except PlannerError as error:
        read.refuse("version", str(error))
        return None


def _read_settings(read: InputReader) -> DriverSettings:
    return DriverSettings(
        platform=read.choice("platform", platforms(), GPU_OPERATOR),
        driver_root=read.text("driver_root", "", pattern=r"/[^\s]*", meaning="an absolute path"),
        compute_domains=read.flag("compute_domains", False),
        feature_gates=read.flags("feature_gates"),
        consumable_shares=read.text("consumable_shares", ""),
        network_policy=read.flag("network_policy", True),
        webhook=_read_webhook(read),
        image=read_image(read),
        priority_class=read.text("priority_class", PLUGIN_PRIORITY),
        tolerations=tuple(read_tolerations(read)),
        keep_old_names=read.flag("keep_old_names", True),
    )


def _read_webhook(read: InputReader) -> WebhookSettings | None:
    """Return the webhook's settings, or None without a webhook."""
    is_enabled = read.flag("webhook", False)
    failure_policy = read.choice("webhook_failure_policy", ("Fail", "Ignore"), "Fail")
    replicas = read.whole("webhook_replicas", 1, least=1, most=100)
    tls = read.inside("webhook_tls", read.block("webhook_tls"), WebhookTls)
    issuer_type, issuer_name = (
        tls.choice("issuer_type", ISSUERS, "selfsigned"),
        tls.text("issuer_name", ""),
    )
    secret_name, ca_bundle = tls.text("secret_name", ""), tls.text("ca_bundle", "")
    for key in ("webhook_failure_policy", "webhook_replicas", "webhook_tls"):
        if read.has(key) and not is_enabled:
            read.refuse(key, "applies only with webhook: true")
    if secret_name and (tls.has("issuer_type") or issuer_name):
        tls.refuse("secret_name", "can't be combined with an issuer; set only one of them")
    if bool(secret_name) != bool(ca_bundle):
        tls.refuse(
            "ca_bundle" if secret_name else "secret_name",
            "is required, because secret_name and ca_bundle must be set together",
        )
    if bool(issuer_name) != (issuer_type != "selfsigned"):
        wanted = (
            "applies only if issuer_type is clusterissuer or issuer"
            if issuer_name
            else f"is missing; set it to the name of the {issuer_type}"
        )
        tls.refuse("issuer_name", wanted)
    if not is_enabled:
        return None
    return WebhookSettings(
        failure_policy=failure_policy,
        replicas=replicas,
        issuer_type=issuer_type,
        issuer_name=issuer_name,
        secret_name=secret_name,
        ca_bundle=ca_bundle,
    )


def _check_release(read: InputReader, release: DriverRelease, settings: DriverSettings) -> None:
    """Reject inputs that this driver version doesn't support."""
    _check_gates(read, release, settings.feature_gates)
    if read.has("network_policy") and settings.network_policy and not has_network_policy(release):
        read.refuse(
            "network_policy", f"requires chart version 25.12.0 or later, not {release.version}"
        )
    shared = nvidia.PublishingSettings(
        gates=settings.feature_gates, consumable_shares=settings.consumable_shares
    )
    for error in nvidia.share_faults(release, shared):
        read.refuse("consumable_shares", str(error))
    if settings.webhook and not has_webhook(release):
        read.refuse("webhook", f"requires chart version 25.8.0 or later, not {release.version}")
    if read.has("keep_old_names") and not settings.keep_old_names and not has_new_names(release):
        read.refuse(
            "keep_old_names",
            f"version {release.version} supports only the old names. The new names need "
            "version 0.4.0 or later",
        )


def _check_gates(read: InputReader, release: DriverRelease, gates: Mapping[str, bool]) -> None:
    """Reject gates that the driver version doesn't know, and pairs with which the driver fails at
    start.
    """
    for gate, error in nvidia.gate_faults(release, nvidia.PublishingSettings(gates=gates)):
        read.refuse(f"feature_gates.{gate}", str(error))
