"""A fleet and its plan → what runs in the cluster: driver, its installer on GKE, classes, device plugin, tenants."""

from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from dra_planner.clouds import cloud
from dra_planner.drivers import dranet, is_managed
from dra_planner.drivers.nvidia import DRIVER as NVIDIA
from dra_planner.fleet import Fleet
from dra_planner.planfile import PlanFile
from pulumi_dra.built_cluster import BuiltCluster
from pulumi_dra.children import Children
from pulumi_dra.dra.classes.device_classes import DeviceClasses, DeviceClassesArgs, DeviceClassSettings, read_classes
from pulumi_dra.dra.device_plugin.device_plugin import DevicePlugin, DevicePluginArgs, read_plugin_inputs
from pulumi_dra.dra.dranet import Dranet, DranetArgs
from pulumi_dra.dra.driver.dra_driver import DraDriver
from pulumi_dra.dra.driver.driver_inputs import DraDriverArgs, read_driver_inputs
from pulumi_dra.dra.driver.driver_installer import DriverInstaller, DriverInstallerArgs
from pulumi_dra.dra.node_terms import pool_tolerations
from pulumi_dra.dra.releases.from_fleet import check_releases, declare_releases
from pulumi_dra.dra.tenants.admin_access_policy import AdminAccessPolicy
from pulumi_dra.dra.tenants.tenant_access import TenantAccess, TenantAccessArgs, read_tenants
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.platform_inputs import DraPlatformInputs


def check_in_cluster(read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile) -> None:
    """Note in `read` what the components in the cluster would refuse, before anything is declared."""
    elsewhere, asked = fleet.driver_root, inputs.driver.get("driver_root", fleet.driver_root)
    if any(pool.image and pool.image.driver_root for pool in fleet.pools) and asked != elsewhere:
        read.refuse("driver.driver_root", f"images of the fleet have the driver in {elsewhere}: leave it out")
    if fleet.drivers.of(NVIDIA) is not None:
        read_driver_inputs(read.inside("driver", driver_args(inputs, fleet, plan), DraDriverArgs))
    if fleet.device_plugin:
        read_plugin_inputs(read.inside("device_plugin", plugin_args(inputs, fleet), DevicePluginArgs))
    if fleet.device_classes:
        read_classes(read.inside("fleet.deviceClasses", class_args(fleet), DeviceClassesArgs))
    if inputs.tenants:
        read_tenants(read)
    check_releases(read, inputs, fleet)


def declare_in_cluster(
    name: str,
    inputs: DraPlatformInputs,
    fleet: Fleet,
    plan: PlanFile,
    cluster: BuiltCluster,
    children: Children,
) -> None:
    """Declare it all; it comes after the pools, so that on the way down it goes while there are nodes to leave."""
    provider = k8s.Provider(
        f"{name}-kubernetes",
        kubeconfig=cluster.kubeconfig_json,
        enable_server_side_apply=True,
        opts=children.options(depends_on=cluster.usable),
    )
    options = children.options(
        depends_on=[*cluster.usable, *cluster.pools],
        providers={"kubernetes": provider},
        # With the cluster goes what is in it; a namespace would otherwise wait for pods on nodes that are gone.
        deleted_with=cluster.resource,
    )
    cluster.declare_inside(options)
    after_installer = options
    of_cloud = cloud(fleet.cloud)
    if not of_cloud.installs_driver and fleet.drivers.of(NVIDIA) is not None:
        installer = DriverInstaller(
            f"{name}-driver-installer", DriverInstallerArgs(**inputs.driver_installer), opts=options
        )
        # A plugin that starts before the NVIDIA driver is there can publish a slice without devices
        # (kubernetes-sigs/dra-driver-nvidia-gpu issue 1008).
        after_installer = pulumi.ResourceOptions.merge(options, pulumi.ResourceOptions(depends_on=[installer]))
    drivers: list[pulumi.Resource] = []
    if fleet.drivers.of(NVIDIA) is not None:
        drivers.append(DraDriver(f"{name}-driver", driver_args(inputs, fleet, plan), opts=after_installer))
    options_of_dranet = fleet.drivers.of(dranet.DRIVER)
    if options_of_dranet is not None and not is_managed(dranet.DRIVER, of_cloud):
        Dranet(f"{name}-dranet", dranet_args(fleet, options_of_dranet), opts=options)
    after_driver = pulumi.ResourceOptions.merge(options, pulumi.ResourceOptions(depends_on=drivers))
    if fleet.device_plugin:
        DevicePlugin(f"{name}-device-plugin", plugin_args(inputs, fleet), opts=options)
    if fleet.device_classes:
        DeviceClasses(f"{name}-classes", class_args(fleet), opts=after_driver)
    if inputs.tenants:
        TenantAccess(f"{name}-tenants", TenantAccessArgs(tenants=inputs.tenants), opts=options)
    if inputs.admin_access_namespaces is not None:
        AdminAccessPolicy(f"{name}-admin-access", {"namespaces": inputs.admin_access_namespaces}, opts=options)
    declare_releases(name, inputs, fleet, after_driver)


def driver_args(inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile) -> DraDriverArgs:
    """Return the driver's inputs; its quota must do for every node that the pools may ever have together."""
    nvidia, options = fleet.drivers.of(NVIDIA), dict(inputs.driver)
    assert nvidia is not None  # asked for only if the fleet installs it
    args: dict[str, Any] = {
        "version": nvidia.version,
        "platform": fleet.cloud,
        "max_nodes": sum(row.nodes.max for row in plan.pools),
        "feature_gates": dict(nvidia.feature_gates),
        "compute_domains": nvidia.compute_domains,
        "tolerations": [*pool_tolerations(fleet), *options.pop("tolerations", [])],
    }
    if nvidia.consumable_shares != "":
        args["consumable_shares"] = str(nvidia.consumable_shares)
    if fleet.driver_root != cloud(fleet.cloud).driver_root:
        options.setdefault("driver_root", fleet.driver_root)
    return DraDriverArgs(**args, **options)


def dranet_args(fleet: Fleet, options: dranet.Dranet) -> DranetArgs:
    """Return the inputs of DRANET on EKS."""
    args: dict[str, Any] = {"tolerations": pool_tolerations(fleet)}
    if options.version:
        args["version"] = options.version
    return DranetArgs(**args)


def plugin_args(inputs: DraPlatformInputs, fleet: Fleet) -> DevicePluginArgs:
    """Return the device plugin's inputs."""
    args = DevicePluginArgs(version=fleet.device_plugin.version if fleet.device_plugin else "")
    if inputs.device_plugin_chart:
        args["chart"] = inputs.device_plugin_chart
    return args


def class_args(fleet: Fleet) -> DeviceClassesArgs:
    """Return the fleet's own classes as inputs of DeviceClasses."""
    classes: list[pulumi.Input[DeviceClassSettings]] = []
    for device_class in fleet.device_classes:
        settings: DeviceClassSettings = {"name": device_class.name, "selectors": list(device_class.selectors)}
        if device_class.extended_resource_name:
            settings["extended_resource_name"] = device_class.extended_resource_name
        classes.append(settings)
    return {"kubernetes_version": fleet.kubernetes, "classes": classes}
