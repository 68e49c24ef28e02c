"""LimitRanges: defaults that admission sets in containers, and limits that it enforces."""

from __future__ import annotations

from dataclasses import dataclass, field

from dra_planner.model.objects import Amounts, ObjectMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRange:
    """The limits of one LimitRange for containers and whole pods, by resource. Other types don't
    matter here.
    """

    meta: ObjectMeta
    default_requests: Amounts = field(default_factory=dict, hash=False)
    default_limits: Amounts = field(default_factory=dict, hash=False)
    least: Amounts = field(default_factory=dict, hash=False)
    most: Amounts = field(default_factory=dict, hash=False)
    least_of_pod: Amounts = field(default_factory=dict, hash=False)
    most_of_pod: Amounts = field(default_factory=dict, hash=False)
