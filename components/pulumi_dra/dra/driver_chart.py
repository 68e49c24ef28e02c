"""A device driver installed from its chart. Its values come from the driver's module, not from
inputs.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s
from pydantic import ValidationError

from dra_planner.clouds import cloud, names
from dra_planner.drivers import chart_version_fault, driver, every_driver
from dra_planner.drivers.protocol.charts import DriverChart
from dra_planner.errors import PlannerError
from pulumi_dra.child_options import Children
from pulumi_dra.dra.releases.driver_tolerations import DriverToleration, read_tolerations
from pulumi_dra.dra.releases.namespaces import declare_namespace
from pulumi_dra.dra.releases.release_status import require_deployed
from pulumi_dra.inputs.reader import InputReader


class DeviceDriverArgs(TypedDict):
    """Inputs of DeviceDriver."""

    driver: str
    """Name of the driver, as in a fleet."""
    platform: str
    """Cloud of the cluster."""
    version: NotRequired[str]
    """Version of the Helm chart. Default: the version with which this package was tested."""
    chart: NotRequired[str]
    """Chart to use instead of the published chart: a path, an archive, or an oci:// address."""
    settings: NotRequired[dict[str, Any]]
    """Settings for the driver, as in a fleet, without the version."""
    tolerations: NotRequired[list[pulumi.Input[DriverToleration]]]
    """Node taints that the driver tolerates."""


class DeviceDriver(pulumi.ComponentResource):
    """A device driver other than NVIDIA's, installed from its published chart."""

    namespace: pulumi.Output[str]
    """Namespace of the driver, known once the release is deployed."""

    def __init__(
        self, name: str, args: DeviceDriverArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("DeviceDriver", name, args, DeviceDriverArgs)
        driver_name = read.text("driver", check=_driver_fault)
        platform = read.text("platform", check=_cloud_fault)
        version = read.text("version", "", check=chart_version_fault)
        own_chart = read.text("chart", "")
        tolerations, settings = read_tolerations(read), read.block("settings")
        published, options = None, None
        if not (_driver_fault(driver_name) or _cloud_fault(platform)):
            options = _options(read, driver_name, settings)
            published = driver(driver_name).chart(cloud(platform))
            if published is None and not own_chart:
                read.refuse(
                    "driver",
                    f"{driver(driver_name).title} doesn't have a known chart for {cloud(platform).title}",
                )
        read.finish()
        if published is None:
            published = _unpublished(driver_name)
        super().__init__("pulumi-dra:index:DeviceDriver", name, {}, opts)
        children = Children(self, opts)
        home = declare_namespace(name, published.namespace, published.pod_security, children)
        release = k8s.helm.v3.Release(
            f"{name}-release",
            name=published.release,
            namespace=home.metadata.name,
            chart=own_chart or published.chart,
            version=None if own_chart else version or published.version or None,
            repository_opts={"repo": published.repository}
            if published.repository and not own_chart
            else None,
            values=dict(driver(driver_name).chart_values(options, cloud(platform), tolerations)),
            create_namespace=False,
            # Otherwise, the provider would wait for every pod, even on nodes that don't exist yet.
            skip_await=True,
            opts=children.options(depends_on=[home], delete_before_replace=True),
        )
        self.namespace = pulumi.Output.all(home.metadata.name, release.status).apply(
            lambda both: str(both[0]) if require_deployed(published.release, both[1]) else ""
        )
        self.register_outputs({"namespace": self.namespace})


def _unpublished(name: str) -> DriverChart:
    """Return the chart that the user must give if the driver has no published chart."""
    release = f"{name}-dra-driver"
    return DriverChart(
        release=release,
        chart="",
        repository="",
        version="",
        namespace=release,
        pod_security="privileged",
    )


def _options(read: InputReader, name: str, settings: Mapping[str, Any]) -> Any:
    """Return the driver's options, or None if they are invalid. Errors are recorded in `read`."""
    try:
        return driver(name).options.model_validate(dict(settings))
    except ValidationError as error:
        for each in error.errors():
            read.refuse(".".join(("settings", *map(str, each["loc"]))), each["msg"])
    return None


def _driver_fault(name: str) -> str:
    known = [each.name for each in every_driver()]
    return (
        "" if name in known else (f'"{name}" isn\'t a known driver; use one of: {", ".join(known)}')
    )


def _cloud_fault(name: str) -> str:
    try:
        cloud(name)
    except PlannerError:
        return f'"{name}" isn\'t a supported cloud; use one of: {", ".join(names())}'
    return ""
