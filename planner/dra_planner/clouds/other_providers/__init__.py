"""Pulumi providers other than a cloud's own: their resource types and property names."""

from typing import Final

from dra_planner.clouds.other_providers import aws_native, pulumi_azure
from dra_planner.clouds.other_providers.resource_form import ResourceForm

FORMS: Final[tuple[ResourceForm, ...]] = (*aws_native.FORMS, *pulumi_azure.FORMS)
