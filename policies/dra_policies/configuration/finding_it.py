"""Where the configuration of a project stands: beside what is judged, or in a folder above it."""

from __future__ import annotations

import os

from dra_planner.sources import CONFIGURATION


def find_configuration(start: str) -> str:
    """Return the path of the nearest `pulumi-dra.yaml`: in this folder (or that of a file) or above
    it; "" for none.

    The search ends at the root of a git repository.
    """
    folder = start if os.path.isdir(start) else os.path.dirname(start) or "."
    while True:
        path = os.path.normpath(os.path.join(folder, CONFIGURATION))
        if os.path.isfile(path):
            return path
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
