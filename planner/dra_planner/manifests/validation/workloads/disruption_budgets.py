"""Rules of PodDisruptionBudgets."""

from __future__ import annotations

from typing import Final

from dra_planner.manifests.validation.checks import at_most_all, count_or_percentage, pointed_choice
from dra_planner.manifests.validation.fields.selectors import SELECTORS
from dra_planner.manifests.validation.rules import Data, Scope, StructRules, Table, check_struct
from dra_planner.manifests.validation.violations import Violations, invalid
from dra_planner.releases import Features


def check_disruption_budget(data: Data, features: Features) -> Violations:
    """Check a budget: at most one of the two limits (a count or percentage), a label selector, and
    a known policy.
    """
    spec = data.get("spec") or {}
    yield from check_struct(
        spec, "policy.PodDisruptionBudgetSpec", "spec", Scope(features=features), _TABLE
    )


def _check_one_limit(data: Data, path: str, scope: Scope) -> Violations:
    if data.get("minAvailable") is not None and data.get("maxUnavailable") is not None:
        yield invalid(path, dict(data), "minAvailable and maxUnavailable cannot be both set")


_LIMIT: Final = (count_or_percentage, at_most_all)
_TABLE: Final[Table] = {
    **SELECTORS,
    "policy.PodDisruptionBudgetSpec": StructRules(
        fields={
            "minAvailable": _LIMIT,
            "maxUnavailable": _LIMIT,
            "unhealthyPodEvictionPolicy": pointed_choice("AlwaysAllow", "IfHealthyBudget"),
        },
        whole=(_check_one_limit,),
    ),
}
