"""The machine types that `suggest` compared, in words: reasons of the plan on all of them, and
warnings about the suggested fleet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dra_command.plan_report.obstacles import Obstacle, obstacles
from dra_planner.drivers import nvidia
from dra_planner.plan import Plan
from dra_planner.plan.suggestion.missing.missing_pools import NO_POOL
from dra_planner.plan.suggestion.suggestions import Suggestion

_POOLS = (
    (NO_POOL, "no compared machine type fits the pod"),
    (" more pools:", " more machine types:"),
)


_ADD: Final = re.compile(
    r"add a pool (in zone \S+ )?with (?=(machine type|one of these machine types)\b)"
)
_FOLDED: Final = " (--verbose shows them)"


def compared_obstacles(
    plan: Plan, limits: Sequence[str] = (), *, every: bool = False
) -> Iterator[Obstacle]:
    """Yield why no compared machine type runs a workload. Texts name machine types, because the
    user doesn't have the pools of the comparison. `limits` are the options that excluded machine
    types, which fixes with other types must change.
    """
    for each in obstacles(plan, every=every):
        lines = tuple(
            (
                _with_types(line, plan).replace(_FOLDED, ""),
                _with_limits(_with_types(fix, plan), limits),
            )
            for line, fix in each.lines
        )
        yield Obstacle(each.subject, each.verdict, each.state, lines, each.changes)


def _with_limits(fix: str, limits: Sequence[str]) -> str:
    if not limits or not _ADD.search(fix):
        return fix
    return f"change {' and '.join(limits)} to include {_ADD.sub('', fix)}"


def fleet_notes(suggestion: Suggestion) -> Iterator[str]:
    """Yield the settings of a suggested fleet that its claims need, and its plan's warnings."""
    options = suggestion.fleet.drivers.of(nvidia.DRIVER)
    if getattr(options, "consumable_shares", ""):
        yield (
            "the claims request a part of a GPU, so the fleet sets the driver's shares, which need "
            "Kubernetes 1.36 or later"
        )
    for each in suggestion.plan.diagnostics:
        if each.severity == "warning":
            yield f"warning: {each.message}{f' → {each.fix}' if each.fix else ''}"


def _with_types(text: str, plan: Plan) -> str:
    types = {pool.name: pool.machine for pool in plan.pools}
    names = "|".join(map(re.escape, sorted(types, key=len, reverse=True)))
    if names:
        text = re.sub(rf'pool "({names})"', lambda found: f"machine type {types[found[1]]}", text)
        text = re.sub(rf"(?<![\w.-])({names})(?![\w.-])", lambda found: types[found[1]], text)
    for pools, machine_types in _POOLS:
        text = text.replace(pools, machine_types)
    return text
