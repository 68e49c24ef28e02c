"""Rules of affinity between pods and of topology spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dra_planner.manifests.validation.checks import (
    needed,
    pointed_choice,
    positive,
    positive_if_set,
    qualified,
    strict_choice,
)
from dra_planner.manifests.validation.fields.formats import dns_label, label_value, qualified_name
from dra_planner.manifests.validation.pods.node_selectors import (
    check_node_selector,
    check_preferences,
)
from dra_planner.manifests.validation.rules import Data, Scope, StructRules, Table, each
from dra_planner.manifests.validation.violations import (
    Violations,
    duplicate,
    each_invalid,
    forbidden,
    invalid,
)

_MOST_WEIGHT: Final = 100
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_NOT_SELECTED: Final = "must not be specified when labelSelector is not set"


def _check_node_affinity(data: Data, path: str, scope: Scope) -> Violations:
    if data.get(_REQUIRED) is not None:
        yield from check_node_selector(data[_REQUIRED], f"{path}.{_REQUIRED}")
    yield from check_preferences(data.get(_PREFERRED) or (), f"{path}.{_PREFERRED}")


def _check_weight(value: Any, path: str, scope: Scope) -> Violations:
    if not 1 <= (value or 0) <= _MOST_WEIGHT:
        yield invalid(path, int(value or 0), f"must be in the range 1-{_MOST_WEIGHT}")


def _check_term(data: Data, path: str, scope: Scope) -> Violations:
    for name in data.get("namespaces") or ():
        yield from each_invalid(f"{path}.namespace", name or "", dns_label(name or ""))
    yield from _check_label_keys(data, path, scope)


def _check_label_keys(data: Data, path: str, scope: Scope) -> Violations:
    """Check the keys of the pod's own labels that are added to the selector."""
    selector = data.get("labelSelector")
    match, mismatch = data.get("matchLabelKeys") or (), data.get("mismatchLabelKeys") or ()
    for name, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        yield from _check_keys(keys, f"{path}.{name}", selector)
    if selector is not None:
        yield from _check_selected_twice(selector, match, mismatch, path, scope)
    for index, key in enumerate(match):
        if key in mismatch:
            yield invalid(
                f"{path}.matchLabelKeys[{index}]",
                key,
                "exists in both matchLabelKeys and mismatchLabelKeys",
            )


def _check_keys(keys: Sequence[Any], path: str, selector: Data | None) -> Violations:
    if keys and selector is None:
        yield forbidden(path, _NOT_SELECTED)
        return
    for index, key in enumerate(keys):
        yield from each_invalid(f"{path}[{index}]", key or "", qualified_name(key or ""))


def _check_selected_twice(
    selector: Data, match: Sequence[Any], mismatch: Sequence[Any], path: str, scope: Scope
) -> Violations:
    """Check for keys that are also in the selector.

    A pod's selector already contains the expressions for its keys when it's checked.
    """
    expressions = [
        (item.get("key") or "") for item, _ in each(selector.get("matchExpressions"), "")
    ]
    for key in (
        [key for key in (*match, *mismatch) if key in scope.pod.labels] if scope.pod.is_pod else ()
    ):
        where, value = (
            f"{path}.labelSelector.matchExpressions[{len(expressions)}]",
            scope.pod.labels[key] or "",
        )
        yield from each_invalid(f"{where}.key", key, qualified_name(key))
        yield from each_invalid(f"{where}.values[0]", value, label_value(value))
        expressions.append(key)
    places = {key: index for index, key in enumerate(match)}
    seen = set(selector.get("matchLabels") or {})
    for key in expressions:
        if key in places and key in seen:
            yield invalid(
                f"{path}[{places[key]}]", key, "exists in both matchLabelKeys and labelSelector"
            )
        seen.add(key)


def check_spreading(value: Any, path: str, scope: Scope) -> Violations:
    """Yield a violation for each constraint with the same key and effect as another one."""
    pairs = [
        (item.get("topologyKey") or "", item.get("whenUnsatisfiable") or "")
        for item, _ in each(value, "")
    ]
    for index, pair in enumerate(pairs):
        if pair in pairs[index + 1 :]:
            yield duplicate(
                f"{path}[{index}].{{topologyKey, whenUnsatisfiable}}", f"{{{pair[0]}, {pair[1]}}}"
            )


def _check_domains(data: Data, path: str, scope: Scope) -> Violations:
    if data.get("minDomains") is not None and data.get("whenUnsatisfiable") != "DoNotSchedule":
        detail = "can only use minDomains if whenUnsatisfiable=DoNotSchedule"
        yield invalid(f"{path}.minDomains", int(data["minDomains"]), detail)


_POLICY: Final = pointed_choice("Ignore", "Honor")
PLACEMENT: Final[Table] = {
    "core.NodeAffinity": StructRules(whole=(_check_node_affinity,), into=lambda data, scope: ()),
    "core.WeightedPodAffinityTerm": StructRules(
        fields={"weight": _check_weight}, always=("podAffinityTerm",)
    ),
    "core.PodAffinityTerm": StructRules(
        fields={"topologyKey": (needed("can not be empty"), qualified)}, whole=(_check_term,)
    ),
    "core.TopologySpreadConstraint": StructRules(
        fields={
            "maxSkew": positive,
            "topologyKey": needed("can not be empty"),
            "whenUnsatisfiable": strict_choice("DoNotSchedule", "ScheduleAnyway"),
            "minDomains": positive_if_set,
            "nodeAffinityPolicy": _POLICY,
            "nodeTaintsPolicy": _POLICY,
        },
        whole=(_check_domains, _check_label_keys),
    ),
}
