"""Create the resources in the cluster from a fleet and its plan: the driver, its installer on GKE,
DeviceClasses, the device plugin, and tenants.
"""

import json
from collections.abc import Iterator

import pulumi
import pulumi_kubernetes as k8s

from dra_planner.catalog import Machine
from dra_planner.clouds import PluginServing
from dra_planner.drivers.nvidia.device_plugin.serving import WHOLE_GPUS, plugin_configs
from dra_planner.fleet import Fleet
from dra_planner.planfile import PlanFile, canonical_text
from dra_planner.releases import has_mutating_policies
from pulumi_dra.built_cluster import BuiltCluster
from pulumi_dra.child_options import Children
from pulumi_dra.dra.classes.device_classes import (
    DeviceClasses,
    DeviceClassesArgs,
    DeviceClassSettings,
    read_classes,
)
from pulumi_dra.dra.device_plugin.device_plugin import (
    DevicePlugin,
    DevicePluginArgs,
    read_plugin_inputs,
)
from pulumi_dra.dra.driver_folders import components_of_driver
from pulumi_dra.dra.releases.from_fleet import check_releases, declare_releases
from pulumi_dra.dra.tenants.admin_access_policy import AdminAccessPolicy
from pulumi_dra.dra.tenants.tenant_access import TenantAccess, TenantAccessArgs, read_tenants
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.placement import (
    PlacementPolicies,
    PlacementPoliciesArgs,
    PlanGate,
    PlanGateArgs,
)
from pulumi_dra.platform.platform_inputs import DraPlatformInputs


def check_in_cluster(
    read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile
) -> None:
    """Record in `read` which inputs the components in the cluster would reject, before any resource
    is declared.
    """
    for driver, _ in fleet.drivers.installed():
        components_of_driver(driver.name).check(read, inputs, fleet, plan)
    if fleet.device_plugin:
        read_plugin_inputs(
            read.inside("device_plugin", plugin_args(inputs, fleet), DevicePluginArgs)
        )
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
    """Declare all resources in the cluster after the pools, so that `destroy` deletes them while
    nodes still run.
    """
    provider = k8s.Provider(
        f"{name}-kubernetes",
        kubeconfig=cluster.kubeconfig_json,
        cluster_identifier=cluster.identity,
        enable_server_side_apply=True,
        opts=children.options(depends_on=cluster.usable),
    )
    options = children.options(
        depends_on=[*cluster.usable, *cluster.pools],
        providers={"kubernetes": provider},
        # Deleting the cluster also deletes the objects in it. Otherwise, deleting a namespace would
        # wait for pods on nodes that no longer exist.
        deleted_with=cluster.resource,
    )
    cluster.declare_inside(options)
    drivers: list[pulumi.Resource] = []
    for driver, _ in fleet.drivers.installed():
        drivers += components_of_driver(driver.name).declare(name, inputs, fleet, plan, options)
    after_driver = pulumi.ResourceOptions.merge(options, pulumi.ResourceOptions(depends_on=drivers))
    if fleet.device_plugin:
        DevicePlugin(f"{name}-device-plugin", plugin_args(inputs, fleet), opts=options)
    if fleet.device_classes:
        DeviceClasses(f"{name}-classes", class_args(fleet), opts=after_driver)
    if inputs.tenants:
        TenantAccess(f"{name}-tenants", TenantAccessArgs(tenants=inputs.tenants), opts=options)
    if plan.guards is not None and plan.guards.rules and has_mutating_policies(fleet.minor):
        PlacementPolicies(
            f"{name}-placement", PlacementPoliciesArgs(plan=canonical_text(plan)), opts=options
        )
    if inputs.admission_gate:
        PlanGate(f"{name}-gate", PlanGateArgs(plan=canonical_text(plan)), opts=options)
    if inputs.admin_access_namespaces is not None:
        AdminAccessPolicy(
            f"{name}-admin-access", {"namespaces": inputs.admin_access_namespaces}, opts=options
        )
    declare_releases(name, inputs, fleet, after_driver)


def plugin_args(inputs: DraPlatformInputs, fleet: Fleet) -> DevicePluginArgs:
    """Return the device plugin's inputs."""
    args = DevicePluginArgs(version=fleet.device_plugin.version if fleet.device_plugin else "")
    if fleet.device_plugin and fleet.device_plugin.feature_discovery:
        args["feature_discovery"] = True
    if configs := plugin_configs(_plugin_pools(fleet)):
        args["configs"] = {
            name: json.dumps(config, sort_keys=True) for name, config in configs.items()
        }
        args["default_config"] = WHOLE_GPUS
    if inputs.device_plugin_chart:
        args["chart"] = inputs.device_plugin_chart
    return args


def _plugin_pools(fleet: Fleet) -> Iterator[tuple[Machine, PluginServing]]:
    """Yield the pools that the device plugin serves, with their sharing."""
    for pool in fleet.pools:
        if (serving := fleet.plugin_serving(pool)) is not None:
            yield fleet.machine(pool.machine), serving


def class_args(fleet: Fleet) -> DeviceClassesArgs:
    """Return the fleet's custom classes as inputs of DeviceClasses."""
    classes: list[pulumi.Input[DeviceClassSettings]] = []
    for device_class in fleet.device_classes:
        settings: DeviceClassSettings = {
            "name": device_class.name,
            "selectors": list(device_class.selectors),
        }
        if device_class.extended_resource_name:
            settings["extended_resource_name"] = device_class.extended_resource_name
        classes.append(settings)
    return {"kubernetes_version": fleet.kubernetes, "classes": classes}
