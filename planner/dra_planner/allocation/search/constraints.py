"""`matchAttribute` and `distinctAttribute` for the devices of one claim.

Each constraint accepts devices (`add`) and releases them in reverse order (`remove`). A rejected
`add` changes nothing. A value that is known only at run time makes two devices equal, different, or
*perhaps* equal. The `Reading` of the search decides how *perhaps* counts. Source of the behavior:
kubernetes/dynamic-resource-allocation:structured/internal/*/{constraint,allocator_*}.go @v0.34.9,
v0.35.6, v0.36.3 and v0.37.2.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from dra_planner.allocation.behaviour import Behaviour
from dra_planner.allocation.search.devices import Candidate
from dra_planner.model import AttributeValue, DeviceConstraint, Unknown, Version
from dra_planner.releases import Features

Reading = Literal["pessimistic", "optimistic"]
"""How unknown values are treated: against the pod, or in its favor."""

Comparison = Literal["equal", "different", "unknown"]


def lookup_attribute(candidate: Candidate, name: str) -> AttributeValue | None:
    """Return an attribute by its qualified name. A name without a domain in the slice belongs to
    the driver's domain.
    """
    attributes = candidate.device.attributes
    value = attributes.get(name)
    if value is None:
        domain, slash, bare = name.partition("/")
        if slash and domain == candidate.id.driver:
            value = attributes.get(bare)
    return value


def compare(left: AttributeValue, right: AttributeValue) -> Comparison:
    """Compare two values as the allocator does: by type and value, versions as text, and lists by
    common elements.
    """
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        if isinstance(left, Unknown) and isinstance(right, Unknown) and left.group and right.group:
            return "equal" if left.group == right.group else "different"
        return "unknown"
    return "equal" if _elements(left) & _elements(right) else "different"


def _elements(value: AttributeValue) -> frozenset[tuple[type, object]]:
    values = value if isinstance(value, tuple) else (value,)
    return frozenset((type(v), v.text if isinstance(v, Version) else v) for v in values)


class _Scope(Struct):
    """The requests of a constraint. Without names, it applies to all requests of the claim."""

    names: frozenset[str]

    def covers(self, request: str, subrequest: str) -> bool:
        if not self.names or request in self.names:
            return True
        return bool(subrequest) and f"{request}/{subrequest}" in self.names


class MatchAttribute(Struct):
    """All devices must have the attribute, with the same value."""

    scope: _Scope
    attribute: str
    reading: Reading
    lists: bool
    values: list[AttributeValue] = []
    met_unknown: bool = False

    def add(self, request: str, subrequest: str, candidate: Candidate) -> bool:
        if not self.scope.covers(request, subrequest):
            return True
        value = lookup_attribute(candidate, self.attribute)
        if value is None or (self.values and not self._agrees(value)):
            return False
        self.values.append(value)
        return True

    def _agrees(self, value: AttributeValue) -> bool:
        if self.lists:
            return self._intersects(value)
        if isinstance(value, tuple):
            return False
        for other in self.values:
            outcome = compare(other, value)
            if outcome == "unknown":
                self.met_unknown = True
                if self.reading == "pessimistic":
                    return False
            elif outcome == "different":
                return False
        return True

    def _intersects(self, value: AttributeValue) -> bool:
        if any(isinstance(v, Unknown) for v in (*self.values, value)):
            self.met_unknown = True
            return self.reading == "optimistic"
        common = _elements(value)
        for other in self.values:
            common &= _elements(other)
        return bool(common)

    def remove(self, request: str, subrequest: str) -> None:
        if self.scope.covers(request, subrequest):
            self.values.pop()


class DistinctAttribute(Struct):
    """All devices must have the attribute, each with a different value.

    `memory` determines the devices with which a version compares: every earlier device ("all", from
    1.37 on), or the last device of each request ("last"). 1.34 uses the last device of each
    request, but compares devices instead of their values ("identity").
    """

    scope: _Scope
    attribute: str
    reading: Reading
    memory: Literal["all", "last", "identity"]
    held: list[_Held] = []
    remembered: dict[str, _Held] = {}
    met_unknown: bool = False
    met_defect: bool = False

    def add(self, request: str, subrequest: str, candidate: Candidate) -> bool:
        if not self.scope.covers(request, subrequest):
            return True
        value = lookup_attribute(candidate, self.attribute)
        if value is None:
            return False
        new = _Held(candidate.index, value)
        compared = (
            self.held
            if self.memory == "all"
            else list(self.remembered.values())
            if self.held
            else []
        )
        if not all(self._differ(other, new) for other in compared):
            return False
        if self.memory != "all":
            self.met_defect |= any(compare(other.value, value) == "equal" for other in self.held)
        self.held.append(new)
        self.remembered[request] = new
        return True

    def _differ(self, left: _Held, right: _Held) -> bool:
        if self.memory == "identity":
            return left.index != right.index
        outcome = compare(left.value, right.value)
        if outcome == "unknown":
            self.met_unknown = True
            return self.reading == "optimistic"
        return outcome == "different"

    def remove(self, request: str, subrequest: str) -> None:
        if self.scope.covers(request, subrequest):
            self.held.pop()
            self.remembered.pop(request, None)


class _Held(Struct, frozen=True):
    """A device under the constraint, and its value."""

    index: int
    value: AttributeValue


def build_constraint(
    constraint: DeviceConstraint, features: Features, behaviour: Behaviour, reading: Reading
) -> MatchAttribute | DistinctAttribute:
    """Return the constraint as this version enforces it. If both attributes are set, matchAttribute
    applies.
    """
    scope = _Scope(frozenset(constraint.requests))
    if constraint.match_attribute is not None:
        return MatchAttribute(scope, constraint.match_attribute, reading, features.list_attributes)
    return DistinctAttribute(
        scope, constraint.distinct_attribute or "", reading, behaviour.distinct_memory
    )
