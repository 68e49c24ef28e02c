"""Kubernetes versions that a cluster can request."""

from collections.abc import Callable

from dra_planner.clouds import Cloud
from dra_planner.errors import PlannerError
from dra_planner.releases import parse_version


def check_version(text: str) -> str:
    """Return why a Kubernetes version is invalid, or ""."""
    try:
        parse_version(text)
    except PlannerError as error:
        return str(error)
    return ""


def version_check(cloud: Cloud) -> Callable[[str], str]:
    """Return a check of the version of a control plane or of nodes in this cloud."""
    return lambda text: check_version(text) or cloud.version_fault(text)
