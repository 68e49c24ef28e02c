"""The CEL dialect of a Kubernetes version, which depends on the minor version, the environment, and
the feature gates.

Differences between minor versions are named fields of `CelLibrary`. A minor version without a
record is an error. Sources of the behavior:
kubernetes/apiserver:pkg/cel/environment/{base,environment}.go and
kubernetes/dynamic-resource-allocation:cel/compile.go @v0.34.9, v0.35.6, v0.36.3, v0.37.2;
google/cel-go @v0.26.0 (1.34 to 1.36) and v0.29.2 (1.37).
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.releases import Features

LISTS_EXTENSION_SINCE: Final = 34

Environment = Literal["stored", "new"]
"""`new` is the environment in which the API server admits expressions, and `stored` the one in
which the scheduler evaluates them.
"""


class CelLibrary(Struct, frozen=True, kw_only=True):
    """The behavior of the CEL library in the binaries of a minor version, independent of feature
    gates. Each field is one change of behavior.
    """

    list_attributes_can_be_on: bool
    """True if the gate DRAListTypeAttributes exists."""
    stored_attributes_are_dynamic: bool
    """True if a stored expression can iterate over an attribute without the gate, so devices can
    have lists.
    """
    backquoted_fields: bool
    """True if fields can be written in backquotes."""
    dot_skips_locals: bool
    """True if a leading dot skips a local variable with the same name."""
    unpacks_optionals: bool
    """True if an optional is converted and wrapped again when it leaves a variable or a branch."""
    strict_or: bool
    """True if `or` and `orValue` fail on a value that isn't an optional."""
    bounded_ranges: bool
    """True if `lists.range` rejects a negative size, and a size above 1,000,000."""
    bounded_searches: bool
    """True if a search for the empty string beyond the end returns the end."""
    pure_arithmetic: bool
    """True if adding to a quantity in the big-decimal format leaves it unchanged."""
    global_matches_costs: bool
    """True if `matches(string, pattern)` has the cost of the method. Otherwise, it costs 1."""
    includes_costs: bool
    """True if `includes` costs as much as reading its list."""
    flatten_checks_depth: bool
    """True if `flatten` with a negative depth has the cost of one level."""
    affixes_cost_by_argument: bool
    """True if the size of the argument, not of the target, determines the cost of `startsWith` and
    `endsWith`.
    """
    strict_host_colons: bool
    """True if the host of an http or https URL can only contain the colon before its port, as in Go
    1.26 and later.
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
"""The CEL library of each minor version, including previews."""


class Dialect(Struct, frozen=True):
    """The language of a selector. Create it with `Dialect.of`.

    `list_attributes` is the feature gate DRAListTypeAttributes, and `consumable_capacity` is
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
                f"the CEL dialect of Kubernetes 1.{self.minor} is unknown (known: {known})"
            )

    @classmethod
    def of(cls, features: Features, environment: Environment = "stored") -> Dialect:
        """Return the dialect of a Kubernetes version with its feature gates.

        Raises ValueError for a minor version without a record.
        """
        return cls(
            features.minor, environment, features.list_attributes, features.consumable_capacity
        )

    @property
    def library(self) -> CelLibrary:
        """The behavior of the binaries of this minor version."""
        return LIBRARIES[self.minor]

    def knows(self, since: int, until: int | None = None, gate: bool | None = None) -> bool:
        """Return True if a declaration exists that was added in minor version `since`, removed in
        `until`, and has this feature gate. A new expression can use the declarations of the
        previous minor version and of enabled gates, but never declarations of disabled gates. A
        stored expression can use every declaration of the binary.
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
        """Return True if the binary contains a declaration that was added in `since` and removed in
        `until`.
        """
        return self.minor >= since and (until is None or self.minor < until)

    @property
    def has_lists_extension(self) -> bool:
        """True if cel-go's list extension, with its macro `sortBy`, is declared."""
        return self.knows(LISTS_EXTENSION_SINCE)

    @property
    def dynamic_attributes(self) -> bool:
        """True if an attribute has the type dyn, so that expressions can iterate over it.
        Otherwise, its type is any.
        """
        if self.environment == "stored" and self.library.stored_attributes_are_dynamic:
            return True
        return self.library.list_attributes_can_be_on and self.list_attributes

    @property
    def reads_list_attributes(self) -> bool:
        """True if a device can have list attributes without making every selector fail."""
        library = self.library
        return library.stored_attributes_are_dynamic or (
            library.list_attributes_can_be_on and self.list_attributes
        )

    @property
    def reads_multiple_allocations(self) -> bool:
        """True if `device.allowMultipleAllocations` is declared."""
        return self.environment == "stored" or self.consumable_capacity
