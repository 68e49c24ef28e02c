"""The state of one engine run: inputs by URN, and reported findings.

The engine analyzes resources one by one with their inputs, and finally the stack with its outputs.
In the first preview of a cluster, outputs of the objects inside it are empty, so a session stores
the inputs. A preview and the subsequent update can share a process, so stored inputs are
overwritten by URN, and resources that the stack no longer lists are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from threading import Lock
from typing import Final

from msgspec.structs import replace

from dra_planner.planfile import RECORD_TYPE
from dra_policies.stack.kubernetes_objects import named_claims
from dra_policies.stack.pools import is_cluster_token
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN, Properties, as_list, as_mapping

RuleMessage = tuple[str, str]  # rule id, sentence
_FOR_EVERY_OBJECT: Final = (":DeviceClass", ":Namespace", ":PriorityClass", ":LimitRange")
_CLAIMS: Final = (":ResourceClaim", ":ResourceClaimTemplate")


class SeenResources:
    """The latest inputs of each resource, indexed by the resources that single objects need.
    Thread-safe.

    A stack has millions of pairs of resources, so no step may look at all resources for each
    resource.
    """

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


class Session:
    """Inputs of resources in the order of analysis, and their reported findings. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.seen = SeenResources()
        self._reported: dict[str, frozenset[RuleMessage]] = {}

    def remember(self, urn: str, messages: Iterable[RuleMessage]) -> None:
        """Remember the findings that were reported for a resource during analysis."""
        with self._lock:
            self._reported[urn] = frozenset(messages)

    def messages(self, urn: str, rule: str) -> frozenset[str]:
        """Return the messages of a rule that were reported for a resource."""
        with self._lock:
            return frozenset(
                message for each, message in self._reported.get(urn, ()) if each == rule
            )

    def complete(self, resources: Sequence[Resource]) -> tuple[Resource, ...]:
        """Return the resources of the whole stack with all known values, sorted by URN.

        The values are a resource's inputs. Its outputs replace unknown inputs.
        """
        inputs = self.seen.by_urn()
        known: list[Resource] = []
        for resource in sorted(resources, key=lambda resource: resource.urn):
            declared = inputs.get(resource.urn)
            if declared is None:
                known.append(replace(resource, of_outputs=_keys(resource.props.values)))
            else:
                values = _fill(declared.props.values, resource.props.values)
                known.append(
                    replace(
                        resource,
                        props=Properties(values),
                        ignore_changes=declared.ignore_changes,
                        of_outputs=resource.of_outputs
                        | (_keys(values) - _keys(declared.props.values)),
                    )
                )
        return tuple(known)


def _keys(values: object) -> frozenset[str]:
    return frozenset(as_mapping(values) or ())


def _fill(declared: object, actual: object) -> object:
    """Return the inputs with unknown values filled in. Keys that only the outputs have are added at
    the top level.

    An unknown output without an input is omitted, because the program leaves the value to the
    cloud. Otherwise an unknown node count would hide that the program declares none.
    """
    filled, outputs = as_mapping(_known(declared, actual)), as_mapping(actual)
    if filled is None or outputs is None:
        return declared
    return {
        **{
            key: value
            for key, value in outputs.items()
            if key not in filled and value is not UNKNOWN
        },
        **filled,
    }


def _known(declared: object, actual: object) -> object:
    if declared is UNKNOWN:
        return actual
    mapping, other_mapping = as_mapping(declared), as_mapping(actual)
    if mapping is not None and other_mapping is not None:
        return {
            key: _known(value, other_mapping.get(key, UNKNOWN)) for key, value in mapping.items()
        }
    items, other_items = as_list(declared), as_list(actual)
    if items is not None and other_items is not None and len(items) == len(other_items):
        return [_known(one, other) for one, other in zip(items, other_items, strict=True)]
    return declared


def _object_name(resource: Resource) -> str:
    """Return the name of an object, or "" if it isn't known."""
    name = (as_mapping(resource.props.values.get("metadata")) or {}).get("name")
    return name if isinstance(name, str) else ""
