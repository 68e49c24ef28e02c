"""Labels and taints of a pool: components set, offers predict, and rules require the same
values.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dra_planner.clouds import cloud
from dra_planner.fleet import Fleet, read_fleet_file, read_stack
from dra_planner.model import Node
from dra_planner.offers import predict_offers
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import PlanFile
from dra_planner.releases import features_of
from dra_policies.view.planned_nodes import planned_nodes
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.platform_inputs import DraPlatformInputs

PROJECT = Path(__file__).parents[2]
NO_OPTIONS = DraPlatformInputs(
    pools={},
    driver={},
    device_plugin_chart="",
    storage_class=True,
    cluster={},
    releases={},
    tenants=[],
    admission_gate=False,
    admin_access_namespaces=None,
    tags={},
    autoscaler={},
    driver_installer={},
)


def fleets() -> dict[str, Fleet]:
    found = {
        str(file.relative_to(PROJECT)): read_stack(
            file.stem.removeprefix("Pulumi."), file.parents[1]
        ).fleet
        for file in sorted(PROJECT.glob("**/stacks/Pulumi.*.yaml"))
        if ".venv" not in file.parts
    }
    found |= {
        str(file.relative_to(PROJECT)): read_fleet_file(file)
        for file in PROJECT.glob("examples/*/fleet.yaml")
    }
    return found


FLEETS = fleets()


def declared(fleet: Fleet, plan: PlanFile, name: str) -> Any:
    """Return the checked inputs of the component that builds a pool."""
    pool = fleet.pool(name)
    if fleet.cloud == "eks":
        from pulumi_dra.eks.from_fleet import EksPoolPlace, pool_args
        from pulumi_dra.eks.pool.gpu_pool_inputs import EksGpuPoolArgs, read_gpu_pool_inputs

        place = EksPoolPlace(
            cluster_name="dev",
            node_role_arn="arn:aws:iam::111122223333:role/nodes",
            subnets_in=lambda zones: ["subnet-a"],
            kubernetes_version=fleet.kubernetes,
            cluster_security_group_id="sg-1",
            vpc_id="vpc-1",
            endpoint="https://cluster.example",
            certificate_authority="Y2E=",
            service_cidr="10.100.0.0/16",
        )
        read = InputReader(
            "EksGpuPool", name, pool_args(NO_OPTIONS, fleet, plan, pool, place), EksGpuPoolArgs
        )
        return read_gpu_pool_inputs(read, name)
    if fleet.cloud == "aks":
        from pulumi_dra.aks.from_fleet import AksPoolPlace as AksPlace
        from pulumi_dra.aks.from_fleet import pool_args as aks_pool_args
        from pulumi_dra.aks.gpu_pool_inputs import AksGpuPoolArgs
        from pulumi_dra.aks.gpu_pool_inputs import read_gpu_pool_inputs as read_aks_inputs

        here = AksPlace(
            cluster_name="dev",
            resource_group_name="group",
            subnet_id="subnet",
            principal_id="principal",
        )
        inputs = aks_pool_args(NO_OPTIONS, fleet, plan, pool, here)
        return read_aks_inputs(InputReader("AksGpuPool", name, inputs, AksGpuPoolArgs), name)
    from pulumi_dra.gke.from_fleet import pool_args as gke_pool_args
    from pulumi_dra.gke.pool.gpu_pool_inputs import GkeGpuPoolArgs
    from pulumi_dra.gke.pool.gpu_pool_inputs import read_gpu_pool_inputs as read_gke_inputs

    zones: list[Any] = [f"{fleet.region}-{letter}" for letter in "abc"[: fleet.zone_count]]
    args = gke_pool_args(
        NO_OPTIONS, fleet, plan, pool, zones, cluster_name="dev", service_account="nodes@p.example"
    )
    return read_gke_inputs(InputReader("GkeGpuPool", name, args, GkeGpuPoolArgs), name)


def predicted(fleet: Fleet, name: str) -> Node:
    return next(
        offer.node
        for offer in predict_offers(fleet, features_of(fleet.minor))
        if offer.name == name
    )


@pytest.mark.parametrize("name", FLEETS)
def test_components_predictions_and_rules_agree_on_every_pool(name: str) -> None:
    fleet = FLEETS[name]
    plan = plan_file(make_plan(PlanRequest(sources=(), fleet=fleet)))
    for pool in fleet.pools:
        built, demanded = declared(fleet, plan, pool.name), planned_nodes(plan, pool.name)
        node = predicted(fleet, pool.name)
        assert {label.key: label.value for label in demanded.labels} == built.labels
        assert demanded.taints == tuple(built.taints)
        assert {key: node.meta.labels.get(key) for key in built.labels} == built.labels
        assert demanded.added_labels.items() <= node.meta.labels.items()
        ours = cloud(fleet.cloud).reserved_labels
        assert {key for key in node.meta.labels if key in ours} == {
            key for key in built.labels if key in ours
        }
        assert set(node.taints) == {*built.taints, *demanded.added_taints}


def test_every_cloud_has_fleets_with_and_without_network_devices() -> None:
    assert {(fleet.cloud, bool(fleet.drivers.dranet)) for fleet in FLEETS.values()} == {
        # AKS is planned without DRANET
        ("eks", True), ("eks", False), ("gke", True), ("gke", False), ("aks", False),
    }  # fmt: skip
