"""The clouds that have a folder of components in this or another distribution."""

import sys
from pkgutil import iter_modules

from dra_planner import clouds


def cloud_folders() -> tuple[str, ...]:
    """Return the clouds that have components, sorted, without importing them."""
    folders = {
        module.name for module in iter_modules(sys.modules["pulumi_dra"].__path__) if module.ispkg
    }
    return tuple(name for name in clouds.names() if name in folders)
