"""The control plane of a running stack. It starts before the stack is created and stops after the
stack is deleted.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any

from dra_planner.fleet import Fleet
from dra_planner.offers import predict_offers
from dra_planner.plan import fleet_classes
from dra_planner.planfile import PlanFile
from dra_planner.releases import features_of
from dra_sandbox.control_plane import (
    ApiRejection,
    ApiServer,
    ControlPlane,
    ControlPlaneError,
    Settings,
    start,
)
from dra_sandbox.control_plane.plane import is_kept, read_plane
from dra_sandbox.control_plane.processes import running
from dra_sandbox.rehearsal.cluster import (
    DAEMON_LABEL,
    DAEMON_NAMESPACE,
    PlannedCluster,
    cluster_of,
    daemon_of,
)
from dra_sandbox.tools.kubernetes import find_binaries

_NODES = "/api/v1/nodes"
_SLICES = "/apis/resource.k8s.io/v1/resourceslices"
_CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
_PREDICTED = "pulumi-dra/predicted"
"""Label of objects that only the plan predicts."""
_RELEASE = "meta.helm.sh/release-name"
_DAEMON_SETS = "/apis/apps/v1/daemonsets"
_DAEMON_PODS = f"/api/v1/namespaces/{DAEMON_NAMESPACE}/pods"


def open_cluster(folder: Path, minor: int) -> ControlPlane:
    """Return the control plane in `folder`, and start it if necessary. Raises ControlPlaneError if
    one of its processes has ended, or if it has another minor version.
    """
    if not is_kept(folder):
        return start(folder, Settings(minor), find_binaries(minor))
    plane = read_plane(folder.resolve())
    ended = ended_components(plane)
    if ended:
        names = ", ".join(ended)
        raise ControlPlaneError(
            f"no longer running in {folder}: {names}; run `pulumi-dra sandbox down`, then `up`"
        )
    there, requested = features_of(plane.minor), features_of(minor)
    if there != requested:
        raise ControlPlaneError(
            f"the control plane in {folder} runs {there.version}, but the stack requests "
            f"{requested.version}; run `pulumi-dra sandbox down`, then `up`"
        )
    return plane


def ended_components(plane: ControlPlane) -> tuple[str, ...]:
    """Return the components of a control plane that are no longer running."""
    there = running(plane.folder)
    return tuple(name for name in plane.components if name not in there)


def planned_cluster(fleet: Fleet, plan: PlanFile) -> PlannedCluster:
    """Return the cluster that a plan builds: nodes, slices, the fleet's DeviceClasses, and daemon
    pods.
    """
    features = fleet.features
    sizes = {pool.name: plan.pool(pool.name).nodes.desired for pool in fleet.pools}
    return cluster_of(fleet, predict_offers(fleet, features), fleet_classes(fleet, features), sizes)


def set_nodes(plane: ControlPlane, cluster: PlannedCluster) -> None:
    """Create the nodes and slices of a plan. Existing nodes of the plan stay unchanged, and other
    nodes are deleted. Raises ApiRejection if the API server rejects a change.
    """
    server = ApiServer.of(plane)
    _keep(server, (_SLICES, _NODES), _names(cluster.objects))
    # a release of the stack may install them now
    _keep(server, (f"{_CLASSES}?labelSelector={_PREDICTED}",), set())
    for each in cluster.objects:
        if each["kind"] in ("Node", "ResourceSlice"):
            _create(server, each)


def set_predicted(plane: ControlPlane, cluster: PlannedCluster) -> None:
    """Create the objects that the plan predicts and that no release of the stack installs:
    DeviceClasses and daemon pods. Raises ApiRejection if the API server rejects one.
    """
    server = ApiServer.of(plane)
    brought = {each["metadata"]["name"] for each in server.listed(_DAEMON_SETS)[0]}
    rest = [each for each in cluster.objects if each["kind"] not in ("Node", "ResourceSlice")]
    wanted = [each for each in rest if each["kind"] != "Pod" or daemon_of(each) not in brought]
    _keep(server, (f"{_DAEMON_PODS}?labelSelector={DAEMON_LABEL}",), _names(wanted))
    for each in wanted:
        labels = {**each["metadata"].get("labels", {}), _PREDICTED: "true"}
        _create(server, {**each, "metadata": {**each["metadata"], "labels": labels}})


def daemon_pods(plane: ControlPlane, namespace: str, release: str) -> int:
    """Return the number of pods on nodes that belong to the DaemonSets of a release."""
    found = ApiServer.of(plane).listed(f"/apis/apps/v1/namespaces/{namespace}/daemonsets")[0]
    of_release = [
        each
        for each in found
        if (each["metadata"].get("annotations") or {}).get(_RELEASE) == release
    ]
    return sum(each.get("status", {}).get("currentNumberScheduled", 0) for each in of_release)


def _names(objects: Iterable[dict[str, Any]]) -> set[str]:
    return {each["metadata"]["name"] for each in objects}


def _keep(server: ApiServer, paths: Iterable[str], names: set[str]) -> None:
    """Delete all objects except those with these names."""
    for path in paths:
        for item in server.listed(path)[0]:
            if item["metadata"]["name"] not in names:
                server.delete(f"{path.partition('?')[0]}/{item['metadata']['name']}", at_once=True)


def _create(server: ApiServer, item: dict[str, Any]) -> None:
    try:
        server.create(item)
    except ApiRejection as refused:
        if refused.status != HTTPStatus.CONFLICT:
            raise
