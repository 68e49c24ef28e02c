"""NVIDIA's device plugin for nodes that are not DRA nodes; or an existing one, kept off the DRA nodes."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s
from dra_planner import catalog
from dra_planner.errors import PlannerError

from pulumi_dra.children import Children
from pulumi_dra.dra.namespaces import declare_privileged_namespace
from pulumi_dra.dra.plugin_values import device_plugin_values
from pulumi_dra.dra.release_status import require_deployed
from pulumi_dra.inputs import InputReader
from pulumi_dra.labels import without_dra_nodes

NAMESPACE = "nvidia-device-plugin"
RELEASE = "nvidia-device-plugin"


class DevicePluginArgs(TypedDict):
    """Inputs of DevicePlugin: a version to install, or the DaemonSet that is there already."""

    version: NotRequired[str]
    """Version of NVIDIA's Helm chart to install: 0.17.4, 0.18.2, …"""
    namespace: NotRequired[str]
    """Namespace to make for it. Default nvidia-device-plugin."""
    chart: NotRequired[str]
    """Chart to install instead of the published one: a path, an archive or an oci:// address."""
    existing_daemon_set: NotRequired[str]
    """Name of a DaemonSet that was applied as a plain manifest, to be kept off DRA nodes. Change the values of one
    that Helm installed instead: the next upgrade would put its own affinity back."""
    existing_namespace: NotRequired[str]
    """Namespace of that DaemonSet. Default kube-system."""


class DevicePlugin(pulumi.ComponentResource):
    """NVIDIA's device plugin, kept off DRA nodes: two that hand out the same GPUs would not know of each other."""

    namespace: pulumi.Output[str]
    """Namespace of the plugin."""

    def __init__(self, name: str, args: DevicePluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        read = InputReader("DevicePlugin", name, args, DevicePluginArgs)
        version = read.text("version", "")
        namespace = read.text("namespace", NAMESPACE, pattern="[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", meaning="a name")
        if namespace == "default":
            read.refuse("namespace", "must not be default: the chart refuses it")
        chart = read.text("chart", "")
        existing = read.text("existing_daemon_set", "")
        existing_namespace = read.text("existing_namespace", "kube-system")
        release = None
        if bool(version) == bool(existing):
            read.refuse("version", "give either version (to install the chart) or existing_daemon_set (to narrow one)")
        elif version:
            try:
                release = catalog.device_plugin_release(version)
            except PlannerError as error:
                read.refuse("version", str(error))
        for key in ("namespace", "chart"):
            if existing and read.has(key):
                read.refuse(key, "is for a chart that this component installs")
        if version and read.has("existing_namespace"):
            read.refuse("existing_namespace", "is for existing_daemon_set")
        read.finish()

        super().__init__("pulumi-dra:index:DevicePlugin", name, {}, opts)
        children = Children(self, opts)
        if release is None:
            self._narrow(name, existing, existing_namespace, children)
            self.namespace = pulumi.Output.from_input(existing_namespace)
        else:
            home = declare_privileged_namespace(name, namespace, children)
            installed = k8s.helm.v3.Release(
                f"{name}-release",
                name=RELEASE,
                namespace=home.metadata.name,
                chart=chart or release.chart,
                version=None if chart else release.version,
                repository_opts=None if chart else {"repo": release.repository},
                values=device_plugin_values(),
                create_namespace=False,
                # Unlike the driver's, this chart is waited for pod by pod, on nodes that may not be there yet.
                skip_await=True,
                opts=children.options(depends_on=[home], delete_before_replace=True),
            )
            self.namespace = home.metadata.name
            self.status = installed.status.apply(lambda status: require_deployed(RELEASE, status))
        self.register_outputs({"namespace": self.namespace})

    def _narrow(self, name: str, daemon_set: str, namespace: str, children: Children) -> None:
        terms: Any = without_dra_nodes([])
        k8s.apps.v1.DaemonSetPatch(
            f"{name}-off-dra-nodes",
            metadata={
                "name": daemon_set,
                "namespace": namespace,
                # It would wait for the whole rollout, and the change restarts every plugin pod.
                "annotations": {"pulumi.com/skipAwait": "true"},
            },
            spec={
                "template": {
                    "spec": {
                        "affinity": {
                            "node_affinity": {
                                "required_during_scheduling_ignored_during_execution": {"node_selector_terms": terms}
                            }
                        }
                    }
                }
            },
            opts=children.options(),
        )
