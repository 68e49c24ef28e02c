"""Helm charts that install drivers."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from dra_planner.catalog.tables import read_table


class DriverChart(Struct, frozen=True, kw_only=True):
    """A published chart: the release's name, its address, the version in the tables, and its
    namespace. `chart` is a name in `repository`, or an oci:// address if `repository` is "".
    `pod_security` is the level that its pods need.
    """

    release: str
    chart: str
    repository: str
    version: str
    namespace: str
    pod_security: str


def chart_of(driver: str, cloud: str) -> DriverChart | None:
    """Return the chart of a driver ("amd") for a cloud, or None if it isn't in the tables."""
    return _charts().get((driver, cloud)) or _charts().get((driver, ""))


@cache
def _charts() -> dict[tuple[str, str], DriverChart]:
    return {
        (row["driver"], row["cloud"]): DriverChart(
            release=row["release"],
            chart=row["chart"],
            repository=row["repository"],
            version=row["version"],
            namespace=row["namespace"],
            pod_security=row["pod_security"],
        )
        for row in read_table("driver_charts")
    }
