"""Containers whose memory limit is too small to start, probably because of a wrong unit."""

from __future__ import annotations

from dra_planner.plan.blockers.memory_amounts import LIMIT_TOO_SMALL, find_tiny_memory
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id=LIMIT_TOO_SMALL,
    description="A container's memory limit is less than 1 MiB.",
    why="The kernel terminates the container before it starts. The suffix `m` means thousandths, so "
    "`512m` is less than one byte.",
    fix="Use the unit `Mi` or `Gi`, for example `512Mi`.",
    level="mandatory",
    url="https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#meaning-of-memory",
    check=planner_check(LIMIT_TOO_SMALL, find_tiny_memory),
)
