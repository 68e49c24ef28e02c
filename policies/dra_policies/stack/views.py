"""Resources → the view that rules check: one resource before its creation, or a whole stack."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from dra_planner.planfile import RECORD_TYPE, PlanFile, PoolRow
from dra_policies.stack.clusters import beside
from dra_policies.stack.declared_fleet import stack_region
from dra_policies.stack.drivers.drivers_without_chart import second_drivers
from dra_policies.stack.drivers.installers import installer_of
from dra_policies.stack.drivers.rendered_charts import driver_of_daemon_set
from dra_policies.stack.efa_groups import closed_efa_groups
from dra_policies.stack.engine_session import SeenResources
from dra_policies.stack.judgement import judge_objects, judge_record, judge_stack
from dra_policies.stack.karpenter_pools import karpenter_pool
from dra_policies.stack.kubernetes_objects import is_kubernetes_object, read_objects
from dra_policies.stack.plan_record import find_record, read_record
from dra_policies.stack.pools import cloud_of_cluster, cloud_of_pool, declared_pools, is_pool
from dra_policies.stack.releases import (
    DRIVER_CHARTS,
    RELEASES,
    chart_name,
    critical_pod_quota,
    device_plugin_of_daemon_set,
    device_plugin_of_release,
    driver_of_release,
    gpu_operator,
    is_gpu_operator,
    mig_manager_of_release,
)
from dra_policies.stack.resource import Resource, namespace_of
from dra_policies.stack.scaling_groups import declared_groups
from dra_policies.stack.subcharts import with_subcharts
from dra_policies.unknown_values import UNKNOWN, Properties, as_mapping
from dra_policies.view.driver_pod import plugin_pod
from dra_policies.view.node_selection import affine, every, selects, some
from dra_policies.view.planned_nodes import planned_nodes
from dra_policies.view.stack_view import (
    DeclaredPool,
    DeclaredResource,
    InstalledDriver,
    KubernetesVersion,
    PluginWorkload,
    Record,
    StackView,
)


def view_of_resource(resource: Resource, seen: SeenResources) -> StackView | None:
    """Return the view for the analysis of one resource, or None if no rule checks its type.

    `seen` are the resources analyzed so far, including this one. The recorded plan is the first
    resource.
    """
    if resource.type == RECORD_TYPE:
        return judge_record(StackView(expects_record=True, record=read_record(resource)))
    if not _is_judged(resource):
        return None
    records = seen.records()
    if len(records) > 1:
        # The whole stack determines which plan a resource belongs to, when the whole stack is
        # checked.
        return StackView(declared=_declared([resource]), versions=_versions([resource]))
    record = find_record(records)
    view = StackView(
        expects_record=True,
        record=record,
        declared=_declared([resource]),
        versions=_versions([resource]),
        wants_devices=record is not None,
    )
    if is_pool(resource):
        return replace(view, pools=tuple(declared_pools(resource, seen.all())))
    plugins = _device_plugins([resource])
    if plugins:
        return replace(
            view, pools=_pools(seen.all()) or expected_pools(record), device_plugins=plugins
        )
    if resource.type in RELEASES and (driver := driver_of_release(resource, seen.all())):
        return replace(view, drivers=(driver,))
    if is_kubernetes_object(resource):
        return judge_objects(read_objects(view, beside(resource, seen.behind(resource))))
    return view if view.declared else None


def _is_judged(resource: Resource) -> bool:
    """Return whether a rule checks single resources of that type."""
    if not resource.type.startswith(_ELSEWHERE) or resource.type in RELEASES:
        return True
    return resource.type.endswith((":DaemonSet", ":DaemonSetPatch")) or is_kubernetes_object(
        resource
    )


def view_of_stack(resources: Sequence[Resource]) -> StackView:
    """Return the view of a whole stack, with its demand evaluated on its declared pools."""
    charts = tuple(part for each in resources for part in with_subcharts(each))
    drivers = _drivers(charts, resources)
    view = StackView(
        complete=True,
        expects_record=True,
        stack=resources[0].urn.split("::")[0].rpartition(":")[2] if resources else "",
        record=find_record(resources),
        pools=tuple(_with_driver(pool, drivers) for pool in _pools(resources)),
        scaling_groups=tuple(_with_driver(group, drivers) for group in declared_groups(resources)),
        declared=_declared(resources),
        objects=_objects(resources),
        region=stack_region(resources),
        versions=_versions(resources),
        installs_charts=any(each.type in RELEASES for each in resources)
        and any(cloud_of_cluster(each) is not None for each in resources),
        has_gpu_operator=any(is_gpu_operator(each) for each in charts),
        device_plugins=_device_plugins(charts),
        mig_managers=tuple(found for each in charts if (found := mig_manager_of_release(each))),
        drivers=drivers,
        operators=tuple(one for each in charts if (one := gpu_operator(each))),
        closed_efa_groups=tuple(closed_efa_groups(resources)),
        installers=tuple(installer for each in resources if (installer := installer_of(each))),
        installed_charts=tuple(_installed(each) for each in charts if each.type in RELEASES),
        charts=frozenset(chart_name(each) for each in charts if each.type in RELEASES),
        quotas=tuple(quota for each in resources if (quota := critical_pod_quota(each, resources))),
    )
    view = replace(view, second_drivers=tuple(second_drivers(view.pools, charts)))
    view = read_objects(view, resources)
    claims = view.manifests is not None and bool(view.manifests.claims or view.manifests.templates)
    needs_devices = (
        claims
        or view.record is not None
        or bool(view.drivers)
        or any(pool.is_dra for pool in view.node_pools)
    )
    return judge_stack(replace(view, wants_devices=needs_devices), resources)


def _drivers(
    charts: Sequence[Resource], resources: Sequence[Resource]
) -> tuple[InstalledDriver, ...]:
    """Return the drivers that charts install. If a chart is visible only as rendered objects,
    derive the driver from the objects.
    """
    of_charts = [(each, driver_of_release(each, resources)) for each in charts]
    found = [driver for _, driver in of_charts if driver is not None]
    if not any(driver and RELEASES[each.type] == "Chart" for each, driver in of_charts):
        found += [driver for each in resources if (driver := driver_of_daemon_set(each, resources))]
    return tuple(found)


def _installed(chart: Resource) -> DeclaredResource:
    """Return a chart with its values. The NVIDIA DRA driver's chart has one type for its names."""
    name = chart_name(chart)
    return DeclaredResource(
        urn=chart.urn,
        type=f"chart:{'nvidia-dra-driver-gpu' if name in DRIVER_CHARTS else name}",
        name=chart.name,
        props=chart.props.below("values"),
        sources=chart.sources,
        version=chart.props.text("version") or "",
        namespace=chart.props.text("namespace", "default") or "",
    )


