"""LimitRanges: what admission gives containers that say nothing, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass, field

from dra_planner.model.objects import Amounts, ObjectMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRange:
    """The limits of one LimitRange on containers and whole pods, by resource; its other types
    decide nothing here.
    """

    meta: ObjectMeta
    default_requests: Amounts = field(default_factory=dict, hash=False)
    default_limits: Amounts = field(default_factory=dict, hash=False)
    least: Amounts = field(default_factory=dict, hash=False)
    most: Amounts = field(default_factory=dict, hash=False)
    least_of_pod: Amounts = field(default_factory=dict, hash=False)
    most_of_pod: Amounts = field(default_factory=dict, hash=False)
