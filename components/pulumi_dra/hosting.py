"""Which components are offered to other languages: all whose cloud SDK is installed."""

from importlib import import_module

import pulumi

from pulumi_dra import COMPONENTS


def hosted_components() -> list[type[pulumi.ComponentResource]]:
    """Return the component classes in order of their names; those of a cloud whose extra is missing are left out."""
    found: list[type[pulumi.ComponentResource]] = []
    for name, module in sorted(COMPONENTS.items()):
        try:
            found.append(getattr(import_module(module), name))
        except ImportError as error:
            if error.name not in ("pulumi_aws", "pulumi_gcp", "pulumi_kubernetes"):
                raise
    return found
