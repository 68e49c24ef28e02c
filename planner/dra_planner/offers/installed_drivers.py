"""Cluster-wide installations: DeviceClasses, and the version of the NVIDIA DRA driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from dra_planner.drivers import nvidia
from dra_planner.model import DeviceClass, ObjectMeta
from dra_planner.offers.verification import NodeDifference

_CHART: Final = "helm.sh/chart"


def verify_classes(
    predicted: Mapping[str, DeviceClass], observed: Mapping[str, DeviceClass]
) -> Iterator[NodeDifference]:
    """Yield the differences of each planned DeviceClass.

    Additional classes in the cluster aren't differences.
    """
    for name, expected in sorted(predicted.items()):
        real = observed.get(name)
        if real is None:
            yield NodeDifference("", "", "class", name, "", "a DeviceClass", "")
            continue
        sides = (
            ("selectors", _selectors(expected), _selectors(real)),
            (
                "extendedResourceName",
                expected.extended_resource_name or "",
                real.extended_resource_name or "",
            ),
        )
        for field, before, after in sides:
            if before != after:
                yield NodeDifference("", "", "class", name, field, before, after)


def verify_driver(version: str, daemon_sets: Iterable[ObjectMeta]) -> Iterator[NodeDifference]:
    """Yield a difference if the NVIDIA DRA driver's version (from the chart's label on its
    DaemonSets) differs from the fleet's version.

    Without such a label, nothing is reported, because the driver can be installed in another way.
    """
    charts = {release.chart for release in nvidia.driver_releases()}
    expected = _labelled(nvidia.driver_release(version).chart, version)
    # The chart writes nameOverride to its label, and components keep the older chart's name, so
    # both names mean this version.
    same = {_labelled(chart, version) for chart in charts}
    found = {label for each in daemon_sets if _is_of(label := each.labels.get(_CHART, ""), charts)}
    for label in sorted(found - same):
        yield NodeDifference("", "", "release", "NVIDIA DRA driver", "", expected, label)


def _labelled(chart: str, version: str) -> str:
    """Return the value of Helm's label, in which a plus sign isn't allowed."""
    return f"{chart}-{version}".replace("+", "_")


def _is_of(label: str, charts: Iterable[str]) -> bool:
    return any(
        label.startswith(f"{chart}-") and label[len(chart) + 1 :][:1].isdigit() for chart in charts
    )


def _selectors(given: DeviceClass) -> str:
    return " && ".join(" ".join(selector.expression.split()) for selector in given.selectors)
