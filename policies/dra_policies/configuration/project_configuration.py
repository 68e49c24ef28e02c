"""The configuration of the policy pack: the configuration of the stack's project."""

from __future__ import annotations

from collections.abc import Mapping

from dra_policies.configuration.location import find_configuration
from dra_policies.configuration.reading import NOT_CONFIGURED, Configured, read_configuration

VARIABLE = "PULUMI_DRA_CONFIG"


def configuration_of_project(environment: Mapping[str, str]) -> Configured:
    """Return the configuration file in `PULUMI_DRA_CONFIG`, or the nearest one in the folder where
    Pulumi was started or its parents, or an empty configuration.

    Raises PlannerError for an invalid one. The engine starts a pack in the pack's own folder
    without naming the project. But it passes on the variable PWD, which contains the folder where
    Pulumi was started.
    """
    named = environment.get(VARIABLE, "")
    if named:
        return read_configuration(named)
    if not environment.get("PWD"):
        return NOT_CONFIGURED
    path = find_configuration(environment["PWD"])
    return read_configuration(path) if path else NOT_CONFIGURED
