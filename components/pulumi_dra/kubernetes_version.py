"""Kubernetes versions that a cluster may be asked for."""

from dra_planner.errors import PlannerError
from dra_planner.releases import parse_version


def check_version(text: str) -> str:
    """Return what is wrong with a Kubernetes version, or ""."""
    try:
        parse_version(text)
    except PlannerError as error:
        return str(error)
    return ""