def _declared(resources: Sequence[Resource]) -> tuple[DeclaredResource, ...]:
    """Return the resources of clouds, without objects inside clusters."""
    return tuple(
        DeclaredResource(
            urn=each.urn,
            type=each.type,
            name=each.name,
            props=each.props,
            sources=each.sources,
            of_outputs=each.of_outputs,
            ignore_changes=each.ignore_changes,
        )
        for each in resources
        if not each.type.startswith(_ELSEWHERE)
    )


def _objects(resources: Sequence[Resource]) -> tuple[DeclaredResource, ...]:
    """Return the objects inside clusters, and the providers."""
    return tuple(
        DeclaredResource(
            urn=each.urn,
            type=each.type,
            name=each.name,
            props=_with_namespace(each, resources),
            sources=each.sources,
        )
        for each in resources
        if each.type.startswith(("kubernetes:", "pulumi:providers:"))
    )


def _with_namespace(resource: Resource, resources: Sequence[Resource]) -> Properties:
    """Return the properties of an object. If the stack creates the object's namespace, the
    properties include the namespace's name.
    """
    if resource.props.at(NAMESPACE_PATH) is not UNKNOWN:
        return resource.props
    metadata = as_mapping(resource.props.at("metadata"))
    namespace = namespace_of(resource, NAMESPACE_PATH, resources)
    if metadata is None or namespace is None:
        return resource.props
    return Properties({**resource.props.values, "metadata": {**metadata, "namespace": namespace}})


