"""The cluster that pods migrate to, as far as it decides what can take the place of an extended resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_planner.claims.extended import index_classes
from dra_planner.fleet import Fleet
from dra_planner.plan import fleet_classes
from dra_planner.releases import MAXIMUM_MINOR, features_of, parse_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`minor` is Kubernetes' minor version. `served` maps extended resources to the DeviceClasses that serve them.

    `shares` is how the driver lets several claims share a GPU: "" for not at all, `memory`, `unlimited`, or a number
    of shares. `keep` names pods that stay on the device plugin: "namespace/name" of their workloads.
    """

    minor: int
    served: Mapping[str, str] = field(default_factory=dict)
    shares: str = ""
    keep: frozenset[str] = frozenset()


def target_of_fleet(fleet: Fleet | None, kubernetes: str = "", keep: frozenset[str] = frozenset()) -> Target:
    """Return the cluster of a fleet as a target, or the newest Kubernetes version without a fleet.

    `kubernetes` replaces the fleet's version. Raises PlannerError if it isn't a version that is known.
    """
    newest = parse_version(kubernetes) if kubernetes else MAXIMUM_MINOR
    if fleet is None:
        return Target(minor=newest, keep=keep)
    minor = parse_version(kubernetes) if kubernetes else fleet.minor
    features = features_of(minor)
    served = index_classes(fleet_classes(fleet, features)) if features.extended_resource else {}
    shares = next((found for driver, options in fleet.drivers.installed() if (found := driver.shares(options))), "")
    return Target(minor=minor, served=served, shares=shares, keep=keep)
