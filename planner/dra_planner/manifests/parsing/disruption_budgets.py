"""PodDisruptionBudgets in API form."""

from __future__ import annotations

from dra_planner.errors import NOWHERE, Place
from dra_planner.manifests.parsing.fields import Data, parse_label_selector, parse_meta
from dra_planner.model import BudgetStatus, DisruptionBudget, LabelSelector


def parse_disruption_budget(data: Data, place: Place = NOWHERE) -> DisruptionBudget:
    """Return a budget. A budget without a selector gets an empty selector, which doesn't match any
    pods either.
    """
    spec = data.get("spec") or {}
    return DisruptionBudget(
        meta=parse_meta(data.get("metadata"), place),
        selector=parse_label_selector(spec.get("selector")) or LabelSelector(),
        least=spec.get("minAvailable"),
        most=spec.get("maxUnavailable"),
        status=_status(data.get("status") or {}),
    )


def _status(data: Data) -> BudgetStatus | None:
    """Return the counts in the status. If the controller has counted, the API always contains all
    of them.
    """
    if "disruptionsAllowed" not in data:
        return None
    return BudgetStatus(
        allowed=int(data.get("disruptionsAllowed") or 0),
        healthy=int(data.get("currentHealthy") or 0),
        expected=int(data.get("expectedPods") or 0),
        disrupted=frozenset(data.get("disruptedPods") or ()),
    )
