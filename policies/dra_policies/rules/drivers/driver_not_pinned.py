"""A driver whose version isn't pinned, so the newest one is installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.drivers import nvidia
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView

PINNED: Final = re.compile(r"v?\d+\.\d+\.\d+([-+].+)?")


def check(view: StackView) -> Iterator[Finding]:
    planned = (
        view.record.plan_file.fleet.document() if view.record and view.record.plan_file else {}
    )
    version = planned.get("drivers", {}).get("nvidia", {}).get("version")
    for driver in view.drivers:
        if driver.version == "":
            newest = nvidia.driver_releases()[-1].version
            yield Finding(
                message=f"{driver.title} doesn't set a chart version, so each update can "
                "install a different version",
                fix=f'set the chart version to the planned version, "{version}"'
                if version
                else f'set the chart version (for example, to "{newest}")',
                urn=driver.urn,
            )
        elif driver.version and not PINNED.fullmatch(driver.version):
            yield Finding(
                message=f'{driver.title} uses the version range "{driver.version}", which never '
                "selects the newest versions, because their numbers are lower (0.4 is newer than "
                "25.12)",
                fix=f'set the chart version to the planned version, "{version}"'
                if version
                else (
                    "set the chart version (for example, to "
                    f'"{nvidia.driver_releases()[-1].version}")'
                ),
                urn=driver.urn,
            )


RULE = Rule(
    id="driver-not-pinned",
    description="The driver version isn't pinned.",
    why="Attribute and device names change between driver versions, so a plan is correct only for "
    "the driver version that it assumes. Version 0.4 is newer than 25.12, despite its lower "
    "number.",
    fix="Set the chart version in the release.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
