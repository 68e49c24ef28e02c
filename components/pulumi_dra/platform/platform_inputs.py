"""Inputs of DraPlatform and their checks, including its children's inputs."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pulumi
from msgspec import Struct

from dra_planner.clouds import cloud
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.planfile import PlanFile, parse_document
from pulumi_dra.dra.metrics.gpu_metrics import GpuMetricsArgs
from pulumi_dra.dra.nvidia.driver_installer import DriverInstallerArgs
from pulumi_dra.dra.releases.kuberay import KubeRayArgs
from pulumi_dra.dra.releases.kueue import KueueArgs
from pulumi_dra.dra.tenants.tenant_access import TenantSettings
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.planned_pools import IN_THE_FLEET
from pulumi_dra.platform.platform_options import ClusterOptions, DriverOptions, PoolOptions


class AutoscalerOptions(TypedDict):
    """Options for EKS if the fleet sets autoscaler to cluster-autoscaler or karpenter.
    EksClusterAutoscaler and EksKarpenter describe these inputs.
    """

    install: NotRequired[bool]
    """Install the cluster autoscaler. Set to false if you install the autoscaler yourself. Default:
    true.
    """
    version: NotRequired[str]
    """Version of the autoscaler. Default: the newest known version for the cluster's Kubernetes
    version.
    """
    chart: NotRequired[str]
    """Chart to use instead of the published chart: a path, an archive, or an oci:// address."""
    image_repository: NotRequired[str]
    """Image repository, without a tag, to use instead of the chart's repository, for example a
    mirror.
    """
    image_pull_secrets: NotRequired[list[str]]
    """Image pull secrets in kube-system."""
    flags: NotRequired[dict[str, str]]
    """Additional flags of the cluster autoscaler, without dashes."""
    crd_chart: NotRequired[str]
    """Chart of Karpenter's CustomResourceDefinitions to use instead of the published chart."""
    replicas: NotRequired[int]
    """Number of Karpenter pods, each on a separate system node. Default: 2, or the number of system
    nodes if this number is lower.
    """


class DraPlatformArgs(TypedDict):
    """Inputs of DraPlatform."""

    plan: str
    """Contents of the plan file that `pulumi-dra plan --write` creates, which includes the "
    "fleet."""
    cluster: NotRequired[ClusterOptions]
    """Options of the cluster."""
    pools: NotRequired[list[PoolOptions]]
    """Options of individual pools."""
    driver: NotRequired[DriverOptions]
    """Options of the DRA driver."""
    autoscaler: NotRequired[AutoscalerOptions]
    """EKS: options for the cluster autoscaler or Karpenter, if the fleet uses one of them."""
    storage_class: NotRequired[bool]
    """Create a StorageClass for volumes that GPU nodes can attach. On EKS with the ebs storage
    driver, the component creates the encrypted "gp3" class as the default class. On GKE, it creates
    the "hyperdisk-balanced" class if a pool's machine type doesn't support Persistent Disk. Set to
    false if the cluster has its own class. Default: true.
    """
    driver_installer: NotRequired[DriverInstallerArgs]
    """GKE: inputs of DriverInstaller, such as the NVIDIA driver version. Default: the newest
    version.
    """
    device_plugin_chart: NotRequired[str]
    """Chart of the device plugin to use instead of the published chart."""
    gpu_metrics: NotRequired[GpuMetricsArgs]
    """Install the DCGM exporter with a dashboard and alerts. To use the default settings, set an
    empty structure. Add the exporter's pods to daemonPods in the fleet. Default: not installed.
    """
    kueue: NotRequired[KueueArgs]
    """Install Kueue with the classes of the fleet. To use the default settings, set an empty
    structure. Default: not installed.
    """
    kube_ray: NotRequired[KubeRayArgs]
    """Install the KubeRay operator. To use the default settings, set an empty structure. Default:
    not installed.
    """
    admin_principal_arns: NotRequired[list[pulumi.Input[str]]]
    """EKS: IAM roles or users that administer the cluster. Default: the identity that creates the
    cluster.
    """
    addon_versions: NotRequired[dict[str, str]]
    """EKS: versions of the add-ons: a pinned version, or "most-recent"."""
    secrets_kms_key: NotRequired[pulumi.Input[str]]
    """Key that encrypts Kubernetes Secrets, in the format of the cluster component's input.
    Default: the cloud's key or, on EKS, a new key.
    """
    tenants: NotRequired[list[TenantSettings]]
    """Namespaces, roles, and device quotas of tenants."""
    admin_access_namespaces: NotRequired[list[str]]
    """Namespaces that can have admin access to devices. If the list is empty, no namespace can have
    admin access. Default: no restriction.
    """
    admission_gate: NotRequired[bool]
    """Create a PlanGate, which rejects claims, device plugins, and numbers of devices that exceed
    the plan. The namespaces in the plan must exist. Default: false.
    """
    deletion_protection: NotRequired[bool]
    """Prevent Pulumi from deleting or replacing the cluster. On EKS and GKE, the cloud also rejects
    the deletion. Default: false.
    """
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags (on GKE, resource labels) for all resources that support them."""


OPTIONAL_RELEASES = ("gpu_metrics", "kueue", "kube_ray")

EVERY_INPUT = {
    name: name for name in ("tags", "secrets_kms_key", "admin_principal_arns", "addon_versions")
}
"""Names of the common inputs, for checks that don't need a fleet."""


class DraPlatformInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs."""

    # inputs by pool name, in the form that the pool's component accepts
    pools: Mapping[str, Mapping[str, Any]]
    driver: Mapping[str, Any]  # in the form that DraDriver accepts
    # in the form that EksClusterAutoscaler or EksKarpenter accepts, and also with `install`
    autoscaler: Mapping[str, Any]
    driver_installer: Mapping[str, Any]  # in the form that DriverInstaller accepts
    device_plugin_chart: str
    storage_class: bool
    cluster: Mapping[str, Any]  # in the form that the cluster's component accepts
    # inputs of gpu_metrics, kueue, and kube_ray, only for requested releases
    releases: Mapping[str, Mapping[str, Any]]
    tenants: list[Any]
    admin_access_namespaces: list[str] | None
    admission_gate: bool
    tags: dict[str, pulumi.Input[str]]


def read_planned(read: InputReader) -> tuple[Fleet, PlanFile] | None:
    """Return the fleet and its plan, or None for rejected ones, whose errors are recorded in
    `read`.
    """
    text = read.text("plan")
    if not text:
        return None
    try:
        plan = parse_document(text)
        return read_fleet(plan.fleet.document()), plan
    except PlannerError as error:
        read.refuse("plan", str(error))
        return None


def read_platform_inputs(
    read: InputReader, fleet: Fleet | None, cluster_names: Mapping[str, str]
) -> DraPlatformInputs:
    """Return the checked inputs.

    Errors are recorded in `read`, with the path of the children's inputs. `cluster_names` maps the
    common inputs to their names in the cloud's cluster.
    """
    tags, pools = read.labels("tags"), _read_pools(read, fleet)
    node_repair = any(options.get("node_repair") is True for options in pools.values())
    title = cloud(fleet.cloud).title if fleet else ""
    return DraPlatformInputs(
        pools=pools,
        driver=_read_driver(read),
        autoscaler=_read_autoscaler(read),
        driver_installer=_read_installer(read, fleet),
        device_plugin_chart=read.text("device_plugin_chart", ""),
        storage_class=read.flag("storage_class", True),
        cluster=_read_cluster(read, cluster_names, title, tags, node_repair=node_repair),
        releases={name: read.block(name) for name in OPTIONAL_RELEASES if read.has(name)},
        tenants=list(read.blocks("tenants")),
        admission_gate=read.flag("admission_gate", default=False),
        admin_access_namespaces=read.texts("admin_access_namespaces")
        if read.has("admin_access_namespaces")
        else None,
        tags=tags,
    )


def _read_autoscaler(read: InputReader) -> Mapping[str, Any]:
    """Return the autoscaler's options. Their values are checked with its other inputs."""
    options = read.block("autoscaler")
    inner = read.inside("autoscaler", options, AutoscalerOptions)
    if not inner.flag("install", True) and len(options) > 1:
        inner.refuse("install", "is false, so set these options where you install the autoscaler")
    return {
        key: value for key, value in options.items() if key in AutoscalerOptions.__annotations__
    }


