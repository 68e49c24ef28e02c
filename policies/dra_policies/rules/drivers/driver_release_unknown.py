"""A driver version that isn't in the tables."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from dra_planner.drivers import nvidia
from dra_planner.errors import CatalogError
from dra_policies.rules.drivers.driver_not_pinned import PINNED
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    known = [release.version for release in nvidia.driver_releases()]
    for driver in view.drivers:
        if driver.version and PINNED.fullmatch(driver.version) and not _is_known(driver.version):
            near = get_close_matches(driver.version, known, 1, 0.5)
            yield Finding(
                message=f'{driver.title} has the unknown version "{driver.version}", so '
                "pulumi-dra can't predict which devices it publishes",
                fix=f'set the chart version to "{near[0] if near else known[-1]}"',
                urn=driver.urn,
            )


def _is_known(version: str) -> bool:
    """Return whether the tables have the version, or an older patch version of the same minor
    version.
    """
    try:
        nvidia.driver_release(version)
    except CatalogError:
        return False
    return True


RULE = Rule(
    id="driver-release-unknown",
    description="The driver version doesn't exist.",
    why="The preview doesn't download the chart, so it can't detect a version that doesn't "
    "exist. The update then fails or installs an untested version.",
    fix="Use a version from `pulumi-dra catalog drivers`.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
