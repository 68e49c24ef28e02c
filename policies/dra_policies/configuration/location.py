"""Location of a project's configuration: next to the checked files, or in a parent folder."""

from __future__ import annotations

import os

from dra_planner.errors import PlannerError
from dra_planner.sources import CONFIGURATION


class ConfigurationNameError(PlannerError):
    """A configuration file with the wrong file extension."""


def find_configuration(start: str) -> str:
    """Return the path of the nearest `pulumi-dra.yaml` in this folder (or a file's folder) or its
    parents, or "".

    The search ends at the root of a git repository. Raises ConfigurationNameError if a folder
    contains the file with the extension `.yml`.
    """
    folder = start if os.path.isdir(start) else os.path.dirname(start) or "."
    while True:
        path = os.path.normpath(os.path.join(folder, CONFIGURATION))
        if os.path.isfile(path):
            return path
        misnamed = f"{os.path.splitext(path)[0]}.yml"
        if os.path.isfile(misnamed):
            raise ConfigurationNameError(
                f"{misnamed} has no effect, because the configuration file is named "
                f"{CONFIGURATION}",
                fix=f"rename {misnamed} to {CONFIGURATION}",
            )
        real = os.path.realpath(folder)
        if os.path.exists(os.path.join(folder, ".git")) or real == os.path.dirname(real):
            return ""
        folder = (
            os.path.dirname(folder)
            if _has_named_parent(folder)
            else os.path.join(folder, os.pardir)
        )


def _has_named_parent(folder: str) -> bool:
    return os.path.basename(folder) not in ("", os.curdir, os.pardir) and bool(
        os.path.dirname(folder)
    )
