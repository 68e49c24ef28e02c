"""The CEL dialect of a Kubernetes release: it depends on the minor, the environment and the feature
gates.

Differences between minor versions are named fields of `CelLibrary`. A minor version without a
record is an error. Sources of the behaviour:
kubernetes/apiserver:pkg/cel/environment/{base,environment}.go and
kubernetes/dynamic-resource-allocation:cel/compile.go @v0.34.9, v0.35.6, v0.36.3, v0.37.2;
google/cel-go @v0.26.0 (1.34 to 1.36) and v0.29.2 (1.37).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from dra_planner.releases import Features

LISTS_EXTENSION_SINCE: Final = 34

Environment = Literal["stored", "new"]
"""`new` is what the API server admits, `stored` what the scheduler evaluates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CelLibrary:
    """What the CEL library in the binaries of a minor does, whatever the gates: a field per change
    of behaviour.
    """

    list_attributes_can_be_on: bool
    """Whether the gate DRAListTypeAttributes exists."""
    stored_attributes_are_dynamic: bool
    """Whether a stored expression may iterate over an attribute without the gate; so devices may
    have lists.
    """
    backquoted_fields: bool
    """Whether fields may be written in backquotes."""
    dot_skips_locals: bool
    """Whether a leading dot leads past a local variable of the same name."""
    unpacks_optionals: bool
    """Whether an optional is converted and wrapped again when it leaves a variable or a branch."""
    strict_or: bool
    """Whether `or` and `orValue` fail on what is not an optional."""
    bounded_ranges: bool
    """Whether `lists.range` refuses a negative size and one above 1,000,000."""
    bounded_searches: bool
    """Whether searching for the empty string beyond the end finds it at the end."""
    pure_arithmetic: bool
    """Whether adding to a quantity in the big-decimal form leaves it unchanged."""
    global_matches_costs: bool
    """Whether `matches(string, pattern)` costs what the method costs, not 1."""
    includes_costs: bool
    """Whether `includes` costs as much as reading its list."""
    flatten_checks_depth: bool
    """Whether the cost of `flatten` with a negative depth is that of one level."""
    affixes_cost_by_argument: bool
    """Whether `startsWith` and `endsWith` cost by the size of the argument, not of the target."""
    strict_host_colons: bool
    """Whether the host of an http or https URL may have but the colon of its port: Go 1.26 made it
    so.
    """


_1_34: Final = CelLibrary(
    list_attributes_can_be_on=False,
    stored_attributes_are_dynamic=False,
    backquoted_fields=False,
    dot_skips_locals=False,
    unpacks_optionals=True,
    strict_or=False,
    bounded_ranges=False,
    bounded_searches=False,
    pure_arithmetic=False,
    global_matches_costs=False,
    includes_costs=False,
    flatten_checks_depth=False,
    affixes_cost_by_argument=False,
    strict_host_colons=False,
)
_1_36: Final = replace(_1_34, list_attributes_can_be_on=True, strict_host_colons=True)
_1_37: Final = CelLibrary(
    list_attributes_can_be_on=True,
    stored_attributes_are_dynamic=True,
    backquoted_fields=True,
    dot_skips_locals=True,
    unpacks_optionals=False,
    strict_or=True,
    bounded_ranges=True,
    bounded_searches=True,
    pure_arithmetic=True,
    global_matches_costs=True,
    includes_costs=True,
    flatten_checks_depth=True,
    affixes_cost_by_argument=True,
    strict_host_colons=True,
)
LIBRARIES: Final = {34: _1_34, 35: _1_34, 36: _1_36, 37: _1_37, 38: _1_37}
"""The CEL library of each minor version, previews included."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The language that a selector is read in; made with `Dialect.of`.

    `list_attributes`: the gate DRAListTypeAttributes. `consumable_capacity`: the gate
    DRAConsumableCapacity.
    """

    minor: int
    environment: Environment
    list_attributes: bool
    consumable_capacity: bool

    def __post_init__(self) -> None:
        if self.minor not in LIBRARIES:
            known = ", ".join(f"1.{minor}" for minor in LIBRARIES)
            raise ValueError(
                f"the CEL dialect of Kubernetes 1.{self.minor} is unknown; known are {known}"
            )

    @classmethod
    def of(cls, features: Features, environment: Environment = "stored") -> Dialect:
        """Return the dialect of a release with its gates. Raises ValueError for a minor without a
        record here.
        """
        return cls(
            features.minor, environment, features.list_attributes, features.consumable_capacity
        )

    @property
    def library(self) -> CelLibrary:
        """What the binaries of this minor do."""
        return LIBRARIES[self.minor]

    def knows(self, since: int, until: int | None = None, gate: bool | None = None) -> bool:
        """Whether something is declared that came with minor `since`, left with `until`, and has
        the gate.

        A new expression may use what the previous minor knew, or what its gate turns on (and never
        what its gate turns off); a stored expression may use everything that the binary knows.
        """
        if not self.includes(since, None):
            return False
        if self.environment == "stored":
            return self.includes(since, until)
        if gate is not None:
            return gate
        known = self.minor - 1
        return known >= since and (until is None or known < until)

    def includes(self, since: int, until: int | None) -> bool:
        """Whether the binary has something that came with minor `since` and left with `until`."""
        return self.minor >= since and (until is None or self.minor < until)

    @property
    def has_lists_extension(self) -> bool:
        """Whether cel-go's list extension, with its macro `sortBy`, is declared."""
        return self.knows(LISTS_EXTENSION_SINCE)

    @property
    def dynamic_attributes(self) -> bool:
        """Whether an attribute has type dyn, so that it may be iterated over; else any."""
        if self.environment == "stored" and self.library.stored_attributes_are_dynamic:
            return True
        return self.library.list_attributes_can_be_on and self.list_attributes

    @property
    def reads_list_attributes(self) -> bool:
        """Whether a device may have list attributes without every selector failing on it."""
        library = self.library
        return library.stored_attributes_are_dynamic or (
            library.list_attributes_can_be_on and self.list_attributes
        )

    @property
    def reads_multiple_allocations(self) -> bool:
        """Whether `device.allowMultipleAllocations` is declared."""
        return self.environment == "stored" or self.consumable_capacity
