"""Create DRANET from a fleet, unless the cloud runs DRANET."""

from typing import Any

import pulumi

from dra_planner.clouds import cloud
from dra_planner.drivers import dranet, is_managed
from dra_planner.fleet import Fleet
from dra_planner.planfile import PlanFile
from pulumi_dra.dra.dranet.release import Dranet, DranetArgs
from pulumi_dra.dra.node_terms import pool_tolerations
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.platform_inputs import DraPlatformInputs


def check(read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile) -> None:
    """Do nothing, because the fleet's own checks cover all inputs of the component."""


def declare(
    name: str,
    inputs: DraPlatformInputs,
    fleet: Fleet,
    plan: PlanFile,
    options: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    """Declare the Helm release. No resource waits for it."""
    of_fleet = fleet.drivers.of(dranet.DRIVER)
    if of_fleet is not None and not is_managed(dranet.DRIVER, cloud(fleet.cloud)):
        Dranet(f"{name}-dranet", dranet_args(fleet, of_fleet), opts=options)
    return []


def dranet_args(fleet: Fleet, of_fleet: dranet.DranetSettings) -> DranetArgs:
    """Return the inputs of DRANET on EKS."""
    args: dict[str, Any] = {"tolerations": pool_tolerations(fleet)}
    if of_fleet.version:
        args["version"] = of_fleet.version
    return DranetArgs(**args)
