"""Create a driver that needs only its Helm chart from a fleet."""

from typing import Any

import pulumi
from msgspec import Struct

from dra_planner.clouds import cloud
from dra_planner.drivers import Driver, is_managed
from dra_planner.fleet import Fleet
from dra_planner.planfile import PlanFile
from pulumi_dra.dra.driver_chart import DeviceDriver, DeviceDriverArgs
from pulumi_dra.dra.node_terms import device_tolerations, pool_tolerations
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.platform_inputs import DraPlatformInputs


class ChartComponents(Struct, frozen=True):
    """The same functions as `from_fleet.py` of a driver's folder."""

    driver: Driver[Any]

    def check(
        self, read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile
    ) -> None:
        """Record in `read` that no chart can install the driver."""
        of_cloud = cloud(fleet.cloud)
        if not is_managed(self.driver, of_cloud) and self.driver.chart(of_cloud) is None:
            read.refuse(
                "plan",
                f"{self.driver.title} doesn't have a known chart for {of_cloud.title}; remove this "
                "driver from the fleet's drivers",
            )

    def declare(
        self,
        name: str,
        inputs: DraPlatformInputs,
        fleet: Fleet,
        plan: PlanFile,
        options: pulumi.ResourceOptions,
    ) -> list[pulumi.Resource]:
        """Declare the Helm release, unless the cloud runs the driver."""
        if is_managed(self.driver, cloud(fleet.cloud)):
            return []
        args: dict[str, Any] = {
            "driver": self.driver.name,
            "platform": fleet.cloud,
            "tolerations": [*device_tolerations(fleet), *pool_tolerations(fleet)],
        }
        of_fleet = fleet.drivers.of(self.driver)
        settings: dict[str, Any] = (
            {} if of_fleet is None else of_fleet.model_dump(mode="json", by_alias=True)
        )
        if version := settings.pop("version", ""):
            args["version"] = version
        if settings:
            args["settings"] = settings
        return [DeviceDriver(f"{name}-{self.driver.name}", DeviceDriverArgs(**args), opts=options)]
