"""A fleet and its plan → what runs in the cluster: driver, its installer on GKE, classes, device plugin."""

import pulumi
import pulumi_kubernetes as k8s
from dra_planner.fleet import Fleet
from dra_planner.planfile import PlanFile

from pulumi_dra.built_cluster import BuiltCluster
from pulumi_dra.children import Children
from pulumi_dra.dra.device_classes import DeviceClasses, DeviceClassSettings
from pulumi_dra.dra.device_plugin import DevicePlugin, DevicePluginArgs
from pulumi_dra.dra.dra_driver import DraDriver, DraDriverArgs
from pulumi_dra.dra.driver_installer import DriverInstaller


def declare_in_cluster(
    name: str,
    fleet: Fleet,
    plan: PlanFile,
    cluster: BuiltCluster,
    children: Children,
    *,
    driver_chart: str = "",
    device_plugin_chart: str = "",
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
    if fleet.cloud == "gke":
        DriverInstaller(f"{name}-driver-installer", {}, opts=options)
    args: DraDriverArgs = {
        "version": fleet.drivers.nvidia.version,
        "platform": fleet.cloud,
        "max_nodes": sum(row.nodes.max for row in plan.pools),
    }
    if driver_chart:
        args["chart"] = driver_chart
    driver = DraDriver(f"{name}-driver", args, opts=options)
    if fleet.device_plugin:
        plugin: DevicePluginArgs = {"version": fleet.device_plugin.version}
        if device_plugin_chart:
            plugin["chart"] = device_plugin_chart
        DevicePlugin(f"{name}-device-plugin", plugin, opts=options)
    if fleet.device_classes:
        after_driver = pulumi.ResourceOptions.merge(options, pulumi.ResourceOptions(depends_on=[driver]))
        DeviceClasses(
            f"{name}-classes",
            {"kubernetes_version": fleet.kubernetes, "classes": class_settings(fleet)},
            opts=after_driver,
        )


def class_settings(fleet: Fleet) -> list[DeviceClassSettings]:
    """Return the fleet's own classes as inputs of DeviceClasses."""
    classes: list[DeviceClassSettings] = []
    for device_class in fleet.device_classes:
        settings: DeviceClassSettings = {"name": device_class.name, "selectors": list(device_class.selectors)}
        if device_class.extended_resource_name:
            settings["extended_resource_name"] = device_class.extended_resource_name
        classes.append(settings)
    return classes
