"""The planner, which computes the machine types that claims fit, and the number of nodes that they
need. It's pure: it doesn't use Pulumi, the network, or the clock. The names below are the public
API. They are loaded on first use, so that importing the package is fast.
"""

from __future__ import annotations

from importlib import import_module
from os.path import exists, join
from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

# Another distribution can add a cloud as a folder with this name, without an __init__.py.
__path__ += [
    folder
    for folder in extend_path(list[str](), __name__)
    if not exists(join(folder, "__init__.py"))
]

if TYPE_CHECKING:
    from dra_planner.errors import Diagnostic, PlannerError
    from dra_planner.fleet import Fleet, read_fleet, read_fleet_file, read_stack
    from dra_planner.plan import Plan, PlanRequest, make_plan
    from dra_planner.planfile import PlanFile, read_plan_file

_HOMES = {
    "Diagnostic": "errors",
    "Fleet": "fleet",
    "Plan": "plan",
    "PlanFile": "planfile",
    "PlanRequest": "plan",
    "PlannerError": "errors",
    "make_plan": "plan",
    "read_fleet": "fleet",
    "read_fleet_file": "fleet",
    "read_plan_file": "planfile",
    "read_stack": "fleet",
}

__all__ = [
    "Diagnostic",
    "Fleet",
    "Plan",
    "PlanFile",
    "PlanRequest",
    "PlannerError",
    "make_plan",
    "read_fleet",
    "read_fleet_file",
    "read_plan_file",
    "read_stack",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
