"""NVIDIA's device plugin for non-DRA nodes, or an existing one that is kept off DRA nodes."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from collections.abc import Collection
from typing import Any, Final, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s
from msgspec import Struct

from dra_planner.drivers import nvidia
from dra_planner.errors import PlannerError
from pulumi_dra.child_options import Children
from pulumi_dra.dra.device_plugin.plugin_values import device_plugin_values
from pulumi_dra.dra.node_terms import without_dra_nodes
from pulumi_dra.dra.releases.images import ImageSettings, read_image
from pulumi_dra.dra.releases.namespaces import declare_privileged_namespace
from pulumi_dra.dra.releases.release_status import require_deployed
from pulumi_dra.inputs.reader import InputReader

NAMESPACE = "nvidia-device-plugin"
RELEASE = "nvidia-device-plugin"
_OF_CHART: Final = (
    "configs", "default_config", "feature_discovery", "namespace",
    "chart", "image_repository", "image_digest", "image_pull_secrets",
)  # fmt: skip


class DevicePluginArgs(TypedDict):
    """Inputs of DevicePlugin: a version to install, or an existing DaemonSet."""

    version: NotRequired[str]
    """Version of NVIDIA's Helm chart: 0.17.4, 0.18.2, …"""
    configs: NotRequired[dict[str, str]]
    """The plugin's configurations (text) by name. The node label nvidia.com/device-plugin.config
    selects a configuration. Default: each unit of nvidia.com/gpu is a whole GPU.
    """
    default_config: NotRequired[str]
    """Name of the configuration for nodes without this label. Required with configs."""
    feature_discovery: NotRequired[bool]
    """Install GPU feature discovery on the same nodes, which sets labels such as
    nvidia.com/gpu.product. Default: false.
    """
    namespace: NotRequired[str]
    """Namespace to create for the plugin. Default: nvidia-device-plugin."""
    chart: NotRequired[str]
    """Chart to use instead of the published chart: a path, an archive, or an oci:// address."""
    image_repository: NotRequired[str]
    """Image repository, without a tag, to use instead of the chart's repository, for example a
    mirror.
    """
    image_digest: NotRequired[str]
    """Digest of the image (sha256:…)."""
    image_pull_secrets: NotRequired[list[str]]
    """Image pull secrets in the plugin's namespace."""
    existing_daemon_set: NotRequired[str]
    """Name of an existing DaemonSet to keep off DRA nodes, if it was applied as a plain manifest.
    If Helm installed the DaemonSet, change the chart values instead, because the next upgrade would
    restore the affinity.
    """
    existing_namespace: NotRequired[str]
    """Namespace of the existing DaemonSet. Default: kube-system."""


class DevicePluginInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs. `release` is None for an existing DaemonSet."""

    release: nvidia.DevicePluginRelease | None
    configs: dict[str, pulumi.Input[str]]
    default_config: str
    feature_discovery: bool
    namespace: str
    chart: str
    image: ImageSettings
    existing_daemon_set: str
    existing_namespace: str


def read_plugin_inputs(read: InputReader) -> DevicePluginInputs:
    """Return the checked inputs, and record errors in `read`."""
    version, existing = read.text("version", ""), read.text("existing_daemon_set", "")
    namespace = read.text(
        "namespace", NAMESPACE, pattern="[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", meaning="a name"
    )
    if namespace == "default":
        read.refuse("namespace", "must not be default, because the chart rejects it")
    release = None
    if bool(version) == bool(existing):
        read.refuse(
            "version",
            "set either version (to install the chart) or existing_daemon_set (to restrict an "
            "existing DaemonSet)",
        )
    elif version:
        try:
            release = nvidia.device_plugin_release(version)
        except PlannerError as error:
            read.refuse("version", str(error))
    for key in _OF_CHART:
        if existing and read.has(key):
            read.refuse(key, "applies only to a chart that this component installs")
    configs = read.labels("configs")
    if version and read.has("existing_namespace"):
        read.refuse("existing_namespace", "applies only to existing_daemon_set")
    return DevicePluginInputs(
        release=release,
        configs=configs,
        default_config=_read_default_config(read, configs.keys()),
        feature_discovery=read.flag("feature_discovery", False),
        namespace=namespace,
        chart=read.text("chart", ""),
        image=read_image(read),
        existing_daemon_set=existing,
        existing_namespace=read.text("existing_namespace", "kube-system"),
    )


def _read_default_config(read: InputReader, names: Collection[str]) -> str:
    """Return `default_config`, rejected if it isn't the name of a configuration."""
    default = read.text("default_config", "")
    if (names or default) and default not in names:
        read.refuse(
            "default_config",
            f"must be one of the configuration names: {', '.join(sorted(names)) or 'none given'}",
        )
    return default


class DevicePlugin(pulumi.ComponentResource):
    """NVIDIA's device plugin. It doesn't run on DRA nodes, because the plugin and the DRA driver
    would allocate the same GPUs.
    """

    namespace: pulumi.Output[str]
    """Namespace of the plugin."""

    def __init__(
        self, name: str, args: DevicePluginArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("DevicePlugin", name, args, DevicePluginArgs)
        inputs = read_plugin_inputs(read)
        read.finish()
        super().__init__("pulumi-dra:index:DevicePlugin", name, {}, opts)
        children = Children(self, opts)
        if inputs.release is None:
            self._narrow(name, inputs, children)
            self.namespace = pulumi.Output.from_input(inputs.existing_namespace)
        else:
            self.namespace = self._install(name, inputs, inputs.release, children)
        self.register_outputs({"namespace": self.namespace})

    def _install(
        self,
        name: str,
        inputs: DevicePluginInputs,
        release: nvidia.DevicePluginRelease,
        children: Children,
    ) -> pulumi.Output[str]:
        home = declare_privileged_namespace(name, inputs.namespace, children)
        own_chart = bool(inputs.chart)
        installed = k8s.helm.v3.Release(
            f"{name}-release",
            name=RELEASE,
            namespace=home.metadata.name,
            chart=inputs.chart or release.chart,
            version=None if own_chart else release.version,
            repository_opts=None if own_chart else {"repo": release.repository},
            values=device_plugin_values(
                release.version,
                inputs.image,
                inputs.configs,
                default_config=inputs.default_config,
                feature_discovery=inputs.feature_discovery,
            ),
            create_namespace=False,
            # Unlike for the driver's chart, the provider waits for every pod of this chart, even on
            # nodes that don't exist yet.
            skip_await=True,
            opts=children.options(depends_on=[home], delete_before_replace=True),
        )
        # A failed release must also stop the deployment here: see `require_deployed`.
        return pulumi.Output.all(home.metadata.name, installed.status).apply(
            lambda both: both[0] if require_deployed(RELEASE, both[1]) else ""
        )

    def _narrow(self, name: str, inputs: DevicePluginInputs, children: Children) -> None:
        terms: Any = without_dra_nodes([])
        k8s.apps.v1.DaemonSetPatch(
            f"{name}-off-dra-nodes",
            metadata={
                "name": inputs.existing_daemon_set,
                "namespace": inputs.existing_namespace,
                # Otherwise, the provider would wait for the whole rollout, and the change restarts
                # every plugin pod.
                "annotations": {"pulumi.com/skipAwait": "true"},
            },
            spec={
                "template": {
                    "spec": {
                        "affinity": {
                            "node_affinity": {
                                "required_during_scheduling_ignored_during_execution": {
                                    "node_selector_terms": terms
                                }
                            }
                        }
                    }
                }
            },
            opts=children.options(),
        )
