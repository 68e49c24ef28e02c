"""Feature gates with which the driver doesn't start."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia import PublishingSettings
from dra_planner.drivers.nvidia.settings import gate_faults
from dra_planner.errors import PlannerError
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.unknown_values import as_mapping
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers:
        gates = as_mapping(driver.values.at("featureGates") if driver.values else None) or {}
        try:
            release = nvidia.driver_release(driver.version or "")
        except PlannerError:
            continue
        known = {gate: value for gate, value in gates.items() if isinstance(value, bool)}
        for _, fault in gate_faults(release, PublishingSettings(gates=known)):
            yield Finding(
                message=f"{driver.title}: {fault.message}, so the driver's kubelet plugin doesn't start",
                fix=fault.fix,
                urn=driver.urn,
            )


RULE = Rule(
    id="driver-gate-refused",
    description="The stack sets a feature gate, or a combination of feature gates, that the driver "
    "doesn't support.",
    why="The plugin exits at startup, so nodes don't publish devices.",
    fix="Use feature gates that the driver version supports, and don't combine mutually "
    "exclusive ones.",
    level="mandatory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
