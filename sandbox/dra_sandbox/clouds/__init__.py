"""Simulated providers of clouds and of Kubernetes, a folder for each Pulumi package.

They know what the real ones accept from the typed SDKs that are installed, and what the real ones
do with it from tables, one row per resource type where there is anything to say.
"""

from __future__ import annotations

from pkgutil import iter_modules


def packages() -> tuple[str, ...]:
    """Return the Pulumi packages that have a folder here, sorted; nothing of them is imported."""
    return tuple(
        sorted(each.name.replace("_", "-") for each in iter_modules(__path__) if each.ispkg)
    )
