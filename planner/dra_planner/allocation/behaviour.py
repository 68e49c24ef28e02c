"""Differences between the allocators of Kubernetes versions, including known defects.

A verdict applies to the latest patch version of a minor version, with its defects. If a defect was
involved, the search is repeated without it. If that changes the verdict, the finding uses *may*,
because another patch version might decide differently.

Sources: kubernetes/dynamic-resource-allocation @v0.34.9, v0.35.6, v0.36.3, v0.37.2;
kubernetes/kubernetes issues 140434, 140436, 140438, 140729.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.releases import Features


class Behaviour(Struct, frozen=True, kw_only=True):
    """The differences, one field each. The first group contains defects."""

    # if a device is rejected after its counters were charged, the counters stay charged
    leaks_counters: bool = False
    # if two drivers have pools with the same name, these pools share the counter sets of the first
    # pool
    counters_by_pool_name: bool = False
    # the devices that distinctAttribute compares a device with
    distinct_memory: Literal["all", "last", "identity"] = "all"
    charges_admin_access: bool = False  # requests with admin access also need free counters
    # if `All` is a later alternative, it continues with the results of the first alternative
    slips_to_first_alternative: bool = False
    # a request with count: N can get N shares of the same device
    repeats_shared_device: bool = False
    # the last capacity check uses the device at position `slot` in the slice
    checks_capacity_by_slot: bool = False

    # uses the allocator without shares, distinctAttribute, and binding conditions
    plain: bool = False
    counters_by_slice: bool = False  # a slice can contain both counter sets and devices
    shares_draw_counters: bool = True  # shared devices consume counters
    each_share_draws: bool = False  # each further share consumes counters again
    every_taint_counts: bool = False  # regardless of the taint's effect
    permutes: bool = False  # tries the devices of a request in every order


_OLD: Final = Behaviour(
    leaks_counters=True,
    counters_by_pool_name=True,
    distinct_memory="last",
    charges_admin_access=True,
    slips_to_first_alternative=True,
    repeats_shared_device=True,
    shares_draw_counters=False,
    permutes=True,
)
BEHAVIOURS: Final[Mapping[int, Behaviour]] = {
    34: replace(
        _OLD,
        counters_by_pool_name=False,
        distinct_memory="identity",
        checks_capacity_by_slot=True,
        counters_by_slice=True,
        each_share_draws=True,
        every_taint_counts=True,
    ),
    35: _OLD,
    36: Behaviour(counters_by_pool_name=True, distinct_memory="last", charges_admin_access=True),
    37: Behaviour(charges_admin_access=True),
    38: Behaviour(charges_admin_access=True),
}
"""Behavior of the allocator by minor version, in its latest patch or its preview."""


def is_plain(features: Features) -> bool:
    """Return whether a version serves these features with its simpler implementation, which doesn't
    support shares, `distinctAttribute`, or binding conditions, and silently ignores capacity
    requests.
    """
    status = features.device_status and features.status_needs_shares
    shares = features.consumable_capacity or features.fractional_capacity_range
    return not (features.binding_conditions or shares or features.list_attributes or status)


def behaviour_of(features: Features) -> Behaviour:
    """Return the behavior of the latest patch version of a minor version."""
    behaviour, plain = BEHAVIOURS[features.minor], is_plain(features)
    return replace(
        behaviour, plain=plain, shares_draw_counters=behaviour.shares_draw_counters and not plain
    )


def intended(behaviour: Behaviour) -> Behaviour:
    """Return the behavior without its defects."""
    return replace(
        behaviour,
        leaks_counters=False,
        counters_by_pool_name=False,
        distinct_memory="all",
        charges_admin_access=False,
        slips_to_first_alternative=False,
        repeats_shared_device=False,
        checks_capacity_by_slot=False,
        permutes=False,
    )
