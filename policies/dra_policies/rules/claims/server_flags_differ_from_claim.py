"""A model server that is configured for more GPUs than its container has, or for several MIG
devices.
"""

from __future__ import annotations

from dra_planner.plan.blockers.server_gpus import (
    DIFFERENT_FLAGS,
    find_different_flags,
    find_ray_workers_without_gpus,
)
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id=DIFFERENT_FLAGS,
    description="A model server's flags don't match the GPUs in its claim.",
    why="A server doesn't start if its flags specify more GPUs than the claim has. If the flags "
    "specify fewer GPUs, the claim's other GPUs stay idle.",
    fix="Request the number of GPUs that the flags specify, or change the flags to match the "
    "claim.",
    level="advisory",
    check=planner_check(DIFFERENT_FLAGS, find_ray_workers_without_gpus, find_different_flags),
)
