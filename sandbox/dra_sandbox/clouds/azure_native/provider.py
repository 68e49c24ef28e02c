"""The simulated Azure provider with one subscription, resource groups, and the rows and functions
of this folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from dra_sandbox.clouds.azure_native.functions import FUNCTIONS, SUBSCRIPTION
from dra_sandbox.clouds.azure_native.lookups import lookups
from dra_sandbox.clouds.azure_native.replacements import read_replacements
from dra_sandbox.clouds.azure_native.resource_types import COMMON, ROWS
from dra_sandbox.clouds.differences import ReplaceRule
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.naming import Autonamed
from dra_sandbox.clouds.property_checks import PropertyFailure
from dra_sandbox.clouds.sdk import Sdk
from dra_sandbox.clouds.sdk_schema import Schema
from dra_sandbox.clouds.simulated_cloud import SimulatedCloud, known_text
from dra_sandbox.clouds.wire_values import Values


class Azure(SimulatedCloud):
    """The simulated `pulumi-resource-azure-native`."""

    def __init__(self) -> None:
        autonamed = Autonamed(suffix_length=8, separator="")
        memory = Memory.of_environment()
        functions = {**FUNCTIONS, **lookups(memory)}
        super().__init__(Sdk("azure-native"), ROWS, functions, autonamed, COMMON, memory)
        self._replacements = read_replacements()

    def place(self, inputs: Values) -> Mapping[str, str]:
        return {
            "subscription": self._setting("subscriptionId", "ARM_SUBSCRIPTION_ID") or SUBSCRIPTION,
            "location": known_text(inputs.get("location"))
            or self._setting("location", "ARM_LOCATION"),
        }

    def missing_place(self, schema: Schema, inputs: Values) -> PropertyFailure | None:
        if (
            "location" not in schema.inputs
            or inputs.get("location")
            or self.place(inputs)["location"]
        ):
            return None
        return PropertyFailure(
            "location",
            "the location is missing; set azure-native:location in the stack's configuration, or "
            "set location on the resource",
        )

    def default_id(self, schema: Schema) -> str:
        _, module, kind = schema.token.split(":")
        return (
            f"/subscriptions/{{subscription}}/resourceGroups/{{resourceGroupName}}/providers/Microsoft.{module}/"
            f"{kind[0].lower()}{kind[1:]}s/{{name}}"
        )

    def _replace_rule(self, token: str) -> ReplaceRule:
        return self._replacements.get(token) or super()._replace_rule(token)

    def _setting(self, name: str, variable: str) -> str:
        return known_text(self._settings.get(name)) or os.environ.get(variable, "")


def provider() -> Azure:
    """Return the provider to serve."""
    return Azure()
