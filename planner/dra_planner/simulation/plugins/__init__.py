"""The plugins of kube-scheduler, with one module for each, named as upstream.

Each module of this folder contains one `PLUGIN`, with its filters, its scores, and its weight in
the default profile. The folder's path also covers other parts of the `dra_planner` path, so one new
module `dra_planner/simulation/plugins/<name>.py`, here or in another distribution, adds a plugin.
`plugin.py` defines the parts of a plugin.
"""

import sys
from importlib import import_module
from os.path import join
from pkgutil import iter_modules
from typing import Final

from dra_planner.simulation.plugins.plugin import DomainScore, Plugin, PopulationScore

__path__ += [
    join(folder, "simulation", "plugins") for folder in sys.modules["dra_planner"].__path__[1:]
]
_NO_PLUGIN: Final = "plugin"


def _gather() -> tuple[Plugin, ...]:
    names = sorted(name for _, name, _ in iter_modules(__path__) if name != _NO_PLUGIN)
    found: list[Plugin] = [import_module(f"{__name__}.{name}").PLUGIN for name in names]
    return tuple(sorted(found, key=lambda each: (each.order, each.name)))


PLUGINS: Final = _gather()
"""Every plugin, in the order in which the scheduler runs them."""

__all__ = ["PLUGINS", "DomainScore", "Plugin", "PopulationScore"]
