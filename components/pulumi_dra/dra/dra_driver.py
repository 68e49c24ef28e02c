"""The NVIDIA DRA driver: its namespace, on GKE its quota, and its Helm release, pinned."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
from typing import NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s
from dra_planner import catalog
from dra_planner.catalog import DriverRelease
from dra_planner.errors import PlannerError

from pulumi_dra.children import Children
from pulumi_dra.dra.driver_values import (
    DRIVER_ROOTS,
    PLUGIN_PRIORITY,
    DriverSettings,
    controller_pods,
    driver_values,
    has_network_policy,
    has_webhook,
)
from pulumi_dra.dra.namespaces import declare_privileged_namespace
from pulumi_dra.dra.quota import critical_pods_quota, needs_quota
from pulumi_dra.dra.release_status import require_deployed
from pulumi_dra.inputs import InputReader

NAMESPACE = "nvidia-dra-driver"
RELEASE = "nvidia-dra-driver"


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


class DraDriver(pulumi.ComponentResource):
    """The NVIDIA DRA driver on the nodes labelled `nvidia.com/gpu.dra=true`."""

    namespace: pulumi.Output[str]
    """Namespace of the driver."""
    version: pulumi.Output[str]
    """Version of the chart."""
    status: pulumi.Output[str]
    """Status of the Helm release; deployed says nothing about the driver on the nodes, ResourceSlices do."""

    def __init__(self, name: str, args: DraDriverArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        read = InputReader("DraDriver", name, args, DraDriverArgs)
        release = _read_release(read)
        namespace = read.text("namespace", NAMESPACE, pattern="[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", meaning="a name")
        if namespace == "default":
            read.refuse("namespace", "must not be default: the chart refuses it")
        max_nodes = read.whole("max_nodes", least=0)
        chart = read.text("chart", "")
        settings = _read_settings(read, release)
        read.finish()
        assert release is not None  # `finish` has raised otherwise

        super().__init__("pulumi-dra:index:DraDriver", name, {}, opts)
        children = Children(self, opts)
        home = declare_privileged_namespace(name, namespace, children)
        before: list[pulumi.Resource] = [home]
        if needs_quota(settings.platform, settings.priority_class):
            quota = k8s.core.v1.ResourceQuota(
                f"{name}-critical-pods",
                metadata={"name": "critical-pods", "namespace": home.metadata.name},
                spec=critical_pods_quota(max_nodes, controller_pods(settings)),
                opts=children.options(),
            )
            before.append(quota)
        installed = k8s.helm.v3.Release(
            f"{name}-release",
            name=RELEASE,
            namespace=home.metadata.name,
            chart=chart or release.chart_reference,
            version=None if chart else release.version,
            repository_opts=None if chart or release.is_oci else {"repo": release.repository},
            values=driver_values(release, settings),
            create_namespace=False,
            skip_crds=False,
            timeout=600,
            # Objects are named after the chart, classes are cluster-wide: two releases would collide.
            opts=children.options(depends_on=before, delete_before_replace=True),
        )
        self.namespace = home.metadata.name
        self.version = pulumi.Output.from_input(release.version)
        self.status = installed.status.apply(lambda status: require_deployed(RELEASE, status))
        self.release = installed
        self.register_outputs({"namespace": self.namespace, "version": self.version, "status": self.status})


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
    gates = read.flags("feature_gates")
    digest = read.text("image_digest", "", pattern="sha256:[0-9a-f]{64}", meaning="a digest (sha256: and 64 digits)")
    settings = DriverSettings(
        platform=read.choice("platform", tuple(DRIVER_ROOTS), "eks"),
        compute_domains=read.flag("compute_domains", False),
        feature_gates=gates,
        network_policy=read.flag("network_policy", True),
        webhook=read.flag("webhook", False),
        webhook_failure_policy=read.choice("webhook_failure_policy", ("Fail", "Ignore"), "Fail"),
        image_repository=read.text("image_repository", ""),
        image_tag=f"v{release.version}@{digest}" if digest and release else "",
        priority_class=read.text("priority_class", PLUGIN_PRIORITY),
        keep_old_names=read.flag("keep_old_names", False),
    )
    if not read.has("platform"):
        read.refuse("platform", f"is missing; it is one of {', '.join(DRIVER_ROOTS)}")
    if release is None:
        return settings
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
    return settings
