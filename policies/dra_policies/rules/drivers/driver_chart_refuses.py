"""Values with which the driver's chart fails to render. A preview doesn't detect this; only the
update fails.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.drivers.nvidia.chart_values import OVERRIDE, REFUSED
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.unknown_values import UNKNOWN, Properties
from dra_policies.view.stack_view import InstalledDriver, StackView


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers:
        if driver.values is not None:
            yield from _refused(driver, driver.values)


def _refused(driver: InstalledDriver, values: Properties) -> Iterator[Finding]:
    gpus, override = _truth(values, "resources.gpus.enabled", True), _truth(values, OVERRIDE, False)
    if gpus and override is False:
        yield Finding(
            message=f"{driver.title} enables GPUs but doesn't set {OVERRIDE}, so its chart "
            "fails to render",
            fix=f"set {OVERRIDE} to true in the release's values",
            urn=driver.urn,
        )
    for key, reason in REFUSED.items():
        if _truth(values, key, False):
            yield Finding(
                message=f'{driver.title} sets the value "{key}", which its chart rejects, because {reason}',
                fix=f'remove "{key}" from the release\'s values',
                urn=driver.urn,
            )
    is_elsewhere = (
        _truth(values, "namespaceOverride", False),
        _truth(values, "allowDefaultNamespace", False),
    )
    if driver.namespace == "default" and is_elsewhere == (False, False):
        yield Finding(
            message=f'{driver.title} is installed in namespace "default", which its chart rejects',
            fix='install the driver in a dedicated namespace, for example "nvidia-dra-driver"',
            urn=driver.urn,
        )


def _truth(values: Properties, path: str, default: bool) -> bool | None:
    """Return whether a template treats a value as true, as Go does: any text is true, even
    "false".
    """
    value = values.at(path)
    return None if value is UNKNOWN else default if value is None else bool(value)


RULE = Rule(
    id="driver-chart-refuses",
    description="The driver's Helm values fail the chart's validation.",
    why="The preview doesn't render the chart, so the update fails only after it has created "
    "the cluster.",
    fix=f"Set {OVERRIDE}: true, install the driver in a dedicated namespace, and remove "
    "values that the chart doesn't support.",
    level="mandatory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
