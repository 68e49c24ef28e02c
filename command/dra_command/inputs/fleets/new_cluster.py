"""Default Kubernetes version of a new cluster."""

from __future__ import annotations

from datetime import date

from dra_planner.catalog.kubernetes_support import settled_minor
from dra_planner.clouds import cloud


def new_cluster_version(name: str) -> str:
    """Return the newest version, for example "1.35", that a cloud has offered for some months and
    still supports. If the calendar is too old to contain such a version, return the cloud's own
    default.
    """
    minor = settled_minor(name, date.today())
    return cloud(name).new_cluster if minor is None else f"1.{minor}"
