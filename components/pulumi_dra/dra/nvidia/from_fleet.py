"""Create the NVIDIA DRA driver from a fleet and its plan, with a driver installer if the cloud
doesn't install the GPU driver.
"""

from typing import Any

import pulumi

from dra_planner.clouds import cloud
from dra_planner.drivers.nvidia import DRIVER
from dra_planner.fleet import Fleet
from dra_planner.planfile import PlanFile
from pulumi_dra.dra.node_terms import pool_tolerations
from pulumi_dra.dra.nvidia.dra_driver import DraDriver
from pulumi_dra.dra.nvidia.driver_inputs import DraDriverArgs, read_driver_inputs
from pulumi_dra.dra.nvidia.driver_installer import DriverInstaller, DriverInstallerArgs
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.platform_inputs import DraPlatformInputs


def check(read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile) -> None:
    """Record in `read` which inputs the components would reject, before they are declared."""
    if _is_installed_elsewhere(fleet):
        if inputs.driver:
            read.refuse("driver", "the GPU Operator installs the driver, so remove this input")
        return
    elsewhere, requested = fleet.driver_root, inputs.driver.get("driver_root", fleet.driver_root)
    if (
        any(pool.image and pool.image.driver_root for pool in fleet.pools)
        and requested != elsewhere
    ):
        read.refuse(
            "driver.driver_root",
            f"the fleet's images contain the driver in {elsewhere}, so remove this input",
        )
    read_driver_inputs(read.inside("driver", driver_args(inputs, fleet, plan), DraDriverArgs))


def declare(
    name: str,
    inputs: DraPlatformInputs,
    fleet: Fleet,
    plan: PlanFile,
    options: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    """Declare the driver, after the GPU driver's installer if node images don't contain the GPU
    driver.

    Nothing is declared if the GPU Operator runs both.
    """
    if _is_installed_elsewhere(fleet):
        return []
    if not cloud(fleet.cloud).installs_driver:
        installer = DriverInstaller(
            f"{name}-driver-installer", DriverInstallerArgs(**inputs.driver_installer), opts=options
        )
        # A plugin that starts before the NVIDIA driver is installed can publish a slice without
        # devices (kubernetes-sigs/dra-driver-nvidia-gpu issue 1008).
        options = pulumi.ResourceOptions.merge(
            options, pulumi.ResourceOptions(depends_on=[installer])
        )
    return [DraDriver(f"{name}-driver", driver_args(inputs, fleet, plan), opts=options)]


def _is_installed_elsewhere(fleet: Fleet) -> bool:
    nvidia = fleet.drivers.of(DRIVER)
    return nvidia is not None and nvidia.is_installed_elsewhere


def driver_args(inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile) -> DraDriverArgs:
    """Return the driver's inputs. The quota allows the sum of all pools' maximum node counts."""
    nvidia, options = fleet.drivers.of(DRIVER), dict(inputs.driver)
    assert nvidia is not None  # called only if the fleet installs the driver
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
