"""Optional Helm releases in addition to the driver: pinned chart and namespace of each."""

from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from msgspec import Struct

from dra_planner.drivers import chart_version_fault
from pulumi_dra.child_options import Children
from pulumi_dra.dra.releases.images import SECRET_NAME, read_repository
from pulumi_dra.dra.releases.namespaces import declare_namespace
from pulumi_dra.dra.releases.release_status import require_deployed
from pulumi_dra.inputs.reader import InputReader


class PinnedChart(Struct, frozen=True, kw_only=True):
    """A published chart: its address, default version, and namespace."""

    release: str
    chart: str  # name in the repository, or an oci:// address
    repository: str = ""
    version: str
    namespace: str
    pod_security: str = "restricted"
    least: str = ""  # first version that supports its purpose here, or "" for any version
    least_does: str = ""


class ReleaseInputs(Struct, frozen=True, kw_only=True):
    """The common, checked inputs of all optional releases."""

    version: str
    chart: str
    image_repository: str
    image_pull_secrets: tuple[str, ...]

    def image(self) -> dict[str, Any]:
        """The chart's `image` values: a mirror's, or the chart's own."""
        return {"repository": self.image_repository} if self.image_repository else {}


def read_release(read: InputReader, pinned: PinnedChart) -> ReleaseInputs:
    """Return `version`, `chart`, `image_repository`, and `image_pull_secrets`. Errors are recorded
    in `read`.
    """
    if read.has("chart") and read.has("version"):
        read.refuse(
            "version",
            "applies only to the published chart, but `chart` sets another chart, which has its "
            "own version",
        )
    return ReleaseInputs(
        version=read.text(
            "version", pinned.version, check=lambda text: _version_fault(text, pinned)
        ),
        chart=read.text("chart", ""),
        image_repository=read_repository(read),
        image_pull_secrets=tuple(
            read.texts("image_pull_secrets", pattern=SECRET_NAME, meaning="a Secret's name")
        ),
    )


def _version_fault(text: str, pinned: PinnedChart) -> str:
    if (fault := chart_version_fault(text)) or not pinned.least:
        return fault
    return (
        f"use {pinned.least} or later, which {pinned.least_does}"
        if _numbers(text) < _numbers(pinned.least)
        else ""
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.partition("-")[0].split("."))


def declare_release(
    name: str,
    pinned: PinnedChart,
    inputs: ReleaseInputs,
    values: dict[str, Any],
    children: Children,
    **options: Any,
) -> tuple[pulumi.Resource, pulumi.Output[str]]:
    """Declare the release in its own namespace. Return the release, and the name of the namespace
    (an output that is known after deployment).
    """
    home = declare_namespace(name, pinned.namespace, pinned.pod_security, children)
    release = k8s.helm.v3.Release(
        f"{name}-release",
        name=pinned.release,
        namespace=home.metadata.name,
        chart=inputs.chart or pinned.chart,
        version=None if inputs.chart else inputs.version,
        repository_opts={"repo": pinned.repository}
        if pinned.repository and not inputs.chart
        else None,
        values=values,
        create_namespace=False,
        timeout=600,
        opts=children.options(depends_on=[home], delete_before_replace=True),
        **options,
    )
    namespace = pulumi.Output.all(home.metadata.name, release.status).apply(
        lambda both: str(both[0]) if require_deployed(pinned.release, both[1]) else ""
    )
    return release, namespace
