"""The simulated AWS provider with one account, and the rows and functions of this folder."""

from __future__ import annotations

import os
from collections.abc import Mapping

from dra_sandbox.clouds.aws.functions import ACCOUNT, FUNCTIONS
from dra_sandbox.clouds.aws.lookups import lookups
from dra_sandbox.clouds.aws.resource_types import COMMON, ROWS
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.naming import Autonamed
from dra_sandbox.clouds.property_checks import PropertyFailure
from dra_sandbox.clouds.provider_rules import read_rules
from dra_sandbox.clouds.sdk import Sdk
from dra_sandbox.clouds.sdk_schema import Schema
from dra_sandbox.clouds.simulated_cloud import SimulatedCloud, known_text
from dra_sandbox.clouds.wire_values import Values


class Aws(SimulatedCloud):
    """The simulated `pulumi-resource-aws`."""

    def __init__(self) -> None:
        memory = Memory.of_environment()
        rules = read_rules("aws")
        super().__init__(
            Sdk("aws"), ROWS, {**FUNCTIONS, **lookups(memory)}, Autonamed(), COMMON, memory, rules
        )

    def place(self, inputs: Values) -> Mapping[str, str]:
        region = known_text(inputs.get("region")) or self._region
        partition = (
            "aws-cn"
            if region.startswith("cn-")
            else "aws-us-gov"
            if region.startswith("us-gov-")
            else "aws"
        )
        return {"region": region, "account": ACCOUNT, "partition": partition}

    def missing_place(self, schema: Schema, inputs: Values) -> PropertyFailure | None:
        if "region" in schema.inputs and not inputs.get("region") and not self._region:
            return PropertyFailure(
                "region", "the region is missing; set aws:region in the stack's configuration"
            )
        return None

    @property
    def _region(self) -> str:
        return (
            known_text(self._settings.get("region"))
            or os.environ.get("AWS_REGION")
            or os.environ.get("AWS_DEFAULT_REGION", "")
        )

    def default_id(self, schema: Schema) -> str:
        kind = schema.token.rsplit(":", 1)[-1]
        return f"{kind.lower()}-{{hex17}}"


def provider() -> Aws:
    """Return the provider to serve."""
    return Aws()
