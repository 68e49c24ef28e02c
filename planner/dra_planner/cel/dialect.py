"""Which CEL is spoken: it depends on the Kubernetes minor, the environment and the feature gates.

Source of the behaviour: kubernetes/apiserver:pkg/cel/environment/{base,environment}.go and
kubernetes/dynamic-resource-allocation:cel/compile.go @v0.34.9, v0.35.6, v0.36.3, v0.37.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dra_planner.releases import Features

OLDEST_MINOR = 34


@dataclass(frozen=True, slots=True)
class Dialect:
    """The language a selector is read in.

    `environment`: "new" is what the API server admits, "stored" what the scheduler evaluates.
    `list_attributes`: the gate DRAListTypeAttributes. `consumable_capacity`: the gate DRAConsumableCapacity,
    by default on from 1.36.
    """

    minor: int = 36
    environment: Literal["stored", "new"] = "stored"
    list_attributes: bool = False
    consumable_capacity: bool | None = None

    def __post_init__(self) -> None:
        if self.minor < OLDEST_MINOR:
            raise ValueError(f"device selectors are known from Kubernetes 1.{OLDEST_MINOR} on, not 1.{self.minor}")
        if self.environment not in ("stored", "new"):
            raise ValueError(f'a CEL environment is "stored" or "new", not "{self.environment}"')
        if self.consumable_capacity is None:
            object.__setattr__(self, "consumable_capacity", self.minor >= 36)

    @classmethod
    def of(cls, features: Features, environment: Literal["stored", "new"] = "stored") -> Dialect:
        """Return the dialect of a Kubernetes with its gates."""
        return cls(
            minor=features.minor,
            environment=environment,
            list_attributes=features.list_attributes,
            consumable_capacity=features.consumable_capacity,
        )

    def knows(self, since: int, until: int | None = None, gate: bool | None = None) -> bool:
        """Whether something is declared that came with minor `since`, left with `until`, and has the gate.

        A new expression may use what the previous minor knew, or what its gate turns on (and never what its gate
        turns off); a stored expression may use everything that the binary knows.
        """
        if self.minor < since:
            return False
        if self.environment == "stored":
            return until is None or self.minor < until
        if gate is not None:
            return gate
        known = self.minor - 1
        return known >= since and (until is None or known < until)

    @property
    def dynamic_attributes(self) -> bool:
        """Whether an attribute has type dyn, so that it may be iterated over; else any."""
        if self.minor <= 36:
            return self.minor == 36 and self.list_attributes
        return self.environment == "stored" or self.list_attributes

    @property
    def reads_list_attributes(self) -> bool:
        """Whether a device may have list attributes without every selector failing on it."""
        return self.minor >= 37 or (self.minor == 36 and self.list_attributes)

    @property
    def reads_multiple_allocations(self) -> bool:
        """Whether `device.allowMultipleAllocations` is declared."""
        return self.environment == "stored" or bool(self.consumable_capacity)
