"""The simulated Google Cloud provider with one project, regions and zones, and the rows and
functions of this folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.gcp.functions import FUNCTIONS
from dra_sandbox.clouds.gcp.resource_types import COMMON, ROWS
from dra_sandbox.clouds.naming import Autonamed
from dra_sandbox.clouds.property_checks import PropertyFailure
from dra_sandbox.clouds.provider_rules import read_rules
from dra_sandbox.clouds.sdk import Sdk
from dra_sandbox.clouds.sdk_schema import Schema
from dra_sandbox.clouds.simulated_cloud import SimulatedCloud, known_text
from dra_sandbox.clouds.wire_values import Values


class Gcp(SimulatedCloud):
    """The simulated `pulumi-resource-gcp`."""

    def __init__(self) -> None:
        memory = Memory.of_environment()
        rules = read_rules("gcp")
        super().__init__(
            Sdk("gcp"), ROWS, FUNCTIONS, Autonamed(lower_case=True), COMMON, memory, rules
        )

    def place(self, inputs: Values) -> Mapping[str, str]:
        zone = known_text(inputs.get("zone")) or self._setting("zone", "GOOGLE_ZONE")
        region = known_text(inputs.get("region")) or self._setting("region", "GOOGLE_REGION")
        region = region or zone.rpartition("-")[0]
        return {
            "project": known_text(inputs.get("project"))
            or self._setting("project", "GOOGLE_PROJECT"),
            "region": region,
            "zone": zone,
            "location": known_text(inputs.get("location")) or zone or region,
            # specified by name or by its complete ID
            "clusterName": known_text(inputs.get("cluster")).rpartition("/")[2],
        }

    def missing_place(self, schema: Schema, inputs: Values) -> PropertyFailure | None:
        place = self.place(inputs)
        for name, setting in (
            ("project", "gcp:project"),
            ("region", "gcp:region"),
            ("zone", "gcp:zone"),
        ):
            if name in schema.inputs and not inputs.get(name) and not place[name]:
                return PropertyFailure(
                    name,
                    (
                        f"{name} is missing; set {setting} in the stack's configuration, or set "
                        f"{name} on the resource"
                    ),
                )
        if "location" in schema.inputs and not inputs.get("location") and not place["location"]:
            return PropertyFailure(
                "location",
                (
                    "the location is missing; set location on the resource, or set gcp:region or "
                    "gcp:zone in the stack's configuration"
                ),
            )
        return None

    def default_id(self, schema: Schema) -> str:
        kind = schema.token.rsplit(":", 1)[-1]
        return f"projects/{{project}}/{kind[0].lower()}{kind[1:]}s/{{name}}"

    def _setting(self, name: str, variable: str) -> str:
        return known_text(self._settings.get(name)) or os.environ.get(variable, "")


def provider() -> Gcp:
    """Return the provider to serve."""
    return Gcp()
