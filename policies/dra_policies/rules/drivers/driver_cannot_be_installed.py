"""A driver version whose chart the cluster's Kubernetes version rejects."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.drivers import nvidia
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    releases = {release.version: release for release in nvidia.driver_releases()}
    usable = [release.version for release in releases.values() if release.is_installable]
    for driver in view.drivers:
        release = releases.get(driver.version or "")
        if release is not None and not release.is_installable:
            yield Finding(
                message=f"{driver.title} installs driver version {release.version}, but {release.fault}",
                fix=f"set the chart version to {_newer(usable, release.generation)}",
                urn=driver.urn,
            )


def _newer(usable: list[str], generation: str) -> str:
    """Return the oldest version that can be installed, preferably of the same generation."""
    return next((version for version in usable if version.startswith(f"{generation}.")), usable[-1])


RULE = Rule(
    id="driver-cannot-be-installed",
    description="The driver version doesn't support Kubernetes 1.34 or later.",
    why="Older charts create DeviceClasses with an API version that Kubernetes no longer "
    "serves, so the update fails.",
    fix="Set a newer chart version in the release.",
    level="mandatory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
