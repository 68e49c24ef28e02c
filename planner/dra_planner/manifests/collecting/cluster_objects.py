"""Objects that describe the cluster around the workloads: nodes, namespaces, priorities, and
limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.disruption_budgets import parse_disruption_budget
from dra_planner.manifests.parsing.fields import parse_meta
from dra_planner.manifests.parsing.limit_ranges import parse_limit_range
from dra_planner.manifests.parsing.nodes import parse_node
from dra_planner.manifests.parsing.runtime_classes import parse_runtime_class
from dra_planner.manifests.validation.quotas import uncounted
from dra_planner.model import (
    DisruptionBudget,
    LimitRange,
    Node,
    ObjectKey,
    ObjectMeta,
    RuntimeClass,
)

_ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"
# a common mistake: the label with the domain of the API group
_NO_LABEL: Final = "resource.k8s.io/admin-access"


class ClusterObjects:
    """Nodes and the objects that limit or order the pods of all workloads."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self._diagnostics = diagnostics
        self.nodes: list[Node] = []
        self.namespaces: dict[str, ObjectMeta] = {}
        self.priorities: dict[str, int] = {}  # "" is the default class
        self.non_preempting: set[str] = set()  # names of priorities
        self.runtime_classes: dict[str, RuntimeClass] = {}
        self.quotas: list[Mapping[str, Any]] = []
        self.quota_places: dict[ObjectKey, Place] = {}
        self.limit_ranges: list[LimitRange] = []
        self.budgets: dict[ObjectKey, DisruptionBudget] = {}

    def add_node(self, item: KubernetesObject) -> None:
        self.nodes.append(parse_node(item.data, item.place))

    def add_namespace(self, item: KubernetesObject) -> None:
        meta = self.namespaces[item.name] = parse_meta(item.metadata, item.place, namespaced=False)
        if _NO_LABEL in meta.labels:
            message = (
                f"{item}: the label {_NO_LABEL} has no effect, because the API server reads "
                f"{_ADMIN_LABEL} instead"
            )
            fix = f'add the label {_ADMIN_LABEL}: "true" to the namespace'
            self._diagnostics.append(
                Diagnostic("warning", "label-does-nothing", message, item.place, fix)
            )

    def add_priority_class(self, item: KubernetesObject) -> None:
        value = int(item.data.get("value") or 0)
        names = (item.name, "") if item.data.get("globalDefault") is True else (item.name,)
        self.priorities.update(dict.fromkeys(names, value))
        if item.data.get("preemptionPolicy") == "Never":
            self.non_preempting.update(names)

    def add_runtime_class(self, item: KubernetesObject) -> None:
        self.runtime_classes[item.name] = parse_runtime_class(item.data, item.place)

    def add_quota(self, item: KubernetesObject) -> None:
        self.quotas.append(item.data)
        self.quota_places[item.key] = item.place
        self._diagnostics += uncounted(item)

    def add_limit_range(self, item: KubernetesObject) -> None:
        self.limit_ranges.append(parse_limit_range(item.data, item.place))

    def add_budget(self, item: KubernetesObject) -> None:
        self.budgets[item.key] = parse_disruption_budget(item.data, item.place)