NAMESPACE_PATH = "metadata.namespace"
_ELSEWHERE = ("kubernetes:", "pulumi:", "pulumi-dra:")
_MINOR = re.compile(r"v?1\.(\d{1,3})(\D|$)")


def _versions(resources: Sequence[Resource]) -> tuple[KubernetesVersion, ...]:
    found: list[KubernetesVersion] = []
    for each in resources:
        is_cluster = False
        if of_cloud := cloud_of_cluster(each):
            title, path, is_cluster = each.title("cluster"), of_cloud.cluster.version, True
        elif of_cloud := cloud_of_pool(each):
            title, path = each.title(of_cloud.pool.kind), of_cloud.pool.version
            if of_cloud.pool.release and each.props.has(of_cloud.pool.version) is False:
                path = of_cloud.pool.release
        else:
            continue
        minor = _MINOR.match(each.props.text(path) or "") if path else None
        found.append(
            KubernetesVersion(
                urn=each.urn,
                title=title,
                property=path,
                minor=int(minor[1]) if minor else None,
                is_cluster=is_cluster,
                cloud=of_cloud.name,
                is_floor=is_cluster and of_cloud.cluster.version_is_floor,
            )
        )
    return tuple(found)


def expected_pools(record: Record | None) -> tuple[DeclaredPool, ...]:
    """Return the planned pools with the settings of their nodes."""
    if record is None or record.plan_file is None:
        return ()
    plan_file = record.plan_file
    return tuple(_expected_pool(plan_file, row, record.urn) for row in plan_file.pools)


def _expected_pool(plan_file: PlanFile, row: PoolRow, urn: str) -> DeclaredPool:
    nodes = planned_nodes(plan_file, row.name)
    return DeclaredPool(
        urn=urn,
        title=f'pool "{row.name}" in the plan',
        cloud=plan_file.fleet.cloud,
        name=row.name,
        machine=row.machine,
        count_min=row.nodes.min,
        count_desired=row.nodes.desired,
        count_max=row.nodes.max,
        labels=nodes.all_labels,
        taints=(*nodes.taints, *nodes.added_taints),
        has_gpus=True,
    )


def _pools(resources: Sequence[Resource]) -> tuple[DeclaredPool, ...]:
    found: list[DeclaredPool] = []
    for resource in resources:
        found += declared_pools(resource, resources)
        if pool := karpenter_pool(resource, resources):
            found.append(pool)
    return tuple(found)


def _with_driver(pool: DeclaredPool, drivers: Sequence[InstalledDriver]) -> DeclaredPool:
    """Return the pool, and whether a driver selects its nodes if taints are ignored."""
    pods = [None if driver.values is None else plugin_pod(driver) for driver in drivers]
    runs = some(
        None if pod is None else every((selects(pod, pool), affine(pod, pool))) for pod in pods
    )
    return replace(pool, runs_driver=None if runs and pool.has_gpus is None else runs)


def _device_plugins(resources: Sequence[Resource]) -> tuple[PluginWorkload, ...]:
    patches = {
        _object_key(resource): resource
        for resource in resources
        if resource.type.endswith(":DaemonSetPatch")
    }
    patched = {
        _object_key(resource) for resource in resources if resource.type.endswith(":DaemonSet")
    }
    found: list[PluginWorkload | None] = []
    for resource in resources:
        if resource.type.endswith(":DaemonSet"):
            found.append(device_plugin_of_daemon_set(resource, patches.get(_object_key(resource))))
        elif resource.type.endswith(":DaemonSetPatch") and _object_key(resource) not in patched:
            found.append(device_plugin_of_daemon_set(resource))
        else:
            found.append(device_plugin_of_release(resource))
    return tuple(plugin for plugin in found if plugin is not None)


def _object_key(resource: Resource) -> tuple[str | None, str | None]:
    return resource.props.text("metadata.namespace", "default"), resource.props.text(
        "metadata.name"
    )
