"""Containers whose memory request is too small, probably because of a wrong unit."""

from __future__ import annotations

from dra_planner.plan.blockers.memory_amounts import REQUEST_TOO_SMALL, find_tiny_memory
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id=REQUEST_TOO_SMALL,
    description="A container requests less than 1 MiB of memory.",
    why="The scheduler doesn't reserve memory for the container, so the node can run out of memory. "
    "The suffix `m` means thousandths, so `512m` is less than one byte.",
    fix="Use the unit `Mi` or `Gi`, for example `512Mi`.",
    level="advisory",
    url="https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#meaning-of-memory",
    check=planner_check(REQUEST_TOO_SMALL, find_tiny_memory),
)
