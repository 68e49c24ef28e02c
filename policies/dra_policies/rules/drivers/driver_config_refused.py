"""Opaque configuration that a driver rejects when it prepares a claim."""

from __future__ import annotations

from dra_planner.plan.blockers.drivers.claim_uses import find_unprepared_uses
from dra_planner.plan.blockers.drivers.configuration import find_refused_configuration
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import DRIVER_PAGE, Rule

RULE = Rule(
    id="driver-config-refused",
    description="The driver rejects the configuration in a claim or class, or the way that pods "
    "use the claim.",
    why="The API server accepts any configuration, but the driver rejects an invalid one when "
    "it prepares the devices, so the pod never starts.",
    fix="Use a configuration format that the driver version supports, and enable the required "
    "feature gate.",
    level="mandatory",
    url=DRIVER_PAGE,
    check=planner_check("driver-config-refused", find_refused_configuration, find_unprepared_uses),
)
