"""A driver version that differs from the planned version."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.drivers import nvidia
from dra_policies.rules.drivers.driver_release_faulty import KNOWN_FAULTS
from dra_policies.rules.record.fleet_change import FLEET, PLAN_AGAIN
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import InstalledDriver, StackView


def check(view: StackView) -> Iterator[Finding]:
    plan_file = view.record.plan_file if view.record else None
    if plan_file is None:
        return
    planned = str(
        plan_file.fleet.document().get("drivers", {}).get("nvidia", {}).get("version", "")
    )
    for driver in view.drivers:
        if driver.version and planned and driver.version != planned and _is_installable(driver):
            yield Finding(
                message=f"{driver.title} has version {driver.version}, but the plan assumes "
                f"{planned}{_older(driver.version, planned)}",
                fix=(
                    f'set the chart version to "{planned}", or set `drivers.nvidia.version` to '
                    f"{driver.version} in {FLEET} and {PLAN_AGAIN}"
                ),
                urn=driver.urn,
            )


def _older(version: str, planned: str) -> str:
    """Return an explanation if the version with the larger number is older, because 0.4 followed
    25.12.
    """
    releases = {release.version: release for release in nvidia.driver_releases()}
    numbers = [
        [int(part) for part in each.split(".")] for each in (version, planned) if each in releases
    ]
    is_older = len(numbers) == 2 and releases[version].order < releases[planned].order
    return (
        ", which is newer although its number is smaller"
        if is_older and numbers[0] > numbers[1]
        else ""
    )


def _is_installable(driver: InstalledDriver) -> bool:
    """Return whether no other rule reports a worse problem with the version."""
    if driver.version in KNOWN_FAULTS:
        return False
    return any(
        release.version == driver.version and release.is_installable
        for release in nvidia.driver_releases()
    )


RULE = Rule(
    id="driver-differs-from-plan",
    description="The driver version differs from the plan.",
    why="Driver versions publish different attributes, so selectors that matched in the plan "
    "might not match any device.",
    fix="Install the planned version, or run `pulumi-dra plan --stack STACK --write`.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
