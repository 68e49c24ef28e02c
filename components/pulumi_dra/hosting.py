"""The components for programs in other languages: which are offered, their schema, and how wrong
inputs are told.
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
    """Return the component classes in order of their names; those of a cloud whose extra is missing
    are left out.
    """
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
    """Whether it is a component of this package, and not a base class or one that a module imports
    from Pulumi.
    """
    return (
        isinstance(value, type)
        and issubclass(value, pulumi.ComponentResource)
        and value.__module__.startswith("pulumi_dra.")
    )


class Components(ComponentProvider):
    """The provider that constructs the components; its schema is read from their annotations."""

    def __init__(self) -> None:
        super().__init__(hosted_components(), PACKAGE, None, semantic_version(version(PACKAGE)))

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Construct a component; raises InputPropertiesError for wrong inputs.

        The base class wraps whatever a constructor raises, and the server then shows a traceback
        instead of which inputs are wrong
        (pulumi/pulumi:sdk/python/lib/pulumi/provider/experimental/component.py@v3.272.0).
        """
        try:
            return super().construct(name, resource_type, inputs, options)
        except ComponentInitError as error:
            if isinstance(error.inner, InputPropertiesError):
                # The message has a line for each; of details the engine would show the value too, a
                # whole plan.
                raise InputPropertiesError(error.inner.message, []) from None
            raise


def schema_text() -> str:
    """Return the package's Pulumi schema as published: sorted, indented, of version 0.0.0, a
    newline at the end.
    """
    schema = json.loads(
        ComponentProvider(hosted_components(), PACKAGE, None, "0.0.0").schema or "{}"
    )
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
