"""The configuration that the pack goes by: that of the project whose stack is judged."""

from __future__ import annotations

from collections.abc import Mapping

from dra_policies.configuration.finding_it import find_configuration
from dra_policies.configuration.reading import NOT_CONFIGURED, Configured, read_configuration

VARIABLE = "PULUMI_DRA_CONFIG"


def configuration_of_project(environment: Mapping[str, str]) -> Configured:
    """Return the configuration of the file that `PULUMI_DRA_CONFIG` names, or the nearest one from
    the folder where Pulumi was started upwards; an empty one where there is none. Raises
    PlannerError for one that is wrong.

    The engine starts a pack in the pack's own folder and does not say which project it is for; the
    folder of whoever called it is in the variable PWD, which the engine passes on.
    """
    named = environment.get(VARIABLE, "")
    if named:
        return read_configuration(named)
    if not environment.get("PWD"):
        return NOT_CONFIGURED
    path = find_configuration(environment["PWD"])
    return read_configuration(path) if path else NOT_CONFIGURED
