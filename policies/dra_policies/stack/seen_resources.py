"""Resources in the order of analysis, indexed by the resources that single objects need.

A stack has millions of pairs of resources, so no step may look at all resources for each resource.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from threading import Lock
from typing import Final

from dra_planner.planfile import RECORD_TYPE
from dra_policies.stack.kubernetes_objects import named_claims
from dra_policies.stack.pools import is_cluster_token
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import as_mapping

_FOR_EVERY_OBJECT: Final = (":DeviceClass", ":Namespace", ":PriorityClass", ":LimitRange")
_CLAIMS: Final = (":ResourceClaim", ":ResourceClaimTemplate")


class SeenResources:
    """The latest inputs of each resource. Thread-safe."""

    def __init__(self, resources: Iterable[Resource] = ()) -> None:
        self._lock = Lock()
        self._all: dict[str, Resource] = {}
        self._records: dict[str, Resource] = {}
        self._shared: dict[str, Resource] = {}
        self._claims: dict[str, dict[str, Resource]] = {}
        for each in resources:
            self.add(each)

    def add(self, resource: Resource) -> None:
        """Add a resource, or replace its earlier inputs."""
        token, urn = resource.type, resource.urn
        with self._lock:
            earlier = self._all.get(urn)
            if earlier is not None and token.endswith(_CLAIMS):
                self._claims.get(_object_name(earlier), {}).pop(urn, None)
            self._all[urn] = resource
            if token == RECORD_TYPE:
                self._records[urn] = resource
            elif token.endswith(_CLAIMS):
                self._claims.setdefault(_object_name(resource), {})[urn] = resource
            elif token.endswith(_FOR_EVERY_OBJECT) or is_cluster_token(token):
                self._shared[urn] = resource

    def all(self) -> tuple[Resource, ...]:
        """Return all resources in the order of analysis."""
        with self._lock:
            return tuple(self._all.values())

    def by_urn(self) -> dict[str, Resource]:
        """Return all resources by URN."""
        with self._lock:
            return dict(self._all)

    def records(self) -> tuple[Resource, ...]:
        """Return the recorded plans in the order of analysis."""
        with self._lock:
            return tuple(self._records.values())

    def behind(self, resource: Resource) -> tuple[Resource, ...]:
        """Return an object together with the objects that affect its evaluation: the claims that it
        refers to, classes, limits, and clusters.
        """
        names = dict.fromkeys(named_claims(resource.props.values))
        with self._lock:
            claims = chain.from_iterable(self._claims.get(name, {}).values() for name in names)
            found = {each.urn: each for each in (*self._shared.values(), *claims)}
        return tuple({**found, resource.urn: resource}.values())


def _object_name(resource: Resource) -> str:
    """Return the name of an object, or "" if it isn't known."""
    name = (as_mapping(resource.props.values.get("metadata")) or {}).get("name")
    return name if isinstance(name, str) else ""
