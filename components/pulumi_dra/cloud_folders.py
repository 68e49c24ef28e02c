"""Which clouds have a folder of components here, or in another distribution."""

import sys
from pkgutil import iter_modules

from dra_planner import clouds


def cloud_folders() -> tuple[str, ...]:
    """Return the clouds that have components, sorted; nothing of them is imported."""
    folders = {
        module.name for module in iter_modules(sys.modules["pulumi_dra"].__path__) if module.ispkg
    }
    return tuple(name for name in clouds.names() if name in folders)
