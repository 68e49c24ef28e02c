"""Simulated cloud and Kubernetes providers, with a folder for each Pulumi package.

They read the accepted inputs from the installed typed SDKs. Tables describe what the real providers
do with these inputs, with one row for each resource type that needs it.
"""

from __future__ import annotations

from pkgutil import iter_modules


def packages() -> tuple[str, ...]:
    """Return the Pulumi packages that have a folder here, sorted, without importing them."""
    return tuple(
        sorted(each.name.replace("_", "-") for each in iter_modules(__path__) if each.ispkg)
    )
