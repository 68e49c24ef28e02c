"""The components for programs in other languages: available classes, schema, and errors for wrong
inputs.
"""

import json
from importlib import import_module
from importlib.metadata import version
from typing import TypeGuard

import pulumi
from pulumi.errors import InputPropertiesError
from pulumi.provider import ConstructResult
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.server import ComponentInitError

from dra_planner.package_version import semantic_version
from pulumi_dra import COMPONENTS
from pulumi_dra.cloud_folders import cloud_folders

PACKAGE = "pulumi-dra"


def hosted_components() -> list[type[pulumi.ComponentResource]]:
    """Return the component classes sorted by name, without clouds whose extra isn't installed."""
    found: list[type[pulumi.ComponentResource]] = []
    modules = {*COMPONENTS.values(), *(f"pulumi_dra.{cloud}" for cloud in cloud_folders())}
    for module in modules:
        try:
            loaded = import_module(module)
            members = [
                getattr(loaded, name) for name in {*vars(loaded), *getattr(loaded, "__all__", ())}
            ]
        except ImportError as error:
            if not (error.name or "").startswith("pulumi_"):
                raise
            continue
        found += [each for each in members if _is_component(each)]
    return sorted(set(found), key=lambda each: each.__name__)


def _is_component(value: object) -> TypeGuard[type[pulumi.ComponentResource]]:
    """Return whether it's a component of this package, and not a base class or an import from
    Pulumi.
    """
    return (
        isinstance(value, type)
        and issubclass(value, pulumi.ComponentResource)
        and value.__module__.startswith("pulumi_dra.")
    )


class Components(ComponentProvider):
    """The provider that constructs the components. Its schema comes from their annotations."""

    def __init__(self) -> None:
        super().__init__(hosted_components(), PACKAGE, None, semantic_version(version(PACKAGE)))

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Construct a component. Raises InputPropertiesError if inputs are invalid.

        The base class wraps every exception of a constructor, so the server would show a traceback
        instead of the wrong inputs
        (pulumi/pulumi:sdk/python/lib/pulumi/provider/experimental/component.py@v3.272.0).
        """
        try:
            return super().construct(name, resource_type, inputs, options)
        except ComponentInitError as error:
            if isinstance(error.inner, InputPropertiesError):
                # The message contains a line for each error. If the errors were passed as details,
                # the engine would also print the value, which can be a whole plan.
                raise InputPropertiesError(error.inner.message, []) from None
            raise


def schema_text() -> str:
    """Return the package's Pulumi schema as published: sorted, indented, with version 0.0.0 and a
    final newline.
    """
    schema = json.loads(
        ComponentProvider(hosted_components(), PACKAGE, None, "0.0.0").schema or "{}"
    )
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
