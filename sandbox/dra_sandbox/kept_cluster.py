"""The control plane that a kept stack creates: started before the stack goes up, stopped when it is down."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Any

from dra_planner.fleet import Fleet
from dra_planner.offers import predict_offers
from dra_planner.plan import fleet_classes
from dra_planner.planfile import PlanFile
from dra_planner.releases import features_of
from dra_sandbox.control_plane import ApiServer, ControlPlane, ControlPlaneError, Refused, Settings, start
from dra_sandbox.control_plane.plane import is_kept, read_plane
from dra_sandbox.control_plane.processes import running
from dra_sandbox.rehearsal.cluster import PlannedCluster, cluster_of
from dra_sandbox.tools.kubernetes import find_binaries

_NODES = "/api/v1/nodes"
_SLICES = "/apis/resource.k8s.io/v1/resourceslices"


def open_cluster(folder: Path, minor: int) -> ControlPlane:
    """Return the control plane that is kept in `folder`, started when there is none.

    Raises ControlPlaneError where one of its processes has ended, or where it is of another minor.
    """
    if not is_kept(folder):
        return start(folder, Settings(minor), find_binaries(minor))
    plane = read_plane(folder.resolve())
    ended = ended_components(plane)
    if ended:
        names = ", ".join(ended)
        raise ControlPlaneError(f"{names} of {folder} no longer runs: run `pulumi-dra sandbox down`, then `up`")
    there, asked = features_of(plane.minor), features_of(minor)
    if there != asked:
        raise ControlPlaneError(
            f"the control plane in {folder} is of {there.version} and the stack asks for {asked.version}: "
            "run `pulumi-dra sandbox down`, then `up`"
        )
    return plane


def ended_components(plane: ControlPlane) -> tuple[str, ...]:
    """Return the components of a control plane that do not run any more."""
    there = running(plane.folder)
    return tuple(name for name in plane.components if name not in there)


def set_nodes(plane: ControlPlane, fleet: Fleet, plan: PlanFile) -> PlannedCluster:
    """Make the nodes be those that the plan builds, with the DeviceClasses of the fleet, slices and daemon pods; nodes
    that are there stay as they are, those that the plan no longer has go.

    Raises Refused when the API server does not take them.
    """
    features = features_of(fleet.minor)
    sizes = {pool.name: plan.pool(pool.name).nodes.desired for pool in fleet.pools}
    cluster = cluster_of(fleet, predict_offers(fleet, features), fleet_classes(fleet, features), sizes)
    server = ApiServer.of(plane)
    names = {each["metadata"]["name"] for each in cluster.objects}
    for path in (_SLICES, _NODES):
        for item in server.listed(path)[0]:
            if item["metadata"]["name"] not in names:
                server.delete(f"{path}/{item['metadata']['name']}")
    for each in cluster.objects:
        _create(server, each)
    return cluster


def _create(server: ApiServer, item: dict[str, Any]) -> None:
    try:
        server.create(item)
    except Refused as refused:
        if refused.status != HTTPStatus.CONFLICT:
            raise
