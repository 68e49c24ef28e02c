"""Opaque configuration that a driver rejects when it prepares a claim."""

from __future__ import annotations

from dra_planner.plan.hindrances.driver_configuration import find_refused_configuration
from dra_policies.rules.hindrances import tell
from dra_policies.rules.rule import DRIVER_PAGE, Rule

RULE = Rule(
    id="driver-config-refused",
    says="The driver takes the configuration in claims and classes.",
    why="The API server takes any configuration; the driver refuses it when a pod starts, which then never does.",
    fix="Write the configuration as the driver's release decodes it, and turn on the gate that it needs.",
    level="mandatory",
    url=DRIVER_PAGE,
    check=tell("driver-config-refused", find_refused_configuration),
)