def _read_installer(read: InputReader, fleet: Fleet | None) -> Mapping[str, Any]:
    """Return the inputs of DriverInstaller, rejected if the cloud's images have a driver."""
    if fleet is not None and read.has("driver_installer") and cloud(fleet.cloud).installs_driver:
        read.refuse(
            "driver_installer",
            f"applies only to GKE, because {cloud(fleet.cloud).title} images include the driver",
        )
    return read.block("driver_installer")


def _read_driver(read: InputReader) -> Mapping[str, Any]:
    """Return the driver's options. Their values are checked with the driver's other inputs."""
    options = read.block("driver")
    for key in ("feature_gates", "compute_domains", "consumable_shares"):
        if key in options:
            read.refuse(
                f"driver.{key}",
                "affects the nodes' resources, so the plan needs this value; set it in the fleet",
            )
            options = {name: value for name, value in options.items() if name != key}
    read.inside("driver", options, DriverOptions)
    return {key: value for key, value in options.items() if key in DriverOptions.__annotations__}


def _read_cluster(
    read: InputReader,
    names: Mapping[str, str],
    title: str,
    tags: dict[str, pulumi.Input[str]],
    *,
    node_repair: bool,
) -> dict[str, Any]:
    """Return inputs of the cloud's cluster that aren't part of the fleet, renamed according to
    `names`.

    The values of the options are checked with the cluster's other inputs.
    """
    options = read.block("cluster")
    read.inside("cluster", options, ClusterOptions)
    cluster: dict[str, Any] = {"deletion_protection": read.flag("deletion_protection", False)}
    given: dict[str, Any] = {
        "tags": tags,
        "secrets_kms_key": read.identifier("secrets_kms_key"),
        "admin_principal_arns": read.identifiers("admin_principal_arns")
        if read.has("admin_principal_arns")
        else None,
        "addon_versions": read.labels("addon_versions") if read.has("addon_versions") else None,
        "node_repair": True if node_repair else None,
    }
    for name, value in given.items():
        if value is not None and name in names:
            cluster[names[name]] = value
        elif value is not None and read.has(name):
            read.refuse(name, f"isn't supported on {title}, the cloud of this fleet")
    return cluster | {
        key: value for key, value in options.items() if key in ClusterOptions.__annotations__
    }


def _read_pools(read: InputReader, fleet: Fleet | None) -> dict[str, Mapping[str, Any]]:
    """Return options by pool. Their values are checked with the pool's other inputs."""
    known = [pool.name for pool in fleet.pools] if fleet else []
    options: dict[str, Mapping[str, Any]] = {}
    for index, block in enumerate(read.blocks("pools")):
        for key, name in IN_THE_FLEET.items():
            if key in block:
                read.refuse(
                    f"pools[{index}].{key}",
                    f"affects the plan, so set it in the fleet: {name}",
                )
        own = {key: value for key, value in block.items() if key not in IN_THE_FLEET}
        inner = read.inside(f"pools[{index}]", own, PoolOptions)
        name = inner.text("name")
        if fleet and name and name not in known:
            inner.refuse(
                "name", f'"{name}" isn\'t a pool in the fleet; use one of: {", ".join(known)}'
            )
        if name in options:
            inner.refuse("name", f'"{name}" appears twice')
        options[name] = {
            key: value for key, value in own.items() if key != "name" and value is not None
        }
    return options
