"""LimitRanges: defaults that admission sets in containers, and limits that it enforces."""

from __future__ import annotations

from msgspec import Struct

from dra_planner.model.objects import Amounts, ObjectMeta
from dra_planner.records import equality


@equality(
    unhashed=(
        "default_requests",
        "default_limits",
        "least",
        "most",
        "least_of_pod",
        "most_of_pod",
        "ratios",
        "ratios_of_pod",
    )
)
class LimitRange(Struct, frozen=True, kw_only=True):
    """The limits of one LimitRange for containers and whole pods, by resource.

    Other types are irrelevant here. `ratios` are the maximum ratios of limit to request, in
    thousandths.
    """

    meta: ObjectMeta
    default_requests: Amounts = {}
    default_limits: Amounts = {}
    least: Amounts = {}
    most: Amounts = {}
    least_of_pod: Amounts = {}
    most_of_pod: Amounts = {}
    ratios: Amounts = {}
    ratios_of_pod: Amounts = {}
